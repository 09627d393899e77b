//! Access: roles and operations, scopes, grants, and refusals by kind of actor.

use std::fmt::Write as _;

use crate::support::*;
use notarium_core::{AccountStatus, Operation, RejectionCode as Code, Role, Scope};

/// The table, written out by hand. Columns: viewer, commenter, runner, author, editor, owner, agent.
const TABLE: [(Operation, &str, Scope); 18] = [
    (Operation::Read, "yes yes yes yes yes yes yes", Scope::Read),
    (Operation::ShowPresence, "yes yes yes yes yes yes yes", Scope::Read),
    (Operation::Comment, "- yes yes yes yes yes -", Scope::Edit),
    (Operation::Moderate, "- - - - - yes -", Scope::Edit),
    (Operation::Edit, "- - - yes yes yes -", Scope::Edit),
    (Operation::Run, "- - yes - yes yes -", Scope::Run),
    (Operation::ControlKernel, "- - yes - yes yes -", Scope::Run),
    (Operation::AnswerInput, "- - yes - yes yes -", Scope::Run),
    (Operation::Converse, "- yes yes yes yes yes -", Scope::Edit),
    (Operation::ConfirmEdit, "- - - yes yes yes -", Scope::Confirm),
    (Operation::Confirm, "- - - - yes yes -", Scope::Confirm),
    (Operation::Organise, "- - - - yes yes -", Scope::Edit),
    (Operation::Archive, "- - - - yes yes -", Scope::Edit),
    (Operation::Share, "- - - - - yes -", Scope::Manage),
    (Operation::SetPolicy, "- - - - - yes -", Scope::Manage),
    (Operation::Redact, "- - - - - yes -", Scope::Manage),
    (Operation::Erase, "- - - - - yes -", Scope::Manage),
    (Operation::ReportExecution, "- - - - - - yes", Scope::Agent),
];

const COLUMNS: [Role; 7] =
    [Role::Viewer, Role::Commenter, Role::Runner, Role::Author, Role::Editor, Role::Owner, Role::Agent];

#[test]
fn each_role_may_do_what_its_row_says() {
    assert_eq!(TABLE.map(|row| row.0), Operation::ALL, "every operation has its row");
    assert_eq!(COLUMNS, Role::ALL, "every role has its column");
    for (operation, row, scope) in TABLE {
        let expected: Vec<bool> = row.split(' ').map(|word| word == "yes").collect();
        let actual = COLUMNS.map(|role| operation.is_open_to(role));
        assert_eq!(actual, *expected, "{operation:?}");
        assert_eq!(operation.scope(), scope, "{operation:?}");
    }
}

/// One command for each operation that commands need.
fn command_of(operation: Operation) -> Option<serde_json::Value> {
    Some(match operation {
        Operation::Comment => json!({"AddComment": {"target": {"cell": {"cell_id": "a"}}, "text": "x"}}),
        Operation::Edit => json!({"SetCellFlags": {"cell_id": "a", "flags": {"pinned": true}}}),
        Operation::Run => request("a", "run"),
        Operation::ControlKernel => json!({"StopAll": {}}),
        Operation::AnswerInput => json!({"AnswerInput": {"execution_id": "run-a", "value": "x"}}),
        Operation::Organise => json!({"SetReactivity": {"reactivity": "lazy"}}),
        Operation::Archive => json!({"ArchiveNotebook": {}}),
        Operation::Share => grant("user", "new", "viewer"),
        Operation::ReportExecution => json!({"ReconcileKernels": {"alive": []}}),
        Operation::Read => json!({"Batch": {"commands": []}}),
        _ => return None,
    })
}

fn name_of(role: Role) -> String {
    serde_json::to_value(role).unwrap().as_str().unwrap().to_owned()
}

/// An actor of the role: by grant; agents and owners by other ways.
fn somebody(role: Role) -> Who {
    match role {
        Role::Agent => agent("gpu"),
        Role::Owner => user("ann"),
        role => user(&name_of(role)),
    }
}

