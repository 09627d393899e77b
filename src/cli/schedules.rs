//! `schedule`: notebooks that run by themselves. Sets, lists, removes and runs schedules, and shows their past runs.

use clap::{Args, Subcommand};
use notarium_core::{Command, NotebookId, RawObject, RemoveSchedule, ScheduleId, SetSchedule, Version};
use notarium_wire::parameters::{Parameter, ParameterValue, parse, parse_text};
use notarium_wire::rest::{
    ScheduleLine, ScheduleRunAnswer, ScheduleRunRequest, ScheduledNotebooks, ScheduledRunLine, ScheduledRuns, Schedules,
};

use crate::cli::connection::client::NotebookClient;
use crate::cli::runs::machines::MachineArgs;
use crate::cli::terminal::print;
use crate::cli::terminal::values::word;
use crate::cli::{CommonOptions, Ended, Failure};

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_version_flag = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  notarium schedule report \"0 6 * * 1-5\" --timezone Europe/Berlin     # workdays at six, the newest version
  notarium schedule report \"0 0 1 * *\" --version 120 -p region=north  # each month, a pinned version
  notarium schedule ls report
  notarium schedule run report 3F2A                                    # now
  notarium schedule runs report 3F2A                                   # past runs
  notarium schedule rm report 3F2A

Each run is a notebook of its own, a fork with its outputs, in your name and with the rights that you have then."
)]
pub struct ScheduleArgs {
    #[command(subcommand)]
    action: Option<ScheduleAction>,
    /// Id or title.
    #[arg(required = true)]
    notebook: Option<String>,
    /// The times: minute, hour, day of the month, month, day of the week.
    #[arg(required = true)]
    cron: Option<String>,
    #[command(flatten)]
    settings: ScheduleSettingsArgs,
}

#[derive(Debug, Args)]
struct ScheduleSettingsArgs {
    /// Time zone of the times, by its IANA name.
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    timezone: String,
    /// The version that runs, or `newest`.
    #[arg(long, value_name = "N|newest", default_value = "newest", value_parser = version)]
    version: ScheduledVersion,
    /// Sets a variable in a cell after the one tagged `parameters`, or first; may be repeated.
    #[arg(short, long = "parameter", alias = "parameters", value_name = "NAME=VALUE", value_parser = parse)]
    parameters: Vec<Parameter>,
    /// The same, the value being text whatever it looks like.
    #[arg(short = 'r', long = "parameter-text", value_name = "NAME=TEXT", value_parser = parse_text)]
    texts: Vec<Parameter>,
    #[command(flatten)]
    machine: MachineArgs,
    /// After a time in which no server ran: run the last missed time late.
    #[arg(long)]
    catch_up: bool,
    /// Stop a run after so many minutes.
    #[arg(long, value_name = "MINUTES")]
    max_run_minutes: Option<u32>,
    /// Number of notebooks of runs that stay in the list; older ones are archived.
    #[arg(long, value_name = "NUMBER")]
    keep: Option<u32>,
    /// Change this schedule instead of setting another one; all its settings are replaced.
    #[arg(long, value_name = "SCHEDULE")]
    change: Option<String>,
}

#[derive(Debug, Subcommand)]
enum ScheduleAction {
    /// List the schedules of a notebook, or of all notebooks that you may see.
    Ls(ScheduleListArgs),
    /// Remove a schedule. A run that is under way is stopped.
    Rm(OfScheduleArgs),
    /// Run a schedule now, in your name; prints the id of the run's notebook.
    Run(OfScheduleArgs),
    /// List past runs of a schedule, the last first.
    Runs(ScheduledRunsArgs),
}

