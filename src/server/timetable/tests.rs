use chrono::{Datelike, NaiveDateTime, TimeZone, Timelike};
use proptest::prelude::*;

use super::*;

fn at(time: &str, timezone: &str) -> Millis {
    let time = NaiveDateTime::parse_from_str(time, "%Y-%m-%d %H:%M").unwrap();
    let time = timezone.parse::<IanaZone>().unwrap().from_local_datetime(&time).earliest().unwrap();
    time.timestamp_millis() as Millis
}

fn next(line: &str, timezone: &str, after: &str, count: usize) -> Vec<String> {
    let table = Timetable::checked(line, timezone).unwrap();
    table.next(at(after, timezone), count).into_iter().map(|at| table.wall_time(at)).collect()
}

#[test]
fn lists_ranges_steps_and_names_give_their_minutes() {
    let workdays = next("0 6 * * 1-5", "UTC", "2026-11-27 06:00", 2);
    assert_eq!(workdays, ["2026-11-30 06:00", "2026-12-01 06:00"], "not the minute itself");
    assert_eq!(next("30 8,20 1 jan,JUL *", "UTC", "2026-01-01 08:30", 2), ["2026-01-01 20:30", "2026-07-01 08:30"]);
    assert_eq!(next("*/20 9-10 * * MON", "UTC", "2026-11-30 10:20", 2), ["2026-11-30 10:40", "2026-12-07 09:00"]);
    assert_eq!(
        next("0 0 1 * sun", "UTC", "2026-11-29 00:00", 2),
        ["2026-12-01 00:00", "2026-12-06 00:00"],
        "either day"
    );
    assert_eq!(next("0 12 29 2 *", "UTC", "2026-01-01 00:00", 1), ["2028-02-29 12:00"]);
    assert_eq!(next("0 12 * * 7", "UTC", "2026-11-28 00:00", 1), ["2026-11-29 12:00"]);
}

#[test]
fn a_skipped_hour_runs_at_its_end_and_a_doubled_one_once() {
    let berlin = "Europe/Berlin";
    assert_eq!(next("30 2 * * *", berlin, "2026-03-28 12:00", 2), ["2026-03-29 03:00", "2026-03-30 02:30"]);
    assert_eq!(next("30 2 * * *", berlin, "2026-10-24 12:00", 2), ["2026-10-25 02:30", "2026-10-26 02:30"]);
    let table = Timetable::checked("*/30 * * * *", berlin).unwrap();
    let minutes = table.next(at("2026-10-25 01:30", berlin), 5);
    assert!(minutes.windows(2).all(|pair| pair[1] - pair[0] == 30 * 60_000), "time passes evenly: {minutes:?}");
}

#[test]
fn what_is_no_timetable_is_refused_with_a_reason() {
    let refused = |line: &str| Timetable::checked(line, "UTC").unwrap_err().to_string();
    for (line, reason) in [
        ("0 0 31 2 *", "never comes"),
        ("0 0 30 feb *", "never comes"),
        ("* * * * *", "after 1 min"),
        ("*/4 * * * *", "after 4 min"),
        ("58,1 23,0 * * *", "after 3 min"),
        ("0 6 * *", "4 fields"),
        ("0 0 6 * * 1", "6 fields"),
        ("@daily", "1 fields"),
        ("60 6 * * *", "no line of cron"),
        ("0 24 * * *", "no line of cron"),
        ("0 6 L * *", "'L' is no month"),
        ("0 6 15W * *", "'15W' is no month"),
        ("0 6 * * 5#2", "'#' has no meaning"),
        ("0 6 ? * 1", "'?' has no meaning"),
        ("0 6 * * noday", "'noday' is no month"),
        ("0 6 0 * *", "no line of cron"),
        ("0 6 * 13 *", "no line of cron"),
        ("0 6 * * 8", "no line of cron"),
        ("a b c d e", "is no month"),
        ("0 6 * * 1-", "no line of cron"),
    ] {
        assert!(refused(line).contains(reason), "{line}: {}", refused(line));
    }
    let error = Timetable::checked("0 6 * * *", "Mars/Olympus").unwrap_err();
    assert!(error.to_string().contains("'Mars/Olympus' is no time zone"), "{error}");
    Timetable::checked("*/5 * * * *", "UTC").unwrap();
}

