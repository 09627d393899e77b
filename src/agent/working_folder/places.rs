//! Paths that kernels cannot reach; file requests of people cannot reach them either.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use notarium_wire::FileRefusal;
use rustix::fs::Stat;

use super::RequestRefusal;
use crate::kernel::LaunchOptions;

/// Reach of kernels. For each path, its nearest ancestor in these lists decides.
#[derive(Debug, Default)]
pub(crate) struct ReachablePaths {
    hidden: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    shown: Vec<PathBuf>,
    /// Device and inode of hidden paths: code in a kernel may rename a folder that contains one.
    identities: HashSet<(u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Shown,
    ReadOnly,
    Hidden,
}

impl ReachablePaths {
    pub fn new(hidden: &[PathBuf], read_only: &[PathBuf], shown: &[PathBuf]) -> Self {
        let identities = hidden.iter().filter_map(identity).collect();
        Self { hidden: hidden.to_vec(), read_only: read_only.to_vec(), shown: shown.to_vec(), identities }
    }

    /// Also hides the agent's own folder from people.
    pub fn hiding(mut self, place: PathBuf) -> Self {
        self.hidden.push(place);
        self
    }

    /// The paths of kernels that are launched with these options.
    pub fn of(launch: &LaunchOptions) -> Self {
        let shown = launch.sandbox.as_ref().map(|sandbox| sandbox.plan().shown.as_slice());
        Self::new(&launch.hidden, &launch.read_only, shown.unwrap_or_default())
    }

    /// Refuses hidden paths. `real` is the resolved path, `path` the requested one.
    pub fn check_readable(&self, root: &Path, real: &Path, path: &str) -> Result<(), RequestRefusal> {
        let below = real.ancestors().take_while(|above| above.starts_with(root));
        let is_moved = || below.filter_map(identity).any(|it| self.identities.contains(&it));
        if self.reach(real) != Reach::Hidden && real.starts_with(root) && (self.identities.is_empty() || !is_moved()) {
            return Ok(());
        }
        Err(refused(path, "it is hidden from kernels, because such places hold keys or what can confirm"))
    }

    /// Refuses paths that a kernel could not write either, because programs outside run them later.
    pub fn check_writable(&self, real: &Path, path: &str) -> Result<(), RequestRefusal> {
        match self.reach(real) {
            Reach::Shown => Ok(()),
            Reach::ReadOnly => {
                Err(refused(path, "kernels only read there, because programs outside run what lies there"))
            }
            Reach::Hidden => Err(refused(path, "it is hidden from kernels")),
        }
    }

    /// Refuses paths that kernels cannot write, and folders that contain one.
    pub fn check_movable(&self, real: &Path, path: &str) -> Result<(), RequestRefusal> {
        self.check_writable(real, path)?;
        let mut places = self.hidden.iter().chain(&self.read_only);
        if places.any(|place| place.starts_with(real)) {
            return Err(refused(path, "something lies in it that kernels do not write"));
        }
        Ok(())
    }

    /// True for a hidden file, even if it was moved.
    pub fn is_hidden(&self, stat: &Stat) -> bool {
        #[allow(clippy::unnecessary_cast, reason = "other systems have other types for it")]
        self.identities.contains(&(stat.st_dev as u64, stat.st_ino as u64))
    }

    /// Names in a folder that are hidden.
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

fn refused(path: &str, why: &str) -> RequestRefusal {
    RequestRefusal::new(FileRefusal::OutOfReach, format!("'{path}' is out of reach: {why}. Name something else"))
}

fn identity(path: impl AsRef<Path>) -> Option<(u64, u64)> {
    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}
