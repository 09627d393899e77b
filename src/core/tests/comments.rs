//! Comments: threads on cells and on ranges of their text.

use std::sync::Arc;

use crate::edits::edit;
use crate::support::*;
use notarium_core::text::TextRange;
use notarium_core::{AccountStatus, Document, Event, RejectionCode as Code, Subject, Thread, ThreadId};
use serde_json::Value;

fn add(target: Value, text: &str) -> Value {
    json!({"AddComment": {"target": target, "text": text}})
}

fn on(cell_id: &str, text: &str) -> Value {
    add(json!({"cell": {"cell_id": cell_id}}), text)
}

fn on_range(cell_id: &str, range: [usize; 2], text: &str) -> Value {
    add(json!({"cell": {"cell_id": cell_id, "range": range}}), text)
}

fn reply(thread: &str, text: &str) -> Value {
    add(json!({"thread": {"thread_id": thread}}), text)
}

fn mentioning(mut command: Value, users: &[&str]) -> Value {
    let body = command.as_object_mut().unwrap().values_mut().next().unwrap();
    body["mentions"] = json!(users);
    command
}

fn about(command: &str, thread: &str, comment: &str) -> Value {
    json!({command: {"thread_id": thread, "comment_id": comment}})
}

fn rewrite(thread: &str, comment: &str, text: &str) -> Value {
    json!({"EditComment": {"thread_id": thread, "comment_id": comment, "text": text}})
}

fn of_thread(command: &str, thread: &str) -> Value {
    json!({command: {"thread_id": thread}})
}

fn move_to(thread: &str, place: Value) -> Value {
    json!({"MoveThread": {"thread_id": thread, "place": place}})
}

fn batch<const N: usize>(commands: [Value; N]) -> Value {
    json!({"Batch": {"commands": commands.to_vec()}})
}

impl World {
    /// Posts a comment and names its id `$name`, and that of its thread `$t_name`.
    fn comment(&mut self, who: &Who, command: Value, name: &str) {
        let outcome = self.step(who, command);
        self.name(name, json!(outcome.comment.unwrap()));
        self.name(&format!("t_{name}"), json!(outcome.thread.unwrap()));
    }

    fn thread(&self, name: &str) -> Option<&Thread> {
        let id: ThreadId = serde_json::from_str(&self.names[&format!("t_{name}")]).unwrap();
        self.notebook.threads.get(&id).map(|thread| &**thread)
    }

    /// Cell of a thread, and the text that the thread covers.
    fn covered(&self, name: &str) -> (&str, &str) {
        let thread = self.thread(name).unwrap();
        let range = thread.range.unwrap();
        (thread.cell_id.as_str(), range.of(self.source(thread.cell_id.as_str())).unwrap())
    }
}

/// A command about a thread or its first comment, for the property tests.
pub fn about_thread(command: &str, (id, thread): (&ThreadId, &Arc<Thread>)) -> Value {
    let mut body = json!({"thread_id": id});
    match command {
        "DeleteComment" => body["comment_id"] = json!(thread.comments[0].comment_id),
        "MoveThread" => body["place"] = json!({"cell_id": "a", "range": [0, 1]}),
        _ => {}
    }
    json!({command: body})
}

/// Checks that ranges fit their cell's text, however it was edited.
pub fn check_threads(notebook: &Document) {
    for thread in notebook.threads.values() {
        assert!(!thread.comments.is_empty());
        let (Some(cell), Some(range)) = (notebook.cells.get(&thread.cell_id), thread.range) else { continue };
        let text = range.of(&cell.content.source).expect("a range of the text");
        assert_eq!(text.is_empty(), range.is_empty());
    }
}

/// Cell `t` has text; `$one` is a comment on its second word by a commenter, `$two` a reply of an editor.
fn talked() -> World {
    let mut world = with_cells();
    world.step(&user("ann"), insert("t", "code", "total = sum(😀)\nprint(total)"));
    world.comment(&user("commenter"), on_range("t", [8, 11], "Why *sum*?"), "one");
    world.comment(&user("editor"), reply("$t_one", "Because."), "two");
    world
}

