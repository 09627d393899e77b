//! Which runs of a record are repeated, in which order, and which of them are compared.

use std::time::Duration;

use notarium_core::{Document, KernelSessionId};
use notarium_judge::sql_connection;

use crate::cli::replay::recorded::{RecordedEnd, RecordedRun, Recording};

/// Least time limit of a run, if the command names none.
const MIN_LIMIT: Duration = Duration::from_secs(60);
/// So many times the recorded time is the limit of a run.
const TIMES_RECORDED: u32 = 10;

/// Part of a run in the replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayPart {
    /// It is repeated, and its outputs are compared.
    Compare,
    /// It is repeated for what it leaves in the kernel. The reason why its outputs are not compared.
    Run(String),
    /// It is not repeated, for this reason.
    Skip(String),
}

/// A run with its part in the replay.
#[derive(Debug, Clone)]
pub struct ReplayStep {
    pub run: RecordedRun,
    /// The text to run; it differs from the run's for a cell that was edited since.
    pub source: String,
    /// The recorded kernel whose place a fresh one takes. `None`: one kernel for all.
    pub session: Option<KernelSessionId>,
    pub plan: ReplayPart,
}

impl ReplayStep {
    /// The time limit: the given one, else ten times the recorded time and at least a minute. A run without a clear end in the
    /// record may never end by itself: it gets the time that it had.
    pub fn limit(&self, given: Option<Duration>) -> Duration {
        let recorded = Duration::from_millis(self.run.took().unwrap_or_default());
        let usual = given.unwrap_or_else(|| MIN_LIMIT.max(recorded * TIMES_RECORDED));
        match self.run.end {
            Some(RecordedEnd::Unclear(_)) => usual.min(recorded.max(Duration::from_secs(1))),
            _ => usual,
        }
    }
}

/// All runs in the order of the record.
pub fn in_order_of_record(recording: &Recording, connections: &[String]) -> Vec<ReplayStep> {
    let planned = |run: &RecordedRun| ReplayStep {
        source: run.source.to_string(),
        session: run.session.clone(),
        plan: part_in_record(run, connections),
        run: run.clone(),
    };
    recording.in_order().into_iter().map(planned).collect()
}

fn part_in_record(run: &RecordedRun, connections: &[String]) -> ReplayPart {
    if run.is_imported {
        return ReplayPart::Skip("it came with an imported file: no kernel ran it here".to_owned());
    }
    if run.started.is_none() {
        let why = match run.end {
            Some(RecordedEnd::Unclear(words)) => format!("it {words} before a kernel began it"),
            _ => "no kernel began it".to_owned(),
        };
        return ReplayPart::Skip(why);
    }
    part(run, connections)
}

/// The part of a run that has a text.
fn part(run: &RecordedRun, connections: &[String]) -> ReplayPart {
    if run.is_redacted {
        return ReplayPart::Skip("redacted: its text is gone".to_owned());
    }
    if run.is_tool {
        return ReplayPart::Skip(format!("it is a tool of an assistant ({})", run.source));
    }
    if run.asked_password {
        return ReplayPart::Skip("it asked for a password, and passwords are not recorded".to_owned());
    }
    if let Some(missing) = missing_connection(&run.source, connections) {
        return ReplayPart::Skip(missing);
    }
    match run.end {
        None => ReplayPart::Run("the record ends before it does".to_owned()),
        Some(RecordedEnd::Unclear(words)) => ReplayPart::Run(format!("it {words} in the record")),
        Some(_) if run.has_redacted_outputs => ReplayPart::Run("redacted: some of its outputs are gone".to_owned()),
        Some(_) => ReplayPart::Compare,
    }
}

fn missing_connection(source: &str, connections: &[String]) -> Option<String> {
    let name = sql_connection(source).filter(|name| !connections.iter().any(|known| known == name))?;
    Some(format!("the connection {name} is not here: give it with --connection {name}=URL"))
}

