//! Worlds with which tests begin. Each builds on an earlier one, by commands alone.

use super::*;

/// Ann's empty notebook.
pub fn created() -> World {
    World::new().with(&user("ann"), json!({"CreateNotebook": {"title": "First"}}))
}

pub fn grant(kind: &str, id: &str, role: &str) -> Value {
    json!({"GrantAccess": {"subject": {"kind": kind, "id": id}, "role": role}})
}

/// A notebook shared with one person of each role, named after it, and with an editor by share link.
pub fn shared() -> World {
    let mut world = created();
    for role in ["viewer", "commenter", "runner", "author", "editor"] {
        world.step(&user("ann"), grant("user", role, role));
    }
    world.step(&user("ann"), grant("share_link", "link", "editor"));
    world
}

pub fn insert(id: &str, cell_type: &str, source: &str) -> Value {
    json!({"InsertCell": {"cell_id": id, "cell_type": cell_type, "source": source}})
}

/// Cells `a` (code), `b` (markdown), `c` (code), and `gone` (code), which is in the trash.
pub fn with_cells() -> World {
    let mut world = shared();
    for (id, cell_type, source) in
        [("a", "code", "x = 1"), ("b", "markdown", "words"), ("c", "code", "y = 2"), ("gone", "code", "z")]
    {
        world.step(&user("ann"), insert(id, cell_type, source));
    }
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "gone"}}));
    world.name("a", world.cell("a").cell_version);
    world
}

pub fn archived() -> World {
    with_cells().with(&user("ann"), json!({"ArchiveNotebook": {}}))
}

/// A kernel that no agent has claimed: `$kernel`.
pub fn launched() -> World {
    let mut world = with_cells();
    let session = world.step(&user("ann"), json!({"LaunchKernel": {}})).kernel_session.unwrap();
    world.name("kernel", format!("\"{session}\""));
    world
}

/// The agent `gpu` has claimed the kernel.
pub fn claimed() -> World {
    launched().with(&agent("gpu"), json!({"ClaimKernelLaunch": {"kernel_session": "$kernel"}}))
}

/// The kernel of a session has started, and its agent holds effects.
pub fn report_started() -> Value {
    let sandbox = json!({"effects": "held"});
    json!({"ReportKernelStarted": {"kernel_session": "$kernel", "language_info": {}, "sandbox": sandbox}})
}

/// The kernel has started: `$fence`.
pub fn started() -> World {
    let mut world = claimed();
    world.step(&agent("gpu"), report_started());
    world.name("fence", world.version());
    world
}

pub fn request(cell_id: &str, execution_id: &str) -> Value {
    json!({"RequestExecution": {"execution_id": execution_id, "target": {"cell": {"cell_id": cell_id}}}})
}

pub fn report(execution_id: &str, seq: u64, report: Value) -> Value {
    json!({"ReportExecution": {"execution_id": execution_id, "fence": "$fence", "seq": seq, "report": report}})
}

pub fn output(texts: &[&str]) -> Value {
    json!({"output": {"outputs": texts.iter().map(|text| text_output(text)).collect::<Vec<_>>()}})
}

pub fn completed(ok: bool) -> Value {
    json!({"completed": {"outcome": if ok { "ok" } else { "error" }, "execution_count": 1}})
}

/// Cell `a` runs as `run-a`; its last report is number 1.
pub fn running() -> World {
    started().with(&user("ann"), request("a", "run-a")).with(&agent("gpu"), report("run-a", 1, json!({"started": {}})))
}

/// Like `running`; cell `c` waits as `run-c`.
pub fn queued() -> World {
    running().with(&user("ann"), request("c", "run-c"))
}

/// `run-a` requests input.
pub fn asking() -> World {
    running().with(&agent("gpu"), report("run-a", 2, json!({"input_request": {"prompt": "name?", "password": false}})))
}

/// `run-a` has ended with one output; its last report is number 3.
pub fn finished() -> World {
    running()
        .with(&agent("gpu"), report("run-a", 2, output(&["1"])))
        .with(&agent("gpu"), report("run-a", 3, completed(true)))
}

/// `run-a` was given up after one output, number 2.
pub fn lost() -> World {
    running()
        .with(&agent("gpu"), report("run-a", 2, output(&["1"])))
        .with(&user("ann"), json!({"GiveUpExecution": {"execution_id": "run-a"}}))
}

pub fn end_kernel() -> Value {
    json!({"ReportKernelEnded": {"kernel_session": "$kernel", "cause": "died", "detail": "killed"}})
}

// --- assistants ---

/// Ann's assistant is at work on `turn`, in the conversation `talk`.
pub fn talking() -> World {
    started().with(
        &user("ann"),
        json!({"StartTurn": {"conversation_id": "talk", "turn_id": "turn", "text": "Tidy up\nplease"}}),
    )
}

/// A tool call by Ann's assistant, in its turn.
pub fn call(call_id: &str, function: &str, arguments: Value) -> Value {
    json!({"RequestToolCall": {"call_id": call_id, "turn_id": "turn", "function": function, "arguments": arguments}})
}

/// The call `del` waits: it would delete cell `a`. `$hash` is the hash for a confirmation.
pub fn waiting() -> World {
    let mut world = talking();
    let version = world.cell("a").cell_version;
    world.step(&assistant_of("ann"), call("del", "delete_cell", json!({"cell_id": "a", "cell_version": version})));
    let hash = world.notebook.tool_calls.values().next().unwrap().arguments_hash;
    world.name("hash", format!("\"{hash}\""));
    world
}

pub fn confirm(call_id: &str) -> Value {
    json!({"ConfirmToolCall": {"call_id": call_id, "arguments_hash": "$hash"}})
}

pub fn start(call_id: &str) -> Value {
    json!({"StartToolCall": {"call_id": call_id}})
}

/// An editor has confirmed the call `del`.
pub fn confirmed() -> World {
    waiting().with(&user("editor"), confirm("del"))
}

/// The call `vars` has started: an agent looks at the kernel's variables.
pub fn calling() -> World {
    talking()
        .with(&assistant_of("ann"), call("vars", "get_variables", json!({})))
        .with(&reactor_of("ann"), start("vars"))
}

/// A simple judge: `os.remove` deletes files, and so does `tidy` if a cell binds it. `open` may write.
pub fn judgement(query: JudgementQuery) -> Judgement {
    if query.expects {
        let named = |code: &String, word: &str, kind| code.contains(word).then_some(kind);
        let kinds = |code: &String| {
            [named(code, "open(", Effect::Write), named(code, "os.remove", Effect::Remove)]
                .into_iter()
                .flatten()
                .collect()
        };
        return Judgement { kinds: query.codes.iter().map(kinds).collect(), ..Judgement::of(query) };
    }
    let is_tidy_bound = query.earlier.iter().chain(&query.codes).any(|source| source.contains("as tidy"));
    let deletes = |line: &str| line.contains("os.remove(") || is_tidy_bound && line.contains("tidy(");
    let lines = query.codes.iter().flat_map(|source| source.lines().enumerate()).filter(|(_, line)| deletes(line));
    let reasons: Vec<String> = lines.map(|(index, line)| format!("Line {}: `{line}` deletes.", index + 1)).collect();
    let risk = if reasons.is_empty() { Risk::Read } else { Risk::Destructive };
    let grade = |code: &String| if code.lines().any(deletes) { Risk::Destructive } else { Risk::Read };
    Judgement { each: query.codes.iter().map(grade).collect(), risk, reasons, ..Judgement::of(query) }
}
