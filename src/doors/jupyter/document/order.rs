//! Order of cells: which entries of a list may stay when it becomes another order.

/// The largest set of entries that are in order already. `places[i]` is the place that entry `i` should have; `None` leaves, and so
/// does the second of two entries with one place.
pub fn kept_in_order(places: &[Option<usize>]) -> Vec<bool> {
    // Patience sorting: `tails[n]` is the entry that ends the best increasing run of n + 1 entries.
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; places.len()];
    let mut seen = std::collections::BTreeSet::new();
    for (entry, place) in places.iter().enumerate() {
        let Some(place) = place.filter(|place| seen.insert(*place)) else { continue };
        let length = tails.partition_point(|tail| places[*tail] < Some(place));
        before[entry] = length.checked_sub(1).map(|last| tails[last]);
        match tails.get_mut(length) {
            Some(tail) => *tail = entry,
            None => tails.push(entry),
        }
    }
    let mut kept = vec![false; places.len()];
    let mut entry = tails.last().copied();
    while let Some(index) = entry {
        kept[index] = true;
        entry = before[index];
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(places: &[Option<usize>]) -> Vec<usize> {
        let kept = kept_in_order(places);
        (0..places.len()).filter(|index| kept[*index]).collect()
    }

    #[test]
    fn a_move_moves_one_entry() {
        assert_eq!(kept(&[Some(1), Some(2), Some(3), Some(0)]), [0, 1, 2]);
        assert_eq!(kept(&[Some(3), Some(0), Some(1), Some(2)]), [1, 2, 3]);
    }

    #[test]
    fn strangers_and_doubles_leave() {
        assert_eq!(kept(&[Some(0), None, Some(0), Some(1)]), [0, 3]);
        assert_eq!(kept(&[None, None]), [] as [usize; 0]);
    }
}
