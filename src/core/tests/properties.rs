//! Properties that hold for all commands in any order.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::edits::edit;
use crate::support::*;
use notarium_core::*;
use serde_json::Value;

/// An attempt. Indices refer to the state at the time of the attempt.
#[derive(Debug, Clone)]
pub enum Try {
    Send(&'static str, Value),
    /// An edit at a place, against a base some versions old. It deletes up to `delete` characters.
    Edit {
        who: &'static str,
        cell: Index,
        age: u64,
        at: Index,
        delete: usize,
        insert: String,
    },
    Undo(&'static str, u32),
    Redo(&'static str, u32),
    UndoGroup(&'static str, Index),
    /// A command about the kernel session at an index.
    Kernel {
        who: &'static str,
        command: &'static str,
        session: Index,
    },
    /// A report on the execution at an index; its number is relative to the last one.
    Report {
        who: &'static str,
        execution: Index,
        ahead: u64,
        report: Value,
    },
    Execution {
        who: &'static str,
        command: &'static str,
        execution: Index,
    },
    /// The agent's connection breaks, until the agent reports its kernels.
    Leave(&'static str),
    /// A command about the thread at an index, and its first comment.
    Thread(&'static str, &'static str, Index),
}

const PEOPLE: [&str; 7] = ["ann", "editor", "author", "runner", "viewer", "it", "stranger"];
const CELLS: [&str; 6] = ["a", "b", "c", "d", "e", "gone"];

pub fn who(name: &str) -> Who {
    match name {
        "gpu" | "tpu" => agent(name),
        "it" => user("it").with_role(notarium_core::Role::Editor),
        "link" => guest("link"),
        name => user(name),
    }
}

fn place() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("start")),
        Just(json!("end")),
        select(&CELLS[..]).prop_map(|id| json!({"before": id})),
        select(&CELLS[..]).prop_map(|id| json!({"after": id})),
    ]
}

fn simple_command() -> impl Strategy<Value = Value> {
    let cell = || select(&CELLS[..]);
    prop_oneof![
        4 => (cell(), place(), "[a-z😀\n]{0,6}").prop_map(|(id, place, source)| {
            json!({"InsertCell": {"cell_id": id, "cell_type": "code", "source": source, "place": place}})
        }),
        3 => (cell(), place()).prop_map(|(id, place)| json!({"MoveCell": {"cell_id": id, "place": place}})),
        2 => cell().prop_map(|id| json!({"DeleteCell": {"cell_id": id}})),
        2 => cell().prop_map(|id| json!({"RestoreCell": {"cell_id": id}})),
        1 => (cell(), select(vec!["code", "raw"])).prop_map(|(id, kind)| json!({"ChangeCellType": {"cell_id": id, "cell_type": kind}})),
        1 => (cell(), 0..3).prop_map(|(id, value)| json!({"SetCellMetadata": {"cell_id": id, "metadata": {"k": value}}})),
        1 => (cell(), any::<bool>()).prop_map(|(id, pinned)| json!({"SetCellFlags": {"cell_id": id, "flags": {"pinned": pinned}}})),
        1 => (0..4).prop_map(|title| json!({"RenameNotebook": {"title": format!("T{title}")}})),
        1 => cell().prop_map(|id| json!({"ClearOutputs": {"cell_id": id}})),
        4 => (cell(), any::<bool>()).prop_map(|(id, stop)| json!({"RequestExecution": {"target": {"cell": {"cell_id": id}}, "stop_on_error": stop}})),
        1 => cell().prop_map(|id| json!({"AddComment": {"target": {"cell": {"cell_id": id}}, "text": "x"}})),
        2 => (cell(), 0..3_u64, 1..4_u64).prop_map(|(id, at, length)| {
            json!({"AddComment": {"target": {"cell": {"cell_id": id, "range": [at, at + length]}}, "text": "x"}})
        }),
        1 => cell().prop_map(|id| json!({"RecordExecution": {"cell_id": id, "outputs": [text_output("f")]}})),
        1 => Just(json!({"LaunchKernel": {}})),
        1 => crate::schedules::any_command(),
        2 => select(vec![json!({"StopAll": {}}), json!({"ArchiveNotebook": {}})]),
        2 => Just(json!({"UnarchiveNotebook": {}})),
    ]
}

fn report() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(json!({"started": {}})),
        3 => "[a-z]{1,3}".prop_map(|text| output(&[&text])),
        1 => Just(json!({"output": {"outputs": [{"content": {"output_type": "display_data"}, "display_id": "d"}]}})),
        1 => Just(json!({"update_display": {"display_id": "d", "output": {"content": {"output_type": "display_data", "data": 1}}}})),
        1 => any::<bool>().prop_map(|wait| json!({"clear": {"wait": wait}})),
        1 => Just(json!({"input_request": {"prompt": "?", "password": false}})),
        3 => any::<bool>().prop_map(completed),
        1 => select(vec![json!({"lost": {"cause": "agent_lost"}}), json!({"holds_open": {"open": ["f"]}})]),
        2 => (select(vec!["write", "network"]), 1..4_u64).prop_map(|(kind, count)| json!({"kind": kind, "count": count})),
    ]
}

