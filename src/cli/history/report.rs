//! `report`: one page of HTML about a stretch of a notebook's record, for those who must answer for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use notarium_core::{
    Actor, CallAnswer, Event, EventGroup, ExecutionId, Head, Millis, Recorded, Stored, ToolCallId, Version,
    verify_chain,
};
use notarium_export::escaped;
use notarium_wire::rest::EventPage;

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::history::PAGE;
use crate::cli::history::heads;
use crate::cli::history::moment::{MOMENT, Moment};
use crate::cli::notebooks::write_file;
use crate::cli::terminal::print;
use crate::cli::words::narrate::{NarratedEvent, Narrator, subject_name};
use crate::cli::{Ended, Failure};

/// Rows of a table at most; the log has the others.
const MAX_ROWS: usize = 5_000;

/// Characters of arguments and results that are shown.
const MAX_CHARACTERS: usize = 300;

pub const STYLE: &str = include_str!("report.css");

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium report analysis -o report.html
  notarium report analysis --from 2026-11-01 --to 2026-12-01 -o november.html")]
pub struct ReportArgs {
    /// Events after this version or time; absent: from the beginning.
    #[arg(long, value_name = MOMENT)]
    from: Option<Moment>,
    /// Events up to this version or time; absent: to the end.
    #[arg(long, value_name = MOMENT)]
    to: Option<Moment>,
    /// The file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub async fn report(args: ReportArgs, notebook: NotebookClient) -> Ended {
    let from = match &args.from {
        Some(from) => from.version_or_start(&notebook).await?,
        None => 0,
    };
    let to = match &args.to {
        Some(to) => to.version_or_start(&notebook).await?,
        None => Version::MAX,
    };
    if from >= to {
        return Err(Failure::usage("there is nothing between --from and --to: name an earlier beginning"));
    }
    // Signed first: the record may only have grown until it is read.
    let signed_head = heads::signed(&notebook).await?;
    let title = notebook.outline().await?.title.clone();
    let mut page = ReportPage::new(&notebook, from, to);
    let mut after = 0;
    loop {
        let EventPage { events, next, .. } = notebook.events(after, PAGE).await?;
        for stored in &events {
            page.take(stored).await;
        }
        match next {
            Some(next) if next > after => after = next,
            _ => break,
        }
    }
    write_file(&args.output, page.write(&title, &signed_head).await.as_bytes()).await
}

/// A call of an assistant, as far as the stretch tells.
#[derive(Default)]
struct CallRow {
    asked: String,
    function: String,
    arguments: String,
    risk: String,
    decided: String,
    end: String,
}

/// A run.
#[derive(Default)]
struct RunRow {
    asked: String,
    what: String,
    end: String,
}

/// Counts of one author's events, by groups.
#[derive(Default)]
struct Deeds {
    edits: usize,
    runs: usize,
    calls: usize,
    decisions: usize,
    others: usize,
}

struct ReportPage {
    narrator: Narrator,
    people: People,
    from: Version,
    to: Version,
    head: Head,
    broken: Option<String>,
    first_at: Option<Millis>,
    last_at: Option<Millis>,
    told: usize,
    deeds: BTreeMap<String, (Actor, Deeds)>,
    calls: BTreeMap<ToolCallId, CallRow>,
    runs: BTreeMap<ExecutionId, RunRow>,
    /// Version, time, author and sentence of the first events.
    lines: Vec<[String; 4]>,
    access: Vec<[String; 4]>,
}

impl ReportPage {
    fn new(notebook: &NotebookClient, from: Version, to: Version) -> Self {
        Self {
            narrator: Narrator::new(notebook),
            people: People::new(&notebook.client),
            from,
            to,
            head: Head::START,
            broken: None,
            first_at: None,
            last_at: None,
            told: 0,
            deeds: BTreeMap::new(),
            calls: BTreeMap::new(),
            runs: BTreeMap::new(),
            lines: Vec::new(),
            access: Vec::new(),
        }
    }

