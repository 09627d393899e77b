//! Which snapshots are worth keeping: the closer to the end, the denser.

use notarium_record::Version;

/// Of the versions of a notebook's snapshots (in order), those to delete: where the hole that one leaves is not larger than
/// its own age in versions. The first and the last stay. About log2 of the notebook's length stay, and going back by any
/// distance costs at most a few times that distance.
pub(crate) fn superfluous(versions: &[Version]) -> Vec<Version> {
    let Some(newest) = versions.last() else { return Vec::new() };
    let mut next_kept = *newest;
    let mut superfluous = Vec::new();
    for pair in versions.windows(2).rev().skip(1) {
        let (older, version) = (pair[0], pair[1]);
        if next_kept - older <= newest - version {
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
            assert_eq!(superfluous(versions), [0; 0], "{versions:?}");
        }
    }

    #[test]
    fn the_older_the_sparser() {
        assert_eq!(superfluous(&[100, 200, 300, 400, 500, 600]), [400, 300, 200]);
    }

    #[test]
    fn a_long_life_leaves_few() {
        let mut kept: Vec<Version> = Vec::new();
        for version in (1..=10_000).map(|number| number * 500) {
            kept.push(version);
            let gone = superfluous(&kept);
            kept.retain(|version| !gone.contains(version));
            assert!(kept.len() <= 20, "{kept:?}");
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
