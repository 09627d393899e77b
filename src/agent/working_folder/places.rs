//! The places that kernels do not reach: neither does who asks for files.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use notarium_wire::FileRefusal;
use rustix::fs::Stat;

use super::Refused;
use crate::kernel::LaunchOptions;

/// What kernels reach. The nearest place above a path decides on it.
#[derive(Debug, Default)]
pub(crate) struct Places {
    hidden: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    shown: Vec<PathBuf>,
    /// Device and number of what is hidden: code in a kernel may rename a folder in which a hidden one lies.
    identities: HashSet<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Shown,
    ReadOnly,
    Hidden,
}

impl Places {
    pub fn new(hidden: &[PathBuf], read_only: &[PathBuf], shown: &[PathBuf]) -> Self {
        let identities = hidden.iter().filter_map(identity).collect();
        Self { hidden: hidden.to_vec(), read_only: read_only.to_vec(), shown: shown.to_vec(), identities }
    }

    /// Another place is hidden from people: the agent's own.
    pub fn hiding(mut self, place: PathBuf) -> Self {
        self.hidden.push(place);
        self
    }

    /// Those of the kernels that are launched so.
    pub fn of(launch: &LaunchOptions) -> Self {
        let shown = launch.sandbox.as_ref().map(|sandbox| sandbox.plan().shown.as_slice());
        Self::new(&launch.hidden, &launch.read_only, shown.unwrap_or_default())
    }

    /// Refuses what is hidden. `real` is where it lies, `path` how it was named.
    pub fn check_readable(&self, root: &Path, real: &Path, path: &str) -> Result<(), Refused> {
        let below = real.ancestors().take_while(|above| above.starts_with(root));
        let is_moved = || below.filter_map(identity).any(|it| self.identities.contains(&it));
        if self.reach(real) != Reach::Hidden && real.starts_with(root) && (self.identities.is_empty() || !is_moved()) {
            return Ok(());
        }
        Err(refused(path, "it is hidden from kernels, because such places hold keys or what can confirm"))
    }

    /// Refuses what a kernel could not write either: what is run outside later.
    pub fn check_writable(&self, real: &Path, path: &str) -> Result<(), Refused> {
        match self.reach(real) {
            Reach::Shown => Ok(()),
            Reach::ReadOnly => {
                Err(refused(path, "kernels only read there, because programs outside run what lies there"))
            }
            Reach::Hidden => Err(refused(path, "it is hidden from kernels")),
        }
    }

    /// Refuses what kernels do not write, and a folder in which such a place lies.
    pub fn check_movable(&self, real: &Path, path: &str) -> Result<(), Refused> {
        self.check_writable(real, path)?;
        let mut places = self.hidden.iter().chain(&self.read_only);
        if places.any(|place| place.starts_with(real)) {
            return Err(refused(path, "something lies in it that kernels do not write"));
        }
        Ok(())
    }

    /// Something hidden, wherever it lies now.
    pub fn is_hidden(&self, stat: &Stat) -> bool {
        #[allow(clippy::unnecessary_cast, reason = "other systems have other types for it")]
        self.identities.contains(&(stat.st_dev as u64, stat.st_ino as u64))
    }

    /// The names in a folder that are hidden places.
    pub fn hidden_in(&self, folder: &Path) -> HashSet<OsString> {
        let inside = self.hidden.iter().filter(|place| place.parent() == Some(folder));
        inside.filter_map(|place| place.file_name()).map(OsString::from).collect()
    }

    fn reach(&self, real: &Path) -> Reach {
        let places = [(&self.hidden, Reach::Hidden), (&self.read_only, Reach::ReadOnly), (&self.shown, Reach::Shown)];
        let above = places.iter().flat_map(|(paths, reach)| paths.iter().map(move |path| (path, *reach)));
        let above = above.filter(|(path, _)| real.starts_with(path));
        above.map(|(path, reach)| (path.components().count(), reach)).max().map_or(Reach::Shown, |(_, reach)| reach)
    }
}

fn refused(path: &str, why: &str) -> Refused {
    Refused::new(FileRefusal::OutOfReach, format!("'{path}' is out of reach: {why}. Name something else"))
}

fn identity(path: impl AsRef<Path>) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
