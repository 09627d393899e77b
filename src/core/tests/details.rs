//! Facts of refusals: what a client needs of a rejection stands in its fields.

use serde_json::{Value, json};

use crate::support::*;
use notarium_core::{LimitName, RejectionDetails as Details, Role, Scope};

fn details(world: &mut World, who: &Who, command: &Value) -> Option<Details> {
    let rejection = world.try_do(who, command).unwrap_err();
    rejection.details.map(|details| *details)
}

#[test]
fn a_missing_role_or_scope_is_named() {
    let mut world = shared();
    let edit = insert("n", "code", "1");
    assert_eq!(details(&mut world, &user("viewer"), &edit), Some(Details::MissingRight { role: Role::Viewer }));
    let narrow = user("ann").with_scopes(&[Scope::Read]);
    assert_eq!(details(&mut world, &narrow, &edit), Some(Details::MissingScope { scope: Scope::Edit }));
}

#[test]
fn a_limit_has_its_name_and_its_value() {
    let mut world = with_cells();
    world.limits.max_source_bytes = 3;
    let long = insert("n", "code", "1234");
    assert_eq!(details(&mut world, &user("ann"), &long), Some(LimitName::Source.details(3)));
    world.limits.max_cells = 1;
    assert_eq!(details(&mut world, &user("ann"), &insert("n", "code", "1")), Some(LimitName::Cells.details(1)));
    let written = serde_json::to_value(LimitName::Source.details(3)).unwrap();
    assert_eq!(written, json!({"kind": "limit", "limit": "source", "max": 3, "unit": "bytes"}));
}

#[test]
fn nothing_to_undo_differs_from_nothing_to_redo() {
    let mut world = with_cells();
    assert_eq!(details(&mut world, &user("editor"), &json!({"Redo": {}})), Some(Details::NothingToRedo));
    let mut world = shared();
    assert_eq!(details(&mut world, &user("editor"), &json!({"Undo": {}})), Some(Details::NothingToUndo));
}
