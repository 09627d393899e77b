//! Tells events of a notebook on the server in sentences, one a line.

use notarium_core::{Actor, Document, Millis, Stored, Subject, Version};
use notarium_report::{EventNarrator, RecordSource};

pub use notarium_report::{EndRequests, NarratedEvent, did, subject_name};

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;
use crate::cli::connection::find::People;
use crate::cli::terminal::print::style;

/// A record on a server, with the names that the user may see.
#[derive(Debug)]
pub struct RestRecord {
    notebook: NotebookClient,
    people: People,
}

impl RestRecord {
    pub fn new(notebook: &NotebookClient) -> Self {
        Self { notebook: notebook.clone(), people: People::new(&notebook.client) }
    }
}

impl RecordSource for RestRecord {
    type Error = Failure;

    async fn events(&self, after: Version, limit: usize) -> Result<Vec<Stored>, Failure> {
        self.notebook.events(after, limit).await.map(|page| page.events)
    }

    async fn actor_name(&mut self, actor: &Actor) -> String {
        self.people.name(actor).await
    }

    async fn subject_name(&mut self, subject: &Subject) -> String {
        self.people.subject(subject).await
    }
}

/// Tells events for the terminal.
#[derive(Debug)]
pub struct Narrator(EventNarrator<RestRecord>);

impl Narrator {
    pub fn new(notebook: &NotebookClient) -> Self {
        Self(EventNarrator::new(RestRecord::new(notebook)))
    }

    /// Remembers the runs and assistants' work of a state.
    pub fn learn(&mut self, notebook: &Document) {
        self.0.learn(notebook);
    }

    /// Remembers an event that is not shown, for later ones.
    pub fn note(&mut self, stored: &Stored) {
        self.0.note(stored);
    }

    /// One line: version, time, actor, sentence.
    pub async fn line(&mut self, event: &NarratedEvent, time: fn(Millis) -> String) -> String {
        let (who, what) = self.0.told(event).await;
        let version = style(format!("{:>5}", event.message.version)).dim();
        let time = style(time(event.message.recorded_at)).dim();
        format!("{version}  {time}  {} {what}", style(who).bold())
    }
}
