//! Errors that end an agent.

use notarium_client::ConnectError;

/// Error that ended an agent. A requested stop is none.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Connection(#[from] ConnectError),
    #[error("this token is not an agent's: make one with `notarium agent-token new`")]
    NotAnAgent,
    #[error("no Jupyter kernel is installed: `pip install ipykernel`, or name an environment with --kernel-path")]
    NoKernelspecs,
    #[error("no HTTP client: {0}")]
    Http(#[from] reqwest::Error),
}
