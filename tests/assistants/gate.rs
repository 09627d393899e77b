//! Gate: code in a kernel reports its start to the test, and waits until the test opens the gate. Each execution of the code is counted,
//! independent of the log. The code opens a named pipe for reading, which is no effect: held runs may do it.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::processes::PATIENCE;

pub struct Gate {
    folder: TempDir,
    arrivals: watch::Receiver<usize>,
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// Starts a closed gate.
    pub async fn start() -> Self {
        let folder = TempDir::new().unwrap();
        let pipe = pipe_in(folder.path());
        renew(&pipe);
        let (arrived, arrivals) = watch::channel(0);
        let is_open = watch::Sender::new(false);
        let (runtime, opens) = (Handle::current(), is_open.subscribe());
        // Not a task: it waits in a system call that nothing ends if no code comes.
        std::thread::spawn(move || {
            while let Ok(visitor) = OpenOptions::new().write(true).open(&pipe) {
                if !pipe.parent().is_some_and(Path::exists) {
                    return;
                }
                // Another pipe for the next execution, so that none is counted twice.
                renew(&pipe);
                arrived.send_modify(|count| *count += 1);
                runtime.spawn(let_in(visitor, opens.clone()));
            }
        });
        Self { folder, arrivals, is_open }
    }

    /// Returns Python code that waits at the gate.
    pub fn code(&self) -> String {
        format!("open('{}').read()", pipe_in(self.folder.path()).display())
    }

    /// Opens the gate for waiting and later executions.
    pub fn open(&self) {
        self.is_open.send_replace(true);
    }

    /// Returns the number of executions so far.
    pub fn count(&self) -> usize {
        *self.arrivals.borrow()
    }

    /// Waits until the code was executed that often.
    pub async fn until_arrived(&mut self, count: usize) {
        let arrived = self.arrivals.wait_for(|arrivals| *arrivals >= count);
        tokio::time::timeout(PATIENCE, arrived).await.expect("the code was not executed").expect("the gate is there");
    }
}

fn pipe_in(folder: &Path) -> PathBuf {
    folder.join("gate")
}

/// Puts a new pipe in the place of the one before.
fn renew(pipe: &Path) {
    let new = pipe.with_extension("new");
    assert!(Command::new("mkfifo").arg(&new).status().unwrap().success());
    std::fs::rename(new, pipe).unwrap();
}

/// The code goes on when the pipe has no writer any more.
async fn let_in(visitor: File, mut opens: watch::Receiver<bool>) {
    let _ = opens.wait_for(|is_open| *is_open).await;
    drop(visitor);
}
