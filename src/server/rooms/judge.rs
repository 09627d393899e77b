//! Reads code off the rooms' tasks: finds plain risks to warn of, and the names that cells use and define. Answers are cached by
//! the hash of the sources.

use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use hashlink::LruCache;
use notarium_core::reactive::{CodeNames, CodeText};
use notarium_core::{Effect, Judgement, JudgementQuery, Risk};
use notarium_expectation::{ExpectedKinds, expected_kinds};
use notarium_judge::{CellNames, Grade, cell_names, sql_cell_names};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;

/// Time that a call waits for a judgement before it counts as unknown. The judgement is finished and cached all the
/// same.
const BUDGET: Duration = Duration::from_secs(5);
/// Concurrent judgements, over all notebooks.
const MAX_AT_ONCE: usize = 2;

/// The highest risk, the risk of each piece, and the reasons.
type CodeVerdict = (Risk, Vec<Risk>, Vec<String>);
type SourcesHash = [u8; 32];

/// Judges code for all rooms. Cheap to clone.
#[derive(Clone)]
pub struct Judge(Arc<JudgeParts>);

struct JudgeParts {
    judge: Box<dyn Fn(&JudgementQuery) -> CodeVerdict + Send + Sync>,
    permits: Arc<Semaphore>,
    /// Cache, by the hash of the query.
    kept: Memo<SourcesHash, CodeVerdict>,
    expected: Memo<SourcesHash, Vec<Vec<Effect>>>,
}

impl Default for Judge {
    fn default() -> Self {
        Self::new(of_python)
    }
}

impl Judge {
    /// Uses another judge, which may block.
    pub fn new(judge: impl Fn(&JudgementQuery) -> CodeVerdict + Send + Sync + 'static) -> Self {
        let permits = Arc::new(Semaphore::new(MAX_AT_ONCE));
        let (kept, expected) = (Memo::default(), Memo::default());
        Self(Arc::new(JudgeParts { judge: Box::new(judge), permits, kept, expected }))
    }

    /// Judges the code. `None`: it took too long, or failed.
    pub(super) async fn judge(self, query: JudgementQuery) -> Option<Judgement> {
        let judged = tokio::time::timeout(BUDGET, self.judge_at_leisure(query)).await;
        judged.unwrap_or_else(|_| {
            tracing::warn!(budget_s = BUDGET.as_secs(), "code was not judged in time: it counts as unknown");
            None
        })
    }

    async fn judge_at_leisure(self, query: JudgementQuery) -> Option<Judgement> {
        // A person's run waits for no call of an assistant.
        let permit = match query.expects {
            true => None,
            false => Some(self.0.permits.clone().acquire_owned().await.ok()?),
        };
        let judged = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            if query.expects {
                let kinds = self.0.expected(&query);
                return Judgement { kinds, ..Judgement::of(query) };
            }
            let (risk, each, reasons) = self.0.verdict(&query);
            Judgement { risk, each, reasons, ..Judgement::of(query) }
        });
        judged.await.inspect_err(|error| tracing::error!(%error, "the judge failed: the code counts as unknown")).ok()
    }
}

impl JudgeParts {
    fn verdict(&self, query: &JudgementQuery) -> CodeVerdict {
        let key = key(query);
        if let Some(verdict) = self.kept.get(&key) {
            return verdict;
        }
        let verdict = (self.judge)(query);
        self.kept.keep(key, verdict.clone());
        verdict
    }

    fn expected(&self, query: &JudgementQuery) -> Vec<Vec<Effect>> {
        let key = key(query);
        if let Some(kinds) = self.expected.get(&key) {
            return kinds;
        }
        let kinds: Vec<_> =
            expected_kinds(&texts(&query.earlier), &texts(&query.codes)).into_iter().map(effects).collect();
        self.expected.keep(key, kinds.clone());
        kinds
    }
}

fn texts(sources: &[String]) -> Vec<&str> {
    sources.iter().map(String::as_str).collect()
}