pub fn attempt() -> impl Strategy<Value = Try> {
    let person = || select(&PEOPLE[..]);
    let agents = || select(vec!["gpu", "gpu", "gpu", "tpu"]);
    let by_people = select(vec!["InterruptKernel", "RestartKernel", "ShutDownKernel"]);
    let by_agents = select(vec![
        "ClaimKernelLaunch",
        "ReportKernelStarted",
        "ReportKernelStarted",
        "ReportKernelLaunchFailed",
        "ReportKernelEnded",
        "ReconcileKernels",
    ]);
    prop_oneof![
        6 => (person(), simple_command()).prop_map(|(who, command)| Try::Send(who, command)),
        1 => (person(), prop::collection::vec(simple_command(), 0..4)).prop_map(|(who, commands)| Try::Send(who, json!({"Batch": {"commands": commands}}))),
        6 => (person(), any::<Index>(), 0..6_u64, any::<Index>(), 0..4_usize, "[a-z😀\n]{0,3}")
            .prop_map(|(who, cell, age, at, delete, insert)| Try::Edit { who, cell, age, at, delete, insert }),
        3 => (person(), 1..3_u32).prop_map(|(who, steps)| Try::Undo(who, steps)),
        1 => (person(), 1..60_u64)
            .prop_map(|(who, version)| Try::Send(who, json!({"RestoreNotebook": {"version": version}}))),
        2 => (person(), 1..3_u32).prop_map(|(who, steps)| Try::Redo(who, steps)),
        1 => (person(), any::<Index>()).prop_map(|(who, group)| Try::UndoGroup(who, group)),
        1 => (person(), by_people, any::<Index>()).prop_map(|(who, command, session)| Try::Kernel { who, command, session }),
        4 => (agents(), by_agents, any::<Index>()).prop_map(|(who, command, session)| Try::Kernel { who, command, session }),
        6 => (agents(), any::<Index>(), 0..3_u64, report())
            .prop_map(|(who, execution, ahead, report)| Try::Report { who, execution, ahead, report }),
        2 => (person(), select(vec!["ResolveThread", "ReopenThread", "DeleteComment", "MoveThread"]), any::<Index>())
            .prop_map(|(who, command, thread)| Try::Thread(who, command, thread)),
        2 => (person(), select(vec!["CancelExecution", "GiveUpExecution", "AnswerInput"]), any::<Index>())
            .prop_map(|(who, command, execution)| Try::Execution { who, command, execution }),
        2 => agents().prop_map(Try::Leave),
    ]
}

fn pick<'a, T>(index: &Index, items: &'a [T]) -> Option<&'a T> {
    if items.is_empty() { None } else { Some(index.get(items)) }
}

/// The text of a cell at an earlier version, and the version.
fn earlier(world: &World, cell: &str, age: u64) -> (Version, String) {
    let source = |notebook: &Notebook| notebook.cells.get(&cell_id(cell)).map(|cell| cell.content.source.clone());
    let mut best = (world.version(), source(&world.notebook).unwrap_or_default());
    let mut notebook = Notebook::new(world.notebook.notebook_id.clone());
    for recorded in &world.recorded {
        notebook.apply(recorded);
        if notebook.version == world.version().saturating_sub(age)
            && let Some(text) = source(&notebook)
        {
            best = (notebook.version, text);
        }
    }
    best
}

