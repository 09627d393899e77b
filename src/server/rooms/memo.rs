//! Cache of the latest answers to costly questions, by question.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

const MAX_KEPT: usize = 1_024;

/// Cache shared by all callers.
#[derive(Debug)]
pub struct Memo<K, V>(Mutex<Kept<K, V>>);

#[derive(Debug)]
struct Kept<K, V> {
    answers: BTreeMap<K, V>,
    /// Keys from the oldest to the newest.
    keys: VecDeque<K>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::new(Kept { answers: BTreeMap::new(), keys: VecDeque::new() }))
    }
}

impl<K: Ord + Clone, V: Clone> Memo<K, V> {
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).answers.get(key).cloned()
    }

    pub fn keep(&self, key: K, answer: V) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.answers.insert(key.clone(), answer).is_none() {
            kept.keys.push_back(key);
        }
        while kept.keys.len() > MAX_KEPT {
            let oldest = kept.keys.pop_front();
            oldest.and_then(|oldest| kept.answers.remove(&oldest));
        }
    }
}
