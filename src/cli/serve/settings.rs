//! Settings of the server, and the file of `--config`, which can set every option of `serve` and `up`.
//!
//! Precedence of sources: the command line, the environment, the file of `--config`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches};
use notarium_core::{BUSY_CONVERSATIONS_PER_TOKEN, Millis};
use notarium_server::{Quota, Quotas, RetentionAges, ServerConfig};
use toml_edit::{DocumentMut, Item, Value};

use crate::cli::terminal::values::{Size, parse_duration};
use crate::cli::{Arguments, Failure};

/// Limits of the server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Limits")]
pub struct Settings {
    /// Largest source of a cell.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_CELL_SIZE", default_value = "1MiB")]
    max_cell_size: Size,
    /// Cells of a notebook.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_CELLS", default_value_t = 20_000, value_parser = at_least_one)]
    max_cells: usize,
    /// Runs that wait in a notebook.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_QUEUED_RUNS", default_value_t = 20_000, value_parser = at_least_one)]
    max_queued_runs: usize,
    /// Kernels of a notebook.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_KERNELS", default_value_t = 8, value_parser = at_least_one)]
    max_kernels: usize,
    /// Largest file that is imported.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_IMPORT_SIZE", default_value = "256MiB")]
    max_import_size: Size,
    /// Largest part of an output (an image, a table) that is kept.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_BLOB_SIZE", default_value = "256MiB")]
    max_blob_size: Size,
    /// Send downloads of blobs of this size or more to the bucket of --blobs, by addresses that are valid for 5 minutes. Without it the server
    /// sends all of them itself. Clients must reach the bucket; the page never needs it.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_BLOB_REDIRECTS", num_args = 0..=1, require_equals = true, default_missing_value = "8MiB")]
    blob_redirects: Option<Size>,
    /// Largest file that is uploaded to or downloaded from the folder of kernels.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_FILE_SIZE", default_value = "1GiB")]
    max_file_size: Size,
    /// Largest request, and largest message of a socket.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_MESSAGE_SIZE", default_value = "8MiB")]
    max_message_size: Size,
    /// Files that are imported at a time.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_IMPORTS", default_value_t = 4, value_parser = at_least_one)]
    max_imports: usize,
    /// Maximum bytes of a notebook's state, which is sent to everyone who opens it.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_STATE", default_value = "512MiB")]
    max_state: Size,
    /// Maximum bytes queued for a subscriber; beyond, events are dropped and it is caught up from the log.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_QUEUED_PER_SUBSCRIBER", default_value = "8MiB")]
    max_queued_per_subscriber: Size,
    /// Notebooks that a person owns outside workspaces.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_NOTEBOOKS_PER_PERSON", default_value_t = 10_000, value_parser = at_least_one)]
    max_notebooks_per_person: usize,
    /// Notebooks of a workspace.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_NOTEBOOKS_PER_WORKSPACE", default_value_t = 50_000, value_parser = at_least_one)]
    max_notebooks_per_workspace: usize,
    /// Records of a person's notebooks, together (`notarium usage` shows them).
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_LOG_PER_PERSON", default_value = "20GiB")]
    max_log_per_person: Size,
    /// Records of a workspace's notebooks, together.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_LOG_PER_WORKSPACE", default_value = "100GiB")]
    max_log_per_workspace: Size,
    /// Large outputs of a person's notebooks, together.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_BLOBS_PER_PERSON", default_value = "100GiB")]
    max_blobs_per_person: Size,
    /// Large outputs of a workspace's notebooks, together.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_BLOBS_PER_WORKSPACE", default_value = "500GiB")]
    max_blobs_per_workspace: Size,
    /// Maximum bytes that one runtime agent may record in an hour, over all its runs.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MAX_OUTPUT_PER_AGENT", default_value = "8GiB")]
    max_output_per_agent: Size,
    /// Sockets that are open at a time.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_SOCKETS", default_value_t = 20_000, value_parser = at_least_one)]
    max_sockets: usize,
    /// Time that a kernel may be without its runtime agent before its runs are lost.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_LOST_AFTER", default_value = "15m", value_parser = parse_duration)]
    lost_after: Millis,
    /// Time that an assistant's call waits for a person.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_CONFIRM_WITHIN", default_value = "24h", value_parser = parse_duration)]
    confirm_within: Millis,
    /// Tool calls of assistants in a minute, in one conversation.
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_CALLS_PER_MINUTE", default_value_t = 20, value_parser = at_least_one)]
    max_calls_per_minute: usize,
    /// The same for one person's session or token, over all conversations and notebooks [default: five times as many].
    #[arg(long, value_name = "N", env = "NOTARIUM_MAX_CALLS_PER_TOKEN", value_parser = at_least_one)]
    max_calls_per_token: Option<usize>,
    /// Time that a blob is kept that no event names.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_KEEP_BLOBS", default_value = "1d", value_parser = parse_duration)]
    keep_blobs: Millis,
    /// Free space of a disk below which /readyz and the metrics report a problem.
    #[arg(long, value_name = "SIZE", env = "NOTARIUM_MIN_FREE_DISK", default_value = "256MiB")]
    min_free_disk: Size,
    /// Age above which large outputs are removed that no notebook shows now; events stay, and tell that they were there. Without it all are kept.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_RETAIN_BLOBS", value_parser = parse_duration)]
    retain_blobs: Option<Millis>,
    /// Age above which snapshots are removed, but for the newest of each notebook. Without it they are thinned out alone.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_RETAIN_SNAPSHOTS", value_parser = parse_duration)]
    retain_snapshots: Option<Millis>,
    /// Time without a change after which a notebook's events, but the last, move from PostgreSQL to objects beside the blobs; at least 1d.
    /// They are read as before, and come back when the notebook is worked on. Without it they stay in the database.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_COLD_AFTER", value_parser = at_least_a_day)]
    cold_after: Option<Millis>,
    /// Time between two appends of changed notebooks' signed heads to the server's tree of heads.
    #[arg(long, value_name = "TIME", env = "NOTARIUM_TREE_INTERVAL", default_value = "10m", value_parser = parse_duration)]
    tree_interval: Millis,
    /// Let everybody read the tree of heads (/.well-known/notarium-log), not only administrators: ids of notebooks, versions, hashes and times.
    #[arg(long, env = "NOTARIUM_PUBLIC_LOG")]
    public_log: bool,
    /// A TOML file whose table [serve] holds options of this command under their names without dashes in front, as in
    /// `max-cell-size = "2MiB"`. The command line and the environment go first.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_SETTINGS")]
    config: Option<PathBuf>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a whole number of at least 1".to_owned())
}

