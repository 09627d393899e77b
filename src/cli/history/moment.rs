//! A moment in a notebook's life, as commands take it: a version, the name of a version, or a time.

use std::convert::Infallible;
use std::str::FromStr;

use chrono::{DateTime, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone};
use notarium_core::{Millis, Version};

use crate::cli::Failure;
use crate::cli::connection::client::NotebookClient;
use crate::cli::terminal::print;

/// Explanation of the argument, for `--help`.
pub const MOMENT: &str = "VERSION|NAME|TIME";

/// A version, the name of a version, or a time such as `2026-11-29` or `2026-11-29T10:30`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    Version(Version),
    /// Milliseconds since 1970: the version that the notebook was at then.
    Time(Millis),
    Name(String),
}

impl FromStr for Moment {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match (text.parse(), time(text)) {
            (Ok(version), _) => Self::Version(version),
            (_, Some(at)) => Self::Time(at),
            _ => Self::Name(text.to_owned()),
        })
    }
}

/// A time with its zone (RFC 3339), or in the local one; a date alone is its beginning.
fn time(text: &str) -> Option<Millis> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Millis::try_from(time.timestamp_millis()).ok();
    }
    let formats = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"];
    let with_time = formats.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let date = || Some(NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_time(NaiveTime::MIN));
    // An hour that comes twice is meant the first time.
    let local = Local.from_local_datetime(&with_time.or_else(date)?).earliest()?;
    Millis::try_from(local.timestamp_millis()).ok()
}

impl Moment {
    /// The version that is meant. Fails for an unknown name, and for a time before the notebook's first event.
    pub async fn version(&self, notebook: &NotebookClient) -> Result<Version, Failure> {
        match self {
            Self::Version(version) => Ok(*version),
            Self::Name(name) => named(notebook, name).await,
            Self::Time(at) => match version_at(notebook, *at).await? {
                0 => Err(Failure::usage(format!(
                    "the notebook did not exist yet at {}: name a later time",
                    print::time(*at)
                ))),
                version => Ok(version),
            },
        }
    }

    /// The version after whose event the moment lies: 0 for a time before the first one.
    pub async fn version_or_start(&self, notebook: &NotebookClient) -> Result<Version, Failure> {
        match self {
            Self::Time(at) => version_at(notebook, *at).await,
            moment => moment.version(notebook).await,
        }
    }
}

/// [`Moment::version`] of an argument that may be absent.
pub async fn version_of(moment: Option<&Moment>, notebook: &NotebookClient) -> Result<Option<Version>, Failure> {
    match moment {
        Some(moment) => moment.version(notebook).await.map(Some),
        None => Ok(None),
    }
}

async fn named(notebook: &NotebookClient, name: &str) -> Result<Version, Failure> {
    let state = notebook.outline().await?;
    let versions: Vec<Version> =
        state.named_versions.iter().filter(|(_, known)| *known == name).map(|(version, _)| *version).collect();
    match versions[..] {
        [version] => Ok(version),
        [] => Err(Failure::usage(format!(
            "no version is called '{name}': `notarium versions` lists the names; a number or a time such as 2026-11-29T10:30 \
             says a version too"
        ))),
        _ => {
            let versions = versions.iter().map(Version::to_string).collect::<Vec<_>>().join(", ");
            Err(Failure::usage(format!(
                "'{name}' is the name of several versions ({versions}): say which one by its number"
            )))
        }
    }
}

/// The last version whose event was recorded at this time or before. Times never go back, so it is found by halving.
async fn version_at(notebook: &NotebookClient, at: Millis) -> Result<Version, Failure> {
    let (mut before, mut after) = (0, notebook.events(0, 1).await?.head.version + 1);
    while after - before > 1 {
        let middle = before.midpoint(after);
        let page = notebook.events(middle - 1, 1).await?;
        let is_before = page.events.first().is_some_and(|stored| stored.envelope.recorded_at <= at);
        if is_before { before = middle } else { after = middle }
    }
    Ok(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Moment {
        text.parse().unwrap()
    }

    #[test]
    fn a_version_a_time_and_a_name_are_told_apart() {
        assert_eq!(moment("42"), Moment::Version(42));
        assert_eq!(moment("2026-11-29T10:30:00Z"), Moment::Time(1_795_948_200_000));
        assert_eq!(moment("2026-11-29T10:30:00+01:00"), Moment::Time(1_795_944_600_000));
        for local in ["2026-11-29", "2026-11-29T10:30", "2026-11-29 10:30:05", "2026-11-29 10:30:05.25"] {
            assert!(matches!(moment(local), Moment::Time(_)), "{local}");
        }
        for name in ["as submitted", "-1", "2026-13-01", "draft 2"] {
            assert_eq!(moment(name), Moment::Name(name.to_owned()));
        }
    }
}