    /// Follows the chain of hashes, and tells the event if it lies in the stretch.
    async fn take(&mut self, stored: &Stored) {
        if self.broken.is_none() {
            match verify_chain(self.head, [stored]) {
                Ok(head) => self.head = head,
                Err(error) => self.broken = Some(error.to_string()),
            }
        }
        let version = stored.envelope.version;
        if version <= self.from {
            self.narrator.note(stored);
        } else if version <= self.to {
            self.tell(stored).await;
        }
    }

    async fn tell(&mut self, stored: &Stored) {
        let event = NarratedEvent::from(stored);
        let (who, what) = self.narrator.told(&event).await;
        let at = stored.envelope.recorded_at;
        self.first_at.get_or_insert(at);
        self.last_at = Some(at);
        self.told += 1;
        let line = [stored.envelope.version.to_string(), print::time(at), who.clone(), what];
        let actor = &stored.envelope.actor;
        let (_, deeds) = self.deeds.entry(actor.key()).or_insert_with(|| (actor.clone(), Deeds::default()));
        let Some(recorded) = &event.recorded else {
            deeds.others += 1;
            return self.line(line);
        };
        count(deeds, recorded);
        if matches!(recorded.event, Event::AccessGranted(_) | Event::AccessRevoked(_) | Event::NotebookPolicyChanged(_))
        {
            self.access.push(line.clone());
        }
        self.note_call(recorded, &who);
        self.note_run(recorded, &who);
        self.line(line);
    }

    fn line(&mut self, line: [String; 4]) {
        if self.lines.len() < MAX_ROWS {
            self.lines.push(line);
        }
    }

    fn note_call(&mut self, recorded: &Recorded, who: &str) {
        let Some(call_id) = recorded.event.tool_call_id() else { return };
        let row = self.calls.entry(call_id.clone()).or_default();
        let decided = |verb: &str| format!("{who} {verb}, {}", print::time(recorded.envelope.recorded_at));
        match &recorded.event {
            Event::ToolCallRequested(event) => {
                row.asked = format!("{who}, {}", print::time(recorded.envelope.recorded_at));
                row.function = event.function.clone();
                row.arguments = print::shorten(&print::clean(event.arguments.get()), MAX_CHARACTERS);
                row.risk = event.risk.to_string();
                row.decided =
                    if event.gate.waits() { "nobody yet".to_owned() } else { "the policy let it pass".to_owned() };
            }
            Event::ToolCallConfirmed(_) => row.decided = decided("confirmed it"),
            Event::ToolCallDenied(_) => row.decided = decided("denied it"),
            Event::ToolCallWithdrawn(_) => row.decided = decided("took it back"),
            Event::ToolCallExpired(_) => "nobody in time".clone_into(&mut row.decided),
            _ => {}
        }
        if let Some(answer) = CallAnswer::of(&recorded.event) {
            let how = if answer.is_error { "failed" } else { "done" };
            row.end = format!("{how}: {}", print::shorten(&print::clean(&answer.text), MAX_CHARACTERS));
        }
    }

    fn note_run(&mut self, recorded: &Recorded, who: &str) {
        let Some(id) = recorded.event.execution_id() else { return };
        let row = self.runs.entry(id.clone()).or_default();
        match &recorded.event {
            Event::ExecutionRequested(event) => {
                row.asked = format!("{who}, {}", print::time(recorded.envelope.recorded_at));
                row.what = subject_name(&event.subject);
            }
            Event::ExecutionCompleted(event) => row.end = event.outcome.to_string(),
            Event::ExecutionCancelled(_) => "cancelled".clone_into(&mut row.end),
            Event::ExecutionBlocked(_) => "not run".clone_into(&mut row.end),
            Event::ExecutionLost(_) => "lost".clone_into(&mut row.end),
            _ => {}
        }
    }

