//! Landlock: grants everything except the hidden paths. It also prevents ptrace, looks into `/proc`, signals and abstract
//! sockets across its border, and changes of mounts.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};

use super::super::Plan;

/// The tested version; newer rights are not requested, older systems do what they can.
const NEWEST: ABI = ABI::V7;
/// First version that restricts signals and abstract sockets.
pub const SCOPES_ABI: i32 = 6;

/// Restricts this process and returns the ABI's number; 0: the system has no Landlock.
pub fn restrict(plan: &Plan) -> Result<i32, String> {
    enforce(plan).map_err(|error| format!("Landlock: {error}"))
}

fn enforce(plan: &Plan) -> Result<i32, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all)?;
    let ruleset = ruleset.scope(Scope::from_all(NEWEST))?.create()?;
    let ruleset = match plan.namespaces {
        // Mounts cover the hidden paths.
        true => ruleset.add_rules(path_beneath_rules(["/"], all))?,
        false => {
            let granted = GrantedPaths::of(plan);
            let reading = AccessFs::from_read(NEWEST);
            let ruleset = ruleset.add_rules(path_beneath_rules(&granted.whole, all))?;
            let ruleset = ruleset.add_rules(path_beneath_rules(&granted.read_only, reading))?;
            ruleset.add_rules(path_beneath_rules(&granted.listed, AccessFs::ReadDir))?
        }
    };
    Ok(match ruleset.restrict_self()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => (effective_abi as i32).min(NEWEST as i32),
        _ => 0,
    })
}

/// Paths that are granted without mounts: the siblings of hidden paths, one by one.
#[derive(Default)]
struct GrantedPaths {
    whole: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    /// Folders on the way to a hidden path. Their entries can be listed; new entries are not granted.
    listed: Vec<PathBuf>,
}

impl GrantedPaths {
    fn of(plan: &Plan) -> Self {
        let mut granted = Self::default();
        granted.grant(Path::new("/"), plan);
        let covered = |path: &&PathBuf| plan.hidden.iter().chain(&plan.read_only).any(|place| path.starts_with(place));
        granted.whole.extend(plan.shown.iter().filter(covered).cloned());
        granted
    }

    fn grant(&mut self, path: &Path, plan: &Plan) {
        let holds = |places: &[PathBuf]| places.iter().any(|place| place.starts_with(path));
        if plan.hidden.iter().any(|hidden| hidden == path) || path.is_symlink() {
            return;
        }
        if plan.read_only.iter().any(|place| place == path) {
            return self.read_only.push(path.to_owned());
        }
        if !holds(&plan.hidden) && !holds(&plan.read_only) {
            return self.whole.push(path.to_owned());
        }
        self.listed.push(path.to_owned());
        for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
            self.grant(&entry.path(), plan);
        }
    }
}

/// Depth of the search for sockets: `/run/user/N/systemd/private`.
const MAX_SOCKET_DEPTH: usize = 3;

/// True if a hidden path is or contains a socket; Landlock alone does not prevent connecting to it.
pub fn has_socket(path: &Path) -> bool {
    is_or_has_socket(path, MAX_SOCKET_DEPTH)
}

fn is_or_has_socket(path: &Path, depth: usize) -> bool {
    let Ok(kind) = path.symlink_metadata().map(|found| found.file_type()) else { return false };
    if !kind.is_dir() || depth == 0 {
        return kind.is_socket();
    }
    let mut entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.any(|entry| is_or_has_socket(&entry.path(), depth - 1))
}
