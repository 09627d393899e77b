//! Progress of runs, as a line on the terminal that is redrawn. Not part of the log.

use std::collections::BTreeMap;

use console::Term;
use notarium_agent::connection::CommandSender;
use notarium_core::{ExecutionId, KernelSessionId, NotebookId};
use notarium_wire::{ClientMessage, CommChange, OpenComm, PROGRESS_TARGET, ServerMessage};
use serde::Deserialize;

use crate::cli::terminal::print;

const BAR_WIDTH: usize = 24;

/// Open progress, by comm. The most recently changed one is shown.
#[derive(Debug, Default)]
pub struct Bars {
    bars: BTreeMap<(KernelSessionId, String), Bar>,
    changes: u64,
    is_drawn: bool,
}

#[derive(Debug, Clone)]
struct Bar {
    run: Option<ExecutionId>,
    state: State,
    changed: u64,
}

/// State in a kernel's message; every field may be absent in a change.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct State {
    label: Option<String>,
    done: Option<f64>,
    total: Option<f64>,
}

impl State {
    fn merge(&mut self, news: Self) {
        self.label = news.label.or(self.label.take());
        self.done = news.done.or(self.done);
        self.total = news.total.or(self.total);
    }

    fn line(&self) -> String {
        let done = self.done.unwrap_or_default();
        let label = self.label.as_deref().map(print::clean).filter(|label| !label.is_empty());
        let head = label.map(|label| format!("{label}: ")).unwrap_or_default();
        let Some(total) = self.total.filter(|total| *total > 0.0) else { return format!("{head}{done}") };
        let part = (done / total).clamp(0.0, 1.0);
        let filled = (0..BAR_WIDTH).filter(|step| (*step as f64) < part * BAR_WIDTH as f64).count();
        let bar = format!("{}{}", "█".repeat(filled), " ".repeat(BAR_WIDTH - filled));
        format!("{head}{:3.0}% |{bar}| {done}/{total}", part * 100.0)
    }
}

/// Subscribes to a kernel's messages outside the log; needed after each subscription, and for each new kernel.
pub fn follow_kernel(sender: &CommandSender, notebook: &NotebookId, kernel: &KernelSessionId) {
    sender.ephemeral(ClientMessage::FollowComms { notebook: notebook.clone(), kernel_session: kernel.clone() });
}

impl Bars {
    /// Takes a message about comms; false for other messages.
    pub fn hear(&mut self, message: &ServerMessage) -> bool {
        match message {
            ServerMessage::Comms { kernel_session, comms, .. } => {
                self.bars.retain(|(kernel, _), _| kernel != kernel_session);
                comms.iter().for_each(|comm| self.open(kernel_session, comm));
            }
            ServerMessage::Comm { kernel_session, changes, .. } => {
                changes.iter().for_each(|change| self.change(kernel_session, change));
            }
            _ => return false,
        }
        true
    }

    fn open(&mut self, kernel: &KernelSessionId, comm: &OpenComm) {
        if comm.target.as_deref() == Some(PROGRESS_TARGET) {
            self.changes += 1;
            let state = serde_json::from_str(comm.state.get()).unwrap_or_default();
            let bar = Bar { run: comm.execution_id.clone(), state, changed: self.changes };
            self.bars.insert((kernel.clone(), comm.comm_id.clone()), bar);
        }
    }

    fn change(&mut self, kernel: &KernelSessionId, change: &CommChange) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Said {
            state: State,
        }
        match change {
            CommChange::Opened(comm) => self.open(kernel, comm),
            CommChange::Closed { comm_id } => _ = self.bars.remove(&(kernel.clone(), comm_id.clone())),
            CommChange::Message(message) => {
                self.changes += 1;
                let changed = self.changes;
                if let Some(bar) = self.bars.get_mut(&(kernel.clone(), message.comm_id.clone())) {
                    let said: Said = serde_json::from_str(message.data.get()).unwrap_or_default();
                    bar.state.merge(said.state);
                    bar.changed = changed;
                }
            }
        }
    }

    /// The line of the most recently changed progress among the wanted runs.
    fn line(&self, is_wanted: impl Fn(&ExecutionId) -> bool) -> Option<String> {
        let wanted = self.bars.values().filter(|bar| bar.run.as_ref().is_none_or(&is_wanted));
        wanted.max_by_key(|bar| bar.changed).map(|bar| bar.state.line())
    }

    /// Redraws the line if standard error is a terminal.
    pub fn draw(&mut self, is_wanted: impl Fn(&ExecutionId) -> bool) {
        let terminal = Term::stderr();
        if !terminal.is_term() {
            return;
        }
        self.erase();
        if let Some(line) = self.line(is_wanted) {
            let width = usize::from(terminal.size().1).saturating_sub(1);
            let _ = terminal.write_str(&console::truncate_str(&line, width, "…"));
            self.is_drawn = true;
        }
    }

    /// Erases the line; call before any other output.
    pub fn erase(&mut self) {
        if std::mem::take(&mut self.is_drawn) {
            let _ = Term::stderr().clear_line();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hear(bars: &mut Bars, kind: &str, body: serde_json::Value) {
        let message = json!({kind: body});
        assert!(bars.hear(&serde_json::from_value(message).expect("a message")));
    }

    #[test]
    fn a_bar_follows_what_the_kernel_says_until_it_is_closed() {
        let mut bars = Bars::default();
        let state = json!({"label": "reading\u{1b}", "done": 1, "total": 4});
        let comm = json!({"comm_id": "p", "target": "notarium.progress", "execution_id": "r", "state": state});
        let widget = json!({"comm_id": "w", "state": {"done": 3}});
        hear(&mut bars, "comms", json!({"notebook": "n", "kernel_session": "k", "comms": [comm, widget]}));
        let all = |_: &ExecutionId| true;
        assert_eq!(bars.line(all).as_deref(), Some("reading :  25% |██████                  | 1/4"));
        let update = json!({"comm_id": "p", "data": {"method": "update", "state": {"done": 4}}});
        hear(&mut bars, "comm", json!({"notebook": "n", "kernel_session": "k", "changes": [{"message": update}]}));
        assert!(bars.line(all).is_some_and(|line| line.ends_with("4/4") && line.contains("100%")));
        assert_eq!(bars.line(|run| run.as_str() == "other"), None, "of another run");
        let closed = json!([{"closed": {"comm_id": "p"}}]);
        hear(&mut bars, "comm", json!({"notebook": "n", "kernel_session": "k", "changes": closed}));
        assert_eq!(bars.line(all), None);
    }

    #[test]
    fn without_a_total_what_is_done_is_told() {
        let state = State { label: None, done: Some(7.0), total: None };
        assert_eq!(state.line(), "7");
    }
}
