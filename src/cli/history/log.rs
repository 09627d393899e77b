//! `log`: who did what, when; with filters by author, type, cell and turn.

use std::collections::{BTreeSet, VecDeque};

use clap::Args;
use clap::builder::PossibleValuesParser;
use notarium_core::{
    Actor, CellId, CorrelationId, Event, ExecutionId, Recorded, Stored, ToolCallId, TurnId, UserId, Version,
};

use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::{self, People};
use crate::cli::history::PAGE;
use crate::cli::history::moment::{MOMENT, Moment};
use crate::cli::terminal::print;
use crate::cli::words::narrate::{NarratedEvent, Narrator};
use crate::cli::{Ended, Failure};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  notarium log analysis                     # the last 50 events
  notarium log analysis --since 10          # what happened after version 10
  notarium log analysis --since 2026-11-28 --until 2026-11-29T12:00
  notarium log analysis --actor ann --cell 3f2a
  notarium log analysis --type CellDeleted --type CellRestored
  notarium log analysis --turn 01J…         # all that an assistant did in a turn, and what came of it
  notarium log analysis --since 0 --limit 100000 --json > record.jsonl
  notarium verify --file record.jsonl")]
pub struct LogArgs {
    /// Events after this version or time; absent: the last ones.
    #[arg(long, value_name = MOMENT)]
    since: Option<Moment>,
    /// Events up to this version or time; absent: to the end.
    #[arg(long, value_name = MOMENT)]
    until: Option<Moment>,
    /// At most so many.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: usize,
    #[command(flatten)]
    filters: LogFilters,
    /// The record itself: one event a line, with everything that is hashed.
    #[arg(long)]
    json: bool,
}

/// Filters of the log. An event is shown if it passes all that are given.
#[derive(Debug, Args)]
struct LogFilters {
    /// Only what they did: a login, a name as the log shows it, user:ID, or all of a kind: people, assistants, agents, guests, server.
    #[arg(long, value_name = "WHO")]
    actor: Option<String>,
    /// Only events of this type, as --json names it, such as CellDeleted; may be repeated.
    #[arg(long = "type", value_name = "TYPE", value_parser = PossibleValuesParser::new(Event::TYPES), hide_possible_values = true, ignore_case = true)]
    types: Vec<String>,
    /// Only what happened to this cell, with its runs. A cell in the trash counts too.
    #[arg(long, value_name = "CELL")]
    cell: Option<String>,
    /// Only this turn of an assistant: its calls, and what they changed and ran.
    #[arg(long, value_name = "TURN")]
    turn: Option<TurnId>,
}

impl LogFilters {
    fn is_empty(&self) -> bool {
        self.actor.is_none() && self.types.is_empty() && self.cell.is_none() && self.turn.is_none()
    }

    fn as_given(&self) -> String {
        let one = |name: &str, value: Option<&str>| value.map(|value| format!("--{name} {value}"));
        let given = [one("actor", self.actor.as_deref()), one("cell", self.cell.as_deref())];
        let turn = one("turn", self.turn.as_ref().map(TurnId::as_str));
        let types = self.types.iter().map(|name| format!("--type {name}"));
        given.into_iter().flatten().chain(turn).chain(types).collect::<Vec<_>>().join(" ")
    }
}

pub async fn log(args: LogArgs, notebook: NotebookClient) -> Ended {
    let stretch = LogStretch::of(&args, &notebook).await?;
    match args.filters.is_empty() {
        true => whole(&args, &stretch, &notebook).await,
        false => filtered(&args, &stretch, &notebook).await,
    }
}

/// Part of the record that is asked for.
struct LogStretch {
    /// Events of this version and before are left out. Absent: the last events are asked for.
    since: Option<Version>,
    until: Version,
}

impl LogStretch {
    async fn of(args: &LogArgs, notebook: &NotebookClient) -> Result<Self, Failure> {
        let since = match &args.since {
            Some(since) => Some(since.version_or_start(notebook).await?),
            None => None,
        };
        let until = match &args.until {
            Some(until) => until.version_or_start(notebook).await?,
            None => Version::MAX,
        };
        Ok(Self { since, until })
    }
}

