//! `--kernel-sandbox`: restricts the access of kernels to this machine.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use notarium_agent::connections::Connections;
use notarium_agent::kernelspecs::discover;
use notarium_agent::sandbox::{
    AppliedSandbox, KernelNetwork, LOCAL_PACKAGES, Plan, Sandbox, StandIns, missing_places, named_places, own_folders,
    private_sockets, secret_places, startup_files, system_folders,
};
use notarium_agent::supervisor::Holding;
use notarium_core::{KernelEffects, KernelSurprises, RawObject, UnheldCause};

use crate::cli::connection::context;
use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

/// This program, even if its file was replaced.
const LAUNCHER: &str = "/proc/self/exe";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SandboxMode {
    /// The strongest that this system allows.
    Auto,
    /// With Landlock alone, as where the system allows no namespaces: what needs the machine's own process ids works.
    Landlock,
    /// Kernels can do all that this account can.
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EffectsMode {
    /// Hold the effects of assistants' code, where the system can.
    On,
    /// Hold nothing: every run of code by an assistant asks a person.
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SurprisesMode {
    /// Refuse and show them.
    On,
    /// Let them happen.
    Off,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Sandbox")]
pub struct SandboxArgs {
    /// A place that kernels do not reach, besides Notarium's own and the usual ones of secrets; may be repeated.
    #[arg(long = "kernel-hide", value_name = "PATH", env = "NOTARIUM_KERNEL_HIDE", value_delimiter = ':')]
    hide: Vec<PathBuf>,
    /// A place that kernels reach and write, though it is hidden or read-only by default; may be repeated.
    #[arg(long = "kernel-show", value_name = "PATH", env = "NOTARIUM_KERNEL_SHOW", value_delimiter = ':')]
    show: Vec<PathBuf>,
    /// A place that kernels read and do not write; may be repeated.
    #[arg(long = "kernel-read-only", value_name = "PATH", env = "NOTARIUM_KERNEL_READ_ONLY", value_delimiter = ':')]
    read_only: Vec<PathBuf>,
    /// Folders that kernels reach, besides their working folder, their programs, the system's and temporary folders. Without it they
    /// read all that this account reads, except the hidden places. A folder for each, or several with colons; may be repeated.
    #[arg(long = "kernel-reads", value_name = "FOLDER", env = "NOTARIUM_KERNEL_READS", num_args = 1.., value_delimiter = ':', value_parser = super::existing_folder)]
    reads: Vec<PathBuf>,
    /// Network of kernels: all, loopback (one of their own) or none.
    #[arg(long = "kernel-network", value_name = "REACH", env = "NOTARIUM_KERNEL_NETWORK", default_value_t)]
    network: KernelNetwork,
    /// Sandbox of kernels.
    #[arg(long = "kernel-sandbox", value_name = "WHEN", env = "NOTARIUM_KERNEL_SANDBOX", value_enum, default_value_t = SandboxMode::Auto)]
    sandbox: SandboxMode,
    /// Holding of the effects of assistants' code. Programs like sudo get no rights in kernels then.
    #[arg(long = "kernel-effects", value_name = "WHEN", env = "NOTARIUM_KERNEL_EFFECTS", value_enum, default_value_t = EffectsMode::On)]
    effects: EffectsMode,
    /// In kernels that ran an assistant's code: asking about effects to which a person's own cell does not lead.
    #[arg(long = "kernel-surprises", value_name = "WHEN", env = "NOTARIUM_KERNEL_SURPRISES", value_enum, default_value_t = SurprisesMode::On)]
    surprises: SurprisesMode,
}

/// Restrictions of this machine's kernels.
pub struct KernelRestrictions {
    /// Paths that tools of assistants refuse, and that the sandbox hides.
    pub hidden: Vec<PathBuf>,
    /// Paths that sandboxed kernels cannot write; uploads never can.
    pub read_only: Vec<PathBuf>,
    /// `Err`: the reason why there is no sandbox.
    pub sandbox: Result<Sandbox, String>,
    /// `Err`: the cause for which effects are not held, and words about it.
    pub holding: Result<Holding, (UnheldCause, String)>,
    pub surprises: KernelSurprises,
    /// Databases that SQL cells can name.
    pub connections: Arc<Connections>,
}

impl KernelRestrictions {
    /// True if kernels cannot reach the credentials that confirm calls.
    pub fn holds(&self) -> bool {
        self.sandbox.as_ref().is_ok_and(|sandbox| sandbox.standing().holds())
    }

    /// One line for people.
    pub fn sentence(&self) -> String {
        let sandbox = sentence(self.sandbox.as_ref().map(Sandbox::standing).map_err(String::as_str));
        format!("{sandbox}; {}", self.effects_sentence())
    }

    /// Phrase about held effects.
    pub fn effects_sentence(&self) -> String {
        match &self.holding {
            Ok(_) => KernelEffects::Held.phrase(),
            Err((cause, words)) => {
                let phrase = KernelEffects::NotHeld { cause: (*cause).into() }.phrase();
                if words.is_empty() { phrase } else { format!("{phrase} ({words})") }
            }
        }
    }
}

/// Paths and variables that a kernel uses, and paths that it must not find.
pub struct Surroundings<'a> {
    pub working_dir: &'a Path,
    /// Paths of the kernel's programs.
    pub kernel_paths: &'a [PathBuf],
    /// Notarium's own folders, and files of tokens, besides the usual ones.
    pub own: Vec<PathBuf>,
    /// Variables that kernels get.
    pub passed: &'a [String],
    /// Code of the connections' brokers: a kernel that could write it would get the credentials.
    pub drivers: Vec<PathBuf>,
}

impl SandboxArgs {
    /// True if the user has switched the sandbox off.
    pub fn is_off(&self) -> bool {
        self.sandbox == SandboxMode::Off
    }

    /// Determines the restrictions of this machine's kernels.
    pub async fn kept(&self, around: &Surroundings<'_>) -> Result<KernelRestrictions, Failure> {
        let own = own_places(around)?;
        let plan = self.plan(around, &own)?;
        let (hidden, read_only) = (plan.hidden.clone(), plan.read_only.clone());
        let sandbox = match self.sandbox {
            SandboxMode::Off => Err("--kernel-sandbox off".to_owned()),
            SandboxMode::Auto => {
                let stand_ins = stand_ins(&plan);
                Sandbox::check(PathBuf::from(LAUNCHER), plan, stand_ins).await
            }
            SandboxMode::Landlock => Sandbox::check_without_namespaces(PathBuf::from(LAUNCHER), plan).await,
        };
        if let Err(reason) = &sandbox
            && (self.network != KernelNetwork::All
                || [&self.hide, &self.read_only, &self.reads].iter().any(|named| !named.is_empty()))
        {
            let message = format!("kernels cannot be kept from what you named: there is no sandbox here ({reason})");
            return Err(Failure::failed(message));
        }
        let holding = match self.effects {
            EffectsMode::On => Holding::check(PathBuf::from(LAUNCHER), &context::runtime_dir()).await,
            EffectsMode::Off => Err((UnheldCause::SwitchedOff, String::new())),
        };
        let surprises = match self.surprises {
            SurprisesMode::On => KernelSurprises::Ask,
            SurprisesMode::Off => KernelSurprises::Off,
        };
        let kept = KernelRestrictions { hidden, read_only, sandbox, holding, surprises, connections: Arc::default() };
        if !kept.holds() {
            refuse_below(&own, around.working_dir, &kept)?;
        }
        Ok(kept)
    }

    fn plan(&self, around: &Surroundings<'_>, own: &[PathBuf]) -> Result<Plan, Failure> {
        let absolute = |paths: &[PathBuf]| -> Vec<PathBuf> { paths.iter().map(|path| real(path)).collect() };
        let (shown, own) = (absolute(&self.show), absolute(own));
        if let Some(path) =
            shown.iter().find(|path| own.iter().any(|own| path.starts_with(own) || own.starts_with(path)))
        {
            let message = format!("{} holds what can confirm: kernels are not shown it", path.display());
            return Err(Failure::usage(message));
        }
        let is_shown = |path: &PathBuf| shown.iter().any(|shown| path.starts_with(shown));
        let home = dirs::home_dir().unwrap_or_default();
        let user = std::fs::metadata("/proc/self").map_or(0, |found| std::os::unix::fs::MetadataExt::uid(&found));
        let named = named_places(|name| std::env::var_os(name), around.passed);
        let usual = secret_places(&home).into_iter().chain(private_sockets(user)).chain(named);
        let hidden = absolute(&usual.chain(self.hide.clone()).collect::<Vec<_>>()).into_iter();
        let hidden: Vec<PathBuf> = hidden.filter(|path| !is_shown(path)).chain(own).collect();
        let working_dir = real(around.working_dir);
        if let Some(place) = hidden.iter().find(|place| working_dir.starts_with(place)) {
            let (working_dir, place) = (working_dir.display(), place.display());
            let message = format!(
                "kernels cannot work in {working_dir}: {place} is hidden from them (--working-dir, --kernel-show)"
            );
            return Err(Failure::usage(message));
        }
        let programs = absolute(around.kernel_paths);
        let more =
            std::env::current_exe().into_iter().chain(startup_files(&home)).chain(self.read_only.iter().cloned());
        let drivers = absolute(&around.drivers);
        let read_only = absolute(&more.collect::<Vec<_>>()).into_iter();
        let read_only = read_only.filter(|path| !is_shown(path)).chain(drivers.clone()).collect();
        let is_driver = |path: &PathBuf| drivers.iter().any(|driver| path.starts_with(driver));
        let shown = [PathBuf::from(LOCAL_PACKAGES), working_dir].into_iter().chain(programs).chain(shown);
        let shown = shown.filter(|path| !is_driver(path)).collect();
        let reads = if self.reads.is_empty() { Vec::new() } else { absolute(&self.within_reach(around, &home)) };
        Ok(Plan { hidden, shown, read_only, reads, network: self.network, namespaces: false, own_processes: false })
    }

    /// Folders that narrowed kernels reach besides the shown ones: the named ones, the system's, and those of their programs.
    fn within_reach(&self, around: &Surroundings<'_>, home: &Path) -> Vec<PathBuf> {
        let kernelspecs = discover(around.kernel_paths).kernelspecs;
        let programs = kernelspecs.iter().flat_map(|kernelspec| {
            let program = kernelspec.command_line(Path::new("")).into_iter().next().unwrap_or_default();
            let program = on_the_path(Path::new(&program));
            // The interpreter of a virtual environment is a link to another Python, with its own library.
            let places = [program.clone(), real(&program)];
            let prefixes = places.into_iter().filter_map(|program| Some(program.parent()?.parent()?.to_owned()));
            prefixes.filter(|prefix| prefix.parent().is_some()).chain([kernelspec.resource_dir.clone()])
        });
        let named = self.reads.iter().chain(around.kernel_paths).cloned();
        named.chain(programs).chain(system_folders()).chain(own_folders(home)).chain(around.drivers.clone()).collect()
    }
}

/// A program with its folder; one without a folder is looked up in `PATH`.
fn on_the_path(program: &Path) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(program));
    found.find(|path| path.is_file()).unwrap_or_else(|| program.to_owned())
}

