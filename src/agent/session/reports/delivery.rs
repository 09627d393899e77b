//! Sends the reports of one session in order: large parts are uploaded first, several at a time; each report is sent when the
//! previous one is in the log. [`Delivery`], the order and the numbers, is pure.
//!
//! **Invariants.** One report is on its way at a time, and gets its number when it is sent. A refused report takes no number,
//! so numbers have no gaps and reports are not reordered. A notice in the run, in place or at its end, replaces what cannot be recorded.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use hashlink::LinkedHashMap;
use notarium_client::{CommandError, CommandSender};
use notarium_core::{Command, ExecutionId, ExecutionReport, NotebookId, Output, RejectionCode};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::blobs::{BlobUploader, FinishedOverflow};
use super::{Report, ReportCommand, ToStore, blobs_of, notice, overflow_output};
use crate::session::SessionInput;

/// Most reports whose parts are uploaded concurrently.
const MAX_UPLOADS: usize = 8;
/// Pause before re-sending a report that the server could not store, and the longest pause: it doubles in between.
const UNAVAILABLE_PAUSE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// A report, and the overflow of its run if the report names it.
pub(crate) struct ReportJob {
    pub report: Report,
    pub overflow: Option<FinishedOverflow>,
}

/// Connections and notebook of one session's reports.
#[derive(Clone)]
pub(crate) struct Reporter {
    pub notebook: NotebookId,
    pub sender: CommandSender,
    pub uploader: BlobUploader,
}

impl Reporter {
    /// Starts to send jobs; answers go to `inputs`. Ends when `stop` is cancelled or `jobs` is dropped.
    pub fn start(
        self,
        inputs: mpsc::UnboundedSender<SessionInput>,
        stop: CancellationToken,
    ) -> mpsc::UnboundedSender<ReportJob> {
        let (jobs, receiver) = mpsc::unbounded_channel();
        tokio::spawn(stop.run_until_cancelled_owned(self.run(receiver, inputs)));
        jobs
    }

    async fn run(self, jobs: mpsc::UnboundedReceiver<ReportJob>, inputs: mpsc::UnboundedSender<SessionInput>) {
        let jobs = futures_util::stream::unfold(jobs, async |mut jobs| Some((jobs.recv().await?, jobs)));
        let mut prepared = std::pin::pin!(jobs.map(|job| self.prepare(job)).buffered(MAX_UPLOADS));
        let (ready, mut waiting) = mpsc::channel(1);
        let preparing = async move {
            while let Some(job) = prepared.next().await {
                if ready.send(job).await.is_err() {
                    return;
                }
            }
        };
        let delivering = async {
            let mut delivery = Delivery::default();
            while let Some((report, group)) = waiting.recv().await {
                let answer = self.deliver(&mut delivery, group).await.map_err(|it| (it.code, it.message));
                if inputs.send(SessionInput::Answered { report, answer }).is_err() {
                    return;
                }
            }
        };
        tokio::join!(preparing, delivering);
    }

    /// Sends until the group is in the log, or is replaced by a notice there. Returns the server's notices. The error goes to the
    /// session.
    async fn deliver(&self, delivery: &mut Delivery, group: Group) -> Result<Vec<String>, ReportRefusal> {
        let mut notices = Vec::new();
        let mut waiting = VecDeque::from([group]);
        while let Some(group) = waiting.pop_front() {
            let group = delivery.numbered(group);
            if group.is_empty() {
                continue;
            }
            match self.send(&group).await {
                Ok(told) => {
                    notices.extend(told);
                    delivery.accepted(&group);
                }
                Err(refusal) => {
                    delivery.refused(group, refusal)?.into_iter().rev().for_each(|group| waiting.push_front(group));
                }
            }
        }
        Ok(notices)
    }

