//! A value made from files of certificates, and made anew when they change.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use parking_lot::RwLock;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::error::TlsError;
use super::validity::Validity;

/// Interval of looks at the files' times.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Time before the end of a certificate from which it is named as a problem.
const ENDS_SOON: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// Reads the files.
type ReadFiles<T> = Box<dyn Fn() -> Result<(T, Validity), TlsError> + Send + Sync>;

/// A value made from files, with the last reason why they could not be read anew.
pub struct Reloaded<T> {
    /// Name of the certificate in sentences.
    name: &'static str,
    files: Vec<PathBuf>,
    read: ReadFiles<T>,
    state: RwLock<ReloadState<T>>,
}

struct ReloadState<T> {
    current: Arc<T>,
    validity: Validity,
    stamps: Vec<WatchedStamp>,
    /// True: the newest files cannot be used.
    has_failed: bool,
    /// Time from which on the newest certificate counts, if it does not yet.
    counts_from: Option<DateTime<Utc>>,
}

impl<T> ReloadState<T> {
    fn good(current: T, validity: Validity, stamps: Vec<WatchedStamp>) -> Self {
        Self { current: Arc::new(current), validity, stamps, has_failed: false, counts_from: None }
    }
}

/// Facts that change when a file is written or replaced, or gets other permissions. `None`: it is not there.
type WatchedStamp = Option<(u64, u64, [i64; 4])>;

impl<T> Reloaded<T> {
    /// Reads the files for the first time.
    pub fn new(
        name: &'static str,
        files: impl IntoIterator<Item = PathBuf>,
        read: impl Fn() -> Result<(T, Validity), TlsError> + Send + Sync + 'static,
    ) -> Result<Self, TlsError> {
        let files: Vec<PathBuf> = files.into_iter().collect();
        let stamps = stamps(&files);
        let (current, validity) = read()?;
        let state = RwLock::new(ReloadState::good(current, validity, stamps));
        Ok(Self { name, files, read: Box::new(read), state })
    }

    /// The value from the newest files that could be used.
    pub fn current(&self) -> Arc<T> {
        self.state.read().current.clone()
    }

    /// Validity of the certificate that is used.
    pub fn validity(&self) -> Validity {
        self.state.read().validity.clone()
    }

    /// Reads the files anew. If they cannot be used, the value stays.
    pub fn reload(&self) {
        let stamps = stamps(&self.files);
        let read = (self.read)();
        let mut state = self.state.write();
        match read {
            Ok((current, validity)) => {
                tracing::info!(until = %validity.until, "{} was read anew", self.name);
                *state = ReloadState::good(current, validity, stamps);
            }
            Err(error) => {
                tracing::error!(%error, "{} stays as it was: the new files cannot be used", self.name);
                (state.stamps, state.has_failed) = (stamps, true);
                state.counts_from = match error {
                    TlsError::NotYet { from, .. } => Some(from),
                    _ => None,
                };
            }
        }
    }

    /// Reads the files anew if one has changed, or has a certificate that counts from now on.
    pub fn reload_if_changed(&self) {
        let stamps = stamps(&self.files);
        let is_due = {
            let state = self.state.read();
            stamps != state.stamps || state.counts_from.is_some_and(|from| from <= Utc::now())
        };
        if is_due {
            self.reload();
        }
    }

    /// Sentences about new files that cannot be used, and about a certificate that has expired or soon will: without paths, as anybody may
    /// see them.
    pub fn problems(&self) -> Vec<String> {
        let state = self.state.read();
        let (name, until) = (self.name, &state.validity.until);
        let failure = state.has_failed.then(|| format!("{name} was not renewed: the server's log says why"));
        let end = match &state.validity {
            validity if validity.is_over_in(Duration::ZERO) => Some(format!("{name} expired on {until}: renew it")),
            validity if validity.is_over_in(ENDS_SOON) => Some(format!("{name} expires on {until}: renew it")),
            _ => None,
        };
        failure.into_iter().chain(end).collect()
    }

    /// Reads the files anew when they change, and on SIGHUP, until `stopping`.
    pub async fn follow(&self, stopping: CancellationToken) {
        let mut hangups = signal(SignalKind::hangup()).inspect_err(|error| tracing::warn!(%error, "no SIGHUP")).ok();
        loop {
            let hangup = async {
                match &mut hangups {
                    Some(hangups) => _ = hangups.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stopping.cancelled() => return,
                () = hangup => self.reload(),
                () = tokio::time::sleep(LOOK_EVERY) => self.reload_if_changed(),
            }
        }
    }
}

fn stamps(files: &[PathBuf]) -> Vec<WatchedStamp> {
    let stamp = |file: &PathBuf| {
        let found = std::fs::metadata(file).ok()?;
        Some((found.ino(), found.len(), [found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec()]))
    };
    files.iter().map(stamp).collect()
}
