//! Text that a run offers for a cell.

use crate::support::*;
use notarium_core::{Event, RejectionCode as Code};

fn offer(text: &str, replace: bool) -> serde_json::Value {
    json!({"ReportNextInput": {"execution_id": "run-a", "fence": "$fence", "text": text, "replace": replace}})
}

/// Cell `a` runs for somebody else than its owner.
fn running_for(who: &Who) -> World {
    started().with(who, request("a", "run-a")).with(&agent("gpu"), report("run-a", 1, json!({"started": {}})))
}

fn edited() -> World {
    running().with(&user("ann"), json!({"ReplaceSource": {"cell_id": "a", "cell_version": "$a", "source": "x = 3"}}))
}

fn deleted() -> World {
    running().with(&user("ann"), json!({"DeleteCell": {"cell_id": "a"}}))
}

fn scratch() -> World {
    let target = json!({"scratch": {"source": "%load x.py", "purpose": "try"}});
    let request = json!({"RequestExecution": {"execution_id": "run-a", "target": target}});
    started().with(&user("ann"), request).with(&agent("gpu"), report("run-a", 1, json!({"started": {}})))
}

pub fn cases() -> Vec<Case> {
    let gpu = || agent("gpu");
    let large = "x".repeat((1 << 20) + 1);
    vec![
        case(running, gpu(), offer("x = 2", true), events(["CellSourceEdited"])),
        case(running, gpu(), offer("x = 1", true), nothing()),
        case(running, gpu(), offer("x = 2", false), events(["CellInserted"])),
        case(finished, gpu(), offer("x = 2", true), events(["CellSourceEdited"])),
        case(edited, gpu(), offer("x = 2", true), events(["CellInserted"])),
        case(deleted, gpu(), offer("x = 2", true), rejected(Code::UnknownCell)),
        case(scratch, gpu(), offer("x = 2", false), rejected(Code::InvalidValue)),
        case(running, gpu(), offer(&large, true), rejected(Code::LimitExceeded)),
        case(running, user("ann"), offer("x = 2", true), rejected(Code::Forbidden)),
        case(running, agent("other"), offer("x = 2", true), rejected(Code::StaleFence)),
        case(|| running_for(&user("runner")), gpu(), offer("x = 2", true), rejected(Code::InvalidValue)),
        case(|| running_for(&user("editor")), gpu(), offer("x = 2", true), events(["CellSourceEdited"])),
        case(|| running_for(&guest("link")), gpu(), offer("x = 2", false), events(["CellInserted"])),
    ]
}

#[test]
fn offered_text_goes_to_the_cell_of_whoever_may_edit() {
    check_all("next_input", &cases());
}

#[test]
fn the_text_stands_in_the_cell_or_below_it() {
    let mut world = running();
    world.step(&agent("gpu"), offer("# %load x.py\r\nx = 2\r", true));
    assert_eq!(world.source("a"), "# %load x.py\nx = 2\n");
    let before = world.order().len();
    let (events, _) = world.try_do(&agent("gpu"), &offer("y = 3", false)).unwrap();
    let Some(Event::CellInserted(inserted)) = events.first() else { panic!("{events:?}") };
    assert_eq!(inserted.cell.source, "y = 3");
    assert_eq!((world.order().len(), world.order()[1]), (before + 1, inserted.cell_id.as_str()), "directly below");
}
