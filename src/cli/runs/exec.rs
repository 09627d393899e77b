//! `exec`: runs cells or code, and shows the outputs as they come, across reconnects.

use std::collections::VecDeque;
use std::io::Write;
use std::pin::pin;

use clap::Args;
use notarium_agent::connection::CommandSender;
use notarium_core::{
    Cell, CellId, Command, Document, ExecutionId, ExecutionStatus, ExecutionTarget, KernelPhase, KernelSession, Output,
    RequestedEffects, RestartKernel,
};
use tokio::sync::mpsc;

use crate::cli::connection::client::NotebookClient;
use crate::cli::runs::follow::{End, RunQuestion, RunUpdate, Runs, request};
use crate::cli::runs::machines::kernel_named;
use crate::cli::runs::unfinished_line::UnfinishedLine;
use crate::cli::terminal::input;
use crate::cli::terminal::print::{self, style};
use crate::cli::words::outputs;
use crate::cli::{CommonOptions, Ended, Failure};

#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:
  notarium exec analysis --all
  notarium exec analysis --all --restart       # with a fresh kernel
  notarium exec analysis 3f2a 77c0 --timeout 60
  notarium exec analysis --code 'df.describe()'
  notarium exec analysis --all --kernel gpu2   # on the kernel of that agent
Ctrl-C cancels the runs; a second Ctrl-C leaves them to themselves.
What the code prints goes to standard output, its errors to standard error. Exit code 1 if a run did not end well.")]
pub struct ExecArgs {
    /// Id or title.
    notebook: String,
    /// Ids, or unmistakable parts of them, in the order in which they run.
    cells: Vec<String>,
    /// Every code cell with some source, from top to bottom.
    #[arg(long, conflicts_with_all = ["cells", "code"])]
    all: bool,
    /// Restart the notebook's kernels first: their variables are lost.
    #[arg(long)]
    restart: bool,
    /// Run on this kernel, by its id, an unmistakable part of it, or the name of its agent; absent: the notebook's first.
    #[arg(long, value_name = "KERNEL", conflicts_with = "restart")]
    kernel: Option<String>,
    /// Code that belongs to no cell; it is recorded like any run.
    #[arg(long, value_name = "SOURCE", conflicts_with = "cells", allow_hyphen_values = true)]
    code: Option<String>,
    /// Interrupt a run after so many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Go on after errors, and end well in spite of them.
    #[arg(long)]
    allow_errors: bool,
    /// Allow all effects, also those to which the code itself does not lead. Matters in a kernel that ran an assistant's
    /// code.
    #[arg(long)]
    allow_effects: bool,
}

pub async fn exec(args: ExecArgs, context: &CommonOptions) -> Ended {
    if args.cells.is_empty() && !args.all && args.code.is_none() {
        return Err(Failure::usage("say what is to run: ids of cells, --all, or --code SOURCE"));
    }
    let notebook = context.notebook(&args.notebook).await?;
    if args.restart {
        restart_all(&notebook).await?;
    }
    run(&args, notebook).await
}

async fn restart_all(notebook: &NotebookClient) -> Ended {
    for (id, session) in &notebook.outline().await?.kernels {
        if matches!(session.phase, KernelPhase::Started) {
            notebook.command(&Command::RestartKernel(RestartKernel::on_its_agent(id.clone()))).await?;
        }
    }
    Ok(())
}

/// Runs every code cell of a notebook, like `exec --all`.
pub async fn all(notebook: NotebookClient) -> Ended {
    let args = ExecArgs { notebook: notebook.id.to_string(), all: true, ..ExecArgs::default() };
    run(&args, notebook).await
}

async fn run(args: &ExecArgs, notebook: NotebookClient) -> Ended {
    let kernel = match &args.kernel {
        Some(named) => Some(kernel_named(&notebook.kernels().await?, named)?),
        None => None,
    };
    let runs = Runs::enter(notebook.clone()).await?;
    let targets = match runs.follower.state() {
        Some(state) => targets(&notebook, state, args).await?,
        None => Vec::new(),
    };
    if targets.is_empty() {
        return print::noted("nothing to run: there is no code cell with some source");
    }
    let mut following = Following::new(notebook, targets.iter().map(|(name, _)| name.clone()));
    let targets = targets.into_iter().map(|(_, target)| target);
    let stops = !args.allow_errors && following.views.len() > 1;
    let effects = args.allow_effects.then_some(RequestedEffects::Free);
    let command = request(following.ids().zip(targets), kernel.as_ref(), args.timeout, stops, effects);
    following.until_ended(runs, &command).await?;
    following.verdict(args.allow_errors)
}

/// Runs one target and shows its outputs, unless `is_quiet`. Returns its id and its result.
pub async fn one(
    notebook: NotebookClient,
    (name, target): (String, ExecutionTarget),
    timeout: Option<u64>,
    is_quiet: bool,
) -> Result<(ExecutionId, Ended), Failure> {
    let runs = Runs::enter(notebook.clone()).await?;
    let mut following = Following::new(notebook, std::iter::once(name));
    following.is_quiet = is_quiet;
    let command = request(following.ids().zip([target]), None, timeout, false, None);
    following.until_ended(runs, &command).await?;
    let id = following.views.first().map(|view| view.id.clone());
    let id = id.ok_or_else(|| Failure::failed("nothing was run"))?;
    Ok((id, following.verdict(false)))
}

