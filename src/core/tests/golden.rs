//! Golden files in `protocol/golden`: logs stay readable, by us and by clients in other languages. `NOTARIUM_BLESS=1`
//! rewrites them. An existing event file must never change without a new schema number.
#![allow(clippy::disallowed_methods)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::edits::edit;
use crate::held_calls::assistant_in;
use crate::old_schemas::OLD_VARIANTS;
use crate::support::*;
use crate::surprises::{requests_expected, surprised};
use notarium_core::*;

pub fn protocol() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocol")
}

/// Compares a file under `protocol/` with the code's output, or writes it when blessing.
pub fn check_file(path: &str, text: &str) {
    let full = protocol().join(path);
    if std::env::var_os("NOTARIUM_BLESS").is_some() {
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(&full, text).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&full)
        .unwrap_or_else(|error| panic!("protocol/{path}: {error}; NOTARIUM_BLESS=1 writes it"));
    assert_eq!(found, text, "protocol/{path} is stale: is the change wanted? then NOTARIUM_BLESS=1");
}

pub fn names_in(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(protocol().join(folder)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A notebook in which every type of event happens.
fn life() -> World {
    let (ann, gpu) = (user("ann"), agent("gpu"));
    let mut world = World::new();
    let metadata = json!({"kernelspec": {"name": "python3"}, "big": 12345678901234567890_u64});
    world.step(&ann, json!({"Batch": {"commands": [
        {"CreateNotebook": {"title": "Täglich 😀", "metadata": metadata, "forked_from": {"notebook": "old", "version": 12}}},
        insert("a", "code", "s = '😀'\nprint(s)"),
        {"InsertCell": {"cell_id": "b", "cell_type": "markdown", "source": "# Title", "place": "start", "metadata": {"tags": ["x"]},
            "attachments": {"f.png": {"image/png": "AA=="}}, "flags": {"pinned": true, "bookmark": 3}}},
    ]}}));
    world.step(&ann, json!({"RenameNotebook": {"title": "Daily"}}));
    world.step(&ann, json!({"SetNotebookMetadata": {"metadata": {}}}));
    world.step(
        &ann,
        json!({"GrantAccess": {"subject": {"kind": "user", "id": "bo"}, "role": "editor", "expires_at": 2_000_000}}),
    );
    world.step(&ann, json!({"GrantAccess": {"subject": {"kind": "share_link", "id": "link"}, "role": "viewer"}}));
    world.step(&ann, json!({"RevokeAccess": {"subject": {"kind": "share_link", "id": "link"}}}));
    let base = world.version();
    world.step(&ann, edit("a", base, json!([5, [2, "🦀"], 10])));
    world.step(&user("bo"), edit("a", base, json!([17, [0, "", "# late", ""]])));
    world.step(&ann, json!({"MoveCell": {"cell_id": "b", "place": "end"}}));
    world.step(&ann, json!({"ChangeCellType": {"cell_id": "b", "cell_type": "raw"}}));
    world.step(&ann, json!({"SetCellMetadata": {"cell_id": "b", "metadata": {"k": 1.50}}}));
    world.step(&ann, json!({"SetCellAttachments": {"cell_id": "b", "attachments": null}}));
    world.step(&ann, json!({"SetCellFlags": {"cell_id": "b", "flags": {"pinned": false, "skipped": true}}}));
    world.step(&user("bo"), json!({"SetCellFlags": {"cell_id": "b", "flags": {"exported": true}}}));
    world.step(&ann, json!({"Undo": {}}));
    world.step(&ann, json!({"Undo": {"steps": 2}}));
    world.step(&ann, json!({"Redo": {}}));
    world.step(&ann, json!({"NameVersion": {"version": 5, "name": "draft"}}));
    runs(&mut world, &ann, &gpu);
    world.step(&ann, json!({"ArchiveNotebook": {}}));
    world.step(&ann, json!({"UnarchiveNotebook": {}}));
    crate::moved_outputs::moved(&mut world, &ann);
    world.step(&ann, json!({"RestoreNotebook": {"version": 5}}));
    world
}

/// Launches a kernel and starts it.
fn start_kernel(world: &mut World, ann: &Who, gpu: &Who) {
    let session = world.step(ann, json!({"LaunchKernel": {}})).kernel_session.unwrap();
    world.name("kernel", format!("\"{session}\""));
    world.step(gpu, json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}));
    let info = json!({"name": "python", "version": "3.11"});
    let sandbox =
        json!({"file_system": true, "processes": true, "network": "all", "by": ["landlock 7"], "effects": "held"});
    let started = json!({"kernel_session": "$kernel", "language_info": info, "sandbox": sandbox});
    world.step(gpu, json!({"ReportKernelStarted": started}));
    let version = world.version();
    world.name("fence", version);
}

