//! Sentences of notices, in plain words. They have names and titles, and no text of a notebook.

use chrono::{DateTime, SecondsFormat};
use notarium_core::{Actor, EndCause, Millis, Open, UserId, sentence};
use notarium_wire::rest::NoticeKind;

use super::Notices;

/// Characters of a text in a sentence.
const MAX_CHARACTERS: usize = 200;

impl Notices {
    /// Sentence of a notice. `title`: that of the notebook, if the reader may read it.
    pub(super) async fn sentence(&self, kind: &NoticeKind, title: Option<&str>, reader: &UserId) -> String {
        let place = title.map(|title| format!(" in ‘{}’", short(title))).unwrap_or_default();
        match kind {
            NoticeKind::CallWaits { function, for_user, .. } => {
                let whose = match for_user {
                    Some(user) if user == reader => "Your assistant".to_owned(),
                    Some(user) => format!("{}’s assistant", self.name_of(user).await),
                    None => "An assistant".to_owned(),
                };
                format!("{whose} is waiting for your approval{place}: {}.", short(function))
            }
            NoticeKind::Mentioned { by, comment, .. } => {
                let thing = if comment.is_some() { "a comment" } else { "a message" };
                format!("{} mentioned you in {thing}{place}.", self.name_of_actor(by).await)
            }
            NoticeKind::RunEnded { seconds, .. } => format!("Your run{place} succeeded after {}.", lasted(*seconds)),
            NoticeKind::RunFailed { seconds, is_lost, cause, .. } => {
                run_failed(&place, *seconds, *is_lost, cause.as_deref())
            }
            NoticeKind::AgentGone { name, .. } => {
                format!("The agent ‘{}’ is gone, and its kernels have ended.", short(name))
            }
            NoticeKind::CapReached { cap, resets_at } => match resets_at {
                Some(at) => format!("A spending cap is reached: {}. It resets at {}.", short(cap), day_and_time(*at)),
                None => format!("A spending cap is reached: {}. An administrator can raise it.", short(cap)),
            },
            NoticeKind::ScheduleFailed { schedule, reason } => {
                format!("The scheduled run ‘{}’{place} failed: {}", short(schedule), short(reason))
            }
            NoticeKind::ScheduleMissed { schedule, due_at, count } => {
                let runs = if *count == 1 { "A scheduled run".to_owned() } else { format!("{count} scheduled runs") };
                format!(
                    "{runs} of ‘{}’{place} did not take place, the first at {}.",
                    short(schedule),
                    day_and_time(*due_at)
                )
            }
        }
    }

    async fn name_of_actor(&self, actor: &Actor) -> String {
        match actor {
            Actor::User { id } => self.name_of(id).await,
            Actor::Guest { share_link } => {
                let name = self.notebooks.accounts.guest_name(share_link).await.ok().flatten();
                name.map_or_else(|| "A guest".to_owned(), |name| short(&name))
            }
            Actor::Assistant { .. } => "An assistant".to_owned(),
            Actor::Agent { .. } | Actor::System => "The server".to_owned(),
        }
    }

    async fn name_of(&self, user: &UserId) -> String {
        let found = self.notebooks.accounts.store().user(user).await.ok().flatten();
        found.map_or_else(|| "Somebody".to_owned(), |user| short(&user.name))
    }
}

fn run_failed(place: &str, seconds: u64, is_lost: bool, cause: Option<&str>) -> String {
    let cause = cause.and_then(|cause| serde_json::from_value::<Open<EndCause>>(cause.into()).ok());
    let reason = cause.map(|cause| format!(": {}", sentence(&cause, None))).unwrap_or_default();
    match (is_lost, seconds) {
        (true, 0) => format!("Your run{place} was lost{reason}."),
        (true, _) => format!("Your run{place} was lost after {}{reason}.", lasted(seconds)),
        (false, _) => format!("Your run{place} failed after {}{reason}.", lasted(seconds)),
    }
}

/// A running time as people say it.
fn lasted(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A text of somebody on one line, cut.
pub(super) fn short(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    match line.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn time(at: Millis) -> Option<DateTime<chrono::Utc>> {
    DateTime::from_timestamp_millis(i64::try_from(at).ok()?)
}

/// Time by RFC 3339, for programs.
pub(super) fn timestamp(at: Millis) -> String {
    time(at).map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true)).unwrap_or_default()
}

/// Time for people, who may live anywhere.
fn day_and_time(at: Millis) -> String {
    time(at).map(|time| time.format("%Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_run_says_how_and_why() {
        assert_eq!(run_failed(" in ‘T’", 125, false, None), "Your run in ‘T’ failed after 2 min.");
        assert_eq!(
            run_failed("", 7_260, false, Some("timed_out")),
            "Your run failed after 2 h 1 min: its time was up."
        );
        assert_eq!(run_failed("", 0, true, Some("kernel_died")), "Your run was lost: the kernel died.");
        assert_eq!(run_failed("", 5, true, Some("a_later_word")), "Your run was lost after 5 s: a later word.");
    }

    #[test]
    fn texts_of_people_stay_on_one_line_and_short() {
        assert_eq!(short("a\nb\u{7}"), "a b ");
        assert_eq!(short(&"ä".repeat(500)).chars().count(), MAX_CHARACTERS + 1);
    }

    #[test]
    fn times_are_in_utc() {
        assert_eq!(timestamp(1_000), "1970-01-01T00:00:01.000Z");
        assert_eq!(day_and_time(1_795_000_000_000), "2026-11-18 11:06 UTC");
    }
}
