//! Report of a replay: for people, and as JSON.

use std::collections::BTreeSet;
use std::time::Duration;

use notarium_comparison::{Difference, Noise, OutputComparison};
use notarium_core::{CellId, Effect, ExecutionId, KernelSessionId, Millis, RefusedEffect};
use serde::Serialize;

use crate::cli::Ended;
use crate::cli::replay::ReplayOrder;
use crate::cli::replay::environment::EnvironmentChange;
use crate::cli::replay::kernel::{ReplayedEnd, ReplayedRun};
use crate::cli::replay::plan::{ReplayPart, ReplayStep};
use crate::cli::replay::recorded::RecordedEnd;
use crate::cli::terminal::print;

/// Most changes of an environment in one line.
const MAX_CHANGES: usize = 12;

/// Result of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    Same,
    Differs,
    /// It was repeated, and its outputs cannot be compared.
    NotCompared,
    NotReplayed,
}

impl ReplayVerdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Differs => "differs",
            Self::NotCompared => "not compared",
            Self::NotReplayed => "not replayed",
        }
    }
}

/// Report of one run.
#[derive(Debug, Serialize)]
pub struct ReplayedRunReport {
    pub execution: ExecutionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellId>,
    /// The first line of the source.
    pub source: String,
    pub verdict: ReplayVerdict,
    /// The reason why it was not compared or not replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_ms: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed_ms: Option<Millis>,
    /// Effects that were refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedEffect>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// Kinds of text that differ, and do not count.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub apart_from: BTreeSet<Noise>,
}

impl ReplayedRunReport {
    /// The report before the run.
    pub fn of(ReplayStep { run, plan, .. }: &ReplayStep) -> Self {
        let (verdict, reason) = match plan {
            ReplayPart::Compare => (ReplayVerdict::Same, None),
            ReplayPart::Run(reason) => (ReplayVerdict::NotCompared, Some(reason.clone())),
            ReplayPart::Skip(reason) => (ReplayVerdict::NotReplayed, Some(reason.clone())),
        };
        Self {
            execution: run.id.clone(),
            cell: run.cell.clone(),
            source: print::shorten(&print::clean(run.first_line()), 60),
            verdict,
            reason,
            recorded_ms: run.took(),
            replayed_ms: None,
            refused: Vec::new(),
            differences: Vec::new(),
            apart_from: BTreeSet::new(),
        }
    }

    /// True if its outputs are to be compared.
    pub fn is_compared(&self) -> bool {
        self.verdict == ReplayVerdict::Same
    }

    /// Adds a difference.
    pub fn differs(&mut self, place: &str, recorded: impl Into<String>, replayed: impl Into<String>) {
        let (place, recorded, replayed) = (place.to_owned(), recorded.into(), replayed.into());
        self.differences.push(Difference { place, recorded, replayed });
        self.verdict = ReplayVerdict::Differs;
    }

    /// Takes the repeated run. Its outputs are compared later.
    pub fn ran(&mut self, planned: &ReplayStep, replayed: ReplayedRun, limit: Duration) {
        let ReplayedRun { end, took, refused } = replayed;
        self.replayed_ms = Millis::try_from(took.as_millis()).ok();
        let refused = refused.into_iter();
        self.refused =
            refused.map(|it| RefusedEffect { kind: it.kind.into(), target: it.target, count: it.count }).collect();
        if let ReplayedEnd::HoldsOpen(open) = &end {
            let (kind, target) = (Effect::Open.into(), open.join(", "));
            self.refused.push(RefusedEffect { kind, target, count: 1 });
        }
        if planned.plan != ReplayPart::Compare {
            return;
        }
        let recorded = match planned.run.end {
            Some(RecordedEnd::Ok) => "it succeeded",
            _ => "it failed",
        };
        let replayed = match end {
            ReplayedEnd::Ok => "it succeeded".to_owned(),
            ReplayedEnd::Error => "it failed".to_owned(),
            ReplayedEnd::TimedOut => format!("interrupted after {} s", limit.as_secs()),
            ReplayedEnd::Asked(prompt) => {
                let prompt = print::shorten(&print::clean(&prompt), 60);
                format!("it asks '{prompt}', and the record has no answer")
            }
            ReplayedEnd::HoldsOpen(open) => format!("not begun: the kernel holds open {}", open.join(", ")),
            ReplayedEnd::Died(cause) => cause,
        };
        if recorded != replayed {
            self.differs("end", recorded, replayed);
            // The outputs say why.
            self.verdict = ReplayVerdict::Same;
        }
    }

    /// Takes the comparison of the outputs.
    pub fn compared(&mut self, comparison: OutputComparison) {
        self.differences.extend(comparison.differences);
        self.apart_from = comparison.apart_from;
        self.verdict = if self.differences.is_empty() { ReplayVerdict::Same } else { ReplayVerdict::Differs };
    }

