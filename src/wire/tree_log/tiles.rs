//! Layout of the tree as [tlog-tiles](https://c2sp.org/tlog-tiles): files of up to 256 hashes or entries, whose names follow from the size.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::Hash;

use super::merkle::{LeafRange, TreeNode, fold, leaf_hash, node_hash};

/// Hashes or entries of a full tile.
pub const WIDTH: u64 = 256;

/// Levels of the tree in one level of tiles.
const HEIGHT: u8 = 8;

/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// Largest entry, in bytes: its length has 16 bits.
pub const MAX_ENTRY_BYTES: usize = u16::MAX as usize;

/// A tile of hashes at a level, or a bundle of entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tile {
    /// Level of tiles, from 0; `None`: a bundle of entries.
    pub level: Option<u8>,
    /// Number of full tiles before it.
    pub number: u64,
    /// Hashes or entries, 1 to 256.
    pub width: u64,
}

impl Tile {
    /// Path below the log's own, as in `tile/0/x001/234.p/7`.
    pub fn path(&self) -> String {
        let level = self.level.map_or_else(|| "entries".to_owned(), |level| level.to_string());
        let mut number = format!("{:03}", self.number % 1_000);
        let mut rest = self.number / 1_000;
        while rest > 0 {
            number = format!("x{:03}/{number}", rest % 1_000);
            rest /= 1_000;
        }
        let part = if self.width == WIDTH { String::new() } else { format!(".p/{}", self.width) };
        format!("tile/{level}/{number}{part}")
    }

    /// Parses a path; `None`: it is not exactly that of a tile.
    pub fn parse(path: &str) -> Option<Self> {
        let (level, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let level = if level == "entries" { None } else { Some(level.parse().ok()?) };
        let (number, width) = match rest.split_once(".p/") {
            Some((number, width)) => (number, width.parse().ok()?),
            None => (rest, WIDTH),
        };
        let digits: String = number.split('/').map(|part| part.strip_prefix('x').unwrap_or(part)).collect();
        let tile = Self { level, number: digits.parse().ok()?, width };
        (tile.path() == path).then_some(tile)
    }

    /// The tile as it is in a tree of this size; `None`: that has no such tile.
    pub fn at(level: u8, number: u64, size: u64) -> Option<Self> {
        let hashes = size.checked_shr(u32::from(level) * u32::from(HEIGHT)).unwrap_or(0);
        let width = hashes.checked_sub(number.checked_mul(WIDTH)?).filter(|width| *width > 0)?.min(WIDTH);
        Some(Self { level: Some(level), number, width })
    }

    /// The same tile with entries in place of their hashes.
    pub fn bundle(self) -> Self {
        Self { level: None, ..self }
    }
}

/// Content of tiles of hashes, which are read in any order.
#[derive(Debug, Clone, Default)]
pub struct Tiles(BTreeMap<(u8, u64), Vec<Hash>>);

impl Tiles {
    /// Takes the bytes of a tile; returns false if their number is not that of its hashes.
    pub fn put(&mut self, tile: Tile, bytes: &[u8]) -> bool {
        let hashes: Vec<Hash> =
            bytes.chunks_exact(HASH_BYTES).filter_map(|hash| Some(Hash(hash.try_into().ok()?))).collect();
        let is_whole = bytes.len() == hashes.len() * HASH_BYTES && hashes.len() as u64 == tile.width;
        let Some(level) = tile.level.filter(|_| is_whole) else { return false };
        self.0.insert((level, tile.number), hashes);
        true
    }

    /// Hash of a complete subtree; `None`: its tile is not here.
    pub fn node(&self, node: TreeNode) -> Option<Hash> {
        let (level, depth) = (node.level / HEIGHT, node.level % HEIGHT);
        let first = node.index << depth;
        let tile = self.0.get(&(level, first / WIDTH))?;
        let start = usize::try_from(first % WIDTH).ok()?;
        let mut hashes = tile.get(start..start + (1 << depth))?.to_vec();
        while hashes.len() > 1 {
            hashes = hashes.chunks_exact(2).map(|pair| node_hash(&pair[0], &pair[1])).collect();
        }
        hashes.first().copied()
    }

    /// Hash of a range of leaves; `None`: it is empty, or a tile is not here.
    pub fn range(&self, range: LeafRange) -> Option<Hash> {
        let nodes: Option<Vec<Hash>> = range.nodes().into_iter().map(|node| self.node(node)).collect();
        fold(&nodes?)
    }

