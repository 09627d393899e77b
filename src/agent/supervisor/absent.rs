//! Stand-in for systems that cannot hold effects.

#[allow(dead_code, reason = "nothing is refused here")]
mod refusals;
#[allow(dead_code, reason = "nothing is supervised here")]
mod supervised_kernel;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use notarium_core::{Effects, UnheldCause};

pub use refusals::EffectRefusal;
pub(crate) use supervised_kernel::SupervisedKernel;

/// The ability, which this system does not have.
#[derive(Debug, Clone)]
pub struct NoHolding(std::convert::Infallible);

pub use NoHolding as Holding;

impl NoHolding {
    pub async fn check(_: PathBuf, _: &Path) -> Result<Self, (UnheldCause, String)> {
        Err((UnheldCause::NotSupported, "only Linux can hold the effects of kernels".to_owned()))
    }

    pub(crate) fn arguments(&self, _: &SupervisedKernel, _: bool) -> [OsString; 3] {
        match self.0 {}
    }
}

pub(crate) mod launcher {
    use std::ffi::OsString;
    use std::process::ExitCode;

    pub(crate) const EFFECTS_COMMAND: &str = "kernel-effects";

    pub(crate) fn enter(_: impl Iterator<Item = OsString>) -> Result<ExitCode, String> {
        Err("this system cannot hold the effects of kernels: Linux can".to_owned())
    }
}

#[derive(Debug)]
pub(crate) struct NoSupervisor(std::convert::Infallible);

pub(crate) use NoSupervisor as Supervisor;

impl NoSupervisor {
    pub fn start(_: SupervisedKernel, _: OwnedFd, _: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    pub fn stop(&self) {
        match self.0 {}
    }

    pub fn kernel_is_ready(&self) {
        match self.0 {}
    }

    pub fn refuses_surprises(&self) -> bool {
        match self.0 {}
    }

    pub fn is_mixed(&self) -> bool {
        match self.0 {}
    }

    pub fn begin(&self, _: &Effects) -> Result<(), Vec<String>> {
        match self.0 {}
    }

    pub fn end(&self) -> Vec<EffectRefusal> {
        match self.0 {}
    }
}