/// Stand-ins for places of the plan that are missing; `None`: nothing is known where they would be.
fn stand_ins(plan: &Plan) -> Option<StandIns> {
    let (home, hidden) = (dirs::home_dir().filter(|home| home.is_absolute())?, stand_ins_folder()?);
    let mut places = missing_places(&home);
    places.retain(|place| plan.hidden.iter().chain(&plan.read_only).any(|path| *path == real(&place.path)));
    Some(StandIns { home, hidden, places })
}

/// Folder to which the links of stand-ins lead.
fn stand_ins_folder() -> Option<PathBuf> {
    Some(context::state_dir()?.join("stand-ins"))
}

/// The path without links; unchanged if it does not exist. A stand-in's link is kept: a keeper moves what was written through it to the
/// link's place, which must be hidden too.
fn real(path: &Path) -> PathBuf {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_stand_in = || {
        let (target, folder) = (path.read_link().ok(), stand_ins_folder());
        target.zip(folder).is_some_and(|(target, folder)| target.starts_with(folder))
    };
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if is_stand_in() => resolved(folder).join(name),
        _ => resolved(path),
    }
}

/// Notarium's own folders. Missing ones are created, so that their later content is hidden too.
fn own_places(around: &Surroundings<'_>) -> Result<Vec<PathBuf>, Failure> {
    let mut own = around.own.clone();
    own.extend(context::data_folder());
    own.extend(context::state_dir());
    own.push(context::runtime_dir());
    context::check_config_folder()?;
    let configuration = context::config_path()?;
    own.push(folder_of(&configuration, around)?);
    for folder in own.iter().filter(|own| !own.is_file()) {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
    }
    context::check_config_folder()?;
    Ok(own)
}

