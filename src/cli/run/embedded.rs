//! Server, agent and kernel of a headless run.

use std::path::{Path, PathBuf};

use notarium_agent::kernelspecs::{FoundKernelspecs, Kernelspec, discover};
use notarium_server::{RunningServer, ServerConfig};
use notarium_wire::ipynb::Document;
use serde::Deserialize;
use serde_json::json;

use crate::cli::agent::environment::{FOLDER, kernel_places};
use crate::cli::agent::{KernelArgs, LocalAgent};
use crate::cli::connection::client::RestClient;
use crate::cli::connection::context::{self, Config};
use crate::cli::serve::up::{self, Keys};
use crate::cli::serve::{self};
use crate::cli::{Ended, Failure};

/// Server, agent and client of a headless run.
pub struct Embedded {
    server: RunningServer,
    agent: LocalAgent,
    folder: RunFolder,
    pub client: RestClient,
}

impl Embedded {
    pub async fn start(kernels: &KernelArgs, kernel_paths: Vec<PathBuf>) -> Result<Self, Failure> {
        let folder = RunFolder::create()?;
        let server = serve::start(unlimited(&folder.0)).await?;
        let keys = Keys::make(&server).await?;
        let client = up::client(&server, &keys.session)?;
        let kept = kernels.kept(&kernel_paths, vec![folder.0.clone()]).await?;
        let agent = keys.start_headless_agent(&server, kernels, kernel_paths, kept);
        Ok(Self { server, agent, folder, client })
    }

    pub async fn stop(self) -> Ended {
        let stopped = self.agent.stop().await;
        self.server.shut_down().await;
        drop(self.folder);
        stopped
    }
}

/// Settings of a server for one file: the file is on this machine already, so its size is no reason to refuse it.
fn unlimited(folder: &Path) -> ServerConfig {
    let mut config = ServerConfig::in_folder(folder);
    let limits = &mut config.rooms.room.limits;
    (limits.max_source_bytes, limits.max_attachments_bytes) = (usize::MAX, usize::MAX);
    (limits.max_metadata_bytes, limits.max_cells) = (usize::MAX, usize::MAX);
    (config.limits.max_import_bytes, config.limits.quotas.state_bytes) = (usize::MAX, u64::MAX);
    config.limits.max_inline_picture_bytes = usize::MAX;
    config
}

/// A folder that is removed when dropped.
pub struct RunFolder(pub PathBuf);

impl RunFolder {
    pub fn create() -> Result<Self, Failure> {
        use std::os::unix::fs::DirBuilderExt;
        let path = std::env::temp_dir().join(format!("notarium-{}", ulid::Ulid::generate()));
        let failed = |error| Failure::failed(format!("{}: {error}", path.display()));
        std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

// --- the kernel ---

/// The notebook's own kernelspec.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WantedKernel {
    name: Option<String>,
    pub language: Option<String>,
}

/// The kernelspec of a run.
#[derive(Debug, Clone)]
pub struct RunKernel {
    pub name: String,
    pub language: String,
    display_name: String,
}

impl RunKernel {
    /// Writes the kernelspec into the notebook's metadata, unless it is there.
    pub fn name_in(&self, document: &mut Document) {
        if wanted_kernel(document).name.as_deref() == Some(&*self.name) {
            return;
        }
        let Self { name, language, display_name } = self;
        let kernelspec = json!({ "display_name": display_name, "language": language, "name": name });
        let kernelspec = serde_json::value::to_raw_value(&kernelspec).ok();
        document.metadata.extend(kernelspec.map(|kernelspec| ("kernelspec".to_owned(), kernelspec)));
    }
}

/// The search path of this machine's kernels: the given folders, else those that `up` used. Fails if no kernel is installed.
pub fn local_kernel_paths(given: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let known = if given.is_empty() { Config::load()?.kernel_paths } else { given.to_vec() };
    let data = context::data_folder()?;
    let paths = kernel_places(&known, &data);
    if !discover(&paths).kernelspecs.is_empty() {
        return Ok(paths);
    }
    Err(Failure::failed(format!(
        "no Jupyter kernel is installed here: name an environment that has ipykernel and the notebook's packages with \
         --kernel-path DIR; or start `notarium up`, which makes one in {} (it downloads ipykernel), and repeat this",
        data.join(FOLDER).display()
    )))
}

/// Chooses a kernel: the named one, the notebook's own, else one of the same language. Returns it with the search path: the
/// given folders, else those that `up` used.
pub fn choose_kernel(
    document: &Document,
    named: Option<&str>,
    given: &[PathBuf],
) -> Result<(RunKernel, Vec<PathBuf>), Failure> {
    let paths = local_kernel_paths(given)?;
    let found = discover(&paths);
    let chosen = choose(&found, &wanted_kernel(document), named)?;
    let (name, language, display_name) = (chosen.name.clone(), chosen.language.clone(), chosen.display_name.clone());
    Ok((RunKernel { name, language, display_name }, paths))
}

pub fn wanted_kernel(document: &Document) -> WantedKernel {
    let kernelspec = document.metadata.get("kernelspec");
    kernelspec.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
}

fn choose<'a>(
    found: &'a FoundKernelspecs,
    wanted: &WantedKernel,
    named: Option<&str>,
) -> Result<&'a Kernelspec, Failure> {
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

fn missing(found: &FoundKernelspecs, name: &str) -> Failure {
    let names: Vec<&str> = found.kernelspecs.iter().map(|spec| spec.name.as_str()).collect();
    Failure::failed(format!(
        "no kernel '{name}' on this machine (there are: {}): choose one with --kernel",
        names.join(", ")
    ))
}