    /// Sends the same command under the same id until the server accepts or refuses it. Returns the server's notices.
    async fn send(&self, group: &[Command]) -> Result<Vec<String>, ReportRefusal> {
        let command = match group {
            [command] => command.clone(),
            commands => Command::Batch { commands: commands.to_vec() },
        };
        let message = CommandSender::message(&self.notebook, &command).map_err(refusal)?;
        let [mut pause, longest] = UNAVAILABLE_PAUSE;
        loop {
            let closed = || Err(notarium_client::ConnectError::Closed.into());
            match self.sender.submit(message.clone()).await.unwrap_or_else(|_| closed()) {
                Ok(ack) => return Ok(ack.outcome.notices),
                Err(error) if error.code() == Some(RejectionCode::Unavailable) => {
                    tracing::debug!(%error, "a report is sent again");
                }
                Err(error) => return Err(refusal(error)),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(longest);
        }
    }

    /// Uploads the parts of a report. A notice replaces a part that cannot be stored.
    async fn prepare(&self, ReportJob { report, overflow }: ReportJob) -> (Report, Group) {
        let mut group = Group::new();
        for ReportCommand { command, to_store, .. } in &report.commands {
            let mut command = command.clone();
            let stored = match to_store {
                ToStore::Parts(parts) => self.store_parts(&mut command, parts).await,
                ToStore::Overflow => self.store_overflow(&mut command, overflow.as_ref()).await,
            };
            match (stored, &mut command) {
                (Err(reason), Command::ReportExecution { report, .. }) => *report = missing(&reason),
                (Err(reason), Command::ReportKernelStarted { environment, .. }) => {
                    tracing::warn!(reason, "the environment of a kernel is not recorded");
                    *environment = None;
                }
                _ => {}
            }
            group.push(command);
        }
        (report, group)
    }

    async fn store_parts(&self, command: &mut Command, parts: &[Bytes]) -> Result<(), String> {
        if let (Command::ReportKernelStarted { .. }, [environment]) = (&*command, parts) {
            return self.uploader.put(&self.notebook, environment).await.map(drop);
        }
        for (blob, bytes) in blobs_of(command).zip(parts) {
            blob.sha256 = self.uploader.put(&self.notebook, bytes).await?;
        }
        Ok(())
    }

    async fn store_overflow(&self, command: &mut Command, overflow: Option<&FinishedOverflow>) -> Result<(), String> {
        let spilled = overflow.ok_or("the agent's disk could not take what was beyond the limit")?;
        self.uploader.put_file(&self.notebook, spilled).await?;
        if let Command::ReportExecution { report: ExecutionReport::Output { outputs }, .. } = command {
            outputs.push(overflow_output(spilled.sha256.clone(), spilled.size_bytes));
        }
        Ok(())
    }
}

/// Turns an error into a refusal. A finally failed connection counts as an ended session.
fn refusal(error: CommandError) -> ReportRefusal {
    let expected_seq = match &error {
        CommandError::Rejected(reject) => reject.expected_seq,
        CommandError::Connection(_) => None,
    };
    ReportRefusal { code: error.code().unwrap_or(RejectionCode::Forbidden), message: error.to_string(), expected_seq }
}

/// Most runs whose numbers are remembered. A session remembers fewer.
const MAX_RUNS: usize = 64;
/// Most notices that one run keeps for its end; further ones would repeat the same.
const MAX_NOTES: usize = 4;

/// Commands of one batch: all or nothing.
type Group = Vec<Command>;

/// The server's refusal of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReportRefusal {
    pub code: RejectionCode,
    pub message: String,
    pub expected_seq: Option<u64>,
}

#[derive(Debug, Default)]
struct RunDelivery {
    last_seq: u64,
    /// Notices of reports that were given up, for the end of the run.
    notes: Vec<String>,
    /// The server accepts no more output of the run.
    is_full: bool,
    /// The last number that the server reported as missing.
    gap_at: Option<u64>,
}

/// Progress of a session's runs in the log.
#[derive(Debug, Default)]
struct Delivery {
    /// The run whose last report is oldest is first.
    runs: LinkedHashMap<ExecutionId, RunDelivery>,
}

impl Delivery {
    /// Numbers the group for sending. An empty result: nothing is left to send.
    pub fn numbered(&mut self, group: Group) -> Group {
        let mut numbered = Group::new();
        for mut command in group {
            let Command::ReportExecution { execution_id, seq, report, .. } = &mut command else {
                numbered.push(command);
                continue;
            };
            let before = numbered.iter().filter(|other| is_of(other, execution_id)).count() as u64;
            let run = self.run(execution_id);
            if run.is_full && is_output(report) {
                continue;
            }
            if let ExecutionReport::Completed { notice, .. } = report {
                let told = notice.take().into_iter().chain(run.notes.clone());
                *notice = Some(told.collect::<Vec<_>>().join("; ")).filter(|told| !told.is_empty());
            }
            *seq = run.last_seq + before + 1;
            numbered.push(command);
        }
        numbered
    }

    /// Notes that a group is in the log.
    pub fn accepted(&mut self, group: &[Command]) {
        for command in group {
            if let Command::ReportExecution { execution_id, seq, .. } = command {
                self.run(execution_id).last_seq = *seq;
            }
        }
    }

