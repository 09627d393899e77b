//! A keystroke costs the same in a small notebook and in a large one.

use crate::edits::edit;
use crate::support::*;

fn of_cells(count: usize) -> World {
    let cells: Vec<_> = (0..count).map(|index| insert(&format!("cell-{index}"), "code", "x = 1")).collect();
    let mut world = World::new();
    let mut commands = vec![json!({"CreateNotebook": {"title": "Large"}})];
    commands.extend(cells);
    world.step(&user("ann"), json!({"Batch": {"commands": commands}}));
    world
}

/// Time of `count` keystrokes in one cell, decided and applied.
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test measures")]
fn time_of_keystrokes(world: &mut World, count: usize) -> std::time::Duration {
    let (base, mut length) = (world.version(), world.source("cell-5").len());
    let commands: Vec<_> = (0..count)
        .map(|index| {
            let change = json!([length, [0, "x"]]);
            length += 1;
            world.command(&edit("cell-5", base + index as u64, change))
        })
        .collect();
    let start = std::time::Instant::now();
    for command in commands {
        world.submit(&user("ann"), None, command).unwrap();
    }
    start.elapsed()
}

#[test]
fn a_keystroke_costs_no_walk_over_the_cells() {
    // The best of five: the machine may be busy.
    let best = |world: &mut World| (0..5).map(|_| time_of_keystrokes(world, 100)).min().unwrap();
    let small = best(&mut of_cells(10));
    let large = best(&mut of_cells(10_000));
    assert!(large < small * 8, "10 cells: {small:?}, 10,000 cells: {large:?} for 100 keystrokes");
}

#[test]
fn ten_thousand_cells_at_the_end_have_short_keys_that_stay() {
    let world = of_cells(10_000);
    let longest = world.notebook.cells.values().map(|cell| cell.content.order_key.as_str().len()).max();
    assert_eq!(longest, Some(4));
    assert_eq!(world.order()[9_999], "cell-9999");
}

#[test]
fn two_thousand_cells_at_one_place_have_short_keys() {
    let mut world = of_cells(2);
    for index in 0..2_000 {
        let place =
            json!({"InsertCell": {"cell_id": format!("n{index}"), "cell_type": "code", "place": {"after": "cell-0"}}});
        world.step(&user("ann"), place);
    }
    let longest = world.notebook.cells.values().map(|cell| cell.content.order_key.as_str().len()).max();
    assert_eq!(longest, Some(5));
    assert_eq!(&world.order()[..2], ["cell-0", "n1999"]);
}

#[test]
fn an_import_of_two_thousand_cells_is_undone_and_redone_at_once() {
    let mut world = of_cells(2_000);
    let before = world.order().len();
    world.step(&user("ann"), json!({"Undo": {}}));
    assert_eq!(world.order().len(), 0);
    world.step(&user("ann"), json!({"Redo": {}}));
    assert_eq!((before, world.order().len()), (2_000, 2_000));
    assert_eq!(world.source("cell-5"), "x = 1");
}

/// Each cell that comes back is found in the history at once: a walk for each took four times as long as the undo.
#[test]
#[allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test measures")]
fn a_redo_of_thousands_of_cells_takes_no_longer_than_their_undo() {
    let mut world = of_cells(8_000);
    let mut time = |command: serde_json::Value| {
        let start = std::time::Instant::now();
        world.step(&user("ann"), command);
        start.elapsed()
    };
    let (undo, redo) = (time(json!({"Undo": {}})), time(json!({"Redo": {}})));
    assert!(redo < undo * 5 / 2, "undo {undo:?}, redo {redo:?}");
}