fn change_of(text: &str, at: &Index, delete: usize, insert: &str) -> Value {
    let characters: Vec<char> = text.chars().collect();
    let start = at.index(characters.len() + 1);
    let end = (start + delete).min(characters.len());
    let units = |part: &[char]| part.iter().map(|character| character.len_utf16()).sum::<usize>();
    let mut sections = vec![json!(units(&characters[..start]))];
    let mut replacement = vec![json!(units(&characters[start..end]))];
    if !insert.is_empty() {
        replacement.extend(insert.split('\n').map(|line| json!(line)));
    }
    sections.push(Value::Array(replacement));
    sections.push(json!(units(&characters[end..])));
    sections.retain(|section| *section != json!(0) && *section != json!([0]));
    Value::Array(sections)
}

/// The command of an attempt now; `None` if there is nothing for it.
fn command_now(world: &World, attempt: &Try) -> Option<(Who, Value)> {
    Some(match attempt {
        Try::Send(name, command) => (who(name), command.clone()),
        Try::Edit { who: name, cell, age, at, delete, insert } => {
            let cell = cell.get(&CELLS);
            let (base, text) = earlier(world, cell, *age);
            (who(name), edit(cell, base, change_of(&text, at, *delete, insert)))
        }
        Try::Undo(name, steps) => (who(name), json!({"Undo": {"steps": steps}})),
        Try::Redo(name, steps) => (who(name), json!({"Redo": {"steps": steps}})),
        Try::UndoGroup(name, group) => {
            let actors = ["ann", "editor", "author", "it"].map(|name| who(name).actor);
            let stacks = actors.iter().filter_map(|actor| world.notebook.ledger.undo_of(actor));
            let groups: Vec<_> = stacks.flat_map(|stacks| &stacks.undo).collect();
            let id = &pick(group, &groups)?.correlation_id;
            (who(name), json!({"Undo": {"correlation_id": id}}))
        }
        Try::Kernel { who: name, command: "ReconcileKernels", session } => {
            let sessions: Vec<_> = world.notebook.kernels.keys().collect();
            let alive = &sessions[..session.index(sessions.len() + 1)];
            (who(name), json!({"ReconcileKernels": {"alive": alive}}))
        }
        Try::Kernel { who: name, command, session } => {
            let sessions: Vec<_> = world.notebook.kernels.keys().collect();
            let mut body = json!({"kernel_session": pick(session, &sessions)?});
            match *command {
                "ReportKernelStarted" => body["language_info"] = json!({}),
                "ReportKernelLaunchFailed" | "ReportKernelEnded" => body["cause"] = json!("died"),
                _ => {}
            }
            (who(name), json!({*command: body}))
        }
        Try::Report { who: name, execution, ahead, report } => {
            let requested = world.recorded.iter().filter_map(|one| match &one.event {
                Event::ExecutionAssigned(event) => Some((&event.execution_id, event.fence)),
                _ => None,
            });
            let requested: Vec<_> = requested.collect();
            let (id, fence) = pick(execution, &requested)?;
            let last = world.notebook.executions.get(*id).map_or(5, |execution| execution.output_seq);
            (who(name), crate::effects::either_report(id, *fence, last + ahead, report))
        }
        Try::Thread(name, command, thread) => {
            let threads: Vec<_> = world.notebook.threads.iter().collect();
            (who(name), crate::comments::about_thread(command, *pick(thread, &threads)?))
        }
        Try::Execution { who: name, command, execution } => {
            let ids: Vec<_> = world.notebook.executions.keys().collect();
            let mut body = json!({"execution_id": pick(execution, &ids)?});
            if *command == "AnswerInput" {
                body["value"] = json!("42");
            }
            (who(name), json!({*command: body}))
        }
        Try::Leave(_) => return None,
    })
}

fn sessions_of(world: &World, agent: &str) -> BTreeSet<KernelSessionId> {
    let is_its = |session: &KernelSession| session.agent.as_ref().is_some_and(|id| id.as_str() == agent);
    world.notebook.kernels.iter().filter(|(_, session)| is_its(session)).map(|(id, _)| id.clone()).collect()
}

