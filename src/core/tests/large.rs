//! Large notebooks: short order keys, and undo of thousands of cells. `notarium-bench core` measures their costs.

use crate::support::*;

fn of_cells(count: usize) -> World {
    let cells: Vec<_> = (0..count).map(|index| insert(&format!("cell-{index}"), "code", "x = 1")).collect();
    let mut world = World::new();
    let mut commands = vec![json!({"CreateNotebook": {"title": "Large"}})];
    commands.extend(cells);
    world.step(&user("ann"), json!({"Batch": {"commands": commands}}));
    world
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
    world.step(&user("ann"), json!({"Undo": {"correlation_id": "command-1"}}));
    assert_eq!(world.order().len(), 0);
    world.step(&user("ann"), json!({"Redo": {}}));
    assert_eq!((before, world.order().len()), (2_000, 2_000));
    assert_eq!(world.source("cell-5"), "x = 1");
}
