//! Stand-ins for secret places and startup files that do not exist, so that a kernel's sandbox can cover them from its start: nobody
//! makes them inside, and what the person makes there meanwhile stays out of reach.
//!
//! A missing folder is stood in for by an empty one, a missing file by a link into a hidden folder of Notarium. Programs that read
//! the link find no file, as before; what a program writes through it lands in the hidden folder. The keeper, a process of this
//! program, removes all stand-ins when the last agent has ended, however it ended, and moves what was written to its place.
//!
//! **Invariants.** An entry that the keeper did not make is never removed, nor one that has content. Nothing is removed while an agent
//! checks its sandbox: a place that vanishes while it is covered would make the check find a weaker sandbox than there is.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::system;

/// The program's hidden command that keeps the stand-ins until its standard input ends.
pub(super) const KEEPER_COMMAND: &str = "kernel-stand-ins";
/// Byte that the keeper writes when all stand-ins are there.
const READY: u8 = b'.';
/// File whose lock every keeper holds, with the paths that the keepers made, one JSON text a line.
const MADE: &str = "made";
/// File whose shared lock a check of a sandbox holds, and whose exclusive lock a removal of stand-ins holds.
const CHECKS: &str = "checks";
/// Longest wait for a keeper: it makes or removes about a hundred entries.
const KEEPER_TIMEOUT: Duration = Duration::from_secs(30);
/// Time between two attempts at a lock: there is no event for a lock that is released.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// A place that may be missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPlace {
    pub path: PathBuf,
    pub is_folder: bool,
}

/// Places to stand in for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandIns {
    /// Home folder, below which all places are.
    pub home: PathBuf,
    /// A folder that kernels do not reach, on the same file system if possible: the targets of the links.
    pub hidden: PathBuf,
    pub places: Vec<MissingPlace>,
}