    /// Hashes of a proof.
    pub fn proof(&self, ranges: &[LeafRange]) -> Option<Vec<Hash>> {
        ranges.iter().map(|range| self.range(*range)).collect()
    }
}

/// Tiles that have the hashes of these ranges, in a tree of this size.
pub fn needed(ranges: &[LeafRange], size: u64) -> BTreeSet<Tile> {
    let nodes = ranges.iter().flat_map(|range| range.nodes());
    let tile = |node: TreeNode| Tile::at(node.level / HEIGHT, (node.index << (node.level % HEIGHT)) / WIDTH, size);
    nodes.filter_map(tile).collect()
}

/// Tiles to which an append of leaves adds, as they are before it. Their content is needed by [`append`].
pub fn open_tiles(size: u64) -> Vec<Tile> {
    let levels = (0..u8::MAX).take_while(|level| size >> (u32::from(*level) * u32::from(HEIGHT)).min(63) > 0);
    let last = |level: u8| {
        let hashes = size >> (u32::from(level) * u32::from(HEIGHT));
        Tile::at(level, hashes / WIDTH, size)
    };
    levels.filter_map(last).collect()
}

/// Files that an append writes: tiles and bundles with their bytes. `open` has the hashes of [`open_tiles`], `bundle` the bytes of
/// the last bundle if it is partial.
pub fn append(open: &mut Tiles, bundle: &[u8], size: u64, entries: &[Vec<u8>]) -> Vec<(Tile, Vec<u8>)> {
    let mut files = bundles(bundle, size, entries);
    let mut hashes: Vec<Hash> = entries.iter().map(|entry| leaf_hash(entry)).collect();
    let (mut level, mut from) = (0_u8, size);
    while !hashes.is_empty() {
        let mut above = Vec::new();
        for hash in hashes {
            let tile = open.0.entry((level, from / WIDTH)).or_default();
            tile.push(hash);
            from += 1;
            if tile.len() as u64 == WIDTH {
                let full = tile.clone();
                files.push((Tile { level: Some(level), number: (from - 1) / WIDTH, width: WIDTH }, bytes_of(&full)));
                above.extend(subtree(full));
            }
        }
        let number = from / WIDTH;
        if let Some(tile) = open.0.get(&(level, number)).filter(|tile| !tile.is_empty() && (tile.len() as u64) < WIDTH)
        {
            files.push((Tile { level: Some(level), number, width: tile.len() as u64 }, bytes_of(tile)));
        }
        let before = size >> (u32::from(level + 1) * u32::from(HEIGHT)).min(63);
        (hashes, level, from) = (above, level + 1, before);
    }
    files
}

/// Root of a full tile.
fn subtree(mut hashes: Vec<Hash>) -> Option<Hash> {
    while hashes.len() > 1 {
        hashes = hashes.chunks_exact(2).map(|pair| node_hash(&pair[0], &pair[1])).collect();
    }
    hashes.first().copied()
}

fn bytes_of(hashes: &[Hash]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.0).collect()
}

fn bundles(last: &[u8], size: u64, entries: &[Vec<u8>]) -> Vec<(Tile, Vec<u8>)> {
    let (mut files, mut bytes, mut at) = (Vec::new(), last.to_vec(), size);
    for entry in entries {
        bytes.extend(u16::try_from(entry.len()).unwrap_or(u16::MAX).to_be_bytes());
        bytes.extend(&entry[..entry.len().min(MAX_ENTRY_BYTES)]);
        at += 1;
        if at % WIDTH == 0 {
            files.push((Tile { level: None, number: at / WIDTH - 1, width: WIDTH }, std::mem::take(&mut bytes)));
        }
    }
    if !bytes.is_empty() && at > size {
        files.push((Tile { level: None, number: at / WIDTH, width: at % WIDTH }, bytes));
    }
    files
}

/// Entries of a bundle; `None`: it is cut.
pub fn entries_of(mut bundle: &[u8]) -> Option<Vec<&[u8]>> {
    let mut entries = Vec::new();
    while !bundle.is_empty() {
        let (length, rest) = bundle.split_first_chunk::<2>()?;
        let (entry, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        entries.push(entry);
        bundle = rest;
    }
    Some(entries)
}
