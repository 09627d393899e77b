//! The page about a stretch of a record, for those who must answer for it: who took part, asked, decided, and ran what.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use notarium_core::{
    Actor, CallAnswer, Event, EventGroup, ExecutionId, Head, Millis, Recorded, Stored, ToolCallId, Version,
    verify_chain,
};
use notarium_export::escaped;

use crate::narrate::{EventNarrator, NarratedEvent, subject_name};
use crate::record_source::RecordSource;
use crate::words;
use crate::{head_of, table};

/// Rows of a table at most; the log has the others.
const MAX_ROWS: usize = 5_000;

/// Characters of arguments and results that are shown.
const MAX_CHARACTERS: usize = 300;

/// Events in one read.
const PAGE: usize = 1_000;

/// The stretch of a report, and facts about its record.
#[derive(Debug, Clone)]
pub struct ReportScope {
    /// Title of the notebook.
    pub title: String,
    /// Events after this version are told.
    pub from: Version,
    /// Events up to this version are told.
    pub to: Version,
    /// The record is read to this version; its chain of hashes is followed to there.
    pub end: Version,
    /// The signed end of the record.
    pub signed_head: String,
    /// Time of the report.
    pub made_at: Millis,
}

/// Reads the record and makes the page. The memory that it needs grows with the runs and calls of the stretch.
///
/// # Errors
///
/// The source could not be read.
pub async fn report_page<R: RecordSource>(record: R, scope: ReportScope) -> Result<String, R::Error> {
    let (end, mut after) = (scope.end, 0);
    let mut page = ReportPage::new(record, scope);
    while after < end {
        let events = page.narrator.record().events(after, PAGE).await?;
        let Some(last) = events.last() else { break };
        after = last.envelope.version;
        for stored in events.iter().filter(|stored| stored.envelope.version <= end) {
            page.take(stored).await;
        }
    }
    Ok(page.write().await)
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

struct ReportPage<R> {
    narrator: EventNarrator<R>,
    scope: ReportScope,
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

impl<R: RecordSource> ReportPage<R> {
    fn new(record: R, scope: ReportScope) -> Self {
        Self {
            narrator: EventNarrator::new(record),
            scope,
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
        if version <= self.scope.from {
            self.narrator.note(stored);
        } else if version <= self.scope.to {
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
        let line = [stored.envelope.version.to_string(), words::time(at), who.clone(), what];
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
        let decided = |verb: &str| format!("{who} {verb}, {}", words::time(recorded.envelope.recorded_at));
        match &recorded.event {
            Event::ToolCallRequested(event) => {
                row.asked = format!("{who}, {}", words::time(recorded.envelope.recorded_at));
                row.function = event.function.clone();
                row.arguments = words::cut(&words::clean(event.arguments.get()), MAX_CHARACTERS);
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
            row.end = format!("{how}: {}", words::cut(&words::clean(&answer.text), MAX_CHARACTERS));
        }
    }

    fn note_run(&mut self, recorded: &Recorded, who: &str) {
        let Some(id) = recorded.event.execution_id() else { return };
        let row = self.runs.entry(id.clone()).or_default();
        match &recorded.event {
            Event::ExecutionRequested(event) => {
                row.asked = format!("{who}, {}", words::time(recorded.envelope.recorded_at));
                row.what = subject_name(&event.subject);
            }
            Event::ExecutionCompleted(event) => row.end = event.outcome.to_string(),
            Event::ExecutionCancelled(_) => "cancelled".clone_into(&mut row.end),
            Event::ExecutionBlocked(_) => "not run".clone_into(&mut row.end),
            Event::ExecutionLost(_) => "lost".clone_into(&mut row.end),
            _ => {}
        }
    }

    async fn write(mut self) -> String {
        let deeds = std::mem::take(&mut self.deeds);
        let mut people = Vec::new();
        for (actor, deeds) in deeds.into_values() {
            let Deeds { edits, runs, calls, decisions, others } = deeds;
            let numbers = [edits, runs, calls, decisions, others].map(|number| number.to_string());
            people.push([vec![self.narrator.record().actor_name(&actor).await], numbers.to_vec()].concat());
        }
        let ReportScope { title, from, to, signed_head, made_at, .. } = &self.scope;
        let mut out = head_of(&format!("Record of {}", words::clean(title)));
        let until = |at: Option<Millis>| at.map_or_else(|| "–".to_owned(), words::time);
        let _ = writeln!(
            out,
            "<p>Events {} to {}, recorded from {} to {}; made by notarium {} at {}.</p>",
            from + 1,
            self.head.version.min(*to),
            until(self.first_at),
            until(self.last_at),
            env!("CARGO_PKG_VERSION"),
            words::time(*made_at),
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
        let signed_head = escaped(signed_head);
        let headings = ["who", "edits", "runs", "calls", "decisions", "other events"];
        table(MAX_ROWS, &mut out, "Who took part", &headings, people.into_iter(), "Nobody did anything.");
        let calls = self.calls.into_values().filter(|call| !call.function.is_empty() || !call.decided.is_empty());
        let calls =
            calls.map(|call| vec![call.asked, call.function, call.arguments, call.risk, call.decided, call.end]);
        let headings = ["asked", "what", "arguments", "risk", "decided", "end"];
        table(
            MAX_ROWS,
            &mut out,
            "What assistants asked for, and who decided",
            &headings,
            calls,
            "No assistant asked for anything.",
        );
        let runs = self.runs.into_values().map(|run| vec![run.asked, run.what, run.end]);
        table(MAX_ROWS, &mut out, "What was run", &["asked", "what", "end"], runs, "Nothing was run.");
        let headings = ["version", "time", "who", "what"];
        let access = self.access.into_iter().map(Vec::from);
        table(MAX_ROWS, &mut out, "Who may do what", &headings, access, "No role was given or taken.");
        let left_out = self.told.saturating_sub(self.lines.len());
        let lines = self.lines.into_iter().map(Vec::from);
        table(MAX_ROWS, &mut out, "What happened", &headings, lines, "Nothing happened.");
        if left_out > 0 {
            let _ = writeln!(out, "<p>{left_out} later events are not shown: <code>notarium log</code> has them.</p>");
        }
        let _ = writeln!(
            out,
            "<h2>The signed head</h2>\n<p>The server signed the end of the record when this page was made. \
             <code>notarium verify --against</code> compares it with the record later.</p>\n<pre>{signed_head}</pre>"
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