    async fn write(mut self, title: &str, signed_head: &str) -> String {
        let deeds = std::mem::take(&mut self.deeds);
        let mut people = Vec::new();
        for (actor, deeds) in deeds.into_values() {
            let Deeds { edits, runs, calls, decisions, others } = deeds;
            let numbers = [edits, runs, calls, decisions, others].map(|number| number.to_string());
            people.push([vec![self.people.name(&actor).await], numbers.to_vec()].concat());
        }
        let title = escaped(&print::clean(title));
        let mut out = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>Record of {title}</title>\n<style>{STYLE}</style>\n<h1>Record of {title}</h1>\n"
        );
        let until = |at: Option<Millis>| at.map_or_else(|| "–".to_owned(), print::time);
        let last = self.head.version.min(self.to);
        let _ = writeln!(
            out,
            "<p>Events {} to {last}, recorded from {} to {}; made by notarium {} at {}.</p>",
            self.from + 1,
            until(self.first_at),
            until(self.last_at),
            env!("CARGO_PKG_VERSION"),
            print::time(notarium_server::Clock::system().now()),
        );
        let _ = match &self.broken {
            None => writeln!(
                out,
                "<p class=\"whole\">Every hash of the record was followed, from version 1 to {}: {}.</p>",
                self.head.version, self.head.hash
            ),
            Some(broken) => writeln!(
                out,
                "<p class=\"broken\">The record is not whole: {}. Proven up to version {}.</p>",
                escaped(broken),
                self.head.version
            ),
        };
        let headings = ["who", "edits", "runs", "calls", "decisions", "other events"];
        table(&mut out, "Who took part", &headings, people.into_iter(), "Nobody did anything.");
        let calls = self.calls.into_values().filter(|call| !call.function.is_empty() || !call.decided.is_empty());
        let calls =
            calls.map(|call| vec![call.asked, call.function, call.arguments, call.risk, call.decided, call.end]);
        let headings = ["asked", "what", "arguments", "risk", "decided", "end"];
        table(
            &mut out,
            "What assistants asked for, and who decided",
            &headings,
            calls,
            "No assistant asked for anything.",
        );
        let runs = self.runs.into_values().map(|run| vec![run.asked, run.what, run.end]);
        table(&mut out, "What was run", &["asked", "what", "end"], runs, "Nothing was run.");
        let headings = ["version", "time", "who", "what"];
        let access = self.access.into_iter().map(Vec::from);
        table(&mut out, "Who may do what", &headings, access, "No role was given or taken.");
        let left_out = self.told.saturating_sub(self.lines.len());
        let lines = self.lines.into_iter().map(Vec::from);
        table(&mut out, "What happened", &headings, lines, "Nothing happened.");
        if left_out > 0 {
            let _ = writeln!(out, "<p>{left_out} later events are not shown: <code>notarium log</code> has them.</p>");
        }
        let _ = writeln!(
            out,
            "<h2>The signed head</h2>\n<p>The server signed the end of the record when this page was made. \
             <code>notarium verify --against</code> compares it with the record later.</p>\n<pre>{}</pre>",
            escaped(signed_head)
        );
        out
    }
}

/// Adds an event to what its author did.
fn count(deeds: &mut Deeds, recorded: &Recorded) {
    match (recorded.event.group(), &recorded.event) {
        (EventGroup::Cells, _) => deeds.edits += 1,
        (_, Event::ExecutionRequested(_)) => deeds.runs += 1,
        (_, Event::ToolCallRequested(_)) => deeds.calls += 1,
        (_, Event::ToolCallConfirmed(_) | Event::ToolCallDenied(_)) => deeds.decisions += 1,
        _ => deeds.others += 1,
    }
}

/// Adds a table, or a sentence if it has no rows.
pub fn table(out: &mut String, title: &str, headings: &[&str], rows: impl Iterator<Item = Vec<String>>, empty: &str) {
    let _ = writeln!(out, "<h2>{title}</h2>");
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        let _ = writeln!(out, "<p class=\"empty\">{empty}</p>");
        return;
    }
    out.push_str("<table><thead><tr>");
    headings.iter().for_each(|heading| _ = write!(out, "<th scope=\"col\">{heading}</th>"));
    out.push_str("</tr></thead><tbody>\n");
    for row in rows.by_ref().take(MAX_ROWS) {
        out.push_str("<tr>");
        row.iter().for_each(|cell| _ = write!(out, "<td>{}</td>", escaped(cell)));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table>\n");
    let left_out = rows.count();
    if left_out > 0 {
        let _ = writeln!(out, "<p>{left_out} more are not shown.</p>");
    }
}
