//! The kernels' Python: an environment with ipykernel, created if the machine has no Jupyter kernel.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use notarium_agent::kernelspecs::discover;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use crate::cli::terminal::print;
use crate::cli::{Ended, Failure};

/// Name of the environment's folder in the data folder.
pub const FOLDER: &str = "python";

/// Search path of kernelspecs: the given folders, then the environment in the data folder. Creates that environment if there is
/// no kernel for Python anywhere (or, if folders are given, no kernel at all), and prints a line about it. Cancel safe: what is left
/// of an environment is replaced by the next call.
pub async fn kernel_paths(given: &[PathBuf], data: &Path) -> Result<Vec<PathBuf>, Failure> {
    let paths = kernel_places(given, data);
    let found = discover(&paths).kernelspecs;
    if !found.iter().any(|spec| !given.is_empty() || spec.language.eq_ignore_ascii_case("python")) {
        make_environment(&data.join(FOLDER)).await?;
    }
    Ok(paths)
}

/// The given folders, then the environment in the data folder, which may be missing.
pub fn kernel_places(given: &[PathBuf], data: &Path) -> Vec<PathBuf> {
    [given, &[data.join(FOLDER)]].concat()
}

async fn make_environment(environment: &Path) -> Ended {
    let place = environment.display();
    eprintln!("No Jupyter kernel for Python is installed: making a Python environment with ipykernel in {place}");
    let progress = print::spinner();
    progress.set_message("creating the environment");
    run_program(Path::new("python3"), &["-m", "venv", "--clear", &environment.to_string_lossy()]).await?;
    progress.set_message("installing ipykernel");
    let python = environment.join("bin/python");
    run_program(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "ipykernel"]).await?;
    progress.finish_and_clear();
    eprintln!("The Python environment is ready.");
    Ok(())
}

async fn run_program(program: &Path, arguments: &[&str]) -> Ended {
    let output = output(Command::new(program).args(arguments)).await.map_err(|error| {
        Failure::failed(format!("{} cannot be started ({error}): install Python 3.9 or newer", program.display()))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = words.trim().lines().rev().take(5).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    Err(Failure::failed(format!(
        "the Python environment could not be made: {}\ninstall a kernel yourself (`pip install ipykernel`), or name an \
         environment that has one with --kernel-path",
        last.join("\n")
    )))
}

/// Runs a program to its end. Dropping the future kills the program and those that it has started: `venv` starts `pip`.
async fn output(command: &mut Command) -> std::io::Result<Output> {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn()?;
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).map(ProgramGroup);
    let output = child.wait_with_output().await;
    // It has ended, and its number may be another's.
    std::mem::forget(group);
    output
}

/// Kills a process group when it is dropped.
struct ProgramGroup(Pid);

impl Drop for ProgramGroup {
    fn drop(&mut self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe::OpenOptions;

    use super::*;

    #[tokio::test]
    async fn what_a_cancelled_program_has_started_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Also open for writing, because a pipe that nobody writes is at its end.
        let mut started = OpenOptions::new().read_write(true).open_receiver(&pipe).unwrap();
        let (mut command, mut line) = (Command::new("sh"), [0; 8]);
        command.arg("-c").arg("sh -c 'exec > \"$0\"; echo started; exec sleep 600' \"$0\" & wait").arg(&pipe);
        tokio::select! {
            ended = output(&mut command) => panic!("it ended: {ended:?}"),
            read = started.read_exact(&mut line) => assert_eq!(read.unwrap(), 8),
        }
        let mut ended = OpenOptions::new().open_receiver(&pipe).unwrap();
        drop(started);
        assert_eq!(ended.read_to_end(&mut Vec::new()).await.unwrap(), 0);
    }
}
