//! Sends the reports of one session, in order. Their large parts are uploaded first, several at a time. The reports follow one by
//! one, each when the previous one is in the log.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use notarium_core::{Command, ExecutionReport, NotebookId, RejectionCode};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::reports::blobs::{BlobUploader, FinishedOverflow};
use super::reports::delivery::{Delivery, Group, ReportRefusal, missing};
use super::{PendingCommand, Report, SessionInput, ToStore, blobs_of, overflow_output};
use notarium_client::{CommandError, CommandSender};

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
                let refusal = self.deliver(&mut delivery, group).await.err();
                if inputs
                    .send(SessionInput::Answered { report, refusal: refusal.map(|it| (it.code, it.message)) })
                    .is_err()
                {
                    return;
                }
            }
        };
        tokio::join!(preparing, delivering);
    }

    /// Sends until the group is in the log, or is replaced by a notice there. The error goes to the session.
    async fn deliver(&self, delivery: &mut Delivery, group: Group) -> Result<(), ReportRefusal> {
        let mut waiting = VecDeque::from([group]);
        while let Some(group) = waiting.pop_front() {
            let group = delivery.numbered(group);
            if group.is_empty() {
                continue;
            }
            match self.send(&group).await {
                Ok(()) => delivery.accepted(&group),
                Err(refusal) => {
                    delivery.refused(group, refusal)?.into_iter().rev().for_each(|group| waiting.push_front(group));
                }
            }
        }
        Ok(())
    }

    /// Sends the same command under the same id until the server accepts or refuses it.
    async fn send(&self, group: &[Command]) -> Result<(), ReportRefusal> {
        let command = match group {
            [command] => command.clone(),
            commands => Command::Batch { commands: commands.to_vec() },
        };
        let message = CommandSender::message(&self.notebook, &command).map_err(refusal)?;
        let [mut pause, longest] = UNAVAILABLE_PAUSE;
        loop {
            let closed = || Err(notarium_client::ConnectError::Closed.into());
            match self.sender.submit(message.clone()).await.unwrap_or_else(|_| closed()) {
                Ok(_) => return Ok(()),
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
        for PendingCommand { command, to_store, .. } in &report.commands {
            let mut command = command.clone();
            let stored = match to_store {
                ToStore::Parts(parts) => self.store_parts(&mut command, parts).await,
                ToStore::Overflow => self.store_overflow(&mut command, overflow.as_ref()).await,
            };
            if let (Err(reason), Command::ReportExecution { report, .. }) = (stored, &mut command) {
                *report = missing(&reason);
            }
            group.push(command);
        }
        (report, group)
    }

    async fn store_parts(&self, command: &mut Command, parts: &[Bytes]) -> Result<(), String> {
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
