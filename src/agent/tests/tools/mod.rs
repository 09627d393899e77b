//! The tools that run in the kernel, against a real ipykernel: their answers, refusals and side effects.

use std::os::unix::fs::symlink;

use notarium_core::tools::Tool;
use notarium_core::{Execution, Recorded, kernel_tools};
use notarium_wire::kernel_tools::source;
use serde_json::{Value, json};

use super::*;

struct Tools {
    server: FakeServer,
    agent: RunningAgent,
    ada: Person,
}

impl Tools {
    async fn start() -> Self {
        let server = FakeServer::start().await;
        let agent = start_agent(&server, "agent-a", environment(), KernelSessionLimits::default());
        let ada = Person::enter(&server).await;
        Self { server, agent, ada }
    }

    fn file(&self, path: &str) -> PathBuf {
        self.agent.folder.path().join(path)
    }

    /// Runs code like a cell; returns the printed text.
    async fn cell(&mut self, source: &str) -> String {
        let id = self.ada.run(source).await;
        let (status, text, _) = self.ada.until_over(&self.server, &id).await;
        assert_eq!(status, ExecutionStatus::Ok, "{text}");
        text
    }

    async fn run(&mut self, source: &str) -> Execution {
        let id = self.ada.run(source).await;
        self.ada.until_over(&self.server, &id).await;
        let events = self.server.events(&self.ada.notebook);
        let about: Vec<Recorded> =
            events.into_iter().filter(|recorded| recorded.event.execution_id() == Some(&id)).collect();
        Execution::replay(&about).unwrap()
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let arguments = RawObject::parse(&arguments.to_string()).unwrap();
        Tool::find(tool).unwrap().arguments(&arguments).unwrap();
        let source = source(tool, ("", ""), &arguments, &[self.file("vault")]).unwrap();
        let run = self.run(&source).await;
        let answer = kernel_tools::answer(&run, &|part| self.server.blob(&part.sha256));
        answer.map(|text| serde_json::from_str(&text).unwrap())
    }

    async fn inspect(&mut self, name: &str) -> Value {
        self.call("inspect_variable", json!({"name": name})).await.unwrap()
    }
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap_or(&Value::Null)
}

const NAMES: &str = r#"
import math, json as j
from os import environ, path
number, big, text, flag = 42, 10 ** 5000, "long " * 101, True
list = [1, 2, 3]
str = len = print = exec = None
api_key = "sk-planted-0123456789abcdef"
settings = {"password": "planted-pw", "user": "ann", 3: ["x"]}
url = "postgresql://ann:planted-pw@db/x"
class Point:
    """A place.

    More.
    """
    def __init__(self, x, y=0, token="planted-default"): pass
    def __repr__(self): return "Point(password='planted-pw', x=1)"
def area(width: float, height=2.5) -> float:
    """Width times height."""
point = Point(1)
class Raises:
    def __repr__(self): raise RuntimeError("planted")
    __len__ = __repr__
class Hangs:
    def __repr__(self):
        while True:
            try:
                import time; time.sleep(60)
            except Exception: pass
class Proxy:
    @property
    def __class__(self): raise RuntimeError("no application")
raises, hangs, proxy = Raises(), Hangs(), Proxy()
half = "a\ud800b"
naïve = 1
_hidden = "planted-hidden"
"#;

