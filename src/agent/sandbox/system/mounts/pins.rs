//! Pins: folders and links on the way to covered places become mount points of themselves.
//!
//! The system neither renames nor removes a mount point, so no code moves a covered place out of sight and puts another in its
//! stead. A link is mounted over itself too: what follows it still finds its target.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use nix::fcntl::OFlag;
use nix::mount::MsFlags;
use nix::unistd::{AccessFlags, access};

use super::super::super::Plan;
use super::{behind, bind};

/// Most links on the way to one place, as in the system's own limit.
const MAX_LINKS: usize = 40;

/// A link that every Linux has, pinned to find out if links can be: a check finds the same as the start of a kernel, which meets
/// other links.
const EVERYWHERE: &str = "/dev/fd";

/// Mounts every folder and link on the way to a hidden or read-only place over itself. False: this system mounts nothing over
/// links.
pub fn pin(plan: &Plan) -> Result<bool, String> {
    let mut pins = BTreeSet::new();
    for place in plan.hidden.iter().chain(&plan.read_only) {
        on_the_way(place, &mut pins);
    }
    let mut are_links_pinned = pin_link(Path::new(EVERYWHERE)).is_ok() || !Path::new(EVERYWHERE).is_symlink();
    // Sorted: a folder before its entries, so that these are mounted in the new mount.
    for pin in pins.iter().filter(|pin| can_be_moved(pin)) {
        match pin.is_symlink() {
            true => are_links_pinned &= pin_link(pin).is_ok(),
            false => bind(pin, pin, MsFlags::MS_REC)
                .map_err(|error| format!("{} cannot be kept where it is: {error}", pin.display()))?,
        }
    }
    Ok(are_links_pinned)
}

fn pin_link(link: &Path) -> nix::Result<()> {
    let flags = OFlag::O_PATH | OFlag::O_NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags.bits()).open(link);
    let file = file.map_err(|error| nix::Error::from_raw(error.raw_os_error().unwrap_or_default()))?;
    bind(&behind(&file), &behind(&file), MsFlags::empty())
}

/// True if this account can rename the entry, as far as the rights of its folder say.
fn can_be_moved(path: &Path) -> bool {
    path.parent().is_some_and(|folder| access(folder, AccessFlags::W_OK).is_ok())
}

/// Collects the folders and links that lead to a place, itself only if it is a link. The paths of the folders have no links.
fn on_the_way(place: &Path, pins: &mut BTreeSet<PathBuf>) {
    let (mut at, mut links) = (PathBuf::from("/"), 0);
    let mut left: VecDeque<OsString> = names(place);
    while let Some(name) = left.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(&name);
        let Ok(kind) = next.symlink_metadata().map(|found| found.file_type()) else { return };
        if kind.is_symlink() {
            links += 1;
            let Ok(target) = next.read_link() else { return };
            pins.insert(next);
            if links > MAX_LINKS {
                return;
            }
            if target.is_absolute() {
                at = PathBuf::from("/");
            }
            let before = std::mem::take(&mut left);
            left = names(&target).into_iter().chain(before).collect();
        } else {
            at = next;
            if kind.is_dir() && !left.is_empty() {
                pins.insert(at.clone());
            }
        }
    }
}

fn names(path: &Path) -> VecDeque<OsString> {
    let kept = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    kept.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_folder_and_link_on_the_way_is_found() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("dotfiles/config/notarium")).unwrap();
        symlink("dotfiles/../dotfiles/config", home.join(".config")).unwrap();
        symlink(home.join("nowhere"), home.join(".netrc")).unwrap();
        let mut pins = BTreeSet::new();
        for place in [".config/notarium", ".netrc", ".aws/credentials"] {
            on_the_way(&home.join(place), &mut pins);
        }
        let found: Vec<&Path> = pins.iter().filter_map(|pin| pin.strip_prefix(&home).ok()).collect();
        assert_eq!(found, ["", ".config", ".netrc", "dotfiles", "dotfiles/config"].map(Path::new));
    }

    #[test]
    fn links_in_a_circle_end() {
        let home = tempfile::tempdir().unwrap();
        symlink("b", home.path().join("a")).unwrap();
        symlink("a", home.path().join("b")).unwrap();
        let mut pins = BTreeSet::new();
        on_the_way(&home.path().join("a/x"), &mut pins);
        assert!(pins.iter().any(|pin| pin.ends_with("b")));
    }
}