/// Submits all attempts; passes the world on after each accepted command.
pub fn live(attempts: &[Try], mut after_each: impl FnMut(&World)) -> World {
    let mut world = with_cells();
    for attempt in attempts {
        if let Try::Leave(agent) = attempt {
            let left = sessions_of(&world, agent);
            world.away.extend(left);
        }
        let Some((who, command)) = command_now(&world, attempt) else { continue };
        let before = world.json();
        match world.try_do(&who, &command) {
            Ok(_) => {
                if let Try::Kernel { who, command: "ReconcileKernels", .. } = attempt {
                    let back = sessions_of(&world, who);
                    world.away.retain(|id| !back.contains(id));
                }
                after_each(&world);
            }
            Err(rejection) => {
                assert_eq!(world.json(), before, "a refusal left a trace: {rejection}");
                assert_ne!(rejection.code, RejectionCode::Unavailable);
                let is_undo = matches!(attempt, Try::Undo(..) | Try::Redo(..) | Try::UndoGroup(..));
                let is_odd = is_undo && rejection.code == RejectionCode::InvalidChange;
                assert!(!is_odd, "an undo must not fail for its text: {rejection}");
            }
        }
    }
    world
}

fn check_invariants(world: &World) {
    let notebook = &world.notebook;
    crate::comments::check_threads(notebook);
    let mut expected: Vec<_> = notebook.cells.iter().map(|(id, cell)| (&cell.content.order_key, id)).collect();
    expected.sort();
    assert!(expected.windows(2).all(|pair| pair[0].0 < pair[1].0), "two cells at one place");
    assert_eq!(expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), notebook.order.iter().collect::<Vec<_>>());
    let mut busy = BTreeSet::new();
    for (id, execution) in &notebook.executions {
        crate::effects::check_refused(execution);
        let is_shown = execution.subject.cell_id().and_then(|cell| notebook.latest.get(cell)) == Some(id);
        assert!(is_shown || !execution.status.is_finished(), "a finished execution that no cell shows: {id}");
        if matches!(execution.status, ExecutionStatus::Assigned | ExecutionStatus::Running) {
            assert!(busy.insert(&execution.kernel_session), "two executions at once in a session");
        }
        if !execution.status.is_finished() {
            let session = session_of(notebook, execution).and_then(|id| notebook.kernels.get(id));
            assert!(session.is_some(), "{id} waits for a kernel that is gone");
        }
    }
    for (cell, id) in &notebook.latest {
        assert!(notebook.cells.contains_key(cell) && notebook.executions.contains_key(id));
    }
    let is_there = |id: &KernelSessionId, session: &KernelSession| {
        session.phase == KernelPhase::Started && !world.away.contains(id)
    };
    for (id, session) in notebook.kernels.iter().filter(|(id, session)| is_there(id, session)) {
        let of_it = || notebook.executions.values().filter(|execution| session_of(notebook, execution) == Some(id));
        let waits = of_it().any(|execution| execution.status == ExecutionStatus::Queued);
        let is_busy =
            of_it().any(|execution| matches!(execution.status, ExecutionStatus::Assigned | ExecutionStatus::Running));
        assert!(!waits || is_busy, "{id} {session:?} is idle while something waits");
    }
}

fn check_ends(world: &World) {
    let mut ends: BTreeMap<&ExecutionId, usize> = BTreeMap::new();
    let mut asked = BTreeSet::new();
    for recorded in &world.recorded {
        match &recorded.event {
            Event::ExecutionRequested(event) => assert!(asked.insert(&event.execution_id)),
            Event::ExecutionCompleted(_)
            | Event::ExecutionCancelled(_)
            | Event::ExecutionBlocked(_)
            | Event::ExecutionLost(_) => {
                *ends.entry(recorded.event.execution_id().unwrap()).or_default() += 1;
            }
            _ => {}
        }
    }
    for id in asked {
        let is_over = world.notebook.executions.get(id).is_none_or(|execution| execution.status.is_finished());
        assert_eq!(
            ends.get(id).copied().unwrap_or(0),
            usize::from(is_over),
            "{id} has one end when it is over, else none"
        );
    }
}