#[test]
fn decide_follows_the_table_for_every_role() {
    for (operation, row, scope) in TABLE {
        let Some(command) = command_of(operation) else { continue };
        for (role, word) in COLUMNS.into_iter().zip(row.split(' ')) {
            let mut world = asking();
            let judged = world.try_do(&somebody(role), &command);
            let is_forbidden = judged.as_ref().is_err_and(|rejection| rejection.code == Code::Forbidden);
            assert_eq!(is_forbidden, word != "yes", "{role:?} {operation:?}: {judged:?}");
            assert!(is_forbidden || judged.is_ok(), "{role:?} {operation:?}: {judged:?}");
            // The role alone is not enough: the token must have the scope too.
            let everything_else: Vec<Scope> =
                somebody(role).authority.scopes.into_iter().filter(|other| *other != scope).collect();
            let narrow = somebody(role).with_scopes(&everything_else);
            assert_eq!(
                asking().try_do(&narrow, &command).unwrap_err().code,
                Code::Forbidden,
                "{role:?} without {scope:?}"
            );
        }
    }
}

#[test]
fn somebody_without_a_role_does_not_learn_that_the_notebook_exists() {
    for who in [user("stranger"), guest("other"), agent("gpu").with_scopes(&[Scope::Agent]), assistant_of("stranger")] {
        let mut who = who;
        who.authority.ambient_role = None;
        for (operation, ..) in TABLE {
            let Some(command) = command_of(operation) else { continue };
            let code = asking().try_do(&who, &command).unwrap_err().code;
            let expected = match (&who.actor, operation) {
                (notarium_core::Actor::Assistant { .. }, Operation::Share) => Code::Forbidden,
                _ => Code::UnknownNotebook,
            };
            assert_eq!(code, expected, "{who:?} {operation:?}");
        }
    }
}

#[test]
fn an_expired_grant_gives_nothing() {
    let mut world = created();
    let until = world.now + 3;
    world.step(
        &user("ann"),
        json!({"GrantAccess": {"subject": {"kind": "user", "id": "bo"}, "role": "editor", "expires_at": until}}),
    );
    let edit = insert("n", "code", "");
    world.step(&user("bo"), edit);
    assert_eq!(world.now, until - 1);
    let late = world.try_do(&user("bo"), &insert("m", "code", ""));
    assert_eq!(late.unwrap_err().code, Code::UnknownNotebook, "at the very millisecond");
}

#[test]
fn a_revoked_grant_gives_nothing() {
    let mut world = shared();
    world.step(&user("ann"), json!({"RevokeAccess": {"subject": {"kind": "user", "id": "editor"}}}));
    assert_eq!(world.try_do(&user("editor"), &insert("n", "code", "")).unwrap_err().code, Code::UnknownNotebook);
}

#[test]
fn a_guest_has_what_the_share_link_gives() {
    let mut world = with_cells();
    world.step(&guest("link"), insert("n", "code", ""));
    assert_eq!(world.try_do(&guest("other"), &insert("m", "code", "")).unwrap_err().code, Code::UnknownNotebook);
    world.step(&guest("other").with_role(Role::Editor), insert("m", "code", ""));
}

#[test]
fn a_guest_who_edits_does_not_archive() {
    let editor = guest("link").with_role(Role::Editor);
    let unarchive = json!({"UnarchiveNotebook": {}});
    let mut world = with_cells();
    world.step(&editor, json!({"NameVersion": {"version": 1, "name": "Start"}}));
    for command in [json!({"ArchiveNotebook": {}}), json!({"Batch": {"commands": [{"ArchiveNotebook": {}}]}})] {
        assert_eq!(world.try_do(&editor, &command).unwrap_err().code, Code::Forbidden);
    }
    let mut world = world.with(&user("ann"), json!({"ArchiveNotebook": {}}));
    assert_eq!(world.try_do(&editor, &unarchive).unwrap_err().code, Code::Forbidden);
    world.step(&user("ann"), unarchive);
}

