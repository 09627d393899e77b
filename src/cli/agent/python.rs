//! A Python environment with ipykernel, created if the machine has no Jupyter kernel.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use notarium_agent::kernelspecs::discover;
use tokio::process::Command;

use crate::cli::Failure;
use crate::cli::terminal::print;

/// Name of the environment's folder in the data folder.
const ENVIRONMENT: &str = "python";

/// Search path of kernelspecs: the given folders, then the environment in the data folder. Creates that environment if there is
/// no kernel anywhere, and prints a line about it.
pub async fn kernel_paths(given: &[PathBuf], data: &Path) -> Result<Vec<PathBuf>, Failure> {
    let paths = places(given, data);
    if discover(&paths).kernelspecs.is_empty() {
        make(&data.join(ENVIRONMENT)).await?;
    }
    Ok(paths)
}

/// The given folders, then the environment in the data folder, which may be missing.
pub fn places(given: &[PathBuf], data: &Path) -> Vec<PathBuf> {
    [given, &[data.join(ENVIRONMENT)]].concat()
}

async fn make(environment: &Path) -> Result<(), Failure> {
    let place = environment.display();
    eprintln!("No Jupyter kernel is installed: making a Python environment with ipykernel in {place}");
    let progress = print::spinner();
    progress.set_message("creating the environment");
    step(Path::new("python3"), &["-m", "venv", "--clear", &environment.to_string_lossy()]).await?;
    progress.set_message("installing ipykernel");
    let python = environment.join("bin/python");
    step(&python, &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "ipykernel"]).await?;
    progress.finish_and_clear();
    eprintln!("The Python environment is ready.");
    Ok(())
}

async fn step(program: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let command = Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output().await;
    let output = command.map_err(|error| {
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