async fn whole(args: &LogArgs, stretch: &LogStretch, notebook: &NotebookClient) -> Ended {
    let since = match stretch.since {
        Some(since) => since,
        None => last_events(notebook, args.limit, stretch.until).await?,
    };
    let mut narrator = Narrator::new(notebook);
    if !args.json && since > 0 {
        // The subjects of the last events' runs may be in earlier events.
        narrator.learn(&*notebook.outline().await?);
    }
    let (mut after, mut left) = (since, args.limit);
    while left > 0 {
        let page = notebook.events(after, left.min(PAGE)).await?;
        for stored in page.events.iter().filter(|stored| stored.envelope.version <= stretch.until) {
            show(stored, args.json, &mut narrator).await?;
        }
        left -= page.events.len().min(left);
        match page.next {
            Some(next) if next >= stretch.until => break,
            Some(next) if left == 0 => print::note(format!("more follow: --since {next}")),
            Some(next) => after = next,
            None => break,
        }
    }
    Ok(())
}

/// The version that is followed by `count` events up to `until`.
async fn last_events(notebook: &NotebookClient, count: usize, until: Version) -> Result<Version, Failure> {
    let head = notebook.events(0, 1).await?.head;
    Ok(head.version.min(until).saturating_sub(Version::try_from(count).unwrap_or(Version::MAX)))
}

async fn show(stored: &Stored, as_json: bool, narrator: &mut Narrator) -> Ended {
    match as_json {
        true => print::json_line(stored),
        false => print::line(narrator.line(&NarratedEvent::from(stored), print::time).await),
    }
}

/// Shows the events that pass the filters: the first ones after `--since`, or else the last ones. Reads the record from its
/// beginning, because runs and turns are named by earlier events.
async fn filtered(args: &LogArgs, stretch: &LogStretch, notebook: &NotebookClient) -> Ended {
    let mut matcher = Matcher::new(&args.filters, notebook).await?;
    let mut narrator = Narrator::new(notebook);
    let since = stretch.since.unwrap_or(0);
    let (mut found, mut more) = (VecDeque::new(), None);
    let mut after = 0;
    'pages: loop {
        let page = notebook.events(after, PAGE).await?;
        for stored in &page.events {
            if stored.envelope.version > stretch.until {
                break 'pages;
            }
            narrator.note(stored);
            let is_shown = matcher.passes(stored).await && stored.envelope.version > since;
            match is_shown {
                true if found.len() < args.limit => found.push_back(stored.clone()),
                true if stretch.since.is_some() => {
                    more = found.back().map(|last: &Stored| last.envelope.version);
                    break 'pages;
                }
                true if args.limit > 0 => {
                    found.pop_front();
                    found.push_back(stored.clone());
                }
                _ => {}
            }
        }
        match page.next {
            Some(next) if next > after => after = next,
            _ => break,
        }
    }
    for stored in &found {
        show(stored, args.json, &mut narrator).await?;
    }
    if let Some(last) = more {
        print::note(format!("more follow: --since {last}"));
    }
    if found.is_empty() && args.limit > 0 {
        let after = stretch.since.map(|since| format!(" after version {since}")).unwrap_or_default();
        print::note(format!("no event{after} fits: {}", print::clean(&args.filters.as_given())));
    }
    Ok(())
}

/// Decides which events pass the filters.
struct Matcher {
    actor: Option<ActorFilter>,
    types: Vec<String>,
    cell: Option<CellId>,
    turn: Option<TurnId>,
    /// Runs of the cell.
    runs_of_cell: BTreeSet<ExecutionId>,
    /// Undo groups of the turn: its own, and one for each of its calls.
    groups_of_turn: BTreeSet<CorrelationId>,
    /// Runs that the turn requested.
    runs_of_turn: BTreeSet<ExecutionId>,
}

impl Matcher {
    async fn new(filters: &LogFilters, notebook: &NotebookClient) -> Result<Self, Failure> {
        let actor = match &filters.actor {
            Some(name) => Some(ActorFilter::new(name, notebook).await?),
            None => None,
        };
        let cell = match &filters.cell {
            Some(name) => Some(notebook.cell_or_trashed(name).await?.0),
            None => None,
        };
        let group = filters.turn.as_ref().and_then(|turn| turn.as_str().parse().ok());
        Ok(Self {
            actor,
            types: filters.types.clone(),
            cell,
            turn: filters.turn.clone(),
            runs_of_cell: BTreeSet::new(),
            groups_of_turn: group.into_iter().collect(),
            runs_of_turn: BTreeSet::new(),
        })
    }

