//! Tests of the door for dialoghelper, with the forms that its clients send.

use std::net::SocketAddr;

use notarium_core::Scope;
use notarium_dialoghelper_door::DialoghelperDoor;
use notarium_server::DoorContext;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::{Value, json};

use crate::support::{Answer, Http, PATIENCE, Person, TestServer};

type Fields<'a> = [(&'a str, &'a str)];

/// A server with an open door, and a dialog with four messages.
struct Scene {
    server: TestServer,
    ann: Person,
    door: SocketAddr,
}

impl Scene {
    async fn new() -> Self {
        Self::with_limit(8 << 20).await
    }

    async fn with_limit(max_bytes: usize) -> Self {
        let server = TestServer::start().await;
        let ann = server.person("Ann").await;
        let DoorContext { server: url, stopping, .. } = server.running().door_context();
        let router = DialoghelperDoor::router(&url, max_bytes, stopping).unwrap();
        let door = server.running().open_door(([127, 0, 0, 1], 0).into(), router).await.unwrap();
        let http = server.http(&ann);
        http.post("/api/notebooks", json!({"id": "n", "title": "nb/demo"})).await.ok();
        for (id, cell_type, source) in [
            ("head", "markdown", "# Title\ntext"),
            ("code", "code", "x = 1\nprint(x)"),
            ("deep", "markdown", "## Below"),
            ("_ask", "prompt", "What is x?"),
        ] {
            http.post("/api/notebooks/n/cells", json!({"cell_id": id, "cell_type": cell_type, "source": source}))
                .await
                .ok();
        }
        Self { server, ann, door }
    }

    fn as_token(&self, token: &str) -> Http {
        Http::new(format!("http://{}", self.door), Some(token.to_owned()))
    }

    async fn send_as(&self, token: &str, endpoint: &str, fields: &Fields<'_>, is_json: bool) -> Answer {
        let http = self.as_token(token);
        let dialog =
            if fields.iter().any(|(name, _)| *name == "dlg_name") { vec![] } else { vec![("dlg_name", "nb/demo")] };
        let request =
            http.request(reqwest::Method::POST, &format!("/{endpoint}")).body(encoded(&[&dialog, fields].concat()));
        http.send(if is_json { request.header("accept", "application/json") } else { request }).await
    }

