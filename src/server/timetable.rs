//! Times of schedules: a line of cron in a time zone. Pure.
//!
//! Rules for changes of the clock are those of Vixie's cron. A line with fixed hours and minutes runs once a day: at the first minute after
//! an hour that is skipped, and in the first of two hours with the same name. A line with `*` or a step in its minutes or hours follows the
//! time that passes: it skips what is skipped, and runs in both hours.

mod zone;

use std::str::FromStr;

use chrono::{DateTime, TimeDelta};
use croner::Cron;
use notarium_core::{Document, Millis, Schedule};

use zone::IanaZone;

/// Shortest time between two runs of a schedule.
const MIN_INTERVAL_MINUTES: i64 = 5;
/// Runs that are looked at for this limit.
const EXAMINED_RUNS: usize = 400;
/// Start of this look: every day of the week, of the month and of the year comes after it.
const EXAMINED_FROM: Millis = 1_767_225_600_000;
/// Missed runs that are counted.
const MAX_COUNTED: u32 = 10_000;
/// Time of a notebook whose schedules are all stopped.
pub const NOTHING_DUE: Millis = (1 << 53) - 1;
/// Characters of the fields; others of croner's own dialect are refused.
const OTHER_CHARACTERS: &str = "*,-/";

/// Reason why a line of cron gives no times. Each text says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimetableError {
    #[error(
        "'{line}' has {fields} fields: write five, as in 0 6 * * 1-5 (minute, hour, day of the month, month, day of the week)"
    )]
    Fields { line: String, fields: usize },
    #[error("'{line}' is no line of cron: {reason}")]
    Malformed { line: String, reason: String },
    #[error("'{line}' never comes: no month has such a day")]
    NeverComes { line: String },
    #[error("'{line}' comes after {minutes} min already: at least {MIN_INTERVAL_MINUTES} min lie between two runs")]
    TooOften { line: String, minutes: i64 },
    #[error("'{name}' is no time zone: use an IANA name such as Europe/Berlin or UTC")]
    UnknownTimezone { name: String },
}

/// Times of a schedule.
#[derive(Debug, Clone)]
pub struct Timetable {
    cron: Cron,
    timezone: IanaZone,
}

/// Minutes of a schedule that have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueRuns {
    /// The last one.
    pub last: Millis,
    /// Their number, counted up to a limit.
    pub count: u32,
}

impl Timetable {
    /// Reads a line, and checks that it comes, and not too often.
    pub fn checked(line: &str, timezone: &str) -> Result<Self, TimetableError> {
        let table = Self::parse(line, timezone)?;
        let line = line.to_owned();
        let mut before = table.next_after(EXAMINED_FROM).ok_or(TimetableError::NeverComes { line: line.clone() })?;
        for _ in 0..EXAMINED_RUNS {
            let Some(next) = table.next_after(before) else { break };
            let minutes = i64::try_from((next - before) / 60_000).unwrap_or(i64::MAX);
            if minutes < MIN_INTERVAL_MINUTES {
                return Err(TimetableError::TooOften { line, minutes });
            }
            before = next;
        }
        Ok(table)
    }

    /// Reads a line that was checked when its schedule was set.
    pub fn of(schedule: &Schedule) -> Option<Self> {
        Self::parse(&schedule.settings.cron, &schedule.settings.timezone).ok()
    }

    fn parse(line: &str, timezone: &str) -> Result<Self, TimetableError> {
        let fields = line.split_whitespace().count();
        if fields != 5 {
            return Err(TimetableError::Fields { line: line.to_owned(), fields });
        }
        let malformed = |reason: String| TimetableError::Malformed { line: line.to_owned(), reason };
        let is_known = |it: char| it.is_ascii_alphanumeric() || it == ' ' || OTHER_CHARACTERS.contains(it);
        if let Some(odd) = line.chars().find(|it| !is_known(*it)) {
            return Err(malformed(format!("'{odd}' has no meaning here; fields have numbers, names, * , - and /")));
        }
        check_words(line).map_err(malformed)?;
        let cron = Cron::from_str(line).map_err(|error| malformed(sentence(&error.to_string())))?;
        let unknown = |_| TimetableError::UnknownTimezone { name: timezone.to_owned() };
        Ok(Self { cron, timezone: timezone.parse().map_err(unknown)? })
    }