#[tokio::test(flavor = "multi_thread")]
async fn variables_are_listed_and_looked_at_without_secrets_or_traces() {
    let mut tools = Tools::start().await;
    tools.cell(NAMES).await;
    tools.cell("7 * 6").await;
    let state = "__import__('builtins').print(sorted(globals()), _, In, Out, sep='\\n')";
    let before = tools.cell(state).await;

    let found = tools.call("get_variables", json!({})).await.unwrap();
    let variables = &found["variables"];
    assert_eq!(named(variables, "number"), &json!({"name": "number", "type": "int", "preview": "42"}));
    assert_eq!(named(variables, "list"), &json!({"name": "list", "type": "list", "length": 3}));
    assert_eq!(named(variables, "text")["length"], 505);
    assert_eq!(named(variables, "big")["preview"], "<int of 16610 bits>");
    assert_eq!(named(variables, "api_key"), &json!({"name": "api_key", "type": "str", "preview": "[hidden]"}));
    assert_eq!(named(variables, "raises"), &json!({"name": "raises", "type": "Raises"}));
    assert_eq!(named(variables, "proxy"), &json!({"name": "proxy", "type": "Proxy"}));
    assert_eq!(named(variables, "environ")["preview"], "[hidden]");
    for name in ["_hidden", "In", "Out", "get_ipython", "exit", "_", "math"] {
        assert_eq!(named(variables, name), &Value::Null);
    }
    assert_eq!(found["modules"][0], json!({"name": "math", "as": "math"}));
    assert_eq!(found["modules"][1], json!({"name": "json", "as": "j"}));
    let area = named(&found["functions"], "area");
    let signature = "(width: float, height=2.5) -> float";
    assert_eq!(
        area,
        &json!({"name": "area", "kind": "function", "signature": signature, "doc": "Width times height."})
    );
    let point = named(&found["functions"], "Point");
    assert_eq!((&point["kind"], &point["signature"]), (&json!("class"), &json!("(x, y=0, token=...)")));
    assert_eq!(point["doc"], "A place.");

    assert_eq!(tools.inspect("number").await["preview"], "42");
    let text = tools.inspect("text").await;
    assert_eq!(text["preview"].as_str().unwrap().chars().count(), 500 + "…[truncated]".chars().count());
    let settings = tools.inspect("settings").await;
    assert_eq!(settings["items"], json!([["'password'", "[hidden]"], ["'user'", "'ann'"], ["3", "<list of 1>"]]));
    assert_eq!(tools.inspect("point").await["preview"], "Point(password=[hidden], x=1)");
    assert_eq!(tools.inspect("url").await["preview"], "postgresql://ann:[hidden]@db/x");
    assert_eq!(tools.inspect("raises").await["preview"], "<Raises: its repr raises RuntimeError>");
    assert_eq!(tools.inspect("hangs").await["preview"], "<Hangs: its repr takes too long>");
    assert_eq!(tools.inspect("half").await["preview"], "a?b");
    assert_eq!(tools.inspect("naïve").await["preview"], "1");
    assert_eq!(tools.inspect("environ").await["preview"], "[hidden]");
    assert_eq!(tools.inspect("path").await["type"], "module");
    let unknown = tools.call("inspect_variable", json!({"name": "numbr"})).await.unwrap_err();
    assert_eq!(unknown, "the kernel has no variable 'numbr': did you mean number?");
    for name in ["_hidden", "number.real", "os.environ", "x'''; import os #", "\"\"\"", "😀", "a b"] {
        let refused = tools.call("inspect_variable", json!({"name": name})).await.unwrap_err();
        assert!(!refused.contains("planted") && !refused.contains("Traceback"), "{name}: {refused}");
    }

    assert_eq!(tools.cell(state).await, before, "a tool leaves nothing in the namespace and the history");
    let log = format!("{:?}", tools.server.events(&tools.ada.notebook));
    assert!(!log.replace(&format!("{NAMES:?}"), "").contains("planted"), "a secret is in an answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_answer_comes_through_a_blob_and_long_lists_are_cut() {
    let mut tools = Tools::start().await;
    tools.cell("for number in range(300): globals()[f'name_{number}'] = number").await;
    let found = tools.call("get_variables", json!({})).await.unwrap();
    assert_eq!(found["variables"].as_array().unwrap().len(), 200);
    assert_eq!(found["more"], json!({"variables": 101}));
    assert_eq!(named(&found["variables"], "name_299")["preview"], "299");
}

/// The part of pandas that the tool uses: the real one is no dependency of the tests.
const FRAME: &str = r#"
import sys, types
class Head:
    shape, iat = (2, 2), {(0, 0): 1, (0, 1): "planted", (1, 0): 2, (1, 1): "planted"}
class DataFrame:
    columns, dtypes, shape = ["loss", "api_token"], ["float64", "object"], (1000, 2)
    __module__ = "pandas.core.frame"
    def __len__(self): return 1000
    def memory_usage(self, deep): return types.SimpleNamespace(sum=lambda: 16000)
class Place:
    def __getitem__(self, key): return Head
DataFrame.iloc = Place()
sys.modules["pandas"] = types.ModuleType("pandas")
sys.modules["pandas"].DataFrame = DataFrame
frame = DataFrame()
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_shown_by_its_columns_and_first_rows() {
    let mut tools = Tools::start().await;
    tools.cell(FRAME).await;
    let frame = tools.inspect("frame").await;
    assert_eq!(frame["preview"], "[DataFrame: 1000 rows x 2 cols]");
    assert_eq!((&frame["shape"], &frame["bytes"]), (&json!([1000, 2]), &json!(16000)));
    assert_eq!(frame["columns"][0], json!({"name": "loss", "dtype": "float64"}));
    assert_eq!(frame["head"][1], json!(["2", "[hidden]"]));
}

/// The folder `vault` is hidden on this machine, without a sandbox.
async fn hidden_places_are_refused_with_the_reason(tools: &mut Tools) {
    std::fs::create_dir_all(tools.file("vault/deep")).unwrap();
    std::fs::write(tools.file("vault/deep/up.txt"), "planted").unwrap();
    symlink(tools.file("vault/deep"), tools.file("data/door")).unwrap();
    for (tool, path, content) in [
        ("read_file", "vault/deep/up.txt", None),
        ("read_file", "data/door/up.txt", None),
        ("list_files", "vault", None),
        ("list_files", "data/door", None),
        ("save_data", "vault/new.txt", Some("x")),
        ("save_data", "data/door/new.txt", Some("x")),
    ] {
        let mut arguments = json!({"path": path});
        if let Some(content) = content {
            arguments["content"] = content.into();
        }
        let refused = tools.call(tool, arguments).await.unwrap_err();
        let says_why = refused.contains(path) && refused.contains("vault is hidden from kernels and assistants");
        assert!(says_why && !refused.contains("planted"), "{tool} {path}: {refused}");
    }
    let listed = tools.call("list_files", json!({"path": "data"})).await.unwrap();
    assert!(!listed.to_string().contains("door"), "{listed}");
    assert_eq!(std::fs::read_dir(tools.file("vault")).unwrap().count(), 1, "nothing was written");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_listed_read_and_written_below_the_folder_alone() {
    let mut tools = Tools::start().await;
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("plan.txt"), "planted").unwrap();
    tools.cell("pass").await;
    symlink(outside.path(), tools.file("way")).unwrap();
    symlink(outside.path().join("plan.txt"), tools.file("link.txt")).unwrap();
    for (name, content) in [(".env", "planted"), ("server.pem", "planted"), ("data/table.csv", "a,b\n1,2\n")] {
        std::fs::create_dir_all(tools.file(name).parent().unwrap()).unwrap();
        std::fs::write(tools.file(name), content).unwrap();
    }
    symlink(tools.file(".env"), tools.file("innocent.txt")).unwrap();
    std::fs::write(tools.file("picture.png"), b"\x89PNG\0\0").unwrap();
    std::fs::write(tools.file("long.txt"), "é".repeat(30_000)).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(tools.file("pipe")).status().unwrap().success());
    // A change of the kernel's working directory does not extend an assistant's access.
    tools.cell("import os; os.chdir('/')").await;

    let listed = tools.call("list_files", json!({})).await.unwrap();
    let names: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    for (name, is_seen) in
        [("data", true), ("picture.png", true), (".env", false), ("server.pem", false), ("way", false)]
    {
        assert_eq!(names.contains(&name), is_seen, "{name} in {names:?}");
    }
    let data = tools.call("list_files", json!({"path": "./data/"})).await.unwrap();
    assert_eq!(data, json!({"path": "data", "files": [{"name": "table.csv", "kind": "file", "size": 8}]}));
    let read = tools.call("read_file", json!({"path": "data/table.csv"})).await.unwrap();
    assert_eq!(read["content"], "a,b\n1,2\n");
    let long = tools.call("read_file", json!({"path": "long.txt"})).await.unwrap();
    assert_eq!(long["content"].as_str().unwrap(), "é".repeat(20_000) + "…[truncated]");
    let picture = tools.call("read_file", json!({"path": "picture.png"})).await.unwrap();
    assert_eq!((&picture["kind"], &picture["content"]), (&json!("image/png"), &Value::Null));

    for path in [
        "way/plan.txt",
        "link.txt",
        "innocent.txt",
        "../x",
        "/etc/passwd",
        "data/../../x",
        ".env",
        "pipe",
        "data",
        "none",
    ] {
        let refused = tools.call("read_file", json!({"path": path})).await.unwrap_err();
        assert!(
            refused.contains(path) && !refused.contains("planted") && !refused.contains("Error"),
            "{path}: {refused}"
        );
    }
    for path in ["way/new.txt", "link.txt", "innocent.txt", "../new.txt", ".hidden/x", "data/id_rsa"] {
        let refused = tools.call("save_data", json!({"path": path, "content": "x"})).await.unwrap_err();
        assert!(refused.contains(path), "{path}: {refused}");
    }
    hidden_places_are_refused_with_the_reason(&mut tools).await;
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1, "nothing was written outside");
    assert_eq!(std::fs::read_to_string(outside.path().join("plan.txt")).unwrap(), "planted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_replaced_only_as_it_was_seen() {
    let mut tools = Tools::start().await;
    let hostile = "'''\"\"\"\\\n\r\n\u{2028}😀 $(rm -rf x) `{x}` %run\n!ls\n?";
    let save = |overwrite: Option<&str>, content: &str| json!({"path": "out/a 'b'.csv", "content": content, "overwrite": overwrite});
    let saved = tools.call("save_data", save(None, hostile)).await.unwrap();
    let file = tools.file("out/a 'b'.csv");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), hostile);
    let first = saved["sha256"].as_str().unwrap();
    let refused = tools.call("save_data", save(None, "new")).await.unwrap_err();
    assert!(refused.contains("exists") && refused.contains(first), "{refused}");
    let read = tools.call("read_file", json!({"path": "out/a 'b'.csv"})).await.unwrap();
    assert_eq!((&read["content"], &read["sha256"]), (&json!(hostile), &saved["sha256"]));
    let again = tools.call("save_data", save(Some(first), "new")).await.unwrap();
    assert_eq!((&again["replaced"], std::fs::read_to_string(&file).unwrap().as_str()), (&json!(true), "new"));
    let refused = tools.call("save_data", save(Some(first), "newer")).await.unwrap_err();
    assert!(refused.contains("changed since"), "{refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    let missing = json!({"path": "none.csv", "content": "", "overwrite": first});
    assert!(tools.call("save_data", missing).await.unwrap_err().contains("does not exist"));
    let left = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "no temporary file stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fails_or_says_nothing_is_told_in_full() {
    let mut tools = Tools::start().await;
    let failed = tools.run("def inner(): raise ValueError('no such thing')\ninner()").await;
    let told = kernel_tools::answer(&failed, &|_| None).unwrap_err();
    assert!(
        told.starts_with("ValueError: no such thing") && told.contains("inner()") && !told.contains('\u{1b}'),
        "{told}"
    );
    let silent = tools.run("1").await;
    assert!(kernel_tools::answer(&silent, &|_| None).unwrap_err().contains("without an answer"));
    let dead = tools.run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)").await;
    let told = kernel_tools::answer(&dead, &|_| None).unwrap_err();
    assert!(told.contains("lost") && told.contains("SIGKILL"), "{told}");
}

