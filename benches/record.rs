//! Benchmark of a long record: makes one in a data folder, and measures how quickly a server reads its past.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use notarium_core::{
    AccountStatus, AccountStatuses, Actor, Append, Authority, Command, CommandId, CommandRecord, Context, Head,
    History, IdSource, Limits, NewEvent, Notebook, NotebookId, RawJson, UserId, Version, decide,
    required_account_status, seal,
};
use notarium_store::{EventStore, Sqlite};
use reqwest::Method;
use serde_json::{Value, json};

use crate::socket::Target;

/// Authors of the record.
const AUTHORS: usize = 10;
/// Cells of the notebook.
const CELLS: usize = 200;
/// Length of a cell's text, in characters, at which more is deleted than typed.
const TYPICAL_LENGTH: usize = 400;
/// Events of one append.
const APPEND_EVENTS: usize = 1_000;

/// Numbers that look random, always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }
}

#[derive(Args)]
pub struct Record {
    /// Events to make: edits of ten authors, with recorded runs, moves and comments among them.
    #[arg(long, default_value_t = 1_000_000)]
    events: Version,
    /// The data folder to make.
    #[arg(long)]
    data: PathBuf,
}

impl Record {
    pub async fn run(&self) -> Result<Value> {
        let store = Sqlite::open(&self.data).await?;
        let mut author = Author::new()?;
        let start = Instant::now();
        while author.head.version < self.events {
            author.step()?;
            if author.waiting.len() >= APPEND_EVENTS {
                author.append(&store).await?;
            }
        }
        author.append(&store).await?;
        store.close().await;
        let seconds = start.elapsed().as_secs_f64();
        Ok(json!({"notebook": author.id, "owner": "author-0", "events": author.head.version, "seconds": seconds}))
    }
}

/// Ten people who write in one notebook.
struct Author {
    id: NotebookId,
    notebook: Notebook,
    head: Head,
    written: Head,
    waiting: Vec<NewEvent>,
    answers: Vec<CommandRecord>,
    numbers: Numbers,
    commands: u64,
}

impl Author {
    fn new() -> Result<Self> {
        let id = NotebookId::new("long-record")?;
        let (head, numbers) = (Head::START, Numbers(27));
        let mut author = Self {
            notebook: Notebook::new(id.clone()),
            id,
            head,
            written: head,
            waiting: Vec::new(),
            answers: Vec::new(),
            numbers,
            commands: 0,
        };
        let mut commands = vec![json!({"CreateNotebook": {"title": "A year of work"}})];
        commands.extend((0..CELLS).map(|index| {
            json!({"InsertCell": {"cell_id": format!("cell-{index}"), "cell_type": "code", "source": "x = 1\n"}})
        }));
        author.submit(0, json!({"Batch": {"commands": commands}}))?;
        for other in 1..AUTHORS {
            let subject = json!({"kind": "user", "id": format!("author-{other}")});
            author.submit(0, json!({"GrantAccess": {"subject": subject, "role": "editor"}}))?;
        }
        Ok(author)
    }

    fn step(&mut self) -> Result<()> {
        let (who, cell) = (self.numbers.below(AUTHORS), format!("cell-{}", self.numbers.below(CELLS)));
        let source = &self.notebook.cells[&cell.parse()?].content.source;
        let (length, base) = (source.len(), self.notebook.version);
        let at = self.numbers.below(length + 1);
        let command = match self.numbers.below(20) {
            0 => {
                let text = format!("{}\n", self.numbers.below(1_000_000));
                let output = json!({"content": {"output_type": "stream", "name": "stdout", "text": text}});
                json!({"RecordExecution": {"cell_id": cell, "outputs": [output]}})
            }
            1 => json!({"SetCellFlags": {"cell_id": cell, "flags": {"pinned": at.is_multiple_of(2)}}}),
            2 if at.is_multiple_of(7) => {
                json!({"MoveCell": {"cell_id": cell, "place": if at.is_multiple_of(2) { "start" } else { "end" }}})
            }
            _ => {
                let is_long = length > TYPICAL_LENGTH;
                let gone = self.numbers.below(if is_long { 24 } else { 4 }).min(length - at);
                let words = ["x", "total", " = ", "rows", ".", "mean()", "\n", "# why", "import ", "1"];
                let come = words[self.numbers.below(words.len())];
                let lines: Vec<&str> = come.split('\n').collect();
                let mut change = vec![json!(at)];
                change.push(json!(
                    [json!(gone)].into_iter().chain(lines.iter().map(|line| json!(line))).collect::<Vec<_>>()
                ));
                change.push(json!(length - at - gone));
                change.retain(|section| *section != json!(0));
                json!({"EditSource": {"cell_id": cell, "base": base, "change": change}})
            }
        };
        self.submit(who, command)
    }