#[test]
fn roles_from_grant_and_workspace_add_up() {
    let mut world = started();
    let both = user("author").with_role(Role::Runner);
    world.step(&both, insert("n", "code", "1"));
    world.step(&both, request("n", "run-n"));
    let more = user("viewer").with_role(Role::Editor);
    world.step(&more, insert("m", "code", "1"));
}

#[test]
fn an_assistant_has_its_persons_rights_but_shares_nothing() {
    let mut world = started();
    let create = json!({"RequestToolCall": {"function": "create_cell", "arguments": {"source": "1"}}});
    let run = json!({"RequestToolCall": {"function": "execute_cell_async", "arguments": {"cell_id": "a", "cell_version": "$a"}}});
    world.step(&assistant_of("editor"), create.clone());
    world.step(&assistant_of("editor"), run.clone());
    world.step(&assistant_of("author"), create.clone());
    assert_eq!(world.try_do(&assistant_of("author"), &run).unwrap_err().code, Code::Forbidden);
    assert_eq!(world.try_do(&assistant_of("viewer"), &create).unwrap_err().code, Code::Forbidden);
    assert_eq!(world.try_do(&assistant_of("ann"), &grant("user", "new", "owner")).unwrap_err().code, Code::Forbidden);
}

#[test]
fn what_a_workspace_is_granted_its_members_may() {
    let mut world = created();
    world.step(&user("ann"), grant("workspace", "lab", "runner"));
    world.step(&user("ann"), insert("c", "code", "1"));
    let refused = |world: &mut World, who: &Who| world.try_do(who, &request("c", "r")).map(drop).unwrap_err().code;
    assert_eq!(refused(&mut world, &user("bo")), Code::UnknownNotebook);
    assert_eq!(refused(&mut world, &user("bo").member_of("other")), Code::UnknownNotebook);
    let bo = user("bo").member_of("lab");
    assert_eq!(
        world.try_do(&bo, &insert("d", "code", "")).unwrap_err().code,
        Code::Forbidden,
        "a runner edits nothing"
    );
    world.step(&bo, request("c", "r"));
    // The workspace's role adds up with an own grant, and ends with its revocation.
    world.step(&user("ann"), grant("user", "bo", "author"));
    world.step(&bo, insert("d", "code", "2"));
    world.step(&bo, request("d", "s"));
    world.step(&user("ann"), json!({"RevokeAccess": {"subject": {"kind": "workspace", "id": "lab"}}}));
    assert_eq!(refused(&mut world, &bo), Code::Forbidden);
}

#[test]
fn the_server_itself_may_act_but_not_in_a_notebook_that_is_not_there() {
    started().step(&system(), json!({"StopAll": {}}));
    assert_eq!(World::new().try_do(&system(), &json!({"StopAll": {}})).unwrap_err().code, Code::UnknownNotebook);
}

/// A world with ended and unknown accounts, links, agents and workspaces.
fn left() -> World {
    let mut world = shared();
    let subject = |kind: &str, id: &str| serde_json::from_value(json!({"kind": kind, "id": id})).unwrap();
    let ended = || AccountStatus::Ended { name: "Cy".to_owned() };
    for (kind, id) in [("user", "cy"), ("share_link", "old"), ("agent", "old")] {
        world.standings.insert(subject(kind, id), ended());
    }
    for (kind, id) in [("user", "nobody"), ("share_link", "no"), ("agent", "no"), ("workspace", "no")] {
        world.standings.insert(subject(kind, id), AccountStatus::Unknown);
    }
    world
}

/// A world in which Ann's account has ended.
pub fn orphaned() -> World {
    let mut world = left();
    let ended = AccountStatus::Ended { name: "Ann".to_owned() };
    world.standings.insert(serde_json::from_value(json!({"kind": "user", "id": "ann"})).unwrap(), ended);
    world
}

fn take_over(from: &str, to: &str) -> serde_json::Value {
    json!({"TakeOverNotebook": {"from": from, "to": to}})
}