fn at_least_a_day(text: &str) -> Result<Millis, String> {
    const DAY: Millis = 24 * 60 * 60 * 1000;
    parse_duration(text).and_then(|time| if time < DAY { Err("write 1d or more".to_owned()) } else { Ok(time) })
}

impl Settings {
    pub fn apply(&self, config: &mut ServerConfig) {
        let core = &mut config.rooms.room.limits;
        core.max_source_bytes = self.max_cell_size.bytes();
        core.max_cells = self.max_cells;
        core.max_queued_executions = self.max_queued_runs;
        core.max_kernels = self.max_kernels;
        core.tool_call_expiry_ms = self.confirm_within;
        core.max_tool_calls_per_minute = self.max_calls_per_minute;
        let of_token = || self.max_calls_per_minute.saturating_mul(BUSY_CONVERSATIONS_PER_TOKEN);
        core.max_token_calls_per_minute = self.max_calls_per_token.unwrap_or_else(of_token);
        config.rooms.room.lease_ms = self.lost_after;
        let server = &mut config.limits;
        server.max_import_bytes = self.max_import_size.bytes();
        server.max_working_file_bytes = self.max_file_size.bytes() as u64;
        server.max_blob_bytes = self.max_blob_size.bytes();
        server.redirect_blobs_from = self.blob_redirects.map(|size| size.0);
        (server.max_frame_bytes, server.max_request_bytes) =
            (self.max_message_size.bytes(), self.max_message_size.bytes());
        server.max_sockets = self.max_sockets;
        server.max_imports = self.max_imports;
        server.max_agent_output_bytes_per_hour = self.max_output_per_agent.0;
        server.max_queued_bytes = self.max_queued_per_subscriber.bytes();
        server.quotas = Quotas {
            person: Quota {
                notebooks: self.max_notebooks_per_person as u64,
                log_bytes: self.max_log_per_person.0,
                blob_bytes: self.max_blobs_per_person.0,
            },
            workspace: Quota {
                notebooks: self.max_notebooks_per_workspace as u64,
                log_bytes: self.max_log_per_workspace.0,
                blob_bytes: self.max_blobs_per_workspace.0,
            },
            state_bytes: self.max_state.0,
        };
        server.retention = RetentionAges {
            blobs: self.retain_blobs.map(Duration::from_millis),
            snapshots: self.retain_snapshots.map(Duration::from_millis),
        };
        server.cold_after = self.cold_after.map(Duration::from_millis);
        server.tree_interval = Some(Duration::from_millis(self.tree_interval));
        server.is_tree_public = self.public_log;
        server.min_free_disk_bytes = self.min_free_disk.0;
        server.blob_grace = Duration::from_millis(self.keep_blobs);
    }
}