    /// Sends a form as a new client that wants JSON.
    async fn json(&self, endpoint: &str, fields: &Fields<'_>) -> Value {
        let answer = self.send_as(&self.ann.token, endpoint, fields, true).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    async fn text(&self, endpoint: &str, fields: &Fields<'_>) -> String {
        self.send_as(&self.ann.token, endpoint, fields, false).await.text
    }

    /// Returns the sentence of a refusal, which has status 200.
    async fn error(&self, endpoint: &str, fields: &Fields<'_>) -> String {
        let answer = self.json(endpoint, fields).await;
        answer["error"].as_str().unwrap_or_else(|| panic!("it is no refusal: {answer}")).to_owned()
    }

    async fn state(&self) -> Value {
        self.server.http(&self.ann).get("/api/notebooks/n").await.ok()["notebook"].clone()
    }

    async fn order(&self) -> Vec<String> {
        serde_json::from_value(self.state().await["order"].clone()).unwrap()
    }
}

fn encoded(fields: &Fields<'_>) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

#[tokio::test]
async fn old_and_new_clients_read_in_their_shapes() {
    let scene = Scene::new().await;
    assert_eq!(scene.json("curr_dialog_", &[]).await, json!({"name": "nb/demo", "mode": "learning"}));
    assert_eq!(scene.json("curr_dialog_", &[("with_messages", "true")]).await["messages"].as_array().unwrap().len(), 4);
    assert_eq!(scene.json("msg_idx_", &[("msgid", "_code")]).await, json!({"msgid": 1}));
    assert_eq!(scene.json("msg_idx_", &[("id_", "_ask")]).await, json!({"idx": 3}));
    let old = scene.json("read_msg_", &[("msgid", "code"), ("n", "0"), ("relative", "true"), ("nums", "true")]).await;
    assert_eq!(old["msg"]["content"], "     1 │ x = 1\n     2 │ print(x)");
    let range = [("id_", "code"), ("n", "0"), ("view_range", "2"), ("view_range", "-1")];
    assert_eq!(scene.json("read_msg_", &range).await["content"], "print(x)");
    let last = scene.json("read_msg_", &[("n", "-1"), ("relative", "false"), ("msgid", "")]).await;
    assert_eq!((&last["msg"]["id"], &last["msg"]["msg_type"]), (&json!("_ask"), &json!("prompt")));
    assert_eq!(scene.json("read_msg_", &[("n", "1"), ("id_", "head")]).await["id"], "code");
}

#[tokio::test]
async fn messages_are_found_by_all_filters() {
    let scene = Scene::new().await;
    let found = async |fields: &Fields<'_>| {
        let answer: Value = serde_json::from_str(&scene.text("find_msgs_", fields).await).unwrap();
        let messages = answer["msgs"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
        messages.iter().map(|message| message["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]).await, ["head", "code", "deep", "_ask"]);
    assert_eq!(found(&[("re_pattern", "PRINT"), ("msg_type", ""), ("limit", "")]).await, ["code"]);
    assert_eq!(found(&[("re_pattern", "PRINT"), ("use_case", "true")]).await, Vec::<String>::new());
    assert_eq!(found(&[("re_pattern", "print(x)"), ("use_regex", "false")]).await, ["code"]);
    assert_eq!(found(&[("re_pattern", "^text$")]).await, ["head"]);
    assert_eq!(found(&[("msg_type", "note"), ("limit", "1")]).await, ["head"]);
    assert_eq!(found(&[("ids", "ask,_code,gone")]).await, ["code", "_ask"]);
    assert_eq!(found(&[("headers_only", "true")]).await, ["head", "deep"]);
    assert_eq!(found(&[("header_section", "## Below")]).await, ["deep", "_ask"]);
    assert_eq!(found(&[("re_pattern", "print"), ("before", "1")]).await, ["head", "code"]);
    assert_eq!(found(&[("re_pattern", "print"), ("context", "1")]).await, ["head", "code", "deep"]);
    let xml = scene.text("find_msgs_", &[("as_xml", "true"), ("msg_type", "note"), ("nums", "true")]).await;
    let wanted = "<msgs><markdown id=\"head\">     1 │ # Title\n     2 │ text</markdown><markdown id=\"deep\">     1 │ ## Below</markdown></msgs>";
    assert_eq!(xml, wanted);
    scene.json("update_msg_", &[("id_", "deep"), ("skipped", "1")]).await;
    assert_eq!(found(&[("include_skipped", "false")]).await, ["head", "code", "_ask"]);
    assert!(scene.error("find_msgs_", &[("re_pattern", "(")]).await.contains("the pattern cannot be used"));
    assert!(scene.error("find_msgs_", &[("only_chg", "true")]).await.contains("git"));
}

#[tokio::test]
async fn messages_are_added_changed_and_deleted_as_the_caller() {
    let scene = Scene::new().await;
    let first = scene.text("add_relative_", &[("content", "a"), ("placement", "at_start"), ("msgid", "")]).await;
    let id = scene
        .json(
            "add_relative_",
            &[("content", "b"), ("id_", "code"), ("msg_type", "code"), ("output", "out\n"), ("pinned", "1")],
        )
        .await;
    let id = id["id"].as_str().unwrap();
    assert_eq!(scene.order().await, [&first, "head", "code", id, "deep", "_ask"]);
    let read = scene.json("read_msg_", &[("id_", &format!("_{id}")), ("n", "0")]).await;
    assert_eq!((&read["output"], &read["pinned"], &read["run"]), (&json!("out"), &json!(1), &json!(false)));
    let fields: Vec<(String, String)> = read
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
        .collect();
    let echo: Vec<(&str, &str)> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, value)| *name != "id" && *value != "null")
        .collect();
    let version = scene.state().await["version"].clone();
    let echoed = scene.json("update_msg_", &[&[("id_", id)], &echo[..]].concat()).await;
    assert_eq!(echoed, json!({"id": id, "diff": ""}));
    let cell = scene.state().await["cells"][id].clone();
    assert_eq!((&cell["source"], &cell["flags"]), (&json!("b"), &json!({"pinned": true})), "{version}");
    let changed = scene
        .json("update_msg_", &[("id_", id), ("content", "c"), ("msg_type", "note"), ("o_collapsed", "true")])
        .await;
    assert!(changed["diff"].as_str().unwrap().contains("-b\n") && changed["diff"].as_str().unwrap().contains("+c"));
    assert_eq!(scene.text("update_msg_", &[("msgid", id), ("content", "d")]).await, id);
    assert_eq!(scene.state().await["cells"][id]["cell_type"], "markdown");
    assert_eq!(scene.json("rm_msg_", &[("msid", id)]).await, json!({"status": "success"}));
    let again = scene.send_as(&scene.ann.token, "rm_msg_", &[("msid", id)], true).await;
    assert_eq!(again.status, 404);
    assert!(again.json()["error"].as_str().unwrap().contains("it was deleted"));
    let undone = scene.server.http(&scene.ann).post("/api/notebooks/n/undo", json!({})).await;
    undone.ok();
    assert!(scene.order().await.iter().any(|cell| cell == id), "the deletion is an undo group of the person");
}

#[tokio::test]
async fn old_clients_edit_by_lines_and_strings() {
    let scene = Scene::new().await;
    let success = async |endpoint: &str, fields: &Fields<'_>| {
        scene.json(endpoint, &[&[("msgid", "code")], fields].concat()).await["success"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        success("msg_insert_line_", &[("insert_line", "0"), ("new_str", "# new")]).await,
        "Inserted text after line 0 in message code"
    );
    assert_eq!(
        success("msg_str_replace_", &[("old_str", "x = 1"), ("new_str", "x = 2")]).await,
        "Replaced text in message code"
    );
    let olds = [("old_strs", "# new"), ("old_strs", "print"), ("new_strs", "# two"), ("new_strs", "show")];
    success("msg_strs_replace_", &olds).await;
    let lines = [("start_line", "1"), ("end_line", "1"), ("new_content", "# three\n")];
    assert_eq!(success("msg_replace_lines_", &lines).await, "Replaced lines 1 to 1 in message code");
    assert_eq!(scene.state().await["cells"]["code"]["source"], "# three\nx = 2\nshow(x)");
    assert!(
        scene.error("msg_str_replace_", &[("msgid", "code"), ("old_str", "y")]).await.contains("does not contain 'y'")
    );
}

#[tokio::test]
async fn marks_clipboard_and_comments() {
    let scene = Scene::new().await;
    assert_eq!(scene.text("toggle_header_collapse_", &[("id_", "head")]).await, "collapsed");
    assert_eq!(scene.json("bookmark_", &[("id_", "head"), ("n", "3")]).await["bookmark"], 3);
    assert_eq!(scene.json("bookmark_", &[("id_", "code"), ("n", "3")]).await["bookmark"], 3);
    assert_eq!(
        scene.json("toggle_export_", &[("ids", "code,deep")]).await,
        json!({"success": "complete", "exported": true})
    );
    assert!(!scene.text("toggle_comment_", &[("ids", "code"), ("id_", "code")]).await.is_empty());
    for endpoint in ["msg_clipboard_", "toggle_header_collapse_", "toggle_comment_"] {
        assert_eq!(scene.text(endpoint, &[("ids", "gone"), ("id_", "gone")]).await, "", "{endpoint}");
    }
    let cells = scene.state().await["cells"].clone();
    assert_eq!(cells["head"]["flags"], json!({"heading_collapsed": true}), "the bookmark has moved");
    assert_eq!(cells["code"]["flags"], json!({"exported": true, "bookmark": 3}));
    assert_eq!(cells["code"]["source"], "# x = 1\n# print(x)");
    assert!(!scene.text("msg_clipboard_", &[("ids", "head,code"), ("id_", "head"), ("cmd", "cut")]).await.is_empty());
    assert_eq!(scene.order().await, ["deep", "_ask"]);
    let pasted = scene.json("msg_paste_", &[("id_", "_ask"), ("after", "true")]).await;
    let ids: Vec<String> = serde_json::from_value(pasted["ids"].clone()).unwrap();
    assert_eq!(scene.order().await, ["deep", "_ask", &ids[0], &ids[1]]);
    assert_eq!(scene.state().await["cells"][&ids[1]]["source"], "# x = 1\n# print(x)");
}

#[tokio::test]
async fn dialogs_are_notebooks() {
    let scene = Scene::new().await;
    let made = scene.json("create_dialog_", &[("name", "nb/new"), ("template", "true")]).await;
    assert_eq!(made, json!({"success": "\"nb/new\" is now running"}));
    scene.json("create_dialog_", &[("name", "/nb/new.ipynb")]).await;
    assert_eq!(scene.json("list_dialogs_", &[("subpath", ""), ("depth", "1")]).await, json!({"items": ["nb/"]}));
    assert_eq!(scene.json("list_dialogs_", &[("subpath", "nb")]).await, json!({"items": ["demo", "new"]}));
    assert_eq!(scene.text("realpath_", &[("subpath", "nb/new")]).await, "/nb/new");
    assert_eq!(scene.json("curr_dialog_", &[("dlg_name", "n")]).await["name"], "nb/demo", "an id names a dialog too");
    let loaded = scene.text("load_dialog_", &[("dlg_name", "nb/new"), ("src_dname", "nb/demo")]).await;
    assert!(loaded.contains("<code id=\"code\">x = 1"), "{loaded}");
    for (endpoint, success) in [
        ("restart_kernel_", "kernel restarted"),
        ("stop_kernel_", "dialog stopped"),
        ("rm_dialog_", "deleted \"nb/demo\""),
    ] {
        assert_eq!(scene.json(endpoint, &[("name", "nb/demo")]).await["success"], success);
    }
    assert!(scene.error("curr_dialog_", &[]).await.contains("no dialog has the name 'nb/demo'"));
    assert_eq!(scene.json("server_info_", &[]).await["root"], "/");
}

#[tokio::test]
async fn runs_are_queued_in_the_notebook() {
    let scene = Scene::new().await;
    for fields in [&[("msgid", "_code"), ("api", "true")][..], &[("ids", "code")], &[("msgids", "code")]] {
        assert_eq!(scene.json("add_runq_", fields).await, json!({"status": "queued"}));
    }
    assert_eq!(scene.state().await["executions"].as_object().unwrap().len(), 3);
    assert_eq!(scene.json("read_msg_", &[("id_", "code"), ("n", "0")]).await["run"], true);
    let added = scene
        .json("add_relative_", &[("content", "y"), ("msg_type", "code"), ("placement", "at_end"), ("run", "true")])
        .await;
    assert_eq!(scene.json("read_msg_", &[("id_", added["id"].as_str().unwrap()), ("n", "0")]).await["run"], true);
    assert!(scene.error("add_runq_", &[("ids", "head")]).await.contains("is a note, which does not run"));
    assert!(scene.error("add_relative_", &[("content", "x")]).await.contains("no message runs in this dialog"));
}

#[tokio::test]
async fn code_in_a_kernel_names_its_cell_as_the_current_message() {
    let scene = Scene::new().await;
    let http = scene.as_token(&scene.ann.token);
    let post = async |fields: &Fields<'_>| {
        let request = http.request(reqwest::Method::POST, "/add_relative_").header("notarium-cell", "code");
        http.send(request.body(encoded(&[&[("dlg_name", "nb/demo")], fields].concat()))).await.text
    };
    let first = post(&[("content", "first")]).await;
    let second = post(&[("content", "second"), ("placement", "add_before"), ("id_", "deep")]).await;
    assert_eq!(scene.order().await, ["head", "code", &first, &second, "deep", "_ask"]);
}

#[tokio::test]
async fn data_reaches_waiting_code_of_the_same_dialog() {
    let scene = Scene::new().await;
    let wait = scene.json("pop_data_blocking_", &[("data_id", "x"), ("timeout", "15")]);
    let push = scene.json("push_data_", &[("data_id", "x"), ("result", "42")]);
    let (popped, pushed) = tokio::join!(wait, push);
    assert_eq!(popped, json!({"data_id": "x", "result": "42"}));
    assert_eq!(pushed, json!({"status": "success"}));
    let none = scene.error("pop_data_blocking_", &[("data_id", "x"), ("timeout", "0.01")]).await;
    assert!(none.contains("no data came for 'x' in time"), "{none}");
}

#[tokio::test]
async fn of_two_clients_that_wait_under_one_id_one_gets_the_value() {
    let scene = Scene::new().await;
    let waits = [("data_id", "x"), ("timeout", "1")];
    let push = [("data_id", "x"), ("result", "42")];
    let (one, two, _) = tokio::join!(
        scene.json("pop_data_blocking_", &waits),
        scene.json("pop_data_blocking_", &waits),
        scene.json("push_data_", &push)
    );
    let taken = [one, two].iter().filter(|answer| answer["result"] == "42").count();
    assert_eq!(taken, 1);
}

#[tokio::test]
async fn html_reaches_every_stream_and_ends_with_the_right_to_read() {
    let scene = Scene::new().await;
    let open = async |token: &str| {
        let http = scene.as_token(token);
        let request = http.request(reqwest::Method::GET, "/html_stream_?dlg_name=nb%2Fdemo");
        let mut response = request.send().await.unwrap();
        assert!(response.chunk().await.unwrap().unwrap().starts_with(b":"));
        response
    };
    let guest = scene.server.api_token(&scene.ann, &[Scope::Read]).await;
    let (mut one, mut two) = (open(&scene.ann.token).await, open(&guest).await);
    let hostile = "<script>\n\ndata: x\nevent: y</script>";
    assert_eq!(scene.json("add_html_", &[("content", hostile)]).await["browsers"], 2);
    for response in [&mut one, &mut two] {
        let event = String::from_utf8(response.chunk().await.unwrap().unwrap().to_vec()).unwrap();
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(data).unwrap(), json!({"content": hostile}), "{event}");
    }
    let refused = scene.send_as(&guest, "add_html_", &[("content", "x")], true).await.json();
    assert!(refused["error"].as_str().unwrap().contains("needs the right to edit or run"));
    scene.server.revoke(&guest).await;
    while two.chunk().await.unwrap().is_some() {}
}

#[tokio::test]
async fn callers_have_the_rights_of_their_token() {
    let scene = Scene::new().await;
    let bob = scene.server.person("Bob").await;
    let unseen = scene.send_as(&bob.token, "curr_dialog_", &[], true).await.json();
    assert!(unseen["error"].as_str().unwrap().contains("or you may not see it"));
    let reader = scene.server.api_token(&scene.ann, &[Scope::Read]).await;
    assert_eq!(scene.send_as(&reader, "curr_dialog_", &[], true).await.json()["name"], "nb/demo");
    let refused = scene.send_as(&reader, "rm_msg_", &[("msid", "code")], true).await;
    assert_eq!(refused.status, 403);
    let refused = scene.send_as(&reader, "update_msg_", &[("id_", "code"), ("content", "")], true).await.json();
    assert!(refused["error"].as_str().is_some(), "{refused}");
    scene.server.revoke(&reader).await;
    let refused = async { while scene.send_as(&reader, "curr_dialog_", &[], true).await.status != 401 {} };
    tokio::time::timeout(PATIENCE, refused).await.expect("a revoked token gets no answer");
    assert_eq!(scene.order().await.len(), 4);
}

#[tokio::test]
async fn pages_of_other_origins_and_hosts_get_no_answer() {
    let scene = Scene::new().await;
    let http = scene.as_token(&scene.ann.token);
    let own = format!("http://{}", scene.door);
    let page = format!("http://{}", scene.server.address());
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", page.as_str(), 403),
        ("origin", own.as_str(), 200),
        ("host", "evil.example:5001", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "none", 200),
    ] {
        let request = http.request(reqwest::Method::POST, "/curr_dialog_").body(encoded(&[("dlg_name", "nb/demo")]));
        assert_eq!(http.send(request.header(name, value)).await.status, status, "{name}: {value}");
    }
}