/// The notebook's cells from top to bottom, with what they show.
pub fn in_order_of_notebook(recording: &Recording, notebook: &Document, connections: &[String]) -> Vec<ReplayStep> {
    let runs = notebook.ordered_cells().filter(|(_, cell)| {
        let content = &cell.content;
        content.cell_type.runs() && !content.source.trim().is_empty()
    });
    let planned = |(cell_id, cell): (&notarium_core::CellId, &std::sync::Arc<notarium_core::Cell>)| {
        let source = cell.content.text_to_run().into_owned();
        let shown = notebook.latest.get(cell_id).and_then(|id| recording.runs.get(id));
        let Some(run) = shown else {
            let (run, reason) = (RecordedRun::of_cell(cell_id, &source), "it has no run in the record".to_owned());
            let missing = missing_connection(&source, connections);
            let plan = missing.map_or(ReplayPart::Run(reason), ReplayPart::Skip);
            return ReplayStep { run, source, session: None, plan };
        };
        let plan = match part(run, connections) {
            ReplayPart::Compare if *run.source != *source => {
                ReplayPart::Run("the cell was edited after its run".to_owned())
            }
            plan => plan,
        };
        ReplayStep { run: run.clone(), source, session: None, plan }
    };
    runs.map(planned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(source: &str) -> RecordedRun {
        let mut run = RecordedRun::of_cell(&"c".parse().unwrap(), source);
        (run.started, run.ended_at, run.end) = (Some((3, 1_000)), Some(3_000), Some(RecordedEnd::Ok));
        run
    }

    fn plan(change: impl FnOnce(&mut RecordedRun)) -> ReplayPart {
        let mut run = run("x = 1");
        change(&mut run);
        part_in_record(&run, &["warehouse".to_owned()])
    }

    #[test]
    fn what_cannot_be_repeated_is_told() {
        let skipped = |plan: ReplayPart| matches!(plan, ReplayPart::Skip(_));
        assert_eq!(plan(|_| {}), ReplayPart::Compare);
        assert!(skipped(plan(|run| run.is_redacted = true)));
        assert!(skipped(plan(|run| run.is_tool = true)));
        assert!(skipped(plan(|run| run.is_imported = true)));
        assert!(skipped(plan(|run| run.asked_password = true)));
        assert!(skipped(plan(|run| run.started = None)));
        assert!(skipped(plan(|run| run.source = "%%notarium_sql\n-- @sales\nSELECT 1".into())));
        assert_eq!(plan(|run| run.source = "%%notarium_sql\n-- @warehouse\nSELECT 1".into()), ReplayPart::Compare);
        assert_eq!(plan(|run| run.source = "%%notarium_sql\nSELECT 1".into()), ReplayPart::Compare);
    }

    #[test]
    fn unclear_ends_are_repeated_and_not_compared() {
        let runs = |plan: ReplayPart| matches!(plan, ReplayPart::Run(_));
        assert!(runs(plan(|run| run.end = None)));
        assert!(runs(plan(|run| run.end = Some(RecordedEnd::Unclear("was lost")))));
        assert!(runs(plan(|run| run.has_redacted_outputs = true)));
    }

    #[test]
    fn a_limit_follows_the_recorded_time() {
        let of = |end, took: u64| {
            let mut run = run("x");
            (run.end, run.ended_at) = (Some(end), Some(1_000 + took));
            ReplayStep { run, source: String::new(), session: None, plan: ReplayPart::Compare }
        };
        let seconds = Duration::from_secs;
        assert_eq!(of(RecordedEnd::Ok, 2_000).limit(None), seconds(60));
        assert_eq!(of(RecordedEnd::Ok, 20_000).limit(None), seconds(200));
        assert_eq!(of(RecordedEnd::Ok, 20_000).limit(Some(seconds(5))), seconds(5));
        assert_eq!(of(RecordedEnd::Unclear("was lost"), 3_000).limit(None), seconds(3));
        assert_eq!(of(RecordedEnd::Unclear("was lost"), 0).limit(None), seconds(1));
    }
}