/// Parses the command line, with the options of `--config`'s file that are not given otherwise.
pub fn arguments(line: impl IntoIterator<Item = OsString>) -> Result<Arguments, Failure> {
    let mut line: Vec<OsString> = line.into_iter().collect();
    let mut matches = Arguments::command().get_matches_from(&line);
    if let Some((command, given)) = matches.subcommand()
        && let Ok(Some(file)) = given.try_get_one::<PathBuf>("config")
    {
        line.extend(of_file(file, command, given)?);
        matches = Arguments::command().try_get_matches_from(&line).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Failure::usage(format!("{}: {reason}", file.display()))
        })?;
    }
    Arguments::from_arg_matches(&matches).map_err(|error| error.exit())
}

/// Options of the file that are not given otherwise, in the form of a command line.
fn of_file(file: &Path, command: &str, given: &ArgMatches) -> Result<Vec<OsString>, Failure> {
    let wrong = |what: String| Failure::usage(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| Failure::unreadable(file, &error))?;
    let document: DocumentMut = text.parse().map_err(|error| wrong(format!("it is no TOML: {error}")))?;
    if let Some((other, _)) = document.iter().find(|(name, _)| *name != "serve") {
        return Err(wrong(format!("'{other}' is unknown there: everything stands in the table [serve]")));
    }
    let program = Arguments::command();
    let known = program.find_subcommand(command).into_iter().flat_map(clap::Command::get_arguments);
    let known: Vec<(&str, &str)> =
        known.filter_map(|known| Some((known.get_long()?, known.get_id().as_str()))).collect();
    let mut options = Vec::new();
    for (name, item) in document.get("serve").and_then(Item::as_table).into_iter().flatten() {
        let id = known.iter().find(|(long, _)| *long == name && name != "config").map(|(_, id)| *id);
        let id =
            id.ok_or_else(|| wrong(format!("[serve] has no setting '{name}': `notarium serve --help` lists them")))?;
        if matches!(given.value_source(id), None | Some(ValueSource::DefaultValue)) {
            let values =
                values(item).ok_or_else(|| wrong(format!("'{name}' is a text, a number, or a list of texts")))?;
            options.extend(values.into_iter().map(|value| format!("--{name}={value}").into()));
        }
    }
    Ok(options)
}

fn values(item: &Item) -> Option<Vec<String>> {
    let one = |value: &Value| match value {
        Value::String(text) => Some(text.value().clone()),
        Value::Integer(number) => Some(number.value().to_string()),
        _ => None,
    };
    match item.as_value()? {
        Value::Array(list) => list.iter().map(one).collect(),
        value => Some(vec![one(value)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Command;

    fn read(line: &[&str]) -> Result<ServerConfig, Failure> {
        let Command::Serve(args) = arguments(line.iter().map(OsString::from))?.command else { panic!("it serves") };
        let mut config = ServerConfig::in_folder("nowhere");
        args.place.settings.apply(&mut config);
        Ok(config)
    }

    fn with_file(content: &str, more: &[&str]) -> Result<ServerConfig, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notarium.toml");
        std::fs::write(&file, content).unwrap();
        read(&[&["notarium", "serve", "--config", file.to_str().unwrap()], more].concat())
    }

    #[test]
    fn what_is_documented_as_default_is_the_default() {
        let (said, own) =
            (read(&["notarium", "serve", "--max-cells", "20000"]).unwrap(), ServerConfig::in_folder("nowhere"));
        assert_eq!(said.rooms.room.limits, own.rooms.room.limits);
        assert_eq!(said.rooms.room.lease_ms, own.rooms.room.lease_ms);
        assert_eq!(said.limits, own.limits);
    }

    #[test]
    fn the_command_line_goes_before_the_file_and_the_file_before_the_default() {
        let file = "[serve]\nmax-cell-size = \"2 MiB\"\nmax-cells = 7\nlost-after = \"1h\"\n";
        let config = with_file(file, &["--max-cells", "9"]).unwrap();
        assert_eq!(config.rooms.room.limits.max_source_bytes, 2 << 20);
        assert_eq!(config.rooms.room.limits.max_cells, 9);
        assert_eq!(config.rooms.room.lease_ms, 3_600_000);
    }

    #[test]
    fn a_wrong_file_names_the_setting() {
        for (content, named) in [
            ("[serve]\nmax-cell-size = \"much\"\n", "--max-cell-size"),
            ("[serve]\nmax-cells = 0\n", "--max-cells"),
            ("[serve]\nlost-after = 5\n", "--lost-after"),
            ("[serve]\nmax-cels = 7\n", "'max-cels'"),
            ("[serve]\nmax-cells = true\n", "'max-cells'"),
            ("max-cells = 7\n", "'max-cells'"),
            ("[serve\n", "no TOML"),
        ] {
            let failure = with_file(content, &[]).err().expect("it is wrong");
            assert!(
                failure.message.contains(named) && failure.message.contains("notarium.toml"),
                "{}",
                failure.message
            );
        }
    }
}
