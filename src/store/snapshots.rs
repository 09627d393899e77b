//! Snapshots: content, checksum, and thinning out (denser towards the end). Most hold the difference to an earlier one that is whole.

use std::io::{Read, Write};

use bytes::Bytes;
use notarium_record::{Hash, Head, Version};
use sha2::{Digest, Sha256};

/// Maximum gap between two snapshots after thinning out, in events: the maximum that a read of an old version replays.
pub const MAX_SNAPSHOT_GAP: Version = 10_000;

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
    /// Version of the snapshot whose state is the beginning that zstd refers to. `None`: this one stands by itself. A base always does.
    pub base: Option<Version>,
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
    #[error("it holds the difference to the snapshot at version {base}")]
    Difference { base: Version },
    #[error("it does not unpack within {max_bytes} bytes: {reason}")]
    Unpacked { max_bytes: usize, reason: String },
}

impl Snapshot {
    /// zstd level 3: the best trade-off for JSON.
    const LEVEL: i32 = 3;

    /// Largest window of zstd, as a power of two: differences of larger states find less in their bases.
    const MAX_WINDOW_LOG: u32 = 27;

    /// Compresses `state` (uncompressed bytes, usually JSON).
    pub fn compress(format: u32, head: Head, state: &[u8]) -> Result<Self, SnapshotError> {
        let compressed = zstd::bulk::compress(state, Self::LEVEL)
            .map_err(|error| SnapshotError::Compressed { reason: error.to_string() })?;
        Ok(Self::of(format, head, None, compressed))
    }

    /// Compresses the difference of `state` to `base_state`, the state of the snapshot at version `base`, which has no base itself.
    pub fn difference(
        format: u32,
        head: Head,
        state: &[u8],
        (base, base_state): (Version, &[u8]),
    ) -> Result<Self, SnapshotError> {
        let compressed =
            with_prefix(state, base_state).map_err(|error| SnapshotError::Compressed { reason: error.to_string() })?;
        Ok(Self::of(format, head, Some(base), compressed))
    }

    fn of(format: u32, head: Head, base: Option<Version>, compressed: Vec<u8>) -> Self {
        let checksum = checksum(format, &head, base, &compressed);
        Self { format, version: head.version, head, checksum, base, state: compressed.into() }
    }

    /// Returns true if the bytes match the checksum.
    pub fn is_whole(&self) -> bool {
        self.version == self.head.version && self.checksum == checksum(self.format, &self.head, self.base, &self.state)
    }

    /// Returns the uncompressed bytes of a snapshot that stands by itself. Errors: the checksum differs, it has a base, or there are more than
    /// `max_bytes`.
    pub fn decompress(&self, max_bytes: usize) -> Result<Vec<u8>, SnapshotError> {
        if !self.is_whole() {
            return Err(SnapshotError::Damaged);
        }
        if let Some(base) = self.base {
            return Err(SnapshotError::Difference { base });
        }
        let size = zstd::bulk::Decompressor::upper_bound(&self.state).unwrap_or(max_bytes).min(max_bytes);
        zstd::bulk::decompress(&self.state, size)
            .map_err(|error| SnapshotError::Unpacked { max_bytes, reason: error.to_string() })
    }