    /// Tests the next event of the record.
    async fn passes(&mut self, stored: &Stored) -> bool {
        let recorded = stored.typed().ok();
        // Both are always asked: they remember runs and calls for later events.
        let is_of_cell = self.is_of_cell(recorded.as_ref());
        let is_of_turn = self.is_of_turn(stored, recorded.as_ref());
        let event_type = &stored.envelope.event_type;
        let is_of_type = self.types.is_empty() || self.types.iter().any(|name| name.eq_ignore_ascii_case(event_type));
        let is_fit = is_of_cell && is_of_turn && is_of_type;
        match &mut self.actor {
            Some(actor) if is_fit => actor.is(&stored.envelope.actor).await,
            _ => is_fit,
        }
    }

    fn is_of_cell(&mut self, recorded: Option<&Recorded>) -> bool {
        let Some(cell) = &self.cell else { return true };
        let Some(event) = recorded.map(|recorded| &recorded.event) else { return false };
        if let Event::ExecutionRequested(requested) = event
            && requested.subject.cell_id() == Some(cell)
        {
            self.runs_of_cell.insert(requested.execution_id.clone());
        }
        let on_thread = match event {
            Event::ThreadStarted(started) => Some(&started.cell_id),
            _ => None,
        };
        event.cell_id().or(on_thread) == Some(cell)
            || event.execution_id().is_some_and(|id| self.runs_of_cell.contains(id))
    }

    fn is_of_turn(&mut self, stored: &Stored, recorded: Option<&Recorded>) -> bool {
        let Some(turn) = &self.turn else { return true };
        let event = recorded.map(|recorded| &recorded.event);
        if let Some(Event::ToolCallRequested(call)) = event
            && call.turn_id.as_ref() == Some(turn)
        {
            self.groups_of_turn.extend(group_of(&call.call_id));
        }
        let of_group = self.groups_of_turn.contains(&stored.envelope.correlation_id);
        if let (true, Some(Event::ExecutionRequested(requested))) = (of_group, event) {
            self.runs_of_turn.insert(requested.execution_id.clone());
        }
        let call = event.and_then(Event::tool_call_id).and_then(group_of);
        of_group
            || call.is_some_and(|group| self.groups_of_turn.contains(&group))
            || event.and_then(Event::turn_id) == Some(turn)
            || matches!(event, Some(Event::MessagePosted(posted)) if posted.turn_id.as_ref() == Some(turn))
            || event.and_then(Event::execution_id).is_some_and(|id| self.runs_of_turn.contains(id))
    }
}

/// The undo group of a call's effects.
fn group_of(call: &ToolCallId) -> Option<CorrelationId> {
    call.as_str().parse().ok()
}

/// Authors that pass.
struct ActorFilter {
    name: String,
    /// The person with that login or id.
    person: Option<UserId>,
    people: People,
}

impl ActorFilter {
    async fn new(name: &str, notebook: &NotebookClient) -> Result<Self, Failure> {
        let id = name.strip_prefix("user:").map(str::parse).transpose();
        let id = id.map_err(|_| Failure::usage(format!("'{name}' names nobody: write user: and an id")))?;
        let person = match id {
            Some(id) => Some(id),
            // Somebody without this login may still have the name, or have been a guest.
            None => find::person(&notebook.client, name).await.ok(),
        };
        Ok(Self { name: name.to_lowercase(), person, people: People::new(&notebook.client) })
    }

    async fn is(&mut self, actor: &Actor) -> bool {
        let (kind, id) = match actor {
            Actor::User { id } => ("people", Some(id)),
            Actor::Assistant { .. } => ("assistants", None),
            Actor::Agent { .. } => ("agents", None),
            Actor::Guest { .. } => ("guests", None),
            Actor::System => ("server", None),
        };
        let wanted = self.name.as_str();
        if wanted == kind || (id.is_some() && id == self.person.as_ref()) || actor.key().to_lowercase() == wanted {
            return true;
        }
        let shown = self.people.name(actor).await.to_lowercase();
        shown == self.name || quoted(&shown) == Some(self.name.as_str())
    }
}

/// The label in a name such as `agent "gpu"`.
fn quoted(shown: &str) -> Option<&str> {
    shown.strip_prefix("agent \"")?.strip_suffix('"')
}