#[test]
fn minutes_that_have_come_are_counted() {
    let table = Timetable::checked("0 6 * * *", "UTC").unwrap();
    let (before, hour) = (at("2026-11-01 06:00", "UTC"), 3_600_000);
    assert_eq!(table.due(before, before + 24 * hour - 1), None);
    let day = DueRuns { last: before + 24 * hour, count: 1 };
    assert_eq!(table.due(before, before + 24 * hour), Some(day));
    let week = DueRuns { last: before + 7 * 24 * hour, count: 7 };
    assert_eq!(table.due(before, before + 7 * 24 * hour + 10), Some(week));
    let often = Timetable::checked("*/5 * * * *", "UTC").unwrap();
    let due = often.due(before, before + 365 * 24 * hour + 7).unwrap();
    assert_eq!(due, DueRuns { last: before + 365 * 24 * hour, count: MAX_COUNTED });
}

/// croniter 7.0 from PyPI, an implementation of cron in another language, has written these.
#[test]
fn croniter_agrees() {
    let cases = include_str!("../../../tests/fixtures/cron/cases.jsonl");
    for case in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(case).unwrap();
        let text = |key: &str| case[key].as_str().unwrap();
        let table = Timetable::parse(text("line"), text("timezone")).unwrap();
        let expected: Vec<Millis> =
            case["next"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() * 1_000).collect();
        assert_eq!(table.next(case["after"].as_u64().unwrap() * 1_000, expected.len()), expected, "{case}");
    }
}

/// A field of cron, and the numbers that it means.
fn field(least: u32, most: u32) -> impl Strategy<Value = (String, Vec<u32>)> {
    let item = prop_oneof![
        (least..=most).prop_map(|number| (number.to_string(), vec![number])),
        (least..=most, least..=most).prop_map(|(one, two)| {
            let (from, to) = (one.min(two), one.max(two));
            (format!("{from}-{to}"), (from..=to).collect())
        }),
        (2..=most).prop_map(move |step| (format!("*/{step}"), (least..=most).step_by(step as usize).collect())),
    ];
    let items = prop::collection::vec(item, 1..3).prop_map(|items| {
        let (texts, numbers): (Vec<String>, Vec<Vec<u32>>) = items.into_iter().unzip();
        (texts.join(","), numbers.concat())
    });
    prop_oneof![1 => Just(("*".to_owned(), (least..=most).collect())), 2 => items]
}

proptest! {
    /// Walks minute by minute, without any calendar but chrono's.
    #[test]
    fn a_walk_over_all_minutes_finds_the_same(
        (minute, minutes) in field(0, 59), (hour, hours) in field(0, 23), (day, days) in field(1, 31),
        (month, months) in field(1, 12), (weekday, weekdays) in field(0, 6), start in 0..40_000_000_u64,
    ) {
        let line = format!("{minute} {hour} {day} {month} {weekday}");
        let table = Timetable::parse(&line, "UTC").unwrap();
        let start = 946_684_800_000 + start * 60_000;
        // With both days restricted, either one counts; croniter agrees.
        let is_day = |date: &DateTime<chrono::Utc>| {
            let (of_month, of_week) =
                (days.contains(&date.day()), weekdays.contains(&date.weekday().num_days_from_sunday()));
            match (day == "*", weekday == "*") {
                (false, false) => of_month || of_week,
                _ => of_month && of_week,
            }
        };
        let fits = |at: &u64| {
            let date = DateTime::from_timestamp_millis(*at as i64).unwrap();
            minutes.contains(&date.minute()) && hours.contains(&date.hour()) && months.contains(&date.month()) && is_day(&date)
        };
        let walked = (1..60 * 24 * 90).map(|minute| start + minute * 60_000).find(fits);
        let found = table.next_after(start).filter(|at| *at < start + 60 * 24 * 90 * 60_000);
        prop_assert_eq!(found, walked, "{}", line);
    }
}