    /// The groups to send in place of a refused one, in this order. The error goes to the session.
    pub fn refused(&mut self, mut group: Group, refusal: ReportRefusal) -> Result<Vec<Group>, ReportRefusal> {
        use RejectionCode as C;
        match refusal.code {
            C::StaleFence | C::Forbidden | C::UnknownNotebook | C::Erased => return Err(refusal),
            C::ReportGap => {
                if let Some(again) = self.close_gap(&group, &refusal) {
                    return Ok(again);
                }
            }
            _ => {}
        }
        // A batch is all or nothing: sent singly, its commands show which one is refused.
        if group.len() > 1 {
            return Ok(group.into_iter().map(|command| vec![command]).collect());
        }
        match group.pop() {
            Some(Command::RegisterFunctions { .. }) => Err(refusal),
            Some(Command::ReportExecution { execution_id, fence, report, .. }) => {
                let instead = self.instead(&execution_id, report, refusal);
                Ok(instead.map(|report| vec![report_of(execution_id, fence, report)]).into_iter().collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Continues after a server that was restored from a backup: its log ends before reports it had acked. A notice precedes the rest.
    fn close_gap(&mut self, group: &[Command], refusal: &ReportRefusal) -> Option<Vec<Group>> {
        let expected = refusal.expected_seq?;
        let (execution_id, fence) = group.iter().find_map(|command| match command {
            Command::ReportExecution { execution_id, fence, seq, .. } if *seq > expected => {
                Some((execution_id, *fence))
            }
            _ => None,
        })?;
        let run = self.run(execution_id);
        if run.gap_at.replace(expected) == Some(expected) {
            return None;
        }
        run.last_seq = expected - 1;
        let missing =
            missing("the server's record ends before what was written here; it may have been restored from a backup");
        Some(vec![vec![report_of(execution_id.clone(), fence, missing)], group.to_vec()])
    }

    /// The report that replaces a report that was refused alone.
    fn instead(
        &mut self,
        id: &ExecutionId,
        report: ExecutionReport,
        refusal: ReportRefusal,
    ) -> Option<ExecutionReport> {
        use ExecutionReport as R;
        let ReportRefusal { code, message, .. } = refusal;
        tracing::warn!(execution = %id, message, "the server refused a report");
        if code == RejectionCode::UnknownExecution {
            return None;
        }
        let run = self.run(id);
        run.is_full |= code == RejectionCode::OutputLimit;
        let is_notice = matches!(&report, R::Output { outputs } if outputs.iter().any(is_our_notice));
        match report {
            R::Output { .. } | R::UpdateDisplay { .. } if !run.is_full && !is_notice => {
                Some(missing(&format!("it was refused ({message})")))
            }
            R::Completed { outcome, execution_count, notice: Some(_) } => {
                run.notes.clear();
                Some(R::Completed { outcome, execution_count, notice: None })
            }
            _ => {
                run.note(format!("some of it was not recorded: {message}"));
                None
            }
        }
    }

    fn run(&mut self, id: &ExecutionId) -> &mut RunDelivery {
        if self.runs.len() == MAX_RUNS && !self.runs.contains_key(id) {
            self.runs.pop_front();
        }
        self.runs.entry(id.clone()).or_insert_with(RunDelivery::default)
    }
}

impl RunDelivery {
    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn is_of(command: &Command, id: &ExecutionId) -> bool {
    matches!(command, Command::ReportExecution { execution_id, .. } if execution_id == id)
}

fn is_output(report: &ExecutionReport) -> bool {
    use ExecutionReport as R;
    matches!(report, R::Output { .. } | R::UpdateDisplay { .. } | R::Clear { .. })
}

/// A report without its number, which it gets when it is sent.
fn report_of(execution_id: ExecutionId, fence: u64, report: ExecutionReport) -> Command {
    Command::ReportExecution { execution_id, fence, seq: 0, report }
}

const MISSING: &str = "[notarium: output is missing here: ";

fn is_our_notice(output: &Output) -> bool {
    output.content.get().contains(MISSING)
}

/// The notice for missing output in a run.
pub(crate) fn missing(why: &str) -> ExecutionReport {
    notice(&format!("\n{MISSING}{why}]\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::stream_object;
    use notarium_core::{ExecutionOutcome, RawJson};

    fn command(report: ExecutionReport) -> Command {
        report_of("e".parse().unwrap(), 7, report)
    }

    fn text(text: &str) -> Command {
        let content = RawJson::from(stream_object("stdout", text));
        command(ExecutionReport::Output { outputs: vec![Output { content, blobs: Vec::new(), display_id: None }] })
    }

    fn started() -> Command {
        command(ExecutionReport::Started {})
    }

    fn completed() -> Command {
        let outcome = ExecutionOutcome::Ok;
        command(ExecutionReport::Completed { outcome, execution_count: None, notice: None })
    }

    fn say(command: &Command) -> String {
        let Command::ReportExecution { seq, report, .. } = command else { return "other".to_owned() };
        match report {
            ExecutionReport::Started {} => format!("{seq} started"),
            ExecutionReport::Output { outputs } => {
                let content: serde_json::Value = serde_json::from_str(outputs[0].content.get()).unwrap();
                format!("{seq} {}", content["text"].as_str().unwrap().trim())
            }
            ExecutionReport::Completed { notice, .. } => {
                format!("{seq} completed{}", notice.as_ref().map(|it| format!(" ({it})")).unwrap_or_default())
            }
            other => format!("{seq} {other:?}"),
        }
    }

    /// Sends the groups to a log that answers with `judge`; returns the accepted commands.
    fn deliver(
        delivery: &mut Delivery,
        groups: impl IntoIterator<Item = Group>,
        mut judge: impl FnMut(&Group) -> Result<(), (RejectionCode, Option<u64>)>,
    ) -> Vec<String> {
        let (mut waiting, mut log): (VecDeque<Group>, _) = (groups.into_iter().collect(), Vec::new());
        while let Some(group) = waiting.pop_front() {
            let group = delivery.numbered(group);
            if group.is_empty() {
                continue;
            }
            match judge(&group) {
                Ok(()) => {
                    log.extend(group.iter().map(say));
                    delivery.accepted(&group);
                }
                Err((code, expected_seq)) => {
                    let refusal = ReportRefusal { code, message: "because".to_owned(), expected_seq };
                    let again = delivery.refused(group, refusal).expect("it goes on");
                    again.into_iter().rev().for_each(|group| waiting.push_front(group));
                }
            }
        }
        log
    }

    fn holds(group: &[Command], word: &str) -> bool {
        group.iter().any(|command| say(command).ends_with(word))
    }

    #[test]
    fn numbers_go_on_from_group_to_group() {
        let groups = [vec![started(), text("a")], vec![text("b"), completed()]];
        let log = deliver(&mut Delivery::default(), groups, |_| Ok(()));
        assert_eq!(log, ["1 started", "2 a", "3 b", "4 completed"]);
    }

    #[test]
    fn what_is_refused_leaves_a_notice_in_its_place_and_no_number_out() {
        let judge = |group: &Group| if holds(group, "b") { Err((RejectionCode::InvalidValue, None)) } else { Ok(()) };
        let log = deliver(
            &mut Delivery::default(),
            [vec![started(), text("a"), text("b"), text("c")], vec![completed()]],
            judge,
        );
        let notice = "3 [notarium: output is missing here: it was refused (because)]";
        assert_eq!(log, ["1 started", "2 a", notice, "4 c", "5 completed"]);
    }

    #[test]
    fn where_not_even_the_notice_is_taken_the_end_says_so() {
        let judge = |group: &Group| match group.iter().any(|command| {
            !say(command).ends_with("started") && say(command).contains('[') || say(command).ends_with('b')
        }) {
            true => Err((RejectionCode::LimitExceeded, None)),
            false => Ok(()),
        };
        let log = deliver(&mut Delivery::default(), [vec![started()], vec![text("b")], vec![completed()]], judge);
        assert_eq!(log, ["1 started", "2 completed (some of it was not recorded: because)"]);
    }

    #[test]
    fn a_full_run_sends_no_more_output_and_its_end_says_so() {
        let mut asked = 0;
        let judge = |group: &Group| {
            asked += 1;
            if holds(group, "b") || holds(group, "c") { Err((RejectionCode::OutputLimit, None)) } else { Ok(()) }
        };
        let groups = [vec![started(), text("a")], vec![text("b")], vec![text("c")], vec![text("c")], vec![completed()]];
        let log = deliver(&mut Delivery::default(), groups, judge);
        assert_eq!(log, ["1 started", "2 a", "3 completed (some of it was not recorded: because)"]);
        assert_eq!(asked, 3, "what follows is not even sent");
    }

    #[test]
    fn a_record_that_ends_earlier_is_continued_after_a_notice() {
        let mut delivery = Delivery::default();
        deliver(&mut delivery, [vec![started(), text("a"), text("b")]], |_| Ok(()));
        let judge = |group: &Group| {
            if say(&group[0]).starts_with('4') { Err((RejectionCode::ReportGap, Some(2))) } else { Ok(()) }
        };
        let log = deliver(&mut delivery, [vec![text("c"), completed()]], judge);
        assert!(log[0].starts_with("2 [notarium: output is missing here: the server's record ends"), "{log:?}");
        assert_eq!(log[1..], ["3 c", "4 completed"]);
    }

    #[test]
    fn the_session_hears_of_what_ends_it_and_of_functions() {
        let stale = ReportRefusal { code: RejectionCode::StaleFence, message: String::new(), expected_seq: None };
        assert_eq!(Delivery::default().refused(vec![started(), text("a")], stale.clone()), Err(stale));
        let unknown =
            ReportRefusal { code: RejectionCode::UnknownExecution, message: String::new(), expected_seq: None };
        assert_eq!(Delivery::default().refused(vec![text("a")], unknown), Ok(vec![]));
    }
}
