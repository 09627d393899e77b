//! The notebook as a whole.

use crate::support::*;
use notarium_core::RejectionCode as Code;

pub fn cases() -> Vec<Case> {
    let ann = || user("ann");
    let long = "x".repeat(256);
    let wide = json!({"SetNotebookMetadata": {"metadata": {"a": "x".repeat(1 << 20)}}});
    vec![
        case(World::new, ann(), json!({"CreateNotebook": {"title": " T "}}), events(["NotebookCreated"])),
        case(World::new, reactor_of("ann"), json!({"CreateNotebook": {"title": "T"}}), events(["NotebookCreated"])),
        case(World::new, assistant_of("ann"), json!({"CreateNotebook": {"title": "T"}}), rejected(Code::Forbidden)),
        case(World::new, ann(), json!({"CreateNotebook": {"title": " "}}), rejected(Code::InvalidValue)),
        case(World::new, ann(), json!({"CreateNotebook": {"title": "a\nb"}}), rejected(Code::InvalidValue)),
        case(World::new, ann(), json!({"CreateNotebook": {"title": long}}), rejected(Code::LimitExceeded)),
        case(World::new, guest("link"), json!({"CreateNotebook": {"title": "T"}}), rejected(Code::Forbidden)),
        case(World::new, agent("gpu"), json!({"CreateNotebook": {"title": "T"}}), rejected(Code::Forbidden)),
        case(World::new, system(), json!({"CreateNotebook": {"title": "T"}}), rejected(Code::Forbidden)),
        case(
            World::new,
            ann().with_scopes(&[notarium_core::Scope::Read]),
            json!({"CreateNotebook": {"title": "T"}}),
            rejected(Code::Forbidden),
        ),
        case(created, user("bo"), json!({"CreateNotebook": {"title": "T"}}), rejected(Code::NotebookExists)),
        case(World::new, ann(), json!({"RenameNotebook": {"title": "T"}}), rejected(Code::UnknownNotebook)),
        case(created, user("bo"), json!({"RenameNotebook": {"title": "T"}}), rejected(Code::UnknownNotebook)),
        case(created, ann(), json!({"RenameNotebook": {"title": "Second"}}), events(["NotebookRenamed"])),
        case(created, ann(), json!({"RenameNotebook": {"title": "First"}}), nothing()),
        case(created, ann(), json!({"RenameNotebook": {"title": ""}}), rejected(Code::InvalidValue)),
        case(created, ann(), json!({"RenameNotebook": {"title": long}}), rejected(Code::LimitExceeded)),
        case(archived, ann(), json!({"RenameNotebook": {"title": "T"}}), rejected(Code::NotebookArchived)),
        case(created, ann(), json!({"SetNotebookMetadata": {"metadata": {"a": 1}}}), events(["NotebookMetadataSet"])),
        case(created, ann(), json!({"SetNotebookMetadata": {"metadata": {}}}), nothing()),
        case(created, ann(), wide, rejected(Code::LimitExceeded)),
        case(archived, ann(), json!({"SetNotebookMetadata": {"metadata": {"a": 1}}}), rejected(Code::NotebookArchived)),
        case(created, ann(), json!({"SetReactivity": {"reactivity": "lazy"}}), events(["NotebookReactivitySet"])),
        case(created, ann(), json!({"SetReactivity": {"reactivity": "off"}}), nothing()),
        case(archived, ann(), json!({"SetReactivity": {"reactivity": "lazy"}}), rejected(Code::NotebookArchived)),
        case(shared, user("author"), json!({"SetReactivity": {"reactivity": "lazy"}}), rejected(Code::Forbidden)),
        case(created, ann(), json!({"ArchiveNotebook": {}}), events(["NotebookArchived"])),
        case(archived, ann(), json!({"ArchiveNotebook": {}}), nothing()),
        case(shared, user("author"), json!({"ArchiveNotebook": {}}), rejected(Code::Forbidden)),
        case(archived, ann(), json!({"UnarchiveNotebook": {}}), events(["NotebookUnarchived"])),
        case(created, ann(), json!({"UnarchiveNotebook": {}}), nothing()),
        case(shared, user("author"), json!({"UnarchiveNotebook": {}}), rejected(Code::Forbidden)),
        case(created, ann(), json!({"NameVersion": {"version": 1, "name": "draft"}}), events(["NotebookVersionNamed"])),
        case(created, ann(), json!({"NameVersion": {"version": 2, "name": "draft"}}), rejected(Code::VersionInFuture)),
        case(created, ann(), json!({"NameVersion": {"version": 0, "name": "draft"}}), rejected(Code::VersionInFuture)),
        case(created, ann(), json!({"NameVersion": {"version": 1, "name": "\t"}}), rejected(Code::InvalidValue)),
        case(created, ann(), json!({"NameVersion": {"version": 1, "name": long}}), rejected(Code::LimitExceeded)),
    ]
}

#[test]
fn every_lifecycle_command_is_accepted_or_refused_as_written() {
    check_all("lifecycle", &cases());
}

#[test]
fn a_title_is_trimmed_and_the_first_owner_is_who_made_it() {
    let world = World::new().with(&reactor_of("ann"), json!({"CreateNotebook": {"title": " T "}}));
    assert_eq!(world.notebook.title, "T");
    let access = serde_json::to_value(&world.notebook.access).unwrap();
    assert_eq!(access, json!([{"subject": {"kind": "user", "id": "ann"}, "role": "owner"}]));
}

#[test]
fn an_expected_version_that_is_not_the_notebooks_is_a_conflict_naming_both() {
    let mut world = created();
    let rename = || json!({"RenameNotebook": {"title": "Second"}});
    let command = world.command(&rename());
    let rejection = world.submit(&user("ann"), Some(7), command).unwrap_err();
    assert_eq!(rejection.code, Code::Conflict);
    assert_eq!((rejection.expected_version, rejection.actual_version), (Some(7), Some(1)));
    let command = world.command(&rename());
    world.submit(&user("ann"), Some(1), command).unwrap();
    assert_eq!(world.version(), 2);
}

#[test]
fn named_versions_are_bounded_but_can_be_named_anew() {
    let mut world = created();
    world.limits.max_named_versions = 1;
    world.step(&user("ann"), json!({"NameVersion": {"version": 1, "name": "draft"}}));
    let second = world.try_do(&user("ann"), &json!({"NameVersion": {"version": 2, "name": "final"}}));
    assert_eq!(second.unwrap_err().code, Code::LimitExceeded);
    world.step(&user("ann"), json!({"NameVersion": {"version": 1, "name": "better"}}));
    let again = world.try_do(&user("ann"), &json!({"NameVersion": {"version": 1, "name": "better"}}));
    assert_eq!(again.unwrap().0, []);
}

#[test]
fn time_never_goes_back_in_the_log() {
    let mut world = created();
    world.now = 5;
    world.step(&user("ann"), json!({"RenameNotebook": {"title": "Second"}}));
    assert_eq!(world.log[1].envelope.recorded_at, world.log[0].envelope.recorded_at);
    assert_eq!(world.notebook.updated_at, world.log[0].envelope.recorded_at);
}
