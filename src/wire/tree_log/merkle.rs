//! Arithmetic of the Merkle tree of RFC 6962: its root, and proofs of inclusion and consistency.
//!
//! A proof is a list of ranges of leaves; each range consists of complete subtrees ([`TreeNode`]), whose hashes the tiles have. So the ranges
//! can be computed first, read from anywhere, and folded then.

use notarium_core::Hash;
use sha2::{Digest, Sha256};

/// A complete subtree: the leaves from `index << level` on, `1 << level` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeNode {
    /// Height above the leaves.
    pub level: u8,
    /// Number of such subtrees before it.
    pub index: u64,
}

/// Leaves of a subtree that may be incomplete at its right: from `start` to `end`, which is not in it. `start` is a multiple of the
/// smallest power of two that is at least the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafRange {
    /// First leaf.
    pub start: u64,
    /// Leaf after the last.
    pub end: u64,
}

/// Hash of a leaf's content.
pub fn leaf_hash(content: &[u8]) -> Hash {
    Hash(Sha256::new().chain_update([0]).chain_update(content).finalize().into())
}

/// Hash of a node from its children.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Hash(Sha256::new().chain_update([1]).chain_update(left.0).chain_update(right.0).finalize().into())
}

/// Root of the tree without leaves.
pub fn empty_root() -> Hash {
    Hash(Sha256::digest([]).into())
}

impl LeafRange {
    /// The whole tree of this size.
    pub fn tree(size: u64) -> Self {
        Self { start: 0, end: size }
    }

    /// Complete subtrees of the range, from the left, the largest first.
    pub fn nodes(self) -> Vec<TreeNode> {
        let (mut at, mut nodes) = (self.start, Vec::new());
        while at < self.end {
            let level = (self.end - at).ilog2();
            nodes.push(TreeNode { level: u8::try_from(level).unwrap_or(u8::MAX), index: at >> level });
            at += 1 << level;
        }
        nodes
    }

    /// Splits a range of more than one leaf as RFC 6962 does: the left part is the largest power of two below the length.
    fn halves(self) -> (Self, Self) {
        let middle = self.start + (1 << (self.end - self.start - 1).ilog2());
        (Self { end: middle, ..self }, Self { start: middle, ..self })
    }

    fn len(self) -> u64 {
        self.end - self.start
    }
}

/// Hash of a range from the hashes of its [`LeafRange::nodes`]; `None`: there are none.
pub fn fold(nodes: &[Hash]) -> Option<Hash> {
    let (last, before) = nodes.split_last()?;
    Some(before.iter().rev().fold(*last, |right, left| node_hash(left, &right)))
}

/// Ranges whose hashes prove that the leaf is in the tree, from the leaf up. `None`: the tree has no such leaf.
pub fn inclusion(index: u64, size: u64) -> Option<Vec<LeafRange>> {
    if index >= size {
        return None;
    }
    let (mut tree, mut beside) = (LeafRange::tree(size), Vec::new());
    while tree.len() > 1 {
        let (left, right) = tree.halves();
        let (of_leaf, other) = if index < left.end { (left, right) } else { (right, left) };
        beside.push(other);
        tree = of_leaf;
    }
    beside.reverse();
    Some(beside)
}

/// Ranges whose hashes prove that the tree of `old` leaves is the beginning of the one of `new`. `None`: there is no such proof,
/// because the old one is empty or larger.
pub fn consistency(old: u64, new: u64) -> Option<Vec<LeafRange>> {
    if old == 0 || old > new {
        return None;
    }
    let (mut tree, mut ranges, mut is_whole) = (LeafRange::tree(new), Vec::new(), true);
    while old != tree.end {
        let (left, right) = tree.halves();
        if old <= left.end {
            ranges.push(right);
            tree = left;
        } else {
            ranges.push(left);
            (tree, is_whole) = (right, false);
        }
    }
    if !is_whole {
        ranges.push(tree);
    }
    ranges.reverse();
    Some(ranges)
}

/// Root that follows from a leaf and the proof of its inclusion; `None`: the proof has another length.
pub fn root_of_inclusion(leaf: &Hash, index: u64, size: u64, proof: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut at, mut last, mut hash) = (index, size - 1, *leaf);
    for beside in proof {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            hash = node_hash(beside, &hash);
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            hash = node_hash(&hash, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    (last == 0).then_some(hash)
}

/// True if the proof shows that the old tree is the beginning of the new one.
pub fn is_consistent((old, old_root): (u64, &Hash), (new, new_root): (u64, &Hash), proof: &[Hash]) -> bool {
    if old == new {
        return proof.is_empty() && old_root == new_root;
    }
    if old == 0 {
        // Every tree begins as the empty one.
        return proof.is_empty() && *old_root == empty_root();
    }
    if old > new {
        return false;
    }
    let (first, rest) = match (old.is_power_of_two(), proof) {
        (true, rest) => (*old_root, rest),
        (false, [first, rest @ ..]) => (*first, rest),
        (false, []) => return false,
    };
    let (mut at, mut last) = (old - 1, new - 1);
    while at & 1 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let (mut of_old, mut of_new) = (first, first);
    for beside in rest {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            (of_old, of_new) = (node_hash(beside, &of_old), node_hash(beside, &of_new));
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            of_new = node_hash(&of_new, beside);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && of_old == *old_root && of_new == *new_root
}