    /// The run's cell, for people.
    pub fn name(&self) -> String {
        match &self.cell {
            Some(cell) => format!("cell {}", print::short(cell.as_str())),
            None => "no cell".to_owned(),
        }
    }

    /// Remarks in words: the reason, what was refused, what does not count.
    pub fn remarks(&self) -> Vec<String> {
        let refused = self.refused.iter().map(|RefusedEffect { kind, target, count }| {
            let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            format!("refused: {kind} {}{times}", print::clean(target))
        });
        let noise: Vec<&str> = self.apart_from.iter().map(|noise| noise.words()).collect();
        let apart = (!noise.is_empty()).then(|| format!("apart from {}", noise.join(", ")));
        self.reason.clone().into_iter().chain(refused).chain(apart).collect()
    }
}

/// A fresh kernel.
#[derive(Debug, Serialize)]
pub struct ReplayedKernel {
    /// The recorded kernel whose place it took. Absent: it ran all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_session: Option<KernelSessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_kernelspec: Option<String>,
    pub kernelspec: String,
    /// Differences of the software. Absent: it is not known what the recorded kernel had, or what this one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_changes: Option<Vec<EnvironmentChange>>,
}

impl ReplayedKernel {
    /// The kernel and its software in one line.
    pub fn words(&self) -> String {
        let software = match self.environment_changes.as_deref() {
            None => "the record does not say which software its kernel had".to_owned(),
            Some([]) => "the same software as recorded".to_owned(),
            Some(changes) => {
                let words: Vec<String> = changes.iter().take(MAX_CHANGES).map(EnvironmentChange::words).collect();
                let more = changes.len().saturating_sub(MAX_CHANGES);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                format!("other software: {}{more}", words.join(", "))
            }
        };
        let recorded = self.recorded_kernelspec.as_ref().filter(|recorded| **recorded != self.kernelspec);
        let recorded = recorded.map(|name| format!(" instead of {}", print::clean(name))).unwrap_or_default();
        format!("kernel {}{recorded}: {software}", print::clean(&self.kernelspec))
    }
}

/// Report of a replay.
#[derive(Debug, Serialize)]
pub struct ReplayReport {
    /// True if no run differs.
    pub same: bool,
    order: ReplayOrder,
    /// False: the user has switched the holding of effects off.
    pub effects_held: bool,
    /// Kinds of effects that were allowed.
    pub allowed: Vec<Effect>,
    pub kernels: Vec<ReplayedKernel>,
    pub runs: Vec<ReplayedRunReport>,
}

impl ReplayReport {
    pub fn new(
        order: ReplayOrder,
        effects_held: bool,
        allowed: Vec<Effect>,
        kernels: Vec<ReplayedKernel>,
        runs: Vec<ReplayedRunReport>,
    ) -> Self {
        let same = runs.iter().all(|run| run.verdict != ReplayVerdict::Differs);
        Self { same, order, effects_held, allowed, kernels, runs }
    }

    /// The counts in one sentence.
    pub fn verdict(&self) -> String {
        use ReplayVerdict as V;
        let count = |verdict: V| self.runs.iter().filter(|run| run.verdict == verdict).count();
        let counted = [V::Same, V::Differs, V::NotCompared, V::NotReplayed].map(|verdict| (count(verdict), verdict));
        let counted = counted.into_iter().filter(|(count, _)| *count > 0);
        let counted: Vec<String> = counted.map(|(count, verdict)| format!("{count} {}", verdict.word())).collect();
        match counted.is_empty() {
            true => "the record has no runs".to_owned(),
            false => format!("{}: {}", print::count(self.runs.len(), "run"), counted.join(", ")),
        }
    }

    /// The sentences about the kernels and the effects, each once.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        for words in self.kernels.iter().map(ReplayedKernel::words) {
            if !sentences.contains(&words) {
                sentences.push(words);
            }
        }
        if !self.effects_held {
            sentences.push("effects were not held: what the runs did has happened on this machine".to_owned());
        }
        if self.effects_held && !self.allowed.is_empty() {
            let allowed: Vec<&str> = self.allowed.iter().map(|effect| effect.word()).collect();
            sentences.push(format!("effects that were allowed: {}", allowed.join(", ")));
        }
        sentences
    }

    /// Prints the report for people.
    pub fn print(&self) -> Ended {
        self.sentences().into_iter().try_for_each(print::line)?;
        let rows: Vec<[String; 3]> =
            self.runs.iter().map(|run| [run.verdict.word().to_owned(), run.name(), run.source.clone()]).collect();
        for (line, run) in print::columns(&rows).into_iter().zip(&self.runs) {
            print::line(line)?;
            for remark in run.remarks() {
                print::line(format!("    {remark}"))?;
            }
            for Difference { place, recorded, replayed } in &run.differences {
                print::line(format!("    {place}:"))?;
                print::line(format!("      recorded  {}", print::clean(recorded)))?;
                print::line(format!("      replayed  {}", print::clean(replayed)))?;
            }
        }
        if self.same { print::line(self.verdict()) } else { Ok(()) }
    }
}
