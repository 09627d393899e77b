//! Rights that a process gives up: Landlock and capabilities.
//!
//! Landlock grants everything except the hidden paths. It also prevents ptrace, looks into `/proc`, signals and abstract
//! sockets across its border, and changes of mounts.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, LandlockStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, Scope, path_beneath_rules,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
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
        true => ruleset.add_rules(path_beneath_rules(roots(plan), all))?,
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

/// Paths below which everything is in reach that is not hidden.
fn roots(plan: &Plan) -> Vec<PathBuf> {
    match plan.reads.is_empty() {
        true => vec![PathBuf::from("/")],
        false => plan.reads.iter().chain(&plan.shown).cloned().collect(),
    }
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
        for root in roots(plan) {
            if plan.read_only.iter().any(|place| root != *place && root.starts_with(place)) {
                granted.read_only.push(root);
            } else if !plan.hidden.iter().any(|place| root.starts_with(place)) {
                granted.grant(&root, plan);
            }
        }
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

/// Capabilities to work with files of several users, as installing packages in a container does.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Drops the other capabilities, so that mounts of this namespace cannot be undone and files can be opened only by path.
pub fn drop_dangerous() -> rustix::io::Result<()> {
    bound(KEPT)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: KEPT, permitted: KEPT, inheritable: none })
}

/// Drops all capabilities permanently: child processes have none either, even as root.
pub fn drop_all() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    match bound(none) {
        // A process without capabilities cannot bound them. Without new privileges it gains none.
        Err(rustix::io::Errno::PERM) => rustix::thread::set_no_new_privs(true)?,
        bounded => bounded?,
    }
    clear_ambient_capability_set()?;
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Limits the bounding set permanently to `kept`.
fn bound(kept: CapabilitySet) -> rustix::io::Result<()> {
    for capability in all() {
        match capability_is_in_bounding_set(capability) {
            // Number above the newest capability.
            Err(_) => break,
            Ok(true) if !kept.contains(capability) => remove_capability_from_bounding_set(capability)?,
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Passes this process's capabilities on to the next program, whichever user owns it.
pub fn hand_on() -> rustix::io::Result<()> {
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: own.permitted, ..own })?;
    all().filter(|capability| own.permitted.contains(*capability)).try_for_each(|capability| {
        match configure_capability_in_ambient_set(capability, true) {
            // Number above the newest capability.
            Err(rustix::io::Errno::INVAL) => Ok(()),
            done => done,
        }
    })
}

fn all() -> impl Iterator<Item = CapabilitySet> {
    (0..u64::BITS).map(|bit| CapabilitySet::from_bits_retain(1 << bit))
}