#[test]
fn a_right_for_nobody_is_refused_with_what_to_do() {
    let refusal = |kind: &str, id: &str, role: &str| {
        let rejection = left().try_do(&user("ann"), &grant(kind, id, role)).unwrap_err();
        (rejection.code, rejection.message)
    };
    let (code, message) = refusal("user", "cy", "owner");
    assert_eq!(code, Code::SubjectEnded);
    assert!(message.starts_with("the account of Cy is deactivated: choose somebody else"), "{message}");
    let (code, message) = refusal("user", "nobody", "viewer");
    assert_eq!(code, Code::UnknownSubject);
    assert!(message.contains("/api/people?login=") && message.contains("share link"), "{message}");
    for (kind, role) in [("share_link", "viewer"), ("agent", "agent")] {
        assert_eq!(refusal(kind, "old", role).0, Code::SubjectEnded);
        assert_eq!(refusal(kind, "no", role).0, Code::UnknownSubject);
    }
    assert_eq!(refusal("workspace", "no", "viewer").0, Code::UnknownSubject);
}

#[test]
fn somebody_who_may_not_share_does_not_learn_who_has_an_account() {
    let code = |who: &Who, id: &str| left().try_do(who, &grant("user", id, "viewer")).unwrap_err().code;
    assert_eq!(code(&user("editor"), "nobody"), Code::Forbidden);
    assert_eq!(code(&user("stranger"), "nobody"), Code::UnknownNotebook);
}

#[test]
fn who_has_left_can_still_be_taken_off_the_list() {
    let mut world = left();
    world.standings.remove(&serde_json::from_value(json!({"kind": "user", "id": "cy"})).unwrap());
    world.step(&user("ann"), grant("user", "cy", "editor"));
    world.standings.clear();
    world.step(&user("ann"), json!({"RevokeAccess": {"subject": {"kind": "user", "id": "cy"}}}));
}

#[test]
fn an_administrator_takes_over_where_the_owner_has_left_and_nowhere_else() {
    let admin = user("root");
    let mut world = orphaned();
    world.step(&admin, take_over("ann", "editor"));
    world.step(&user("editor"), grant("user", "bo", "viewer"));
    let stranger = world.try_do(&user("ann"), &insert("n", "code", ""));
    assert_eq!(stranger.unwrap_err().code, Code::UnknownNotebook, "the former owner has no role any more");
    let active = shared().try_do(&admin, &take_over("ann", "root")).unwrap_err();
    assert_eq!(active.code, Code::Forbidden);
    assert!(active.message.contains("is in use"), "{active}");
}

