//! Ids under which the server writes Y documents. They share a prefix, so that a client's document of an earlier session is recognised: it
//! has changes of the server that the present document lacks.

use yrs::{ClientID, StateVector};

/// Ids have 53 bits. Yjs uses ids below 2³², and of the random ids of pycrdt one in a million has the prefix.
const RANDOM_BITS: u32 = 33;
const PREFIX: u64 = 0x907A5;

/// A new id of the server.
pub fn own_id() -> ClientID {
    let random = ClientID::random().get() & ((1 << RANDOM_BITS) - 1);
    ClientID::new((PREFIX << RANDOM_BITS) | random)
}

/// True if a document with these changes has changes of the server that the present document lacks.
pub fn is_other_history(changes: &StateVector, present: &StateVector) -> bool {
    let is_own = |id: &ClientID| id.get() >> RANDOM_BITS == PREFIX;
    changes.iter().any(|(id, clock)| is_own(id) && *clock > present.get(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unknown_changes_of_the_server_are_another_history() {
        let (own, client) = (own_id(), ClientID::new(7));
        let vector = |entries: &[(ClientID, u32)]| entries.iter().copied().collect::<StateVector>();
        let present = vector(&[(own, 5), (client, 1)]);
        assert!(!is_other_history(&vector(&[(own, 5), (client, 9)]), &present));
        assert!(is_other_history(&vector(&[(own, 6)]), &present));
        assert!(is_other_history(&vector(&[(own_id(), 1)]), &present));
    }
}