#[derive(Debug, Args)]
struct ScheduleListArgs {
    /// Id or title; absent: all notebooks that you may see.
    notebook: Option<String>,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct OfScheduleArgs {
    /// Id or title.
    notebook: String,
    /// The schedule: its id, or the end of it as `ls` shows it. Absent: the only one.
    schedule: Option<String>,
}

#[derive(Debug, Args)]
struct ScheduledRunsArgs {
    #[command(flatten)]
    named: OfScheduleArgs,
    /// At most so many.
    #[arg(long, default_value_t = 20)]
    limit: usize,
    /// The answer in JSON.
    #[arg(long)]
    json: bool,
}

/// A version that `--version` names.
#[derive(Debug, Clone, Copy)]
struct ScheduledVersion(Option<Version>);

fn version(text: &str) -> Result<ScheduledVersion, String> {
    match text {
        "newest" => Ok(ScheduledVersion(None)),
        number => {
            let version = number.parse().map_err(|_| format!("'{number}' is no version: give a number, or newest"))?;
            Ok(ScheduledVersion(Some(version)))
        }
    }
}

pub async fn schedule(args: ScheduleArgs, context: &CommonOptions) -> Ended {
    match args.action {
        Some(ScheduleAction::Ls(args)) => list(args, context).await,
        Some(ScheduleAction::Rm(args)) => remove(args, context).await,
        Some(ScheduleAction::Run(args)) => run(args, context).await,
        Some(ScheduleAction::Runs(args)) => list_runs(args, context).await,
        None => {
            let (Some(notebook), Some(cron)) = (&args.notebook, args.cron) else {
                return Err(Failure::usage("name the notebook and its times"));
            };
            set(context.notebook(notebook).await?, cron, args.settings).await
        }
    }
}

async fn set(notebook: NotebookClient, cron: String, settings: ScheduleSettingsArgs) -> Ended {
    let schedule_id = match &settings.change {
        Some(named) => find(&notebook, Some(named)).await?,
        None => ulid::Ulid::generate().into(),
    };
    let agent = settings.machine.agent(&notebook).await?;
    let given: Vec<Parameter> = settings.parameters.into_iter().chain(settings.texts).collect();
    let command = Command::SetSchedule(Box::new(SetSchedule {
        schedule_id: schedule_id.clone(),
        cron,
        timezone: Some(settings.timezone),
        version: settings.version.0,
        parameters: object(&given)?,
        agent,
        labels: settings.machine.labels(),
        catch_up: settings.catch_up,
        max_run_minutes: settings.max_run_minutes,
        kept_runs: settings.keep,
    }));
    notebook.command(&command).await?;
    let Schedules { schedules } = notebook.get("/schedules").await?;
    let next = schedules.iter().find(|line| line.id == schedule_id).and_then(|line| line.next.first().copied());
    print::note(format!("runs next at {}", print::optional_time(next)));
    print::line(schedule_id)
}

/// Parameters as a JSON object. Numbers keep all their digits.
fn object(given: &[Parameter]) -> Result<RawObject, Failure> {
    let entry = |Parameter { name, value }: &Parameter| {
        let value = match value {
            ParameterValue::Json(json) => json.clone(),
            ParameterValue::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            ParameterValue::NotANumber | ParameterValue::Infinity { .. } => {
                return Err(Failure::usage(format!(
                    "{name}: a schedule keeps JSON, which has no such number: give it as text with -r"
                )));
            }
        };
        Ok(format!("{}:{value}", serde_json::Value::from(name.as_str())))
    };
    let entries = given.iter().map(entry).collect::<Result<Vec<String>, Failure>>()?;
    RawObject::parse(&format!("{{{}}}", entries.join(","))).map_err(|error| Failure::usage(error.to_string()))
}

/// Finds a schedule by its id or an unmistakable end of it; the only one without a name.
async fn find(notebook: &NotebookClient, named: Option<&str>) -> Result<ScheduleId, Failure> {
    let Schedules { schedules } = notebook.get("/schedules").await?;
    let is_it = |id: &ScheduleId| {
        named.is_none_or(|named| id.as_str().to_ascii_lowercase().ends_with(&named.to_ascii_lowercase()))
    };
    let found: Vec<ScheduleId> = schedules.into_iter().map(|line| line.id).filter(is_it).collect();
    match found.as_slice() {
        [id] => Ok(id.clone()),
        [] => Err(Failure::failed("no such schedule: `notarium schedule ls` lists them")),
        several => {
            let ids: Vec<&str> = several.iter().map(ScheduleId::as_str).collect();
            Err(Failure::failed(format!("several schedules match: say which by its id ({})", ids.join(", "))))
        }
    }
}

async fn remove(args: OfScheduleArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let schedule_id = find(&notebook, args.schedule.as_deref()).await?;
    notebook.change(&Command::RemoveSchedule(RemoveSchedule { schedule_id })).await
}

async fn run(args: OfScheduleArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(&args.notebook).await?;
    let schedule = find(&notebook, args.schedule.as_deref()).await?;
    let request = ScheduleRunRequest { run: Some(ulid::Ulid::generate().into()) };
    let answer: ScheduleRunAnswer = notebook.post(&format!("/schedules/{schedule}/runs"), &request).await?;
    print::line(answer.run)
}

// --- lists ---

async fn list(args: ScheduleListArgs, context: &CommonOptions) -> Ended {
    let lines: Vec<(Option<String>, ScheduleLine)> = match &args.notebook {
        Some(named) => {
            let Schedules { schedules } = context.notebook(named).await?.get("/schedules").await?;
            if args.json {
                return print::json(&schedules);
            }
            schedules.into_iter().map(|line| (None, line)).collect()
        }
        None => {
            let ScheduledNotebooks { notebooks } = context.client()?.get("/api/schedules").await?;
            if args.json {
                return print::json(&notebooks);
            }
            let of_one = |it: notarium_wire::rest::ScheduledNotebook| {
                it.schedules.into_iter().map(move |line| (Some(it.title.clone()), line))
            };
            notebooks.into_iter().flat_map(of_one).collect()
        }
    };
    let empty = "no schedules: `notarium schedule NOTEBOOK \"0 6 * * 1-5\"` sets one";
    let headings = ["schedule", "notebook", "times", "version", "next", "last", "in the name of"];
    print::list(&lines, false, empty, headings, async |(title, line)| row(title.as_deref(), line)).await
}

fn row(title: Option<&str>, line: &ScheduleLine) -> [String; 7] {
    let settings = &line.schedule.settings;
    let last = line.schedule.last.as_ref();
    let last =
        last.map_or_else(|| "–".to_owned(), |last| format!("{} {}", word(&last.outcome), print::time(last.ended_at)));
    let next = match (&line.schedule.run, line.schedule.stopped) {
        (Some(_), _) => "runs now".to_owned(),
        (None, true) => "stopped".to_owned(),
        _ => print::optional_time(line.next.first().copied()),
    };
    [
        line.id.to_string(),
        title.unwrap_or("this one").to_owned(),
        format!("{} ({})", settings.cron, settings.timezone),
        settings.version.map_or_else(|| "newest".to_owned(), |version| version.to_string()),
        next,
        last,
        line.maker_name.clone().unwrap_or_else(|| "–".to_owned()),
    ]
}

async fn list_runs(args: ScheduledRunsArgs, context: &CommonOptions) -> Ended {
    let notebook = context.notebook(&args.named.notebook).await?;
    let schedule = find(&notebook, args.named.schedule.as_deref()).await?;
    let ScheduledRuns { runs } = notebook.get(&format!("/schedules/{schedule}/runs?limit={}", args.limit)).await?;
    let headings = ["due", "outcome", "notebook of the run", "ended", "more"];
    print::list(&runs, args.json, "no runs yet", headings, async |run| run_row(run)).await
}

fn run_row(run: &ScheduledRunLine) -> [String; 5] {
    let outcome = run.outcome.as_ref().map_or_else(|| "under way".to_owned(), word);
    let missed = run.missed.map(|count| format!("{count} times"));
    let more = [missed, run.error.clone(), run.detail.clone()].into_iter().flatten().collect::<Vec<_>>().join(": ");
    [
        run.due.map_or_else(|| "asked for".to_owned(), print::time),
        outcome,
        run.run.as_ref().map_or("–", NotebookId::as_str).to_owned(),
        print::optional_time(run.ended_at),
        more,
    ]
}