/// State that undo and redo must restore: all that people see, without versions and stacks.
fn seen(notebook: &Notebook) -> String {
    let cells: Vec<_> = notebook
        .ordered_cells()
        .map(|(id, cell)| (id, CellContent { order_key: OrderKey::between(None, None), ..cell.content.clone() }))
        .collect();
    serde_json::to_string(&json!([cells, notebook.title, notebook.metadata])).unwrap()
}

/// Log of the cell `n`, for the message of a failure.
fn told(world: &World) -> String {
    let is_it = |stored: &&Stored| stored.envelope.version > 12;
    let line = |stored: &Stored| {
        let Envelope { version, actor, correlation_id, undoes, event_type, .. } = &stored.envelope;
        format!("\n{version} {} {correlation_id} {event_type} undoes {undoes:?} {}", actor.key(), stored.payload.get())
    };
    world.log.iter().filter(is_it).map(line).collect()
}

fn flipped(text: &str, at: &Index) -> String {
    let characters: Vec<usize> =
        text.char_indices().filter(|(_, one)| one.is_ascii_alphanumeric()).map(|(index, _)| index).collect();
    let index = *at.get(&characters);
    let new = if text.as_bytes()[index] == b'1' { "2" } else { "1" };
    format!("{}{new}{}", &text[..index], &text[index + 1..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_tried_the_invariants_hold_and_replay_is_the_live_state(
        attempts in prop::collection::vec(attempt(), 1..80), middle in any::<Index>(),
    ) {
        let world = live(&attempts, check_invariants);
        check_ends(&world);
        prop_assert_eq!(&replay(&world.log), &world.notebook);
        let versions: Vec<_> = world.log.iter().map(|stored| stored.envelope.version).collect();
        prop_assert_eq!(versions, (1..=world.version()).collect::<Vec<_>>());
        let end = verify_chain(Head::START, &world.log).unwrap();
        prop_assert_eq!(end, world.head);

        let middle = middle.index(world.log.len() + 1);
        let snapshot = serde_json::to_string(&replay(&world.log[..middle])).unwrap();
        let mut restored: Notebook = serde_json::from_str(&snapshot).unwrap();
        // The tail overlaps the snapshot: events already applied have no effect.
        world.recorded[middle.saturating_sub(3)..].iter().for_each(|recorded| restored.apply(recorded));
        prop_assert_eq!(&restored, &world.notebook);
    }

    #[test]
    fn apply_takes_any_events_in_any_order(
        attempts in prop::collection::vec(attempt(), 1..60), order in prop::collection::vec(any::<Index>(), 0..200),
    ) {
        let world = live(&attempts, |_| {});
        let mut notebook = Notebook::new(world.notebook.notebook_id.clone());
        for (version, index) in (1..).zip(&order) {
            let mut recorded = index.get(&world.recorded).clone();
            recorded.envelope.version = version;
            notebook.apply(&recorded);
            let json = serde_json::to_string(&notebook).unwrap();
            notebook.apply(&recorded);
            prop_assert_eq!(serde_json::to_string(&notebook).unwrap(), json.clone(), "applied twice");
            prop_assert_eq!(serde_json::to_string(&serde_json::from_str::<Notebook>(&json).unwrap()).unwrap(), json);
        }
    }

    #[test]
    fn a_flipped_character_is_found(attempts in prop::collection::vec(attempt(), 1..20), event in any::<Index>(), at in any::<Index>()) {
        let mut log = live(&attempts, |_| {}).log;
        let index = event.index(log.len());
        let text = flipped(&serde_json::to_string(&log[index]).unwrap(), &at);
        if let Ok(forged) = serde_json::from_str(&text) {
            log[index] = forged;
            // A flip that reads back as the same value (the case of a hex digit) is not a forgery.
            let same = serde_json::to_string(&log[index]).unwrap() != text;
            prop_assert!(same || verify_chain(Head::START, &log).is_err(), "{}", text);
        }
        let mut missing = log.clone();
        missing.remove(index);
        prop_assert!(index == missing.len() || verify_chain(Head::START, &missing).is_err());
    }

    #[test]
    fn undo_then_redo_is_as_before(attempts in prop::collection::vec(attempt(), 1..50), name in select(vec!["ann", "editor", "author", "it"]), steps in 1..6_u32) {
        let mut world = live(&attempts, |_| {});
        let _ = world.try_do(&user("ann"), &json!({"UnarchiveNotebook": {}}));
        let available = world.notebook.ledger.undo_of(&who(name).actor).map_or(0, |stacks| stacks.undo.len());
        let steps = steps.min(u32::try_from(available).unwrap());
        if steps > 0 {
            let before = seen(&world.notebook);
            let undone = world.step(&who(name), json!({"Undo": {"steps": steps}}));
            let redone = world.step(&who(name), json!({"Redo": {"steps": steps}}));
            if undone.notices.is_empty() && redone.notices.is_empty() {
                prop_assert_eq!(seen(&world.notebook), before);
            }
            let stacks = world.notebook.ledger.undo_of(&who(name).actor);
            prop_assert_eq!(stacks.map(|stacks| stacks.undo.len()), Some(available));
        }
    }

    #[test]
    fn nobodys_undo_takes_anothers_letters(
        steps in prop::collection::vec((0..3_usize, any::<Index>(), 0..3_u64, 0..8_u32), 1..60), deletes in any::<bool>(),
    ) {
        let writers = [("ann", 'a'), ("editor", 'b'), ("author", 'c')];
        let mut world = with_cells();
        world.step(&user("ann"), insert("n", "code", ""));
        for (writer, at, age, kind) in steps {
            let (name, letter) = writers[writer];
            let count = |world: &World, letter: char| {
                world.notebook.cells.get(&cell_id("n")).map_or(0, |cell| cell.content.source.matches(letter).count())
            };
            let before = writers.map(|(_, letter)| count(&world, letter));
            let (is_undo, is_redo) = (kind < 2, kind == 2);
            if !is_undo && !is_redo && deletes && kind % 2 == 1 {
                let (base, text) = earlier(&world, "n", age);
                let _ = world.try_do(&user(name), &edit("n", base, change_of(&text, &at, 2, "")));
                continue;
            }
            let command = match kind {
                0 | 1 => json!({"Undo": {"steps": kind + 1}}),
                2 => json!({"Redo": {}}),
                _ => {
                    let (base, text) = earlier(&world, "n", age);
                    edit("n", base, change_of(&text, &at, 0, &letter.to_string()))
                }
            };
            let judged = world.try_do(&user(name), &command);
            // Exception: text was deleted, then its insertion undone, then its deletion undone. The last undo restores
            // it, and it is the text of that actor.
            if judged.is_ok_and(|(events, _)| types(&events).contains(&"UndoSkipped")) && deletes {
                break;
            }
            for ((other, letter), before) in writers.into_iter().zip(before) {
                let after = count(&world, letter);
                let is_fine = other == name || after == before || is_undo && after > before || is_redo && deletes;
                prop_assert!(is_fine, "{} changed the letters of {}: {}", name, other, told(&world));
            }
        }
    }

    #[test]
    fn late_edits_of_many_writers_lose_nothing(edits in prop::collection::vec((0..5_usize, any::<Index>(), 0..12_u64), 1..60)) {
        let names = ["ann", "editor", "author", "link", "it"];
        let mut world = with_cells();
        world.step(&user("ann"), insert("n", "code", "😀"));
        let start = world.version();
        let mut typed = Vec::new();
        for (writer, at, age) in edits {
            let (base, text) = earlier(&world, "n", age.min(world.version() - start));
            let letter = char::from_u32(0x4e00 + typed.len() as u32).unwrap().to_string();
            world.step(&who(names[writer]), edit("n", base, change_of(&text, &at, 0, &letter)));
            typed.push(letter);
        }
        for letter in &typed {
            prop_assert!(world.source("n").contains(letter), "{} in {}", letter, world.source("n"));
        }
        prop_assert_eq!(world.version(), start + typed.len() as u64);
        prop_assert_eq!(&replay(&world.log), &world.notebook);
    }
}