/// The folder of the configuration file. Hiding the file alone would end when it is replaced.
fn folder_of(configuration: &Path, around: &Surroundings<'_>) -> Result<PathBuf, Failure> {
    let file = std::path::absolute(configuration).unwrap_or_else(|_| configuration.to_owned());
    let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
    let place = real(&folder);
    let shared = [real(around.working_dir), std::env::temp_dir()].into_iter().chain(dirs::home_dir());
    if shared.into_iter().any(|path| path.starts_with(&place)) {
        let message = format!(
            "{} cannot be kept from kernels, which work in its folder: give it a folder of its own with {}",
            file.display(),
            context::CONFIG_VARIABLE
        );
        return Err(Failure::usage(message));
    }
    Ok(folder)
}

/// Refuses own folders below the working folder: without a whole sandbox, code could reach them.
fn refuse_below(own: &[PathBuf], working_dir: &Path, kept: &KernelRestrictions) -> Ended {
    let reason = match &kept.sandbox {
        Ok(sandbox) => format!("the sandbox here is not whole (in reach: {})", sandbox.standing().open.join(", ")),
        Err(reason) => format!("there is no sandbox here ({reason})"),
    };
    let working_dir = real(working_dir);
    let inside = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| path.starts_with(&working_dir));
    match own.iter().find(inside) {
        None => Ok(()),
        Some(path) => Err(Failure::usage(format!(
            "{} lies in the folder in which kernels work, and {reason}: choose another --working-dir, or keep it elsewhere ({}, \
             {})",
            path.display(),
            context::DATA_VARIABLE,
            context::CONFIG_VARIABLE
        ))),
    }
}