/// The minimal module that the contract requires (protocol/agents.md, "User functions").
const MODULE: &str = r#"
import sys, types
from comm import create_comm
notarium = types.ModuleType("notarium")
def area(width, height=2): return {"area": width * height, "token": "ünïcödé ''' \" 😀"}
def fails(): raise LookupError("no such table")
def odd(): return object()
table = {"area": area, "fails": fails, "odd": odd}
notarium.call_function = lambda name, arguments: table[name](**arguments)
sys.modules["notarium"] = notarium
number = {"type": "number"}
described = [
    {"name": "area", "version": "1", "description": "Width times height.", "risk": "read",
     "schema": {"type": "object", "properties": {"width": number, "height": number}, "required": ["width"]}},
    {"name": "fails", "schema": {"type": "object", "properties": {}}, "risk": "edit"},
    {"name": "odd", "schema": {"type": "object", "properties": {}}, "risk": "odd"},
]
def register(functions): create_comm(target_name="notarium.functions", data={"functions": functions})
register(described)
"#;

#[tokio::test(flavor = "multi_thread")]
async fn functions_are_registered_called_and_kept() {
    let mut tools = Tools::start().await;
    tools.cell(MODULE).await;
    tools.ada.until("the functions", |state| state.functions.len() == 3).await;
    let state = tools.server.state(&tools.ada.notebook);
    let mut call = async |name: &str, arguments: Value| {
        let arguments = RawObject::parse(&arguments.to_string()).unwrap();
        notarium_core::tools::find(&state, name).unwrap().arguments(&arguments).unwrap();
        let run = tools.run(&source(kernel_tools::CALL_FUNCTION, (name, ""), &arguments, &[]).unwrap()).await;
        kernel_tools::answer(&run, &|_| None)
    };
    let answer = call("area", json!({"width": 2.5})).await.unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer, json!({"area": 5.0, "token": "ünïcödé ''' \" 😀"}));
    let told = call("fails", json!({})).await.unwrap_err();
    assert!(told.contains("LookupError: no such table") && told.contains("Traceback"), "{told}");
    assert!(call("odd", json!({})).await.unwrap_err().contains("no JSON"));
    assert_eq!(state.functions["odd"].function.risk, notarium_core::Risk::Destructive);

    for (source, problem) in [
        ("register([{'name': 'delete_cell', 'schema': {'type': 'object'}}])", "every notebook has"),
        ("register(7)", "invalid type"),
        ("create_comm(target_name='notarium.functions', data=None)", "missing field"),
        ("register([{'name': 'f', 'schema': {'type': 'object', 'note': 'x' * 20_000}}])", "16 KiB"),
    ] {
        let id = tools.ada.run(source).await;
        tools.ada.until("the end", |state| !state.executions.contains_key(&id)).await;
        // The refusal comes after the end, so the notice is added to the run's record later.
        let notebook = tools.ada.notebook.clone();
        let server = tools.server.clone();
        tools
            .ada
            .until("the notice", |_| {
                let about: Vec<_> =
                    server.events(&notebook).into_iter().filter(|one| one.event.execution_id() == Some(&id)).collect();
                let text = streamed(&about);
                text.contains("were not registered") && text.contains(problem)
            })
            .await;
    }
    assert_eq!(tools.cell("print(table['area'](1))").await.lines().count(), 1, "the kernel lives");

    let session = tools.ada.session();
    tools.ada.command(Command::ShutDownKernel { kernel_session: session }).await;
    tools.ada.until("the end", |state| state.kernels.is_empty()).await;
    let state = tools.server.state(&tools.ada.notebook);
    assert_eq!(state.functions.len(), 3);
    assert!(notarium_core::tools::find(&state, "area").unwrap_err().message.contains("registers it again"));
    tools.cell(MODULE).await;
    tools.ada.until("the functions", |state| notarium_core::tools::find(state, "area").is_ok()).await;
}