async fn targets(
    notebook: &NotebookClient,
    state: &Document,
    args: &ExecArgs,
) -> Result<Vec<(String, ExecutionTarget)>, Failure> {
    if let Some(source) = &args.code {
        let purpose = "notarium exec --code".to_owned();
        return Ok(vec![("the code".to_owned(), ExecutionTarget::Scratch { source: source.clone(), purpose })]);
    }
    let runs = |cell: &Cell| cell.content.cell_type.runs() && !cell.content.source.trim().is_empty();
    let cells: Vec<CellId> = match args.all {
        true => state.ordered_cells().filter(|(_, cell)| runs(cell)).map(|(id, _)| id.clone()).collect(),
        false => notebook.cells_in(state, &args.cells).await?,
    };
    let target = |cell_id: CellId| {
        let name = format!("cell {}", print::short(cell_id.as_str()));
        (name, ExecutionTarget::Cell { cell_id, cell_version: None })
    };
    Ok(cells.into_iter().map(target).collect())
}

/// One requested run.
#[derive(Debug)]
struct View {
    id: ExecutionId,
    name: String,
    status: ExecutionStatus,
    notice: Option<String>,
    /// Prompt of an input request without an answer.
    unanswered: Option<String>,
}

/// The requested runs, until all have ended.
struct Following {
    notebook: NotebookClient,
    views: Vec<View>,
    is_cancelled: bool,
    /// True: outputs are not shown.
    is_quiet: bool,
    line: UnfinishedLine,
    questions: VecDeque<RunQuestion>,
    answers: (mpsc::Sender<Option<String>>, mpsc::Receiver<Option<String>>),
}

impl Following {
    fn new(notebook: NotebookClient, names: impl Iterator<Item = String>) -> Self {
        let view = |name| View {
            id: ulid::Ulid::generate().into(),
            name,
            status: ExecutionStatus::Queued,
            notice: None,
            unanswered: None,
        };
        Self {
            notebook,
            views: names.map(view).collect(),
            is_cancelled: false,
            is_quiet: false,
            line: UnfinishedLine::default(),
            questions: VecDeque::new(),
            answers: mpsc::channel(1),
        }
    }

    fn ids(&self) -> impl Iterator<Item = ExecutionId> {
        self.views.iter().map(|view| view.id.clone())
    }

    async fn until_ended(&mut self, mut runs: Runs, command: &Command) -> Ended {
        let sender = runs.follower.sender();
        runs.follow(self.ids());
        let mut ack = sender.submit(CommandSender::message(&self.notebook.id, command)?);
        let mut is_acked = false;
        // Created once for all waits: otherwise a Ctrl-C during another wait would be missed.
        let mut interrupted = pin!(tokio::signal::ctrl_c());
        while !self.views.iter().all(|view| view.status.is_finished()) {
            tokio::select! {
                biased;
                signal = &mut interrupted => {
                    interrupted.set(tokio::signal::ctrl_c());
                    self.cancel(signal.is_ok(), &sender)?;
                }
                answer = &mut ack, if !is_acked => {
                    is_acked = true;
                    answer.map_err(|_| Failure::connection("the connection was closed"))??;
                    for update in self.explain_waiting(&mut runs).await {
                        self.take(update).await?;
                    }
                }
                line = self.answers.1.recv() => self.answer(line.flatten(), &sender)?,
                event = runs.follower.next() => {
                    for update in runs.updates(event?).await {
                        if !matches!(update, RunUpdate::Progress) {
                            runs.bars.erase();
                        }
                        self.take(update).await?;
                    }
                    runs.draw();
                }
            }
        }
        runs.bars.erase();
        self.line.finish()
    }

    // --- events ---

    async fn take(&mut self, update: RunUpdate) -> Ended {
        if !matches!(update, RunUpdate::Outputs(..) | RunUpdate::Progress) {
            self.line.finish()?;
        }
        match update {
            RunUpdate::Started(id) => self.started(&id),
            RunUpdate::Outputs(_, outputs) => self.show(&outputs).await?,
            RunUpdate::Asks(question) => self.ask(question),
            RunUpdate::Answered(id) => self.questions.retain(|question| question.id != id),
            RunUpdate::Ended(id, end) => self.ended(&id, end),
            RunUpdate::Note(note) => print::note(note),
            RunUpdate::Progress => {}
        }
        Ok(())
    }

    fn started(&mut self, id: &ExecutionId) {
        let several = self.views.len() > 1;
        let Some(view) = self.views.iter_mut().find(|view| view.id == *id) else { return };
        view.status = ExecutionStatus::Running;
        if several {
            print::note(style(format!("── {} ──", view.name)).dim());
        }
    }