fn effects(kinds: ExpectedKinds) -> Vec<Effect> {
    let of = [
        (Effect::Create, ExpectedKinds::WRITE),
        (Effect::Write, ExpectedKinds::WRITE),
        (Effect::Remove, ExpectedKinds::REMOVE),
        (Effect::Network, ExpectedKinds::NETWORK),
        (Effect::Signal, ExpectedKinds::SIGNAL),
        (Effect::Database, ExpectedKinds::DATABASE),
    ];
    of.into_iter().filter(|(_, kind)| kinds.has(*kind)).map(|(effect, _)| effect).collect()
}

/// SHA-256 of the sources and the functions, with their lengths.
fn key(query: &JudgementQuery) -> SourcesHash {
    let mut hash = Sha256::new();
    let functions = query.functions.iter().map(|(name, risk)| format!("{name} {risk:?}")).collect();
    for sources in [&query.earlier, &query.codes, &functions] {
        hash.update((sources.len() as u64).to_be_bytes());
        for source in sources {
            hash.update((source.len() as u64).to_be_bytes());
            hash.update(source);
        }
    }
    hash.update((query.people_ran.len() as u64).to_be_bytes());
    query.people_ran.iter().for_each(|place| hash.update((*place as u64).to_be_bytes()));
    hash.update([u8::from(query.registers), u8::from(query.expects)]);
    hash.finalize().into()
}

fn of_python(query: &JudgementQuery) -> CodeVerdict {
    let grade = |risk: Risk| match risk {
        Risk::Read | Risk::Edit => None,
        Risk::Sensitive => Some(Grade::Unknown),
        Risk::Destructive => Some(Grade::Destructive),
    };
    let functions: Vec<_> = query.functions.iter().map(|(name, risk)| (name.as_str(), grade(*risk))).collect();
    let (earlier, codes) = (texts(&query.earlier), texts(&query.codes));
    let people: Vec<&str> = query.people_ran.iter().filter_map(|place| earlier.get(*place).copied()).collect();
    let judgement = match query.registers {
        true => notarium_judge::judge_registrations(&earlier, &codes),
        false => notarium_judge::judge_beside_people(&people, &earlier, &codes, &functions),
    };
    let risk = |grade: Option<Grade>| match grade {
        None => Risk::Read,
        Some(Grade::Unknown) => Risk::Sensitive,
        Some(Grade::Destructive) => Risk::Destructive,
    };
    (risk(judgement.grade), judgement.each.into_iter().map(risk).collect(), judgement.reasons)
}

type TextKey = [u8; 32];

/// Reads texts for all rooms. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Memo<TextKey, Option<Arc<CodeNames>>>>);

impl Names {
    /// Names of each text, in order. `None`: the text does not parse, or reading it failed.
    pub async fn read_all(self, texts: Vec<CodeText>) -> Vec<(CodeText, Option<CodeNames>)> {
        let unread: Vec<CodeText> = texts.clone();
        let read = tokio::task::spawn_blocking(move || texts.into_iter().map(|text| self.read(text)).collect());
        read.await.unwrap_or_else(|error| {
            tracing::error!(%error, "names could not be read: the cells count as texts that do not parse");
            unread.into_iter().map(|text| (text, None)).collect()
        })
    }

    fn read(&self, text: CodeText) -> (CodeText, Option<CodeNames>) {
        let key = Sha256::new().chain_update([u8::from(text.is_query)]).chain_update(&text.source).finalize().into();
        let names = self.0.get(&key).unwrap_or_else(|| {
            let names = if text.is_query { Some(sql_cell_names(&text.source)) } else { cell_names(&text.source) };
            let names = names.map(|names| Arc::new(of_core(names)));
            self.0.keep(key, names.clone());
            names
        });
        (text, names.map(|names| CodeNames::clone(&names)))
    }
}

fn of_core(names: CellNames) -> CodeNames {
    let CellNames { reads, may_read, reads_later, reads_any, leaves, unsets, uncertain, imported, has_star, .. } =
        names;
    CodeNames { reads, may_read, reads_later, reads_any, leaves, unsets, uncertain, imported, has_star }
}

const MAX_KEPT: usize = 1_024;

/// Cache shared by all callers, of the answers that were used last.
#[derive(Debug)]
pub struct Memo<K, V>(Mutex<LruCache<K, V>>);

impl<K: Eq + Hash, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MAX_KEPT)))
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.lock().get(key).cloned()
    }

    pub fn keep(&self, key: K, answer: V) {
        self.0.lock().insert(key, answer);
    }
}
