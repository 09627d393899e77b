//! Expectation of a case: a rejection's code, or its events. The case has the types of the events,
//! `tests/expected/SLICE.txt` their content. `NOTARIUM_BLESS=1 cargo test -p notarium-core` rewrites these files; a
//! person reads the changes.
#![allow(clippy::disallowed_methods)]

use std::fmt::Write as _;
use std::path::PathBuf;

use super::*;

#[derive(Debug, Clone)]
pub enum Expect {
    /// Accepted with events of these types, in this order.
    Events(Vec<&'static str>),
    Rejected(RejectionCode),
}

pub fn events<const N: usize>(types: [&'static str; N]) -> Expect {
    Expect::Events(types.into())
}

/// Accepted without events: the state already is as requested.
pub fn nothing() -> Expect {
    Expect::Events(Vec::new())
}

pub fn rejected(code: RejectionCode) -> Expect {
    Expect::Rejected(code)
}

/// A case: a world, a sender, a command, and the expectation.
pub struct Case {
    pub given: Box<dyn Fn() -> World>,
    /// Name of the function `given`.
    given_name: &'static str,
    pub who: Who,
    pub command: Value,
    pub expect: Expect,
}

pub fn case<F: Fn() -> World + 'static>(given: F, who: Who, command: Value, expect: Expect) -> Case {
    let name = std::any::type_name::<F>().rsplit("::").next().unwrap_or_default();
    let given_name = if name.starts_with('{') { "a world of this case" } else { name };
    Case { given: Box::new(given), given_name, who, command, expect }
}

/// Judges all cases of a slice, and compares the effects of accepted ones with the slice's file.
pub fn check_all(slice: &str, cases: &[Case]) {
    let text: String = cases.iter().filter_map(check).collect();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/expected/{slice}.txt"));
    if std::env::var_os("NOTARIUM_BLESS").is_some() {
        return std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = found.lines().zip(text.lines()).find(|(found, made)| found != made);
    let differing = differing.map(|(found, made)| format!("\nexpected {found}\ngot      {made}"));
    assert!(
        found == text,
        "tests/expected/{slice}.txt is another: is the change wanted? then NOTARIUM_BLESS=1.{}",
        differing.unwrap_or_default()
    );
}

/// Effects of the case, if it is accepted.
fn check(case: &Case) -> Option<String> {
    let mut world = (case.given)();
    let before = world.clone();
    let judged = world.try_do(&case.who, &case.command);
    let what = format!("{} by {:?}", case.command, case.who.actor);
    match (&case.expect, judged) {
        (Expect::Events(expected), Ok((events, outcome))) => {
            assert_eq!(types(&events), *expected, "{what}");
            assert_eq!(replay(&world.log), world.notebook, "replay after {what}");
            let title = format!("{}, {}: {}", case.given_name, case.who.actor.key(), short(&case.command.to_string()));
            Some(format!("{title}\n{}\n", world.consequences(before.version(), &outcome)))
        }
        (Expect::Rejected(code), Err(rejection)) => {
            assert_eq!(rejection.code, *code, "{what}: {rejection}");
            assert_eq!(world.json(), before.json(), "{what} left a trace");
            assert_eq!(world.log, before.log);
            assert!(rejection.message.len() > 10, "says what to do: {rejection}");
            None
        }
        (expected, judged) => panic!("{what}: expected {expected:?}, got {judged:?}"),
    }
}

fn short(text: &str) -> String {
    let cut: String = text.chars().take(300).collect();
    if cut.len() < text.len() { format!("{cut} …") } else { cut }
}

impl World {
    /// The events after a version with all fields, and the outcome for the sender. Named values are shown as `$name`.
    fn consequences(&self, after: Version, outcome: &Outcome) -> String {
        let mut text = String::new();
        for recorded in self.recorded.iter().filter(|recorded| recorded.envelope.version > after) {
            writeln!(text, "    {}{}", self.payload(&recorded.event), self.envelope(&recorded.envelope)).unwrap();
        }
        if text.is_empty() {
            text.push_str("    nothing\n");
        }
        if !outcome.is_empty() {
            writeln!(text, "    told {}", self.named(&serde_json::to_string(outcome).unwrap())).unwrap();
        }
        text
    }

    fn payload(&self, event: &Event) -> String {
        let payload = event.payload().unwrap();
        let text: Value = serde_json::from_str(payload.get()).unwrap();
        format!("{} {}", event.event_type(), self.named(&text.to_string()))
    }

    /// Group of the event, the group that it undoes, and its cause, where these differ from those of its command.
    fn envelope(&self, envelope: &Envelope) -> String {
        let mut text = String::new();
        if envelope.correlation_id.as_str() != envelope.command_id.as_str() {
            write!(text, " of {}", envelope.correlation_id).unwrap();
        }
        if let Some(undone) = &envelope.undoes {
            write!(text, " undoes {undone}").unwrap();
        }
        if let Some(cause) = &envelope.causation_id {
            let recorded = self.recorded.iter().find(|recorded| recorded.envelope.id == *cause);
            write!(text, " led by {}", recorded.expect("a cause is in the log").event.event_type()).unwrap();
        }
        text
    }

    /// Replaces named ids and hashes by `$name`.
    fn named(&self, text: &str) -> String {
        let ids = self.names.iter().filter(|(_, value)| value.starts_with('"'));
        ids.fold(text.to_owned(), |text, (name, value)| text.replace(value, &format!("\"${name}\"")))
    }

    /// The events as one JSON array of `{type: payload}`, for the tests that stand alone.
    pub fn whole(&self, events: &[Event]) -> Value {
        let one = |event: &Event| {
            let payload: Value = serde_json::from_str(&self.named(event.payload().unwrap().get())).unwrap();
            json!({ event.event_type(): payload })
        };
        events.iter().map(one).collect()
    }
}