    /// First minute after a time; `None`: there is none.
    pub fn next_after(&self, after: Millis) -> Option<Millis> {
        let after = DateTime::from_timestamp_millis(i64::try_from(after).ok()?)?.with_timezone(&self.timezone);
        let next = self.cron.find_next_occurrence(&after, false).ok()?;
        Millis::try_from(next.timestamp_millis()).ok()
    }

    /// The next minutes after a time.
    pub fn next(&self, after: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.next_after(after), |at| self.next_after(*at)).take(count).collect()
    }

    /// Minutes after `after` that have come at `now`. Beyond the limit of the count, the last one is sought from `now`.
    pub fn due(&self, after: Millis, now: Millis) -> Option<DueRuns> {
        let mut due = DueRuns { last: self.next_after(after).filter(|at| *at <= now)?, count: 1 };
        while let Some(next) = self.next_after(due.last).filter(|at| *at <= now) {
            due = DueRuns { last: next, count: due.count + 1 };
            if due.count == MAX_COUNTED {
                return Some(DueRuns { last: self.last_until(now).unwrap_or(due.last), ..due });
            }
        }
        Some(due)
    }

    fn last_until(&self, now: Millis) -> Option<Millis> {
        let now = DateTime::from_timestamp_millis(i64::try_from(now).ok()?)?.with_timezone(&self.timezone);
        // croner counts whole seconds, and leaves out the one that it is given.
        let last = self.cron.find_previous_occurrence(&(now + TimeDelta::seconds(1)), false).ok()?;
        Millis::try_from(last.timestamp_millis()).ok()
    }

    /// A time as the clock in the schedule's zone shows it: `2026-11-29 06:00`.
    pub fn wall_time(&self, at: Millis) -> String {
        let at = i64::try_from(at).ok().and_then(DateTime::from_timestamp_millis).unwrap_or_default();
        at.with_timezone(&self.timezone).format("%Y-%m-%d %H:%M").to_string()
    }
}

/// Refuses letters that croner reads in a way of its own, such as `L` and `W`: words are names of months and days.
fn check_words(line: &str) -> Result<(), String> {
    const NAMES: [&str; 19] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "sun", "mon", "tue", "wed",
        "thu", "fri", "sat",
    ];
    let words = line.split(|it: char| !it.is_ascii_alphanumeric()).filter(|word| word.contains(char::is_alphabetic));
    for word in words {
        if !NAMES.contains(&word.to_ascii_lowercase().as_str()) {
            return Err(format!("'{word}' is no month and no day of the week: use jan to dec, mon to sun, or numbers"));
        }
    }
    Ok(())
}

/// croner's sentence, without its heading and full stop.
fn sentence(text: &str) -> String {
    let text = text.split_once(": ").map_or(text, |(_, rest)| rest);
    text.trim_end_matches('.').to_lowercase()
}

/// Time from which the notebook's owner is to look after its schedules: the first due minute, or the beginning of a run that is under way.
/// `None`: it has no schedules.
pub fn due_at(notebook: &Document) -> Option<Millis> {
    let due = |schedule| due_of(notebook, schedule).unwrap_or(NOTHING_DUE);
    notebook.schedules.values().map(due).min()
}

fn due_of(notebook: &Document, schedule: &Schedule) -> Option<Millis> {
    match &schedule.run {
        Some(run) => Some(run.started_at),
        None if schedule.stopped || notebook.archived => None,
        None => Timetable::of(schedule)?.next_after(schedule.after),
    }
}

#[cfg(test)]
mod tests;
