//! Days and months in UTC. A day is a number of days since 1970.

use chrono::{DateTime, Datelike, Days, Months, NaiveDate, Utc};
use notarium_core::Millis;
use notarium_store::spending::CapPeriod;

const DAY_MS: Millis = 24 * 60 * 60 * 1_000;

pub fn day_of(at: Millis) -> u64 {
    at / DAY_MS
}

fn date(day: u64) -> NaiveDate {
    NaiveDate::from_ymd_opt(1970, 1, 1).and_then(|start| start.checked_add_days(Days::new(day))).unwrap_or_default()
}

fn number(date: NaiveDate) -> u64 {
    u64::try_from((date - NaiveDate::default()).num_days()).unwrap_or(0)
}

/// First day of the period that has this day.
pub fn first_day(period: CapPeriod, day: u64) -> u64 {
    match period {
        CapPeriod::Day => day,
        CapPeriod::Month => date(day).with_day(1).map_or(day, number),
    }
}

/// Time at which the next period begins.
pub fn end_of(period: CapPeriod, day: u64) -> Millis {
    let next = match period {
        CapPeriod::Day => day + 1,
        CapPeriod::Month => date(first_day(period, day)).checked_add_months(Months::new(1)).map_or(day, number),
    };
    next * DAY_MS
}

/// `2026-11-29`.
pub fn print_day(day: u64) -> String {
    date(day).to_string()
}

/// Reads `2026-11-29`; `None`: it is no day since 1970.
pub fn parse_day(text: &str) -> Option<u64> {
    let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    u64::try_from((date - NaiveDate::default()).num_days()).ok()
}

/// `2026-12-01 00:00 UTC`.
pub fn print_time(at: Millis) -> String {
    let time = i64::try_from(at).ok().and_then(DateTime::<Utc>::from_timestamp_millis).unwrap_or_default();
    time.format("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_follow_the_calendar_in_utc() {
        let day = |text| parse_day(text).unwrap();
        let at = day("2026-11-29") * DAY_MS + DAY_MS - 1;
        assert_eq!(print_day(day_of(at)), "2026-11-29");
        assert_eq!(print_day(first_day(CapPeriod::Month, day_of(at))), "2026-11-01");
        assert_eq!(print_time(end_of(CapPeriod::Day, day_of(at))), "2026-11-30 00:00 UTC");
        assert_eq!(print_time(end_of(CapPeriod::Month, day("2026-12-31"))), "2027-01-01 00:00 UTC");
        assert_eq!(print_time(end_of(CapPeriod::Month, day("2028-02-29"))), "2028-03-01 00:00 UTC");
        assert_eq!((parse_day("1970-01-01"), day_of(0)), (Some(0), 0));
        for text in ["1969-12-31", "2026-13-01", "2026-02-29", "yesterday", ""] {
            assert_eq!(parse_day(text), None, "{text}");
        }
    }
}
