//! Schedules in words.

use notarium_core::{Event, ScheduledRunEnded, ScheduledRunOutcome, wire_word as word};

use crate::words;

pub fn sentence(event: &Event) -> Option<String> {
    let name = || words::short(event.schedule_id().map_or("", |id| id.as_str())).to_owned();
    Some(match event {
        Event::ScheduleSet(event) => {
            let settings = &event.settings;
            let version =
                settings.version.map_or("the newest version".to_owned(), |version| format!("version {version}"));
            let times = format!("{} ({})", words::clean(&settings.cron), words::clean(&settings.timezone));
            format!("set schedule {} to run {version} at {times}", name())
        }
        Event::ScheduleRemoved(_) => format!("removed schedule {}", name()),
        Event::ScheduledRunStarted(event) => {
            let due = event.due.map(|due| format!(", due at {}", words::time(due))).unwrap_or_default();
            format!("started a run of schedule {}{due}: version {} in notebook {}", name(), event.version, event.run)
        }
        Event::ScheduledRunEnded(event) => format!("{} of schedule {}", ended(event), name()),
        _ => return None,
    })
}

fn ended(event: &ScheduledRunEnded) -> String {
    let more = [&event.error, &event.detail].into_iter().flatten().map(|text| format!(": {}", words::clean(text)));
    let more: String = more.collect();
    match event.outcome.known() {
        Some(ScheduledRunOutcome::Missed) => {
            let count = usize::try_from(event.missed.unwrap_or(1)).unwrap_or(usize::MAX);
            format!("missed {}", words::count(count, "run"))
        }
        _ => format!("ended ({}{more}) a run", word(&event.outcome).replace('_', " ")),
    }
}
