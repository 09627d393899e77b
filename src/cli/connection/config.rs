//! The configuration file of `login` and `up`: a server and its token. Only its owner may read it.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::Failure;

/// Environment variable that names another file than the one in the user's configuration folder.
pub const CONFIG_VARIABLE: &str = "NOTARIUM_CONFIG";

/// Content of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// `$NOTARIUM_CONFIG`, else `notarium/config.json` in the user's configuration folder.
pub fn path() -> Result<PathBuf, Failure> {
    let named = std::env::var_os(CONFIG_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    named
        .or_else(|| Some(dirs::config_dir()?.join("notarium").join("config.json")))
        .ok_or_else(|| Failure::usage(format!("no home folder is known: set {CONFIG_VARIABLE} to a file")))
}

impl Config {
    /// An absent file is an empty configuration.
    pub fn load() -> Result<Self, Failure> {
        let path = path()?;
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(unusable(&path, &error)),
        };
        serde_json::from_str(&text).map_err(|error| unusable(&path, &error))
    }

    /// Replaces the file as a whole. From its first byte on, only its owner can read it.
    pub fn save(&self) -> Result<PathBuf, Failure> {
        let path = path()?;
        let text = serde_json::to_string_pretty(self).map_err(|error| unusable(&path, &error))?;
        write_privately(&path, &text).map_err(|error| unusable(&path, &error))?;
        Ok(path)
    }
}

fn unusable(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::failed(format!("{} cannot be used ({error}): mend or remove it, then log in again", path.display()))
}

pub fn write_privately(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}
