//! Signed heads, compared with the crate `signed_note`.

use std::error::Error;

use notarium_core::{Hash, Head};
use notarium_wire::signed_head::{StatedHead, notes_of};
use notarium_wire::signed_note::{NoteError, VerifierKey};
use proptest::prelude::*;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use signed_note::{Note, StandardVerifier, Verifier, VerifierList};

fn pair() -> Ed25519KeyPair {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()
}

fn key_of(pair: &Ed25519KeyPair) -> VerifierKey {
    VerifierKey::of(pair.public_key().as_ref().try_into().unwrap())
}

fn head() -> StatedHead {
    let head = Head { version: 42, hash: Hash([7; 32]), recorded_at: 1_764_300_000_000 };
    StatedHead::new("n-1".parse().unwrap(), head, 1_764_300_000_123)
}

#[test]
fn a_head_that_was_signed_is_read_again() {
    let (pair, other) = (pair(), pair());
    let keys = [key_of(&other), key_of(&pair)];
    let note = head().signed(&pair);
    assert_eq!(StatedHead::verified(&note, &keys), Ok((head(), &keys[1])));
    assert_eq!(VerifierKey::parse(&keys[1].to_string()).as_ref(), Ok(&keys[1]));
    let both = [note.clone(), head().signed(&other)].concat();
    assert_eq!(
        notes_of(&both).map(|note| StatedHead::verified(note, &keys).unwrap().1).collect::<Vec<_>>(),
        [&keys[1], &keys[0]]
    );
}

/// The crate reads our notes, and we read its verdict.
#[test]
fn another_implementation_agrees() -> Result<(), Box<dyn Error>> {
    let pair = pair();
    let key = key_of(&pair);
    let verifier = StandardVerifier::new(&key.to_string())?;
    assert_eq!(verifier.name(), key.name);
    let note = Note::from_bytes(head().signed(&pair).as_bytes())?;
    let (verified, unverified) = note.verify(&VerifierList::new(vec![Box::new(verifier)]))?;
    assert_eq!((verified.len(), unverified.len()), (1, 0));
    Ok(())
}

#[test]
fn keys_of_another_kind_or_with_another_id_are_refused() {
    let key = key_of(&pair()).to_string();
    let (name, rest) = key.split_once('+').unwrap();
    let (id, encoded) = rest.split_once('+').unwrap();
    let other = format!("{:08x}", u32::from_str_radix(id, 16).unwrap() ^ 1);
    for wrong in [
        String::new(),
        name.to_owned(),
        format!("{name}+{other}+{encoded}"),
        format!("x y+{id}+{encoded}"),
        format!("{name}+{id}+{}", &encoded[4..]),
        format!("{name}x+{id}+{encoded}"),
    ] {
        assert!(matches!(VerifierKey::parse(&wrong), Err(NoteError::MalformedKey { .. })), "{wrong}");
    }
}

#[test]
fn each_reason_is_said() {
    let pair = pair();
    let keys = [key_of(&pair)];
    let note = head().signed(&pair);
    let of = |note: &str| StatedHead::verified(note, &keys).unwrap_err();
    assert!(matches!(of(&note.replace("version 42", "version 41")), NoteError::WrongSignature { .. }));
    assert!(matches!(of(&head().signed(&self::pair())), NoteError::UnknownKey { .. }));
    for wrong in ["", "hello\n", "notarium head 1\n\n", note.trim_end(), &note[..note.len() - 20]] {
        assert!(matches!(of(wrong), NoteError::Malformed { .. }), "{wrong:?}");
    }
}

proptest! {
    /// Whatever byte is changed, the note does not count any more, or says the same.
    #[test]
    fn a_changed_note_never_says_something_else(at in 0_usize..400, bit in 0_u8..8) {
        let pair = pair();
        let keys = [key_of(&pair)];
        let mut bytes = head().signed(&pair).into_bytes();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        if let Ok(text) = String::from_utf8(bytes)
            && let Ok((read, _)) = StatedHead::verified(&text, &keys)
        {
            prop_assert_eq!(read, head());
        }
    }
}
