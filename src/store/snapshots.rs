//! Snapshots: content, checksum, and thinning out (denser towards the end).

use bytes::Bytes;
use notarium_record::{Hash, Head, Version};
use sha2::{Digest, Sha256};

/// Maximum gap between two snapshots after thinning out, in events: the maximum that a read of an old version replays.
pub const MAX_SNAPSHOT_GAP: Version = 50_000;

/// A notebook's state at a version: a cache that may be deleted at any time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Format of `state`; readers skip unknown formats.
    pub format: u32,
    /// Always `head.version`.
    pub version: Version,
    pub head: Head,
    /// SHA-256 over all other fields, from [`Snapshot::compress`]: detects changes on disk.
    pub checksum: Hash,
    /// State, compressed with zstd by [`Snapshot::compress`]. The store keeps these bytes, so that each snapshot is compressed only once.
    pub state: Bytes,
}

/// Reason why a snapshot cannot be made or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    #[error("it is damaged: its checksum is not that of its bytes")]
    Damaged,
    #[error("it does not compress: {reason}")]
    Compressed { reason: String },
    #[error("it does not unpack within {max_bytes} bytes: {reason}")]
    Unpacked { max_bytes: usize, reason: String },
}

impl Snapshot {
    /// zstd level 3: the best trade-off for JSON.
    const LEVEL: i32 = 3;

    /// Compresses `state` (uncompressed bytes, usually JSON).
    pub fn compress(format: u32, head: Head, state: &[u8]) -> Result<Self, SnapshotError> {
        let compressed = zstd::bulk::compress(state, Self::LEVEL)
            .map_err(|error| SnapshotError::Compressed { reason: error.to_string() })?;
        let checksum = checksum(format, &head, &compressed);
        Ok(Self { format, version: head.version, head, checksum, state: compressed.into() })
    }

    /// Returns true if the bytes match the checksum.
    pub fn is_whole(&self) -> bool {
        self.version == self.head.version && self.checksum == checksum(self.format, &self.head, &self.state)
    }

    /// Returns the uncompressed bytes. Errors: the checksum differs, or there are more than `max_bytes`.
    pub fn decompress(&self, max_bytes: usize) -> Result<Vec<u8>, SnapshotError> {
        if !self.is_whole() {
            return Err(SnapshotError::Damaged);
        }
        let size = zstd::bulk::Decompressor::upper_bound(&self.state).unwrap_or(max_bytes).min(max_bytes);
        zstd::bulk::decompress(&self.state, size)
            .map_err(|error| SnapshotError::Unpacked { max_bytes, reason: error.to_string() })
    }
}

/// Computes the checksum; unambiguous, as each field before the state has a fixed length.
fn checksum(format: u32, head: &Head, state: &[u8]) -> Hash {
    let digest = Sha256::new().chain_update(format.to_be_bytes()).chain_update(head.version.to_be_bytes());
    let digest = digest.chain_update(head.hash.0).chain_update(head.recorded_at.to_be_bytes());
    Hash(digest.chain_update(state).finalize().into())
}

/// Returns the versions of snapshots to delete, out of a notebook's sorted versions. A snapshot is deleted if the gap it leaves is not
/// larger than its age in versions, nor than `max_gap`. The first and the last stay. Going back by any distance costs at most a few times
/// that distance, and never more than `max_gap`.
pub fn superfluous(versions: &[Version], max_gap: Version) -> Vec<Version> {
    let Some(newest) = versions.last() else { return Vec::new() };
    let mut next_kept = *newest;
    let mut superfluous = Vec::new();
    for pair in versions.windows(2).rev().skip(1) {
        let (older, version) = (pair[0], pair[1]);
        if next_kept - older <= max_gap.min(newest - version) {
            superfluous.push(version);
        } else {
            next_kept = version;
        }
    }
    superfluous
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_snapshots_all_stay() {
        for versions in [&[][..], &[5], &[1, 2], &[1, 2, 4], &[100, 200, 300]] {
            assert_eq!(superfluous(versions, Version::MAX), [0; 0], "{versions:?}");
        }
    }

    #[test]
    fn the_older_the_sparser() {
        assert_eq!(superfluous(&[100, 200, 300, 400, 500, 600], Version::MAX), [400, 300, 200]);
        assert_eq!(superfluous(&[100, 200, 300, 400, 500, 600], 200), [400, 200], "no gap is larger than 200");
    }

    #[test]
    fn a_long_life_leaves_few() {
        let mut kept: Vec<Version> = Vec::new();
        for version in (1..=10_000).map(|number| number * 500) {
            kept.push(version);
            let gone = superfluous(&kept, MAX_SNAPSHOT_GAP);
            kept.retain(|version| !gone.contains(version));
            // Upper bound: one snapshot in each half of the largest gap, and log2 of the length near the end.
            assert!(kept.len() as Version <= 2 * version / MAX_SNAPSHOT_GAP + 20, "{kept:?}");
            assert!(kept.windows(2).all(|pair| pair[1] - pair[0] <= MAX_SNAPSHOT_GAP), "{kept:?}");
            assert_eq!(kept.last(), Some(&version));
        }
        // Going back by any distance costs at most a few times that distance.
        let newest = 10_000 * 500;
        for age in [500, 5_000, 50_000, 500_000] {
            let from = kept.iter().rev().find(|kept| **kept <= newest - age).copied().unwrap_or(0);
            assert!(newest - age - from <= age * 4, "{age}: {kept:?}");
        }
    }
}
