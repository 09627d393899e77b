//! The tree of heads: the vectors of RFC 6962, the tiles against a tree as the RFC defines it, and proofs that are changed.

use std::collections::BTreeMap;
use std::slice::from_ref;

use notarium_core::Hash;
use notarium_wire::signed_note::VerifierKey;
use notarium_wire::tree_log::checkpoint::{Checkpoint, notes_of};
use notarium_wire::tree_log::merkle::{
    LeafRange, consistency, empty_root, inclusion, is_consistent, leaf_hash, node_hash, root_of_inclusion,
};
use notarium_wire::tree_log::proof::{InclusionProof, ProofError, split};
use notarium_wire::tree_log::tiles::{Tile, Tiles, WIDTH, append, entries_of, needed, open_tiles};
use proptest::prelude::*;
use ring::signature::{Ed25519KeyPair, KeyPair};
use signed_note::{Note, StandardVerifier, VerifierList};

/// Root of a tree, as RFC 6962 defines it.
fn root_of(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        leaves => {
            let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
            node_hash(&root_of(left), &root_of(right))
        }
    }
}

/// A log whose files are in memory.
#[derive(Default)]
struct Log {
    size: u64,
    files: BTreeMap<String, Vec<u8>>,
    leaves: Vec<Hash>,
}

impl Log {
    fn add(&mut self, count: u64) {
        let entries: Vec<Vec<u8>> =
            (self.size..self.size + count).map(|number| format!("entry {number}").into_bytes()).collect();
        let mut open = self.read(open_tiles(self.size));
        let last = Tile::at(0, self.size / WIDTH, self.size);
        let bundle = last.map(|tile| self.files[&tile.bundle().path()].clone()).unwrap_or_default();
        for (tile, bytes) in append(&mut open, &bundle, self.size, &entries) {
            assert_eq!(Tile::parse(&tile.path()), Some(tile));
            self.files.insert(tile.path(), bytes);
        }
        self.size += count;
        self.leaves.extend(entries.iter().map(|entry| leaf_hash(entry)));
        assert_eq!(open.range(LeafRange::tree(self.size)), self.root(), "the right edge has the root");
    }

    fn read(&self, wanted: impl IntoIterator<Item = Tile>) -> Tiles {
        let mut tiles = Tiles::default();
        for tile in wanted {
            assert!(tiles.put(tile, &self.files[&tile.path()]), "{}", tile.path());
        }
        tiles
    }

    fn hashes(&self, ranges: &[LeafRange]) -> Vec<Hash> {
        self.read(needed(ranges, self.size)).proof(ranges).unwrap()
    }

    fn root(&self) -> Option<Hash> {
        (self.size > 0).then(|| self.hashes(&[LeafRange::tree(self.size)])[0])
    }
}

