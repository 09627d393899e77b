//! Awareness: names and cursors of the clients of a room. Ephemeral; nothing of it enters the record.

use std::collections::BTreeMap;

use crate::rooms::message::{Lib0Reader, put_buffer, put_number};

/// Clients that one connection may speak for.
const MAX_CLIENTS_OF_MEMBER: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
struct ClientState {
    clock: u64,
    state: Vec<u8>,
}

/// States of the clients of one connection.
#[derive(Debug, Default)]
pub struct AwarenessOf {
    states: BTreeMap<u64, ClientState>,
}

impl AwarenessOf {
    /// Takes an update; false if it is malformed.
    pub fn take(&mut self, update: &[u8]) -> bool {
        let Some(states) = parse(update) else { return false };
        for (client, state) in states {
            let is_new = !self.states.contains_key(&client);
            if !(is_new && self.states.len() >= MAX_CLIENTS_OF_MEMBER) {
                self.states.insert(client, state);
            }
        }
        true
    }

    /// The present states as an update; `None` without any.
    pub fn present(&self) -> Option<Vec<u8>> {
        let states: Vec<_> = self
            .states
            .iter()
            .filter(|(_, state)| state.state != b"null")
            .map(|(id, state)| (*id, state.clone()))
            .collect();
        (!states.is_empty()).then(|| written(&states))
    }

    /// An update by which the clients of the connection leave; `None` without any.
    pub fn leave(&self) -> Option<Vec<u8>> {
        let gone =
            |(id, state): (&u64, &ClientState)| (*id, ClientState { clock: state.clock + 1, state: b"null".to_vec() });
        let states: Vec<_> = self.states.iter().map(gone).collect();
        (!states.is_empty()).then(|| written(&states))
    }
}

fn parse(update: &[u8]) -> Option<Vec<(u64, ClientState)>> {
    let mut reader = Lib0Reader(update);
    let count = usize::try_from(reader.number()?).ok().filter(|count| *count <= MAX_CLIENTS_OF_MEMBER * 64)?;
    (0..count)
        .map(|_| {
            let (client, clock) = (reader.number()?, reader.number()?);
            Some((client, ClientState { clock, state: reader.buffer()?.to_vec() }))
        })
        .collect()
}

fn written(states: &[(u64, ClientState)]) -> Vec<u8> {
    let mut update = Vec::new();
    put_number(&mut update, states.len() as u64);
    for (client, state) in states {
        put_number(&mut update, *client);
        put_number(&mut update, state.clock);
        put_buffer(&mut update, &state.state);
    }
    update
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_leaves_has_no_state() {
        let mut awareness = AwarenessOf::default();
        let update = written(&[(5, ClientState { clock: 3, state: br#"{"user":1}"#.to_vec() })]);
        assert!(awareness.take(&update));
        assert_eq!(awareness.present(), Some(update));
        let left = awareness.leave().unwrap();
        assert_eq!(parse(&left).unwrap(), [(5, ClientState { clock: 4, state: b"null".to_vec() })]);
        assert!(awareness.take(&left));
        assert_eq!(awareness.present(), None);
    }

    #[test]
    fn malformed_states_are_refused() {
        let mut awareness = AwarenessOf::default();
        assert!(!awareness.take(&[1, 2]));
        assert!(!awareness.take(&[0xff, 0xff, 0xff, 0xff, 0x0f]));
    }
}
