//! Sends the reports of one session, in order: their large parts go up first, several at a time.

use std::time::Duration;

use futures_util::StreamExt;
use notarium_core::{BlobPart, Command, NotebookId, RejectionCode};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::blobs::{BlobUploader, Spilled};
use crate::connection::{Answer, CommandError, CommandSender};
use crate::session::{Displayed, Input, PendingCommand, PendingReport, Report};
use crate::session::{OVERFLOW_POINTER, blob_part};

/// Reports whose parts are uploaded at the same time.
const MAX_UPLOADS: usize = 8;
/// The pause before a report that the server could not store is made again.
const UNAVAILABLE_PAUSE: Duration = Duration::from_millis(500);

/// A report and what its run has spilled, when it tells of that.
pub(crate) struct Job {
    pub report: Report,
    pub overflow: Option<Spilled>,
}

/// What one session's reports need.
#[derive(Clone)]
pub(crate) struct Reporter {
    pub notebook: NotebookId,
    pub sender: CommandSender,
    pub uploader: BlobUploader,
}

impl Reporter {
    /// Starts to send what comes; answers go to `inputs`. Ends when `stop` is cancelled or `jobs` is dropped.
    pub fn start(self, inputs: mpsc::UnboundedSender<Input>, stop: CancellationToken) -> mpsc::UnboundedSender<Job> {
        let (jobs, receiver) = mpsc::unbounded_channel();
        tokio::spawn(stop.run_until_cancelled_owned(self.run(receiver, inputs)));
        jobs
    }

    async fn run(self, jobs: mpsc::UnboundedReceiver<Job>, inputs: mpsc::UnboundedSender<Input>) {
        let (answers, waiting) = mpsc::unbounded_channel();
        let jobs = futures_util::stream::unfold(jobs, async |mut jobs| Some((jobs.recv().await?, jobs)));
        let mut prepared = std::pin::pin!(jobs.map(|job| self.prepare(job)).buffered(MAX_UPLOADS));
        let sending = async {
            while let Some((report, command)) = prepared.next().await {
                let answer =
                    CommandSender::message(&self.notebook, &command).map(|message| self.sender.submit(message));
                let _ = answers.send((report, answer));
            }
        };
        tokio::join!(sending, pass_answers(waiting, inputs));
    }

    async fn prepare(&self, job: Job) -> (Report, Command) {
        let Job { mut report, overflow } = job;
        let overflow = match overflow {
            Some(spilled) => self.upload_overflow(&mut report, &spilled).await,
            None => {
                replace_overflow(&mut report, "the agent's disk could not take what was beyond the limit");
                None
            }
        };
        let mut blobs = Vec::new();
        for command in &mut report.commands {
            match self.upload_parts(command).await {
                Ok(parts) => blobs.extend(parts),
                Err(refused) => replace_by_notice(command, &refused),
            }
        }
        let mut blobs = blobs.into_iter();
        let mut commands: Vec<Command> =
            report.commands.iter().map(|command| command.to_command(&mut blobs, overflow.as_ref())).collect();
        let command = if commands.len() == 1 { commands.remove(0) } else { Command::Batch { commands } };
        (report, command)
    }

    async fn upload_parts(&self, command: &PendingCommand) -> Result<Vec<BlobPart>, String> {
        let mut parts = Vec::new();
        for part in command.large_parts() {
            let sha256 = self.uploader.put(&self.notebook, &part.bytes).await.map_err(|refused| refused.to_string())?;
            parts.push(blob_part(part, sha256));
        }
        Ok(parts)
    }

    async fn upload_overflow(&self, report: &mut Report, spilled: &Spilled) -> Option<BlobPart> {
        let Err(refused) = self.uploader.put_file(&self.notebook, spilled).await else {
            let (pointer, sha256) = (OVERFLOW_POINTER.to_owned(), spilled.sha256.clone());
            return Some(BlobPart { pointer, sha256, size_bytes: spilled.size_bytes, json: false });
        };
        replace_overflow(report, &refused.to_string());
        None
    }
}

fn replace_overflow(report: &mut Report, reason: &str) {
    for command in &mut report.commands {
        if matches!(command, PendingCommand::Execution { report: PendingReport::Overflow, .. }) {
            replace_by_notice(command, reason);
        }
    }
}

/// What cannot be stored is said in its place.
fn replace_by_notice(command: &mut PendingCommand, reason: &str) {
    if let PendingCommand::Execution { report, .. } = command {
        let text = format!("\n[notarium: output is missing here: {reason}]\n");
        *report = PendingReport::Outputs(vec![Displayed::notice(&text)]);
    }
}

type Submitted = (Report, Result<Answer, CommandError>);

/// Answers come in the order of the commands.
async fn pass_answers(mut waiting: mpsc::UnboundedReceiver<Submitted>, inputs: mpsc::UnboundedSender<Input>) {
    while let Some((report, answer)) = waiting.recv().await {
        let answer = match answer {
            Ok(answer) => answer.await.unwrap_or(Err(crate::connection::ConnectError::Closed.into())).map(|_| ()),
            Err(error) => Err(error),
        };
        let message = answer.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let answer = answer.map_err(|error| error.code().unwrap_or(RejectionCode::Forbidden));
        if answer == Err(RejectionCode::Unavailable) {
            tokio::time::sleep(UNAVAILABLE_PAUSE).await;
        }
        if inputs.send(Input::Answered { report, answer, message }).is_err() {
            return;
        }
    }
}