/// The restrictions of kernels in one line for people.
fn sentence(found: Result<&AppliedSandbox, &str>) -> String {
    match found {
        Ok(standing) if standing.holds() => format!("in a sandbox ({}: {})", standing.word(), standing.by.join(", ")),
        Ok(standing) => format!(
            "in a sandbox that is not whole ({}; in reach: {}): see notarium agent --check",
            standing.by.join(", "),
            standing.open.join(", ")
        ),
        Err(reason) => format!("without a sandbox ({reason}): their code can do all that this account can"),
    }
}

/// Like [`sentence`], from the record of a kernel.
pub fn recorded(sandbox: &RawObject) -> String {
    let standing: Result<AppliedSandbox, _> = serde_json::from_str(sandbox.get());
    let sentence = sentence(standing.as_ref().map_err(|_| "none was recorded"));
    match KernelEffects::of_sandbox(sandbox) {
        Some(effects) => format!("{sentence}; {}", effects.phrase()),
        None => sentence,
    }
}

/// Like [`recorded`], in one to four words.
pub fn recorded_word(sandbox: &RawObject) -> String {
    serde_json::from_str(sandbox.get()).map_or_else(|_| "none".to_owned(), |it: AppliedSandbox| it.word().to_owned())
}

/// Prints `notarium agent --check`.
pub fn show(kept: &KernelRestrictions) -> Ended {
    print::line(format!("Kernels run {}", kept.sentence()))?;
    print::line(format!("effects held                  {}", if kept.holding.is_ok() { "yes" } else { "no" }))?;
    let asks = kept.holding.is_ok() && kept.surprises == KernelSurprises::Ask;
    print::line(format!("surprises ask                 {}", if asks { "yes" } else { "no" }))?;
    let Ok(sandbox) = &kept.sandbox else {
        print::line("Tools of assistants refuse these places all the same:")?;
        show_places("hidden", &kept.hidden)?;
        return Err(Failure::failed("nothing keeps kernels from this machine"));
    };
    let (standing, plan) = (sandbox.standing(), sandbox.plan());
    let yes = |stands: bool| if stands { "yes" } else { "no" };
    print::line(format!("kind of sandbox               {}", standing.word()))?;
    print::line(format!("hidden files out of reach     {}", yes(standing.file_system)))?;
    print::line(format!("processes out of reach        {}", yes(standing.processes)))?;
    print::line(format!("abstract sockets out of reach {}", yes(standing.sockets)))?;
    print::line(format!("network                       {}", standing.network))?;
    standing.open.iter().try_for_each(|open| print::line(format!("in reach all the same         {open}")))?;
    if !standing.sockets {
        print::line("Abstract sockets are out of reach since Linux 6.12, or with --kernel-network loopback or none")?;
    }
    let is_covered = |path: &PathBuf| plan.hidden.iter().chain(&plan.read_only).any(|place| path.starts_with(place));
    let shown: Vec<PathBuf> = plan.shown.iter().filter(|path| is_covered(path)).cloned().collect();
    for (word, paths) in [("hidden", &plan.hidden), ("shown", &shown), ("read-only", &plan.read_only)] {
        show_places(word, paths)?;
    }
    in_reach(plan).iter().try_for_each(|path| print::line(format!("{:<10} {}", "in reach", path.display())))?;
    match standing.holds() {
        true => Ok(()),
        false => Err(Failure::failed("what can confirm is within the reach of kernels here")),
    }
}

/// Most entries of a folder that are listed.
const MAX_LISTED: usize = 200;

/// Paths that code in kernels reads: the folders that it is narrowed to, else the entries of the home folder and of the root, without
/// those that are hidden. What is read may go to the provider of a model.
fn in_reach(plan: &Plan) -> Vec<PathBuf> {
    let mut found = match plan.reads.is_empty() {
        false => plan.reads.iter().chain(&plan.shown).filter(|path| path.exists()).cloned().collect(),
        true => {
            let system: Vec<PathBuf> = system_folders().iter().map(|path| real(path)).collect();
            let folders = [PathBuf::from("/")].into_iter().chain(dirs::home_dir());
            let entries =
                folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_LISTED));
            let paths = entries.map(|entry| real(&entry.path()));
            paths.filter(|path| !system.contains(path)).collect::<Vec<_>>()
        }
    };
    found.retain(|path| !plan.hidden.iter().any(|hidden| path.starts_with(hidden)));
    found.sort();
    found.dedup();
    found
}

fn show_places(word: &str, paths: &[PathBuf]) -> Ended {
    let there = paths.iter().filter(|path| path.exists());
    there.into_iter().try_for_each(|path| print::line(format!("{word:<10} {}", path.display())))
}