#[test]
fn roots_are_those_of_the_reference() {
    let entries = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
    let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let bytes = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let entries = entries.map(bytes);
    for (count, root) in (1..).zip(roots) {
        let (mut tiles, mut log) = (Tiles::default(), Tiles::default());
        for (tile, bytes) in append(&mut tiles, &[], 0, &entries[..count]) {
            assert!(tile.level.is_none() || log.put(tile, &bytes));
        }
        let found = log.range(LeafRange::tree(count as u64)).unwrap();
        assert_eq!(found.to_string(), root, "{count} leaves");
    }
    assert_eq!(empty_root().to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

#[test]
fn tiles_have_the_names_of_the_form() {
    let tile = |level, number, width| Tile { level, number, width }.path();
    assert_eq!(tile(Some(0), 0, 256), "tile/0/000");
    assert_eq!(tile(Some(3), 1_234_067, 7), "tile/3/x001/x234/067.p/7");
    assert_eq!(tile(None, 1_000, 256), "tile/entries/x001/000");
    for wrong in [
        "tile/0/0",
        "tile/0/x000/001",
        "tile/00/000",
        "tile/0/000.p/0256",
        "tile/0/../000",
        "checkpoint",
        "tile/0/000.p/",
    ] {
        assert_eq!(Tile::parse(wrong), None, "{wrong}");
    }
}

/// A tree with tiles of three levels.
#[test]
fn a_large_tree_has_proofs_of_every_height() {
    let mut log = Log::default();
    log.add(70_000);
    log.add(1);
    let root = log.root().unwrap();
    assert_eq!(root, root_of(&log.leaves));
    assert_eq!(log.files["tile/2/000.p/1"].len(), 32);
    for index in [0, 255, 256, 65_535, 65_536, 70_000] {
        let proof = log.hashes(&inclusion(index, log.size).unwrap());
        assert_eq!(
            root_of_inclusion(&log.leaves[usize::try_from(index).unwrap()], index, log.size, &proof),
            Some(root)
        );
    }
    for old in [1, 256, 65_536, 65_537, 69_999] {
        let old_root = root_of(&log.leaves[..usize::try_from(old).unwrap()]);
        let proof = log.hashes(&consistency(old, log.size).unwrap());
        assert!(is_consistent((old, &old_root), (log.size, &root), &proof));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_tree_that_grows_in_steps_is_the_one_of_the_rfc(steps in prop::collection::vec(1_u64..300, 1..6), which in any::<prop::sample::Index>(), bit in 0_usize..256) {
        let mut log = Log::default();
        let mut sizes = Vec::new();
        for step in steps {
            log.add(step);
            sizes.push(log.size);
        }
        let (size, root) = (log.size, log.root().unwrap());
        prop_assert_eq!(root, root_of(&log.leaves));
        let flip = |hash: &mut Hash| hash.0[bit / 8] ^= 1 << (bit % 8);

        let index = which.index(log.leaves.len());
        let mut proof = log.hashes(&inclusion(index as u64, size).unwrap());
        let leaf = log.leaves[index];
        prop_assert_eq!(root_of_inclusion(&leaf, index as u64, size, &proof), Some(root));
        prop_assert_ne!(root_of_inclusion(&node_hash(&leaf, &leaf), index as u64, size, &proof), Some(root));
        prop_assert_eq!(root_of_inclusion(&leaf, index as u64, size, &[&proof[..], &[leaf]].concat()), None);
        if !proof.is_empty() {
            let at = which.index(proof.len());
            flip(&mut proof[at]);
            prop_assert_ne!(root_of_inclusion(&leaf, index as u64, size, &proof), Some(root));
        }

        for old in sizes.iter().copied().chain([index as u64 + 1]) {
            let old_root = root_of(&log.leaves[..usize::try_from(old).unwrap()]);
            let mut proof = log.hashes(&consistency(old, size).unwrap());
            prop_assert!(is_consistent((old, &old_root), (size, &root), &proof));
            let mut other = old_root;
            flip(&mut other);
            prop_assert!(!is_consistent((old, &other), (size, &root), &proof));
            if !proof.is_empty() {
                let at = which.index(proof.len());
                flip(&mut proof[at]);
                prop_assert!(!is_consistent((old, &old_root), (size, &root), &proof));
            }
        }
        let tile = Tile::at(0, 0, size).unwrap().bundle();
        let entries = entries_of(&log.files[&tile.path()]).unwrap();
        prop_assert_eq!(entries.len() as u64, tile.width);
        prop_assert_eq!(entries[0], b"entry 0".as_slice());
    }
}

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}

/// A checkpoint is read by Cloudflare's crate, too; another key, another origin and changed texts do not count.
#[test]
fn checkpoints_are_signed_notes_under_the_key_of_the_log() {
    let pair = pair(7);
    let public: [u8; 32] = pair.public_key().as_ref().try_into().unwrap();
    let key = VerifierKey::of_log(public);
    assert_eq!(key, VerifierKey::of(public).for_log());
    let root = leaf_hash(b"x");
    let note = Checkpoint::signed(1, root, &pair);
    assert_eq!(
        Checkpoint::verified(&note, std::slice::from_ref(&key)).unwrap(),
        Checkpoint { origin: key.name.clone(), size: 1, root }
    );
    let verifier = StandardVerifier::new(&key.to_string()).unwrap();
    let read = Note::from_bytes(note.as_bytes()).unwrap();
    assert!(read.verify(&VerifierList::new(vec![Box::new(verifier)])).is_ok(), "{note}");

    assert!(Checkpoint::verified(&note, &[VerifierKey::of(public)]).is_err(), "the name for heads is another one");
    assert!(Checkpoint::verified(&note.replacen("\n1\n", "\n2\n", 1), from_ref(&key)).is_err());
    let two = format!("{note}\n{}", Checkpoint::signed(2, root, &pair));
    let sizes: Vec<u64> =
        notes_of(&two).into_iter().map(|note| Checkpoint::verified(note, from_ref(&key)).unwrap().size).collect();
    assert_eq!(sizes, [1, 2]);
    assert!(notes_of("words\n").is_empty());
}

#[test]
fn a_proof_is_verified_without_the_log() {
    let mut log = Log::default();
    log.add(300);
    let pair = pair(9);
    let key = VerifierKey::of_log_pair(&pair);
    let checkpoint = Checkpoint::signed(log.size, log.root().unwrap(), &pair);
    let hashes = log.hashes(&inclusion(299, 300).unwrap());
    let proof = InclusionProof { index: 299, hashes, checkpoint }.text();
    let keys = [key];
    assert_eq!(InclusionProof::verify(&proof, b"entry 299", &keys).unwrap().size, 300);
    assert_eq!(InclusionProof::verify(&proof, b"entry 298", &keys), Err(ProofError::NotIncluded { size: 300 }));
    let moved = proof.replacen("index 299", "index 298", 1);
    assert_eq!(InclusionProof::verify(&moved, b"entry 299", &keys), Err(ProofError::NotIncluded { size: 300 }));
    let other = [VerifierKey::of_log_pair(&self::pair(1))];
    assert!(matches!(InclusionProof::verify(&proof, b"entry 299", &other), Err(ProofError::Checkpoint(_))));
    for wrong in ["", "c2sp.org/tlog-proof@v1\n", "words\n\nmore\n"] {
        assert_eq!(InclusionProof::verify(wrong, b"entry 299", &keys), Err(ProofError::Malformed), "{wrong}");
    }
    let file = format!("a note\n{proof}");
    assert_eq!(split(&file), ("a note\n", Some(proof.as_str())));
    assert_eq!(split("a note\n"), ("a note\n", None));
}