fn runs(world: &mut World, ann: &Who, gpu: &Who) {
    start_kernel(world, ann, gpu);
    world.step(ann, json!({"RequestExecution": {"execution_id": "run-1", "target": {"cell": {"cell_id": "a"}}, "timeout_ms": 5000}}));
    world.step(gpu, report("run-1", 1, json!({"started": {}})));
    world.step(
        gpu,
        report(
            "run-1",
            2,
            json!({"output": {"outputs": [
                text_output("🦀\n"),
                {"content": {"output_type": "display_data", "data": {}, "metadata": {}}, "display_id": "bar",
                 "blobs": [{"pointer": "/data/image~1png", "sha256": "00", "size_bytes": 9000}]},
            ]}}),
        ),
    );
    let shown = json!({"content": {"output_type": "display_data", "data": {"text/plain": "50 %"}, "metadata": {}}, "display_id": "bar"});
    world.step(gpu, report("run-1", 3, json!({"update_display": {"display_id": "bar", "output": shown}})));
    world.step(gpu, report("run-1", 4, json!({"clear": {"wait": true}})));
    world.step(gpu, report("run-1", 5, json!({"input_request": {"prompt": "name?", "password": false}})));
    world.step(ann, json!({"AnswerInput": {"execution_id": "run-1", "value": "Ann"}}));
    world.step(gpu, report("run-1", 6, output(&["Ann\n"])));
    for (kind, count) in [("write", 1), ("network", 1), ("write", 3)] {
        world.step(
            gpu,
            json!({"ReportEffectRefused": {"execution_id": "run-1", "fence": "$fence", "kind": kind,
            "target": format!("/data/{count}.csv"), "count": count}}),
        );
    }
    world.step(gpu, report("run-1", 7, completed(true)));
    world.step(ann, json!({"DeleteCell": {"cell_id": "a"}}));
    world.step(ann, json!({"RestoreCell": {"cell_id": "a"}}));
    world.step(
        ann,
        json!({"RequestExecution": {"execution_id": "run-2", "stop_on_error": true,
        "target": {"scratch": {"source": "dir()", "purpose": "variables"}}}}),
    );
    world.step(ann, request("a", "run-3"));
    world.step(ann, json!({"CancelExecution": {"execution_id": "run-3"}}));
    world.step(ann, json!({"CancelExecution": {"execution_id": "run-2"}}));
    world.step(ann, json!({"GiveUpExecution": {"execution_id": "run-2"}}));
    world.step(gpu, report("run-2", 1, output(&["late"])));
    world.step(ann, json!({"ClearOutputs": {"cell_id": "a"}}));
    let in_order = |id: &str| {
        json!({"RequestExecution": {"execution_id": id, "stop_on_error": true,
            "target": {"scratch": {"source": "f()", "purpose": "in order"}}}})
    };
    world.step(ann, json!({"Batch": {"commands": [in_order("run-4"), in_order("run-5")]}}));
    world.step(gpu, report("run-4", 1, json!({"started": {}})));
    world.step(
        gpu,
        report("run-4", 2, json!({"completed": {"outcome": "timed_out", "notice": "interrupted after 5 s"}})),
    );
    ends_of_kernels(world, ann, gpu);
}

fn ends_of_kernels(world: &mut World, ann: &Who, gpu: &Who) {
    let next = world.step(ann, json!({"RestartKernel": {"kernel_session": "$kernel"}})).kernel_session.unwrap();
    world.step(gpu, json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "restarted"}}));
    world.name("kernel", format!("\"{next}\""));
    world.step(gpu, json!({"ReportKernelLaunchFailed": {"kernel_session": "$kernel", "cause": "cannot_start", "detail": "no memory"}}));
    start_kernel(world, ann, gpu);
    world.step(ann, json!({"InterruptKernel": {"kernel_session": "$kernel"}}));
    world.step(ann, json!({"ShutDownKernel": {"kernel_session": "$kernel"}}));
    world.step(
        ann,
        json!({"RecordExecution": {"cell_id": "a", "outputs": [text_output("from a file")], "execution_count": 3}}),
    );
    world.step(gpu, json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "shut_down"}}));
}