fn settled() -> World {
    talked().with(&user("runner"), of_thread("ResolveThread", "$t_one"))
}

fn archived_talk() -> World {
    talked().with(&user("ann"), json!({"ArchiveNotebook": {}}))
}

/// A world in which Bo has an account, Cy's has ended, and Di has none.
fn with_accounts() -> World {
    let mut world = talked();
    let account = |id: &str| Subject::User { id: id.parse().unwrap() };
    world.standings.insert(account("cy"), AccountStatus::Ended { name: "Cy".to_owned() });
    world.standings.insert(account("di"), AccountStatus::Unknown);
    world
}

/// Every event of comments, for the golden files.
pub fn commented() -> World {
    let (ann, bo) = (user("ann"), user("editor"));
    let mut world = talked();
    let base = world.version();
    world.comment(&ann, mentioning(on("b", "Say more, please."), &["editor", "commenter"]), "whole");
    world.comment(&user("runner"), on_range("t", [16, 28], "Prints it.\nTwice?"), "print");
    world.comment(&guest("link"), on_range("t", [12, 14], "What is this?"), "face");
    world.step(&bo, edit("t", world.version(), json!([[0, "grand_"], 28])));
    world.comment(
        &ann,
        add(json!({"cell": {"cell_id": "t", "range": [0, 5], "base": base}}), "A better name."),
        "late",
    );
    world.step(&bo, edit("t", world.version(), json!([18, [2], [0, "1, 2"], 14])));
    world.step(&user("commenter"), mentioning(rewrite("$t_one", "$one", "Why **sum**, @ann?"), &["ann"]));
    world.step(&ann, about("DeleteComment", "$t_one", "$two"));
    let tail = "print(total)";
    let cut = edit("t", world.version(), json!([23, [13]]));
    let split = batch([insert("u", "code", tail), move_to("$t_print", json!({"cell_id": "u", "range": [0, 12]})), cut]);
    world.step(&bo, split);
    let joined = edit("c", world.version(), json!([5, [0, "", tail]]));
    let to = move_to("$t_print", json!({"cell_id": "c", "range": [6, 18]}));
    world.step(&bo, batch([joined, to, json!({"DeleteCell": {"cell_id": "u"}})]));
    world.step(&bo, json!({"Undo": {"steps": 2}}));
    world.step(&bo, json!({"Redo": {}}));
    world.step(&ann, json!({"DeleteCell": {"cell_id": "t"}}));
    world.step(&ann, of_thread("ResolveThread", "$t_one"));
    world.step(&ann, json!({"RestoreCell": {"cell_id": "t"}}));
    world.step(&user("author"), of_thread("ReopenThread", "$t_one"));
    world.step(&bo, of_thread("ResolveThread", "$t_whole"));
    world.step(&guest("link"), about("DeleteComment", "$t_face", "$face"));
    world
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    let (ann, bo, commenter) = (|| user("ann"), || user("editor"), || user("commenter"));
    let posted = || events(["CommentPosted"]);
    let begun = || events(["ThreadStarted", "CommentPosted"]);
    let at = |base: u64| add(json!({"cell": {"cell_id": "t", "range": [0, 5], "base": base}}), "x");
    let resolve = || of_thread("ResolveThread", "$t_one");
    let reopen = || of_thread("ReopenThread", "$t_one");
    let delete = |comment: &str| about("DeleteComment", "$t_one", comment);
    let to = |place: Value| move_to("$t_one", place);
    let long = "é".repeat(10_001);
    let many: Vec<String> = (0..51).map(|number| format!("u{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut cases = vec![
        case(talked, commenter(), on("a", " Is this\r\nright? "), begun()),
        case(talked, guest("link"), on_range("t", [12, 14], "x"), begun()),
        case(talked, user("runner"), reply("$t_one", "x"), posted()),
        case(settled, commenter(), reply("$t_one", "x"), posted()),
        case(talked, user("viewer"), on("a", "x"), rejected(Code::Forbidden)),
        case(talked, agent("gpu"), on("a", "x"), rejected(Code::Forbidden)),
        case(talked, assistant_of("ann"), on("a", "x"), rejected(Code::Forbidden)),
        case(talked, assistant_of("ann"), batch([on("a", "x")]), rejected(Code::Forbidden)),
        case(talked, user("stranger"), on("a", "x"), rejected(Code::UnknownNotebook)),
        case(talked, bo().with_scopes(&[notarium_core::Scope::Read]), on("a", "x"), rejected(Code::Forbidden)),
        case(archived_talk, bo(), on("a", "x"), rejected(Code::NotebookArchived)),
        case(talked, bo(), on("nowhere", "x"), rejected(Code::UnknownCell)),
        case(talked, bo(), on("gone", "x"), rejected(Code::CellDeleted)),
        case(talked, bo(), reply("nothing", "x"), rejected(Code::UnknownThread)),
        case(talked, bo(), on("a", " \n"), rejected(Code::InvalidValue)),
        case(talked, bo(), on("a", &long), rejected(Code::LimitExceeded)),
        case(talked, bo(), on_range("t", [3, 3], "x"), rejected(Code::InvalidValue)),
        case(talked, bo(), on_range("t", [3, 29], "x"), rejected(Code::InvalidValue)),
        case(talked, bo(), on_range("t", [12, 13], "x"), rejected(Code::InvalidValue)),
        case(talked, bo(), at(999), rejected(Code::VersionInFuture)),
        case(with_accounts, bo(), mentioning(on("a", "x"), &["ann", "bo", "ann"]), begun()),
        case(with_accounts, bo(), mentioning(on("a", "x"), &["di"]), rejected(Code::UnknownSubject)),
        case(with_accounts, bo(), mentioning(reply("$t_one", "x"), &["cy"]), rejected(Code::SubjectEnded)),
        case(talked, bo(), mentioning(on("a", "x"), &many), rejected(Code::LimitExceeded)),
        case(talked, commenter(), rewrite("$t_one", "$one", "Why?"), events(["CommentEdited"])),
        case(talked, commenter(), rewrite("$t_one", "$one", "Why *sum*?"), nothing()),
        case(talked, ann(), rewrite("$t_one", "$one", "Why?"), rejected(Code::Forbidden)),
        case(talked, commenter(), rewrite("$t_one", "$one", ""), rejected(Code::InvalidValue)),
        case(talked, commenter(), rewrite("$t_one", "nothing", "x"), rejected(Code::UnknownComment)),
        case(talked, commenter(), rewrite("nothing", "$one", "x"), rejected(Code::UnknownThread)),
        case(
            with_accounts,
            commenter(),
            mentioning(rewrite("$t_one", "$one", "x"), &["di"]),
            rejected(Code::UnknownSubject),
        ),
        case(talked, commenter(), delete("$one"), events(["CommentDeleted"])),
        case(talked, ann(), delete("$one"), events(["CommentDeleted"])),
        case(talked, bo(), delete("$one"), rejected(Code::Forbidden)),
        case(talked, commenter(), delete("nothing"), rejected(Code::UnknownComment)),
        case(talked, commenter(), resolve(), events(["ThreadResolved"])),
        case(settled, commenter(), resolve(), nothing()),
        case(settled, commenter(), reopen(), events(["ThreadReopened"])),
        case(talked, commenter(), reopen(), nothing()),
        case(talked, commenter(), of_thread("ResolveThread", "nothing"), rejected(Code::UnknownThread)),
        case(talked, commenter(), of_thread("ReopenThread", "nothing"), rejected(Code::UnknownThread)),
        case(talked, bo(), to(json!({"cell_id": "c", "range": [0, 1]})), events(["ThreadMoved"])),
        case(talked, bo(), to(json!({"cell_id": "c"})), events(["ThreadMoved"])),
        case(talked, bo(), to(json!({"cell_id": "t", "range": [8, 11]})), nothing()),
        case(talked, bo(), to(json!({"cell_id": "c", "range": [5, 5]})), events(["ThreadMoved"])),
        case(talked, bo(), to(json!({"cell_id": "c", "range": [3, 2]})), rejected(Code::InvalidValue)),
        case(talked, bo(), to(json!({"cell_id": "c", "range": [0, 6]})), rejected(Code::InvalidValue)),
        case(talked, bo(), to(json!({"cell_id": "gone"})), rejected(Code::CellDeleted)),
        case(talked, bo(), move_to("nothing", json!({"cell_id": "c"})), rejected(Code::UnknownThread)),
        case(talked, commenter(), to(json!({"cell_id": "c"})), rejected(Code::Forbidden)),
    ];
    for command in [resolve(), reopen(), delete("$one"), rewrite("$t_one", "$one", "x"), to(json!({"cell_id": "c"}))] {
        cases.push(case(talked, user("viewer"), command.clone(), rejected(Code::Forbidden)));
        cases.push(case(talked, assistant_of("ann"), command.clone(), rejected(Code::Forbidden)));
        cases.push(case(archived_talk, ann(), command, rejected(Code::NotebookArchived)));
    }
    cases
}

#[test]
fn every_comment_command_is_accepted_or_refused_as_written() {
    check_all("comments", &cases());
}

#[test]
fn a_thread_stays_with_its_text() {
    let mut world = commented();
    assert_eq!(world.source("t"), "grand_total = sum(1, 2)");
    assert_eq!(world.covered("one"), ("t", "sum"));
    assert_eq!(world.covered("late"), ("t", "total"));
    assert_eq!(world.covered("print"), ("u", "print(total)"));
    world.step(&user("ann"), edit("t", world.version(), json!([14, [3], 6])));
    assert_eq!(world.covered("one"), ("t", ""));
    assert_eq!(world.thread("one").unwrap().quote.as_deref(), Some("sum"));
}

#[test]
fn a_thread_goes_with_its_last_comment_and_stays_in_the_trash_with_its_cell() {
    let mut world = commented();
    assert!(world.thread("face").is_none());
    world.step(&user("ann"), json!({"DeleteCell": {"cell_id": "t"}}));
    assert!(world.thread("one").is_some());
    world.step(&user("commenter"), about("DeleteComment", "$t_one", "$one"));
    assert!(world.thread("one").is_none());
}

#[test]
fn undoing_a_split_or_merge_takes_its_threads_back() {
    let bo = user("editor");
    let mut world = commented();
    world.step(&bo, json!({"Undo": {}}));
    assert_eq!(
        (world.source("t"), world.covered("print")),
        ("grand_total = sum(1, 2)\nprint(total)", ("t", "print(total)"))
    );
    world.step(&bo, json!({"Redo": {"steps": 2}}));
    assert_eq!(world.covered("print"), ("c", "print(total)"));
    world.step(&bo, json!({"Undo": {}}));
    assert_eq!(world.covered("print"), ("u", "print(total)"));
}

#[test]
fn a_thread_whose_former_text_is_another_comes_back_without_a_range_of_others_text() {
    let bo = user("editor");
    let mut world = commented();
    world.step(&user("ann"), edit("t", world.version(), json!([[0, "# new", ""], 23])));
    world.step(&bo, json!({"Undo": {}}));
    assert_eq!(
        (world.source("t"), world.covered("print")),
        ("# new\ngrand_total = sum(1, 2)\nprint(total)", ("t", ""))
    );
}

#[test]
fn undo_leaves_what_is_said_alone() {
    let mut world = talked();
    assert_eq!(
        world.try_do(&user("commenter").with_role(notarium_core::Role::Editor), &json!({"Undo": {}})).unwrap_err().code,
        Code::NothingToUndo
    );
    world.step(&user("ann"), json!({"Undo": {}}));
    assert!(world.thread("one").is_some(), "the cell is undone, and in the trash");
    world.step(&user("ann"), json!({"Redo": {}}));
    assert_eq!(world.covered("one"), ("t", "sum"));
}

#[test]
fn a_range_that_was_deleted_meanwhile_is_refused() {
    let mut world = talked();
    let base = world.version();
    world.step(&user("ann"), edit("t", base, json!([[5], 23])));
    let late = add(json!({"cell": {"cell_id": "t", "range": [0, 5], "base": base}}), "x");
    assert_eq!(world.try_do(&user("editor"), &late).unwrap_err().code, Code::Conflict);
}

#[test]
fn an_edited_comment_may_go_on_mentioning_who_has_left() {
    let mut world = talked();
    world.comment(&user("ann"), mentioning(on("a", "x"), &["cy"]), "cy");
    let account = |id: &str| Subject::User { id: id.parse().unwrap() };
    world.standings.insert(account("cy"), AccountStatus::Ended { name: "Cy".to_owned() });
    world.step(&user("ann"), mentioning(rewrite("$t_cy", "$cy", "y"), &["cy"]));
}

#[test]
fn a_quote_is_the_beginning_of_a_long_text() {
    let mut world = talked();
    world.step(&user("ann"), insert("long", "raw", &"é".repeat(600)));
    world.comment(&user("ann"), on_range("long", [0, 600], "x"), "long");
    let thread = world.thread("long").unwrap();
    assert_eq!(thread.quote.as_ref().unwrap().chars().count(), 500);
    assert_eq!(thread.range, Some(TextRange { start: 0, end: 600 }));
}

#[test]
fn threads_and_comments_are_bounded() {
    let ann = user("ann");
    let mut world = talked();
    (2..500).for_each(|_| _ = world.step(&ann, reply("$t_one", "x")));
    assert_eq!(world.try_do(&ann, &reply("$t_one", "x")).unwrap_err().code, Code::LimitExceeded);
    world.step(&ann, times(1_999, &on("a", "x")));
    assert_eq!(world.try_do(&ann, &on("a", "x")).unwrap_err().code, Code::LimitExceeded);
}

fn times(count: usize, command: &Value) -> Value {
    json!({"Batch": {"commands": vec![command; count]}})
}

#[test]
fn all_comments_of_a_notebook_are_bounded_together() {
    let commenter = user("commenter");
    let mut world = with_cells();
    for name in 0..20 {
        world.comment(&commenter, on("a", "x"), &name.to_string());
        world.step(&commenter, times(499, &reply(&format!("$t_{name}"), "x")));
    }
    assert_refused(&mut world, &on("a", "x"), "at most 10000 comments");
    world.step(&commenter, rewrite("$t_0", "$0", "changed"));

    let mut world = with_cells();
    let long = "😀".repeat(10_000);
    world.comment(&commenter, on("a", "x"), "short");
    world.step(&commenter, times(209, &on("a", &long)));
    assert_refused(&mut world, &on("a", &long), "at most 8 MiB of text");
    assert_refused(&mut world, &rewrite("$t_short", "$short", &long), "at most 8 MiB of text");
    world.step(&commenter, about("DeleteComment", "$t_short", "$short"));
}

fn assert_refused(world: &mut World, command: &Value, because: &str) {
    let refused = world.try_do(&user("commenter"), command).unwrap_err();
    assert_eq!(refused.code, Code::LimitExceeded);
    assert!(refused.message.contains(because), "{}", refused.message);
}

#[test]
fn the_author_is_who_was_connected() {
    let world = commented();
    let authors: Vec<String> = world.thread("one").unwrap().comments.iter().map(|one| one.author.key()).collect();
    assert_eq!(authors, ["user:commenter"]);
    let posted = world.recorded.iter().filter(|one| matches!(one.event, Event::CommentPosted(_)));
    assert!(posted.clone().any(|one| one.envelope.actor.key() == "guest:link"));
}