    async fn show(&mut self, outputs: &[Output]) -> Ended {
        if self.is_quiet {
            return Ok(());
        }
        for output in outputs {
            let shown = outputs::fetched(&self.notebook, output).await;
            if shown.is_stream && shown.rest.is_none() {
                self.line.add(&shown.text, shown.is_alarming)?;
                continue;
            }
            self.line.finish()?;
            match shown.is_alarming {
                // Ignored: without a standard error, no person reads it.
                true => _ = std::io::stderr().write_all(shown.for_terminal().as_bytes()),
                false => print::raw(&shown.for_terminal())?,
            }
        }
        self.line.draw();
        Ok(())
    }

    fn ended(&mut self, id: &ExecutionId, End { status, notice }: End) {
        self.questions.retain(|question| question.id != *id);
        let Some(view) = self.views.iter_mut().find(|view| view.id == *id) else { return };
        view.status = status;
        if let Some(notice) = notice.as_deref().filter(|_| status == ExecutionStatus::Ok) {
            print::note(format!("note: {}: {}", view.name, print::clean(notice)));
        }
        view.notice = notice;
    }

    /// Notes if no agent offers the kernel. Asks the server, because the replica may lag behind the ack.
    async fn explain_waiting(&self, runs: &mut Runs) -> Vec<RunUpdate> {
        let Ok(there) = self.notebook.kernels().await else { return Vec::new() };
        let is_wanted = |kernel: &&KernelSession| kernel.phase == KernelPhase::Requested;
        if let Some(kernel) = there.kernels.values().find(is_wanted)
            && !there.kernelspecs.iter().any(|offer| offer.name == kernel.kernelspec)
        {
            let kernelspec = print::clean(&kernel.kernelspec);
            print::note(format!(
                "waiting: no runtime agent offers the kernel {kernelspec} now; start one with `notarium agent`, or Ctrl-C to cancel"
            ));
        } else if let Some(wait) = there.waiting.values().next() {
            let detail = print::clean(&wait.detail);
            print::note(format!(
                "waiting: {detail}; start it, choose another with `notarium restart --agent` or `--elsewhere`, or Ctrl-C to cancel"
            ));
        }
        runs.reach(&there.status)
    }

    // --- input of the user ---

    /// Cancels unfinished runs the first time; leaves the second time.
    fn cancel(&mut self, has_signals: bool, sender: &CommandSender) -> Ended {
        if self.is_cancelled || !has_signals {
            return Err(Failure::failed("left: `notarium stop` stops what still runs"));
        }
        self.is_cancelled = true;
        print::note("cancelling …");
        // Cancels in reverse order, so that no queued run begins when an earlier one ends.
        for view in self.views.iter().rev().filter(|view| !view.status.is_finished()) {
            let command = Command::CancelExecution { execution_id: view.id.clone() };
            drop(sender.submit(CommandSender::message(&self.notebook.id, &command)?));
        }
        Ok(())
    }

    fn ask(&mut self, question: RunQuestion) {
        self.questions.push_back(question.clone());
        if self.questions.len() > 1 {
            return;
        }
        let sender = self.answers.0.clone();
        // Reads on a separate thread, because reading a terminal cannot be cancelled.
        std::thread::spawn(move || {
            let line = input::read_line(&print::clean(&question.prompt), question.is_password);
            sender.blocking_send(line.ok().flatten())
        });
    }

    fn answer(&mut self, line: Option<String>, sender: &CommandSender) -> Ended {
        let Some(RunQuestion { id: execution_id, prompt, .. }) = self.questions.pop_front() else { return Ok(()) };
        let command = match line {
            Some(value) => Command::AnswerInput { execution_id, value },
            None => {
                if let Some(view) = self.views.iter_mut().find(|view| view.id == execution_id) {
                    let prompt = print::shorten(&prompt.escape_debug().to_string(), 80);
                    view.unanswered = Some(format!("it asks '{prompt}' (input), and nobody is here who could answer"));
                }
                Command::CancelExecution { execution_id }
            }
        };
        drop(sender.submit(CommandSender::message(&self.notebook.id, &command)?));
        Ok(())
    }

    // --- result ---

    fn verdict(&self, allow_errors: bool) -> Ended {
        let is_bad = |view: &&View| match view.status {
            ExecutionStatus::Ok => false,
            ExecutionStatus::Error => !allow_errors,
            _ => true,
        };
        let bad: Vec<&View> = self.views.iter().filter(is_bad).collect();
        let worst = bad.iter().find(|view| view.status == ExecutionStatus::Error).or(bad.first());
        let Some(worst) = worst else { return Ok(()) };
        let how = match worst.status {
            _ if worst.unanswered.is_some() => "failed",
            ExecutionStatus::Error => "failed",
            ExecutionStatus::Cancelled => "was cancelled",
            ExecutionStatus::Blocked => "was not run",
            _ => "was lost",
        };
        let notice =
            worst.unanswered.as_ref().or(worst.notice.as_ref()).map(|notice| format!(": {notice}")).unwrap_or_default();
        let others = match bad.len() - 1 {
            0 => String::new(),
            others => format!(" ({} did not end well either)", print::count(others, "other run")),
        };
        Err(Failure::failed(format!("{} {how}{notice}{others}", worst.name)))
    }
}