/// The running keeper. It removes the stand-ins when this is dropped, or its process ends.
#[derive(Debug)]
pub(super) struct Keeper(#[expect(dead_code, reason = "its standard input stays open")] Child);

/// No stand-in is removed before this is dropped.
#[derive(Debug)]
pub(super) struct CleanUpPause(#[expect(dead_code, reason = "its lock is released when it is closed")] File);

impl Keeper {
    /// Starts the keeper, and waits until the stand-ins are there.
    pub(super) async fn start(program: &Path, stand_ins: &StandIns) -> std::io::Result<Self> {
        // Without an answer, the keeper ends with its standard input.
        timeout(KEEPER_TIMEOUT, Self::start_unbounded(program, stand_ins)).await?
    }

    async fn start_unbounded(program: &Path, stand_ins: &StandIns) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        command.arg(KEEPER_COMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own: Ctrl-C in the terminal is for the agent.
        let mut child = command.process_group(0).spawn()?;
        if let Some(stdin) = &mut child.stdin {
            stdin.write_all(&[serde_json::to_vec(stand_ins)?, b"\n".to_vec()].concat()).await?;
        }
        let mut said = [0];
        if let Some(stdout) = &mut child.stdout {
            stdout.read_exact(&mut said).await?;
        }
        Ok(Self(child))
    }
}

/// The keeper's process.
pub(super) fn keep() -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| format!("places that are missing cannot be covered: {error}");
    // It ends with the agent: a signal for the whole group must not end it before.
    system::block_signals().map_err(failed)?;
    let mut agent = BufReader::new(std::io::stdin());
    let mut line = String::new();
    agent.read_line(&mut line).map_err(failed)?;
    let stand_ins: StandIns = serde_json::from_str(&line).map_err(|error| failed(error.into()))?;
    let made = stand_ins.make().map_err(failed)?;
    std::io::stdout().write_all(&[READY]).and_then(|()| std::io::stdout().flush()).map_err(failed)?;
    let _ = agent.read_to_end(&mut Vec::new());
    // Another agent's keeper may go on: the last one cleans up.
    if made.try_lock().is_ok() {
        stand_ins.clean_up(&made).map_err(failed)?;
    }
    Ok(ExitCode::SUCCESS)
}

impl StandIns {
    /// Keeps all stand-ins where they are while the result lives. Waits until a removal that has begun is over.
    pub(super) async fn pause_clean_up(&self) -> std::io::Result<CleanUpPause> {
        let checks = self.file(CHECKS)?;
        let locked = async {
            while let Err(error) = checks.try_lock_shared() {
                match error {
                    TryLockError::WouldBlock => sleep(LOCK_INTERVAL).await,
                    TryLockError::Error(error) => return Err(error),
                }
            }
            Ok(())
        };
        timeout(KEEPER_TIMEOUT, locked).await??;
        Ok(CleanUpPause(checks))
    }

    /// Opens a file of the hidden folder; creates both if they are missing.
    fn file(&self, name: &str) -> std::io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.hidden)?;
        File::options().read(true).append(true).create(true).open(self.hidden.join(name))
    }

    /// Makes what is missing; returns the list of what was made, locked with others. Removes what a keeper left that was killed.
    fn make(&self) -> std::io::Result<File> {
        let mut made = self.file(MADE)?;
        if made.try_lock().is_ok() {
            self.clean_up(&made)?;
        }
        made.lock_shared()?;
        for place in self.places.iter().filter(|place| place.path.symlink_metadata().is_err()) {
            // If the person's own account cannot make the place, no kernel can.
            let _ = self.make_one(place, &mut made);
        }
        Ok(made)
    }

    fn make_one(&self, place: &MissingPlace, made: &mut File) -> std::io::Result<()> {
        if !self.is_out_of_sight(&place.path) {
            return Ok(());
        }
        let mut folders: Vec<&Path> = place.path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
        folders.reverse();
        folders.extend(place.is_folder.then_some(place.path.as_path()));
        for folder in folders {
            note(made, folder)?;
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        if place.is_folder {
            return Ok(());
        }
        note(made, &place.path)?;
        symlink(self.target_of(&place.path), &place.path)
    }

    /// True if `ls` of the home folder shows nothing new: a hidden entry, or one within what is there.
    fn is_out_of_sight(&self, path: &Path) -> bool {
        let Some(Component::Normal(first)) =
            path.strip_prefix(&self.home).ok().and_then(|below| below.components().next())
        else {
            return false;
        };
        first.as_encoded_bytes().starts_with(b".") || self.home.join(first).exists()
    }

    /// Target of a place's link.
    fn target_of(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix(&self.home).unwrap_or(path).to_string_lossy().replace('%', "%25");
        self.hidden.join(format!("at {}", below.replace('/', "%2F")))
    }

    /// Removes what the list names, innermost first, and empties the list. Waits until no sandbox is being checked.
    fn clean_up(&self, mut made: &File) -> std::io::Result<()> {
        let checks = self.file(CHECKS)?;
        checks.lock()?;
        let mut text = String::new();
        made.rewind()?;
        made.read_to_string(&mut text)?;
        let paths: BTreeSet<PathBuf> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        for path in paths.iter().rev() {
            match path.read_link() {
                Ok(target) if target == self.target_of(path) => {
                    // Written through the link: it goes where the person meant it.
                    let moved = target.exists() && std::fs::rename(&target, path).is_ok();
                    if !moved && !target.exists() {
                        let _ = std::fs::remove_file(path);
                    }
                }
                Ok(_) => {}
                // Fails for a folder that has content.
                Err(_) => drop(std::fs::remove_dir(path)),
            }
        }
        made.set_len(0)
    }
}