#[tokio::test]
async fn without_a_token_no_endpoint_answers() {
    let scene = Scene::new().await;
    let http = scene.as_token("").without_token();
    for endpoint in ["curr_dialog_", "rm_msg_", "push_data_", "server_info_", "unknown_", "realpath_"] {
        let request =
            http.request(reqwest::Method::POST, &format!("/{endpoint}")).body(encoded(&[("dlg_name", "nb/demo")]));
        let answer = http.send(request).await;
        assert_eq!(answer.status, 401, "{endpoint}");
        assert!(answer.json()["error"].as_str().unwrap().contains("notarium token new"));
    }
    assert_eq!(http.get("/html_stream_?dlg_name=nb%2Fdemo").await.status, 401);
    let wrong = http
        .request(reqwest::Method::POST, "/curr_dialog_")
        .header(AUTHORIZATION, HeaderValue::from_static("Bearer x"));
    assert_eq!(http.send(wrong.body(encoded(&[("dlg_name", "nb/demo")]))).await.status, 401);
}

#[tokio::test]
async fn bad_input_is_refused_with_a_sentence() {
    let scene = Scene::with_limit(1 << 20).await;
    for (endpoint, fields, sentence) in [
        ("curr_dialog_", &[("dlg_name", "nowhere")][..], "no dialog has the name 'nowhere'"),
        ("curr_dialog_", &[("dlg_name", "../../etc/passwd")], "leads outside"),
        ("create_dialog_", &[("name", "../x")], "leads outside"),
        ("realpath_", &[("subpath", "a/../../b")], "leads outside"),
        ("create_dialog_", &[("name", "")], "'name' is missing"),
        ("read_msg_", &[("id_", "gone"), ("n", "0")], "no message has the id 'gone'"),
        ("read_msg_", &[("n", "9"), ("relative", "false")], "no message is at 9"),
        ("read_msg_", &[("n", "9223372036854775807"), ("id_", "code")], "no message is at"),
        ("update_msg_", &[("id_", "code"), ("pinned", "perhaps")], "pinned must be true or false"),
        ("add_relative_", &[("placement", "at_end"), ("msg_type", "chart")], "msg_type must be"),
        ("bookmark_", &[("id_", "code"), ("n", "10")], "from 1 to 9"),
        ("msg_paste_", &[("id_", "code")], "the clipboard is empty"),
        ("search_", &[("q", "x")], "does not search the web"),
        ("connfiles_", &[], "given to nobody"),
        ("update_msg_", &[("id_", "_ask"), ("output", "x")], "cannot be changed"),
        ("read_msg_", &[("id_", "code"), ("n", "0"), ("of_a_later_version", "1"), ("view_range", "x")], "two numbers"),
    ] {
        let said = scene.error(endpoint, fields).await;
        assert!(said.contains(sentence), "{endpoint} {fields:?}: {said}");
    }
    let large = "x".repeat(2 << 20);
    let said = scene.error("add_relative_", &[("placement", "at_end"), ("content", &large)]).await;
    assert!(said.contains("at most 1048576 bytes"), "{said}");
    let just = "x".repeat((1 << 20) - 100);
    scene.json("add_relative_", &[("placement", "at_end"), ("content", &just), ("msg_type", "raw")]).await;
    assert_eq!(scene.send_as(&scene.ann.token, "unknown_", &[], true).await.status, 404);
    scene.server.http(&scene.ann).post("/api/notebooks", json!({"id": "m", "title": "nb/demo"})).await.ok();
    scene.server.http(&scene.ann).post("/api/notebooks", json!({"title": "twice"})).await.ok();
    scene.server.http(&scene.ann).post("/api/notebooks", json!({"title": "twice"})).await.ok();
    assert!(scene.error("curr_dialog_", &[("dlg_name", "twice")]).await.contains("2 notebooks have the title"));
}
