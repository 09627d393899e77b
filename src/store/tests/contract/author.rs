//! Author of one notebook's log, which writes as the server would.

use notarium_core::{
    Actor, Append, Authority, CommandId, CommandRecord, Context, Decided, Epoch, Event, Head, History, IdSource,
    Limits, NewEvent, NotebookId, RawJson, UserId, seal,
};

/// Author of one notebook's log, which writes as the server would: sealed, chained, one command per append.
pub struct Author {
    pub notebook_id: NotebookId,
    pub head: Head,
    pub epoch: Epoch,
    pub context: Context,
    pub commands: u64,
}

pub fn notebook(name: &str) -> NotebookId {
    NotebookId::new(name).unwrap()
}

impl Author {
    pub fn new(name: &str) -> Self {
        let mut seed = [7; 32];
        seed[..name.len()].copy_from_slice(name.as_bytes());
        let context = Context {
            now: 1_700_000_000_000,
            instance: "instance".parse().unwrap(),
            actor: Actor::User { id: UserId::new("ann").unwrap() },
            authority: Authority::session(),
            command_id: CommandId::new("c0").unwrap(),
            correlation_id: "c0".parse().unwrap(),
            causation_id: None,
            expected_version: None,
            head_hash: notarium_core::Head::START.hash,
            ids: IdSource::new(1_700_000_000_000, seed),
            history: History::default(),
            past: None,
            redaction: None,
            account_status: Default::default(),
            away: Default::default(),
            unreachable: Default::default(),
            holding_kernelspecs: Default::default(),
            agent_labels: Default::default(),
            run_effects: None,
            unposted: Default::default(),
            limits: Limits::default(),
        };
        Self { notebook_id: notebook(name), head: Head::START, epoch: 0, context, commands: 0 }
    }

    pub fn command(&mut self) -> CommandRecord {
        CommandRecord {
            actor: self.context.actor.key(),
            command_id: self.context.command_id.clone(),
            digest: [u8::try_from(self.commands % 251).unwrap(); 32],
            version: self.head.version,
            outcome: RawJson::parse(r#"{"cells":["é"]}"#).unwrap(),
        }
    }

    /// Builds an append of events given by type and payload, under the next command id.
    pub fn append(&mut self, events: &[(&str, &str)]) -> Append {
        self.commands += 1;
        self.context.command_id = CommandId::new(format!("c{}", self.commands)).unwrap();
        let decode = |(event_type, payload): &(&str, &str)| Event::decode(event_type, 1, payload).unwrap();
        let decided: Vec<Decided> = events.iter().map(decode).map(Decided::from).collect();
        let expected = self.head;
        let sealed = seal(&mut self.head, &self.notebook_id, &mut self.context, &decided).unwrap();
        let events = sealed.into_iter().zip(&decided).map(|(stored, it)| NewEvent::new(stored, &it.event)).collect();
        Append {
            notebook_id: self.notebook_id.clone(),
            epoch: self.epoch,
            expected,
            events,
            commands: vec![self.command()],
            removal: Default::default(),
        }
    }

    /// Builds an append of one event about the notebook.
    pub fn rename(&mut self, title: &str) -> Append {
        let payload = serde_json::json!({ "title": title, "previous": "before" }).to_string();
        self.append(&[("NotebookRenamed", &payload)])
    }
}