/// Adds a path to the list, before it is made: what is made is always listed.
fn note(made: &mut File, path: &Path) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(path)?;
    line.push(b'\n');
    made.write_all(&line)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn stand_ins(home: &Path) -> StandIns {
        let place = |path: &str, is_folder| MissingPlace { path: home.join(path), is_folder };
        let places = [
            place(".ssh", true),
            place(".netrc", false),
            place(".config/autostart", true),
            place(".config/git/credentials", false),
            place(".aws", true),
            place("snap/firefox", true),
        ];
        StandIns { home: home.to_owned(), hidden: home.join(".local/state/notarium/stand-ins"), places: places.into() }
    }

    fn entries(home: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![home.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                found.push(entry.path().strip_prefix(home).unwrap().to_string_lossy().into_owned());
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        found.sort();
        found.retain(|path| !path.starts_with(".local"));
        found
    }

    #[test]
    fn nothing_is_left_of_what_was_made() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        let stand_ins = stand_ins(home.path());
        let made = stand_ins.make().unwrap();
        let there =
            [".aws", ".config", ".config/autostart", ".config/git", ".config/git/credentials", ".netrc", ".ssh"];
        assert_eq!(entries(home.path()), there, "nothing is made that `ls` shows");
        assert!(std::fs::read(home.path().join(".netrc")).is_err(), "who reads it finds no file");
        stand_ins.clean_up(&made).unwrap();
        assert_eq!(entries(home.path()), [".aws"], "the person's own empty folder stays");
    }

    #[test]
    fn what_the_person_made_meanwhile_is_at_its_place_afterwards() {
        let home = tempfile::tempdir().unwrap();
        let stand_ins = stand_ins(home.path());
        let made = stand_ins.make().unwrap();
        std::fs::write(home.path().join(".ssh/id"), "key").unwrap();
        std::fs::write(home.path().join(".netrc"), "password").unwrap();
        std::fs::remove_file(home.path().join(".config/git/credentials")).unwrap();
        std::fs::write(home.path().join(".config/git/credentials"), "replaced").unwrap();
        stand_ins.clean_up(&made).unwrap();
        let read = |path: &str| std::fs::read_to_string(home.path().join(path)).unwrap();
        assert_eq!(read(".ssh/id"), "key");
        assert_eq!(read(".netrc"), "password");
        assert!(!home.path().join(".netrc").is_symlink());
        assert_eq!(read(".config/git/credentials"), "replaced");
        assert!(!home.path().join(".config/autostart").exists());
    }

    #[tokio::test]
    async fn nothing_is_removed_while_a_sandbox_is_checked_and_a_check_waits_for_a_removal() {
        let home = tempfile::tempdir().unwrap();
        let stand_ins = stand_ins(home.path());
        let made = stand_ins.make().unwrap();
        let pauses = [stand_ins.pause_clean_up().await.unwrap(), stand_ins.pause_clean_up().await.unwrap()];
        let keeper = std::thread::spawn({
            let stand_ins = stand_ins.clone();
            move || stand_ins.clean_up(&made)
        });
        // Long enough for a removal that does not wait.
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(home.path().join(".ssh").exists() && !keeper.is_finished());
        drop(pauses);
        keeper.join().unwrap().unwrap();
        assert!(!home.path().join(".ssh").exists());
        let removal = stand_ins.file(CHECKS).unwrap();
        removal.lock().unwrap();
        let mut check = std::pin::pin!(stand_ins.pause_clean_up());
        assert!(check.as_mut().now_or_never().is_none());
        drop(removal);
        check.await.unwrap();
    }

    #[test]
    fn the_last_keeper_cleans_up_and_the_next_one_after_a_kill() {
        let home = tempfile::tempdir().unwrap();
        let stand_ins = stand_ins(home.path());
        let (first, second) = (stand_ins.make().unwrap(), stand_ins.make().unwrap());
        assert!(first.try_lock().is_err(), "the second still needs them");
        drop(first);
        assert!(second.try_lock().is_ok());
        // Killed before it cleaned up.
        drop(second);
        std::fs::create_dir_all(home.path().join("snap/firefox")).unwrap();
        let made = StandIns { places: Vec::new(), ..stand_ins.clone() }.make().unwrap();
        assert_eq!(entries(home.path()), ["snap", "snap/firefox"]);
        drop(made);
    }
}