/// Ann's assistant at work: every type of event of assistants.
#[expect(clippy::too_many_lines, reason = "one story, told from its beginning to its end")]
fn assistance() -> World {
    let (ann, it, reactor) = (user("ann"), assistant_of("ann"), reactor_of("ann"));
    let mut world = talking();
    world.step(&reactor, json!({"StartModelCall": {"turn_id": "turn", "provider": "scripted", "model": "small"}}));
    world.step(&reactor, json!({"ReportModelCall": {"turn_id": "turn", "failure": "unavailable"}}));
    world.step(&reactor, json!({"StartModelCall": {"turn_id": "turn", "provider": "scripted", "model": "small"}}));
    let usage = json!({"input_tokens": 120, "output_tokens": 8, "estimated": true});
    world.step(&reactor, json!({"ReportModelCall": {"turn_id": "turn", "usage": usage}}));
    world.step(
        &reactor,
        json!({"PostReply": {"turn_id": "turn", "role": "assistant", "blocks": [
            {"opaque": {"provider": "anthropic", "data": {"type": "thinking", "signature": "s"}}},
            {"text": {"text": "I look at the variables, and delete a."}},
            {"tool_call": {"provider_id": "p1", "call_id": "vars", "function": "get_notebook_state", "arguments": "{}"}},
        ]}}),
    );
    world.step(&it, call("vars", "get_notebook_state", json!({})));
    world.step(&reactor, start("vars"));
    world.step(&reactor, json!({"ReportToolCall": {"call_id": "vars", "end": "error", "result": "NameError: 'x'"}}));
    world.step(
        &reactor,
        json!({"PostReply": {"turn_id": "turn", "role": "tool", "blocks": [
            {"tool_result": {"provider_id": "p1", "call_id": "vars", "text": "NameError: 'x'", "is_error": true}},
        ]}}),
    );
    let delete = |world: &World, id: &str| {
        call(id, "delete_cell", json!({"cell_id": "a", "cell_version": world.cell("a").cell_version}))
    };
    for (id, then) in [("denied", "DenyToolCall"), ("withdrawn", "WithdrawToolCall")] {
        world.step(&it, delete(&world, id));
        world.step(&at(ann.clone(), Door::Page), json!({then: {"call_id": id, "detail": "not now"}}));
    }
    let mut after = call("after", "create_cell", json!({"source": "later", "after": "b"}));
    after["RequestToolCall"]["after"] = json!("first");
    world.step(&it, delete(&world, "first"));
    world.step(&it, after);
    world.step(&at(ann.clone(), Door::Terminal), json!({"DenyToolCall": {"call_id": "first"}}));
    world.step(&reactor, start("after"));
    world.step(&it, delete(&world, "expires"));
    world.now += EXPIRY_MS;
    world.step(&reactor, json!({"SweepToolCalls": {}}));
    world.step(&it, delete(&world, "voided"));
    let version = world.version();
    world.step(&ann, edit("a", version, json!([5, [0, "0"]])));
    world.step(&reactor, json!({"SweepToolCalls": {}}));
    world.step(&it, delete(&world, "done"));
    let hash = world.notebook.tool_calls.values().next().unwrap().arguments_hash;
    world
        .step(&at(user("editor"), Door::Page), json!({"ConfirmToolCall": {"call_id": "done", "arguments_hash": hash}}));
    world.step(&reactor, start("done"));
    world.step(&ann, json!({"SetPolicy": {"policy": "ask_for_every_edit"}}));
    let until = world.now + 3_600_000;
    world.step(&ann, json!({"IssueGrant": {"grant_id": "hour", "conversation_id": "talk", "functions": ["create_cell"], "kinds": ["network"], "expires_at": until}}));
    world.step(&reactor, call("new", "create_cell", json!({"source": "print('hello world')", "after": "b"})));
    world.step(&ann, json!({"RevokeGrant": {"grant_id": "hour"}}));
    world.step(&it, call("moves", "move_cell", json!({"cell_id": "b"})));
    world.step(&reactor, json!({"EndTurn": {"turn_id": "turn", "end": {"finished": "end_turn"}}}));
    let again = |world: &mut World, turn: &str| {
        world.step(&ann, json!({"StartTurn": {"conversation_id": "talk", "turn_id": turn, "text": "Once more"}}));
    };
    prompt_cell(&mut world, &ann, &reactor);
    again(&mut world, "second");
    world.step(&ann, json!({"CancelTurn": {"turn_id": "second"}}));
    again(&mut world, "third");
    world.step(&reactor, json!({"EndTurn": {"turn_id": "third", "end": {"failed": {"cause": "no_model", "detail": "no key for openai"}}}}));
    flags_and_scopes(&mut world, &ann);
    again(&mut world, "fourth");
    world.step(&it, json!({"RequestToolCall": {"call_id": "waits", "turn_id": "fourth", "function": "restart_kernel", "arguments": {}}}));
    world.step(&user("author"), json!({"Undo": {"turn_id": "turn"}}));
    let schema = json!({"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]});
    let load =
        json!({"name": "load", "version": "1", "description": "Loads the table.", "schema": schema, "risk": "edit"});
    let wipe =
        json!({"name": "wipe", "version": "", "description": "", "schema": {"type": "object"}, "risk": "destructive"});
    let register = |functions| json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": functions}});
    world.step(&agent("gpu"), register(json!([load, wipe])));
    world.step(&agent("gpu"), register(json!([wipe])));
    world
}

/// A message is pinned, then skipped; a turn begins with a token that runs nothing.
fn flags_and_scopes(world: &mut World, ann: &Who) {
    let message = world.recorded.iter().find_map(|recorded| match &recorded.event {
        Event::MessagePosted(event) => Some(event.message_id.clone()),
        _ => None,
    });
    let flags = |pinned: bool| json!({"FlagMessage": {"conversation_id": "talk", "message_id": message, "pinned": pinned, "skipped": !pinned}});
    world.step(ann, flags(true));
    world.step(&user("editor"), flags(false));
    let edits = user("ann").with_scopes(&[Scope::Read, Scope::Edit]);
    world.step(&edits, json!({"StartTurn": {"conversation_id": "talk", "turn_id": "edits", "text": "Only edit"}}));
    world.step(ann, json!({"CancelTurn": {"turn_id": "edits"}}));
    world.step(
        &user("ann").bound(),
        json!({"StartTurn": {"conversation_id": "talk", "turn_id": "bound", "text": "Stay"}}),
    );
    world.step(ann, json!({"CancelTurn": {"turn_id": "bound"}}));
}

/// A prompt cell is answered, goes to the trash and comes back; another one comes with its reply.
fn prompt_cell(world: &mut World, ann: &Who, reactor: &Who) {
    world.step(ann, insert("ask", "prompt", "What is x?"));
    world.step(ann, json!({"StartTurn": {"conversation_id": "talk", "turn_id": "asked", "cell_id": "ask"}}));
    let says = json!([{"text": {"text": "It is 1."}}]);
    world.step(reactor, json!({"PostReply": {"turn_id": "asked", "role": "assistant", "blocks": says}}));
    world.step(ann, json!({"DeleteCell": {"cell_id": "ask"}}));
    world.step(reactor, json!({"EndTurn": {"turn_id": "asked", "end": {"finished": "end_turn"}}}));
    world.step(ann, json!({"RestoreCell": {"cell_id": "ask"}}));
    let reply =
        json!({"status": "failed", "cause": "wrong_key", "detail": "no key", "prompt": "Why?", "text": "Because"});
    world.step(ann, json!({"InsertCell": {"cell_id": "why", "cell_type": "prompt", "source": "Why?", "reply": reply}}));
}

/// Renders on one line: a payload's text was hashed, so its layout must not change.
pub fn line(value: &impl serde::Serialize) -> String {
    format!("{}\n", serde_json::to_string(value).unwrap())
}

/// Writes a missing file; an existing one is never changed.
fn bless_missing(path: &str, text: &str) {
    if !protocol().join(path).exists() {
        check_file(path, text);
    }
}

/// Events that make room: an idle conversation, functions of an ended kernel, an expired grant.
fn making_room() -> World {
    let mut world = crate::functions::again();
    world.limits.max_outside_conversations = 1;
    world.limits.max_functions = 2;
    let other =
        json!([{"name": "other", "description": "Something else.", "schema": {"type": "object"}, "risk": "read"}]);
    let register = json!({"RegisterFunctions": {"kernel_session": "$kernel", "fence": "$fence", "functions": other}});
    world.step(&agent("gpu"), register);
    for id in ["first", "second"] {
        let assistant = assistant_in(id);
        let reactor = Who { actor: assistant.actor.clone(), authority: reactor_of("ann").authority };
        let look = json!({"RequestToolCall": {"call_id": id, "function": "get_notebook_state"}});
        world.step(&assistant, look);
        world.step(&reactor, start(id));
        world.step(&reactor, json!({"ReportToolCall": {"call_id": id, "end": "ok", "result": "{}"}}));
        let until = world.now + 1_000;
        world.step(&user("ann"), json!({"IssueGrant": {"grant_id": id, "conversation_id": id, "expires_at": until}}));
        world.now += 120_000;
    }
    world
}

fn alone(recorded: &Recorded) -> Stored {
    let mut world = World::new();
    let mut context = world.context(&user("ann"), None);
    context.actor = recorded.envelope.actor.clone();
    let decided = Decided {
        undoes: recorded.envelope.undoes.clone(),
        correlation_id: Some(recorded.envelope.correlation_id.clone()),
        ..Decided::from(recorded.event.clone())
    };
    let sealed = seal(&mut before(recorded.envelope.version), &recorded.envelope.notebook_id, &mut context, &[decided]);
    sealed.unwrap().remove(0)
}

pub fn before(version: Version) -> Head {
    Head { version: version - 1, ..Head::START }
}

#[test]
fn every_event_type_has_a_golden_file() {
    let (story, commented, erased) = (crate::machines::story(), crate::comments::commented(), crate::erasure::erased());
    let redacted = crate::redaction::redacted();
    let (reactive, scheduled) = (crate::reactive::story(), crate::schedules::story());
    let worlds = [story, life(), assistance(), making_room(), commented, reactive, redacted, erased, scheduled];
    let mut by_type: BTreeMap<&str, &Recorded> = BTreeMap::new();
    for recorded in worlds.iter().flat_map(|world| &world.recorded) {
        by_type.entry(recorded.event.event_type()).or_insert(recorded);
    }
    for event_type in Event::TYPES {
        let recorded =
            by_type.get(event_type).unwrap_or_else(|| panic!("no {event_type} in the life of the golden notebook"));
        bless_missing(&format!("golden/events/{event_type}.{}.json", recorded.event.schema()), &line(&alone(recorded)));
    }
}

/// Events with fields that were added later. Files of the same schema without these fields stay unchanged.
#[test]
fn every_field_that_was_added_later_has_a_golden_file() {
    let worlds = [
        life(),
        assistance(),
        making_room(),
        crate::access::taken_over(),
        crate::reactive::story(),
        surprised(),
        crate::kernels::with_environment(),
    ];
    let all = || worlds.iter().flat_map(|world| &world.recorded);
    let mut seen = Vec::new();
    for (name, has_it) in ADDED {
        let recorded = all().find(|recorded| has_it(&recorded.event)).unwrap_or_else(|| panic!("no {name}"));
        bless_missing(&format!("golden/events/{name}.json"), &line(&alone(recorded)));
        seen.push(format!("{name}.json"));
    }
    let is_variant = |name: &String| name.matches('.').count() > 2 && !OLD_VARIANTS.contains(&name.as_str());
    assert_eq!(names_in("golden/events").into_iter().filter(is_variant).collect::<Vec<_>>(), seen);
}

type IsEvent = fn(&Event) -> bool;

/// Files of added fields, sorted by name, with a test for the event.
const ADDED: &[(&str, IsEvent)] = &[
    (
        "AccessGranted.1.taken_over_from",
        |event| matches!(event, Event::AccessGranted(event) if event.taken_over_from.is_some()),
    ),
    ("CellDeleted.1.reply", |event| matches!(event, Event::CellDeleted(event) if event.reply.is_some())),
    ("CellInserted.1.reply", |event| matches!(event, Event::CellInserted(event) if event.reply.is_some())),
    ("CellRestored.2.reply", |event| matches!(event, Event::CellRestored(event) if event.reply.is_some())),
    ("ExecutionRequested.2.expected", requests_expected),
    (
        "ExecutionRequested.2.plan",
        |event| matches!(event, Event::ExecutionRequested(event) if !event.waits_for.is_empty()),
    ),
    (
        "KernelSessionStarted.1.environment",
        |event| matches!(event, Event::KernelSessionStarted(event) if event.environment.is_some()),
    ),
    ("ToolCallRequested.1.after", |event| matches!(event, Event::ToolCallRequested(event) if event.after.is_some())),
    ("TurnStarted.1.is_bound", |event| matches!(event, Event::TurnStarted(event) if event.is_bound)),
    ("TurnStarted.1.scopes", |event| matches!(event, Event::TurnStarted(event) if event.scopes.len() < 3)),
];

/// Checks that the protocol's document names everything, because a client may be written from the document alone.
#[test]
fn the_protocol_names_every_event_and_every_command() {
    let pages = ["socket.md", "events.md", "agents.md", "assistants.md"];
    let text = pages.map(|page| std::fs::read_to_string(protocol().join(page)).unwrap()).concat();
    let words: BTreeSet<&str> = text.split(|character: char| !character.is_ascii_alphanumeric()).collect();
    let named = ["golden/events", "golden/commands"].map(names_in).concat();
    let missing = named.iter().filter(|name| !words.contains(name.split('.').next().unwrap()));
    assert_eq!(
        missing.collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "protocol/: in the tables of socket.md (commands) and events.md (state)"
    );
}

#[test]
fn every_command_has_a_golden_file() {
    for case in crate::batch::all_cases() {
        if matches!(case.expect, Expect::Events(_)) {
            let name = case.command.as_object().unwrap().keys().next().unwrap();
            let command = (case.given)().command(&case.command);
            bless_missing(&format!("golden/commands/{name}.json"), &line(&command));
        }
    }
    let names: Vec<String> = crate::batch::command_names().into_iter().map(|name| format!("{name}.json")).collect();
    assert_eq!(names_in("golden/commands"), names);
}

#[test]
fn every_golden_command_decodes_and_re_encodes_to_its_bytes() {
    for name in names_in("golden/commands") {
        let text = std::fs::read_to_string(protocol().join("golden/commands").join(&name)).unwrap();
        let command: Command = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(line(&command), text, "{name}");
    }
}

/// A log and its state, with which clients in other languages check their `apply`.
#[derive(serde::Serialize, serde::Deserialize)]
struct Scenario {
    about: String,
    events: Vec<Stored>,
    /// Digest of the state after each event.
    digests: Vec<Hash>,
    state: Document,
}

fn digests(events: &[Stored]) -> Vec<Hash> {
    let mut document = Document::new(events[0].envelope.notebook_id.clone());
    let after = |stored: &Stored| {
        document.apply(&stored.typed().unwrap());
        document.digest().unwrap()
    };
    events.iter().map(after).collect()
}

#[test]
fn the_golden_scenarios_lead_to_their_states() {
    let machines = crate::machines::story();
    let scenarios: [(&str, &str, World); 12] = [
        ("erasure", "a notebook with runs that its owner erases", crate::erasure::erased()),
        ("life", "every type of event of people and kernels at least once", life()),
        ("assistance", "every type of event of assistants at least once", assistance()),
        ("making_room", "an idle conversation, functions of a dead kernel, an expired grant", making_room()),
        ("comments", "threads on cells and ranges; edits, a split, a merge, the trash", crate::comments::commented()),
        (
            "typing",
            "late edits, a whole new source, undo and redo by two people, moves, the trash",
            crate::edits::typing(),
        ),
        ("reactive", "plans, one that fails, variables that are removed", crate::reactive::story()),
        ("surprises", "a person's run in a kernel that ran an assistant's code, refused and allowed", surprised()),
        ("machines", "kernels for a named agent and for labels, settings, restarts elsewhere", machines),
        ("schedules", "runs that are claimed, asked for, missed, refused", crate::schedules::story()),
        ("redaction", "content that was redacted, and edits after it", crate::redaction::redacted()),
        (
            "queue",
            "a queue, a second run of a cell, a kernel that dies, output that comes late",
            crate::executions::queue(),
        ),
    ];
    for (name, about, world) in scenarios {
        let scenario = Scenario {
            about: about.to_owned(),
            digests: digests(&world.log),
            events: world.log,
            state: Arc::unwrap_or_clone(world.notebook.document),
        };
        let path = format!("golden/scenarios/{name}.json");
        check_file(&path, &line(&scenario));
        let text = std::fs::read_to_string(protocol().join(&path)).unwrap();
        let read: Scenario = serde_json::from_str(&text).unwrap();
        verify_chain(Head::START, &read.events).unwrap();
        assert_eq!(line(&replay(&read.events).document), line(&read.state), "{name}");
        assert_eq!(read.digests, digests(&read.events), "{name}");
        assert_eq!(line(&read), text, "{name}");
    }
}