    /// Returns the uncompressed bytes of a difference. `base_state`: those of its base.
    pub fn decompress_after(&self, base_state: &[u8], max_bytes: usize) -> Result<Vec<u8>, SnapshotError> {
        if !self.is_whole() {
            return Err(SnapshotError::Damaged);
        }
        let unpacked = || -> std::io::Result<Vec<u8>> {
            let mut decoder = zstd::Decoder::with_ref_prefix(&self.state[..], base_state)?;
            decoder.window_log_max(Self::MAX_WINDOW_LOG + 1)?;
            let mut bytes = Vec::new();
            decoder.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        match unpacked() {
            Ok(bytes) if bytes.len() <= max_bytes => Ok(bytes),
            Ok(_) => Err(SnapshotError::Unpacked { max_bytes, reason: "there are more".to_owned() }),
            Err(error) => Err(SnapshotError::Unpacked { max_bytes, reason: error.to_string() }),
        }
    }
}

/// Compresses `state` as what follows `prefix`.
fn with_prefix(state: &[u8], prefix: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::with_ref_prefix(Vec::new(), Snapshot::LEVEL, prefix)?;
    let window = (state.len() + prefix.len()).next_power_of_two().trailing_zeros();
    encoder.window_log(window.clamp(20, Snapshot::MAX_WINDOW_LOG))?;
    encoder.long_distance_matching(true)?;
    // A state of another prefix is told from this one.
    encoder.include_checksum(true)?;
    encoder.set_pledged_src_size(Some(state.len() as u64))?;
    encoder.write_all(state)?;
    encoder.finish()
}

/// Computes the checksum; unambiguous, as each field before the state has a fixed length.
fn checksum(format: u32, head: &Head, base: Option<Version>, state: &[u8]) -> Hash {
    let digest = Sha256::new().chain_update(format.to_be_bytes()).chain_update(head.version.to_be_bytes());
    let mut digest = digest.chain_update(head.hash.0).chain_update(head.recorded_at.to_be_bytes());
    // Those that stand by themselves have the checksum that they always had.
    if let Some(base) = base {
        digest.update(b"base");
        digest.update(base.to_be_bytes());
    }
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

/// Returns the versions to delete, out of a notebook's snapshots with their bases, sorted: the [`superfluous`] ones, but for the bases of those
/// that stay.
pub fn thinned_out(snapshots: &[(Version, Option<Version>)], max_gap: Version) -> Vec<Version> {
    let versions: Vec<Version> = snapshots.iter().map(|(version, _)| *version).collect();
    let mut superfluous = superfluous(&versions, max_gap);
    let kept = snapshots.iter().filter(|(version, _)| !superfluous.contains(version));
    let bases: Vec<Version> = kept.filter_map(|(_, base)| *base).collect();
    superfluous.retain(|version| !bases.contains(version));
    superfluous
}

/// Returns the versions to delete, out of sorted ones, so that neighbours are at most `max_gap` apart where they were before. The first and the
/// last stay.
pub fn within_gap(versions: &[Version], max_gap: Version) -> Vec<Version> {
    let mut kept = versions.first().copied().unwrap_or(0);
    let mut superfluous = Vec::new();
    for pair in versions.get(1..).unwrap_or_default().windows(2) {
        if pair[1] - kept <= max_gap {
            superfluous.push(pair[0]);
        } else {
            kept = pair[0];
        }
    }
    superfluous
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(version: Version) -> Head {
        Head { version, hash: Hash([3; 32]), recorded_at: 5 }
    }

    /// Text that does not compress by itself.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state.to_be_bytes()[0]
        };
        std::iter::repeat_with(next).take(length).collect()
    }

    #[test]
    fn a_difference_is_small_and_gives_the_state_back() {
        let before = noise(3 << 20);
        let mut after = before.clone();
        after.splice(1 << 20..(1 << 20) + 10, b"something else".iter().copied());
        let base = Snapshot::compress(1, head(4), &before).unwrap();
        let difference = Snapshot::difference(1, head(9), &after, (4, &before)).unwrap();
        assert_eq!(difference.base, Some(4));
        assert!(difference.state.len() < base.state.len() / 100, "{}", difference.state.len());
        assert_eq!(difference.decompress_after(&before, after.len()).unwrap(), after);
        assert_eq!(difference.decompress(1 << 30), Err(SnapshotError::Difference { base: 4 }));
        let small = difference.decompress_after(&before, 100).unwrap_err();
        assert!(matches!(small, SnapshotError::Unpacked { max_bytes: 100, .. }), "{small}");
        let elsewhere = Snapshot { base: Some(5), ..difference };
        assert_eq!(elsewhere.decompress_after(&before, 1 << 30), Err(SnapshotError::Damaged));
    }

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
    fn a_base_stays_while_it_is_needed() {
        let snapshots =
            [(100, None), (200, Some(100)), (300, None), (400, Some(300)), (500, Some(300)), (600, Some(300))];
        assert_eq!(thinned_out(&snapshots, Version::MAX), [400, 200], "300 is the base of 600");
    }

    #[test]
    fn one_in_a_gap_stays() {
        assert_eq!(within_gap(&[], 10), [0; 0]);
        assert_eq!(within_gap(&[1, 4, 7, 12, 13], 10), [4, 12]);
        let mut kept: Vec<Version> = Vec::new();
        for version in (1..=1_000).map(|number| number * 7) {
            kept.push(version);
            let gone = within_gap(&kept, 100);
            kept.retain(|version| !gone.contains(version));
            assert!(kept.len() as Version <= 2 * version / 100 + 2, "{kept:?}");
            assert!(kept.windows(2).all(|pair| pair[1] - pair[0] <= 100), "{kept:?}");
        }
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