    fn submit(&mut self, who: usize, command: Value) -> Result<()> {
        self.commands += 1;
        let command: Command = serde_json::from_value(command)?;
        let id = format!("c{}", self.commands);
        let active =
            required_account_status(&command).into_iter().map(|subject| (subject.clone(), AccountStatus::Active));
        let account_status = AccountStatuses::new(active);
        let mut context = Context {
            instance: "instance".parse()?,
            // A year has 31.5 million seconds: an event each half minute.
            now: 1_700_000_000_000 + self.commands * 31_536,
            actor: Actor::User { id: UserId::new(format!("author-{who}"))? },
            authority: Authority::session(),
            command_id: CommandId::new(&id)?,
            correlation_id: id.parse()?,
            causation_id: None,
            expected_version: None,
            head_hash: notarium_core::Head::START.hash,
            ids: IdSource::new(self.commands, [7; 32]),
            history: History::default(),
            past: None,
            redaction: None,
            account_status,
            away: Default::default(),
            unreachable: Default::default(),
            holding_kernelspecs: Default::default(),
            agent_labels: Default::default(),
            run_effects: None,
            unposted: Default::default(),
            limits: Limits::default(),
        };
        let decision = decide(&self.notebook, &mut context, command).map_err(|rejection| anyhow!("{rejection:?}"))?;
        for stored in seal(&mut self.head, &self.id, &mut context, &decision.events)? {
            let recorded = stored.typed()?;
            self.waiting.push(NewEvent::new(stored, &recorded.event));
            self.notebook.apply(&recorded);
        }
        self.answers.push(CommandRecord {
            actor: context.actor.key(),
            command_id: context.command_id,
            digest: [7; 32],
            version: self.head.version,
            outcome: RawJson::of(&decision.outcome)?,
        });
        Ok(())
    }

    async fn append(&mut self, store: &Sqlite) -> Result<()> {
        let events = std::mem::take(&mut self.waiting);
        let commands = std::mem::take(&mut self.answers);
        let append = Append {
            notebook_id: self.id.clone(),
            epoch: 0,
            expected: self.written,
            events,
            commands,
            removal: Default::default(),
        };
        self.written = append.head();
        store.append(append).await.context("an append")
    }
}

#[derive(Args)]
pub struct Past {
    /// The notebook, with at least 1,000 events.
    #[arg(long)]
    notebook: String,
    /// Requests of each kind.
    #[arg(long, default_value_t = 100)]
    requests: usize,
}

impl Past {
    /// Returns medians and 99th percentiles in milliseconds.
    pub async fn run(&self, target: &Target) -> Result<Value> {
        let (client, mut numbers) = (reqwest::Client::new(), Numbers(9));
        let server = target.url.replace("ws://", "http://").replace("/api/socket", "");
        let base = format!("{server}/api/notebooks/{}", self.notebook);
        let send = async |method: Method, rest: String, body: Value| -> Result<(f64, Value)> {
            let start = Instant::now();
            let request = client.request(method, format!("{base}{rest}")).bearer_auth(&target.token);
            let request = if body.is_null() { request } else { request.json(&body) };
            let answer = request.send().await?.error_for_status()?.bytes().await?;
            Ok((start.elapsed().as_secs_f64() * 1e3, serde_json::from_slice(&answer)?))
        };
        let (opened, page) = send(Method::GET, "/events?limit=1".to_owned(), Value::Null).await?;
        let head = page["head"]["version"].as_u64().context("a version")?;
        let (prepared, _) = send(Method::GET, "/blame?cell=cell-0".to_owned(), Value::Null).await?;
        let mut measured = serde_json::Map::new();
        let version = |numbers: &mut Numbers| 1_000 + numbers.below(usize::try_from(head - 1_000).unwrap_or(1)) as u64;
        for kind in
            ["state", "diff", "blame of a cell", "blame of all cells", "page of the log", "find", "find ever", "fork"]
        {
            let mut times = Vec::new();
            let requests = if kind == "fork" { self.requests.min(20) } else { self.requests };
            for _ in 0..requests {
                let (one, other) = (version(&mut numbers), version(&mut numbers));
                let cell = numbers.below(CELLS);
                let (method, rest, body) = match kind {
                    "state" => (Method::GET, format!("?at={one}"), Value::Null),
                    "diff" => (Method::GET, format!("/diff?from={one}&to={other}"), Value::Null),
                    "blame of a cell" => (Method::GET, format!("/blame?cell=cell-{cell}&at={one}"), Value::Null),
                    "blame of all cells" => (Method::GET, format!("/blame?at={one}"), Value::Null),
                    "page of the log" => (Method::GET, format!("/events?after={one}&limit=200"), Value::Null),
                    "find" => (Method::GET, "/find?text=mean".to_owned(), Value::Null),
                    "find ever" => (Method::GET, "/find?text=totalrows&ever=true".to_owned(), Value::Null),
                    _ => (Method::POST, "/fork".to_owned(), json!({"version": one})),
                };
                times.push(send(method, rest, body).await?.0);
            }
            times.sort_by(f64::total_cmp);
            let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
            measured.insert(kind.to_owned(), json!({"median_ms": at(0.5), "p99_ms": at(0.99)}));
        }
        Ok(json!({"versions": head, "opened_ms": opened, "first_blame_ms": prepared, "measured": measured}))
    }
}
