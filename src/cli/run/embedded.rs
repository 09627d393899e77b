//! A server on a temporary folder, an agent, and the choice of a kernel for a document.

use std::path::PathBuf;

use notarium_agent::kernelspecs::{Discovery, Kernelspec, discover};
use notarium_server::{RunningServer, ServerConfig};
use notarium_wire::ipynb::Document;
use serde::Deserialize;

use crate::cli::agent::{KernelArgs, LocalAgent};
use crate::cli::connection::client::Client;
use crate::cli::connection::context;
use crate::cli::serve::up::{self, Keys};
use crate::cli::serve::{self};
use crate::cli::{Ended, Failure};

/// Server, agent and client of a headless run.
pub struct Embedded {
    server: RunningServer,
    agent: LocalAgent,
    folder: TemporaryFolder,
    pub client: Client,
}

impl Embedded {
    pub async fn start(kernels: &KernelArgs, kernel_paths: Vec<PathBuf>) -> Result<Self, Failure> {
        let folder = TemporaryFolder::create()?;
        let server = serve::start(ServerConfig::in_folder(&folder.0)).await?;
        let keys = Keys::make(&server).await?;
        let client = up::client(&server, &keys.session)?;
        let kept = kernels.kept(&kernel_paths, vec![folder.0.clone()]).await?;
        let agent = keys.start_agent(&server, kernels, kernel_paths, None, kept);
        Ok(Self { server, agent, folder, client })
    }

    pub async fn stop(self) -> Ended {
        let stopped = self.agent.stop().await;
        self.server.shut_down().await;
        drop(self.folder);
        stopped
    }
}

/// A folder that is removed when dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn create() -> Result<Self, Failure> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("notarium-{}", ulid::Ulid::generate()));
        let failed = |error| Failure::failed(format!("{}: {error}", path.display()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    name: Option<String>,
    language: Option<String>,
}

/// Chooses a kernel: the named one, the notebook's own, else one of the same language. Returns its kernelspec's name, its
/// language, and the search path.
pub async fn choose_kernel(
    document: &Document,
    named: Option<&str>,
    given: &[PathBuf],
) -> Result<(String, String, Vec<PathBuf>), Failure> {
    let mut paths = given.to_vec();
    let mut found = discover(&paths);
    if found.kernelspecs.is_empty() {
        let folder = context::data_folder()?;
        paths = crate::cli::agent::python::kernel_paths(given, &folder).await?;
        found = discover(&paths);
    }
    let chosen = chosen(&found, &wanted(document), named)?;
    Ok((chosen.name.clone(), chosen.language.clone(), paths))
}

fn wanted(document: &Document) -> Wanted {
    let kernelspec = document.metadata.get("kernelspec");
    kernelspec.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
}

fn chosen<'a>(found: &'a Discovery, wanted: &Wanted, named: Option<&str>) -> Result<&'a Kernelspec, Failure> {
    if let Some(name) = named {
        return found.get(name).ok_or_else(|| missing(found, name));
    }
    let own = wanted.name.as_deref().unwrap_or("python3");
    if let Some(own) = found.get(own) {
        return Ok(own);
    }
    let language = wanted.language.as_deref().unwrap_or("python");
    let same = found.kernelspecs.iter().find(|spec| spec.language.eq_ignore_ascii_case(language));
    let same = same.ok_or_else(|| missing(found, own))?;
    eprintln!("notarium: there is no kernel '{own}' here: running on '{}'", same.name);
    Ok(same)
}

fn missing(found: &Discovery, name: &str) -> Failure {
    let names: Vec<&str> = found.kernelspecs.iter().map(|spec| spec.name.as_str()).collect();
    Failure::failed(format!(
        "no kernel '{name}' on this machine (there are: {}): choose one with --kernel",
        names.join(", ")
    ))
}