pub fn cases() -> Vec<Case> {
    let ann = || user("ann");
    let revoke = |id: &str| json!({"RevokeAccess": {"subject": {"kind": "user", "id": id}}});
    let two_owners = || created().with(&user("ann"), grant("user", "bo", "owner"));
    vec![
        case(created, ann(), grant("user", "bo", "editor"), events(["AccessGranted"])),
        case(created, ann(), grant("workspace", "lab", "owner"), events(["AccessGranted"])),
        case(created, ann(), grant("agent", "gpu", "agent"), events(["AccessGranted"])),
        case(shared, ann(), grant("user", "editor", "editor"), nothing()),
        case(shared, ann(), grant("user", "editor", "viewer"), events(["AccessGranted"])),
        case(created, ann(), grant("agent", "gpu", "editor"), rejected(Code::InvalidValue)),
        case(created, ann(), grant("user", "bo", "agent"), rejected(Code::InvalidValue)),
        case(created, ann(), grant("share_link", "link", "owner"), rejected(Code::InvalidValue)),
        case(created, ann(), grant("user", "ann", "editor"), rejected(Code::LastOwner)),
        case(two_owners, ann(), grant("user", "ann", "editor"), events(["AccessGranted"])),
        case(
            created,
            ann(),
            json!({"GrantAccess": {"subject": {"kind": "user", "id": "ann"}, "role": "owner", "expires_at": 9_999_999}}),
            rejected(Code::LastOwner),
        ),
        case(shared, user("editor"), grant("user", "bo", "viewer"), rejected(Code::Forbidden)),
        case(shared, ann(), revoke("viewer"), events(["AccessRevoked"])),
        case(shared, ann(), revoke("nobody"), nothing()),
        case(shared, ann(), revoke("ann"), rejected(Code::LastOwner)),
        case(two_owners, ann(), revoke("ann"), events(["AccessRevoked"])),
        case(shared, user("editor"), revoke("viewer"), rejected(Code::Forbidden)),
        case(orphaned, user("root"), take_over("ann", "root"), events(["AccessGranted", "AccessRevoked"])),
        case(orphaned, user("editor"), take_over("ann", "editor"), events(["AccessGranted", "AccessRevoked"])),
        case(shared, user("root"), take_over("ann", "root"), rejected(Code::Forbidden)),
        case(
            orphaned,
            user("root").with_scopes(&[Scope::Read, Scope::Manage]),
            take_over("ann", "root"),
            rejected(Code::Forbidden),
        ),
        case(orphaned, assistant_of("root"), take_over("ann", "root"), rejected(Code::Forbidden)),
        case(orphaned, user("root"), take_over("editor", "root"), rejected(Code::InvalidValue)),
        case(orphaned, user("root"), take_over("ann", "cy"), rejected(Code::SubjectEnded)),
        case(orphaned, user("root"), take_over("ann", "nobody"), rejected(Code::UnknownSubject)),
        case(World::new, user("root"), take_over("ann", "root"), rejected(Code::UnknownNotebook)),
    ]
}

#[test]
fn every_access_command_is_accepted_or_refused_as_written() {
    check_all("access", &cases());
}

#[test]
fn the_access_list_is_bounded() {
    let mut world = created();
    world.limits.max_access_entries = 2;
    world.step(&user("ann"), grant("user", "bo", "viewer"));
    assert_eq!(world.try_do(&user("ann"), &grant("user", "cy", "viewer")).unwrap_err().code, Code::LimitExceeded);
    world.step(&user("ann"), grant("user", "bo", "editor"));
}

/// `protocol/roles.md` as the code prints it.
fn document() -> String {
    let mut text = String::from(
        "# Who may do what in a notebook\n\nPrinted by the test `roles_md_is_current` of `src/core` from the code (`NOTARIUM_BLESS=1` rewrites it). A token needs\nthe scope beside the role. Roles from the notebook's own list and from a workspace or share link add up. Only people\nuse the scope `confirm`, and no assistant uses `manage`, whatever its token says. The server itself may do everything\nelse. Who decides on a tool call also needs the right to what the call does: `confirm_edit` is for calls whose risk is\nread or edit, `confirm` for sensitive and destructive ones. An assistant has the roles of the person it acts for, and\nof that person's scopes read, edit and run alone. A guest by link archives nothing, whatever the role.\n\n| operation | scope |",
    );
    for role in Role::ALL {
        write!(text, " {} |", name_of(role)).unwrap();
    }
    text.push_str("\n| --- | --- |");
    text.push_str(&" --- |".repeat(Role::ALL.len()));
    for operation in Operation::ALL {
        let word = |value: serde_json::Value| value.as_str().unwrap().to_owned();
        let scope = word(serde_json::to_value(operation.scope()).unwrap());
        write!(text, "\n| {} | {scope} |", word(serde_json::to_value(operation).unwrap())).unwrap();
        for role in Role::ALL {
            text.push_str(if operation.is_open_to(role) { " yes |" } else { " – |" });
        }
    }
    text.push('\n');
    text
}

#[test]
fn roles_md_is_current() {
    crate::golden::check_file("roles.md", &document());
}

/// An administrator gives an orphaned notebook to somebody.
pub fn taken_over() -> World {
    let mut world = orphaned();
    world.step(&user("root"), json!({"TakeOverNotebook": {"from": "ann", "to": "bo"}}));
    world
}
