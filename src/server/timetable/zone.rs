//! Time zones for chrono, by which croner counts, from jiff's database, which is in the program. (chrono-tz, the usual one, is 2 MB.)

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use chrono::{Datelike, FixedOffset, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone, Timelike};
use jiff::Timestamp;
use jiff::civil;
use jiff::tz::{self, AmbiguousOffset};

/// A time zone of the IANA database.
#[derive(Debug, Clone)]
pub struct IanaZone(tz::TimeZone);

/// Offset of a zone from UTC at some time.
#[derive(Debug, Clone)]
pub struct IanaOffset {
    zone: IanaZone,
    offset: FixedOffset,
}

/// Refusal of a name that no zone has.
#[derive(Debug, Clone, Copy)]
pub struct UnknownZone;

impl FromStr for IanaZone {
    type Err = UnknownZone;

    /// Finds a zone by its name as the database writes it.
    fn from_str(name: &str) -> Result<Self, UnknownZone> {
        let zone = tz::TimeZone::get(name).map_err(|_| UnknownZone)?;
        let is_known = !zone.is_unknown() && zone.iana_name() == Some(name);
        is_known.then_some(Self(zone)).ok_or(UnknownZone)
    }
}

impl IanaZone {
    fn at(&self, offset: tz::Offset) -> IanaOffset {
        let offset = FixedOffset::east_opt(offset.seconds()).unwrap_or_else(utc);
        IanaOffset { zone: self.clone(), offset }
    }
}

fn utc() -> FixedOffset {
    chrono::Utc.fix()
}

impl Offset for IanaOffset {
    fn fix(&self) -> FixedOffset {
        self.offset
    }
}

impl Display for IanaOffset {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.offset.fmt(formatter)
    }
}

impl TimeZone for IanaZone {
    type Offset = IanaOffset;

    fn from_offset(offset: &IanaOffset) -> Self {
        offset.zone.clone()
    }

    fn offset_from_local_date(&self, local: &NaiveDate) -> MappedLocalTime<IanaOffset> {
        self.offset_from_local_datetime(&local.and_time(NaiveTime::MIN))
    }

    fn offset_from_local_datetime(&self, local: &NaiveDateTime) -> MappedLocalTime<IanaOffset> {
        // The database has no times after the year 9999.
        let Some(local) = civil_of(local) else { return MappedLocalTime::None };
        match self.0.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => MappedLocalTime::Single(self.at(offset)),
            AmbiguousOffset::Gap { .. } => MappedLocalTime::None,
            AmbiguousOffset::Fold { before, after } => MappedLocalTime::Ambiguous(self.at(before), self.at(after)),
        }
    }

    fn offset_from_utc_date(&self, utc: &NaiveDate) -> IanaOffset {
        self.offset_from_utc_datetime(&utc.and_time(NaiveTime::MIN))
    }

    fn offset_from_utc_datetime(&self, time: &NaiveDateTime) -> IanaOffset {
        match Timestamp::from_second(time.and_utc().timestamp()) {
            Ok(time) => self.at(self.0.to_offset(time)),
            Err(_) => IanaOffset { zone: self.clone(), offset: utc() },
        }
    }
}

fn civil_of(time: &NaiveDateTime) -> Option<civil::DateTime> {
    let year = i16::try_from(time.year()).ok()?;
    let [month, day, hour, minute, second] =
        [time.month(), time.day(), time.hour(), time.minute(), time.second()].map(|part| i8::try_from(part).ok());
    civil::DateTime::new(year, month?, day?, hour?, minute?, second?, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zone(name: &str) -> IanaZone {
        name.parse().unwrap()
    }

    fn local(zone: &IanaZone, time: &str) -> Vec<String> {
        let time = NaiveDateTime::parse_from_str(time, "%Y-%m-%d %H:%M").unwrap();
        match zone.from_local_datetime(&time) {
            MappedLocalTime::None => vec![],
            MappedLocalTime::Single(one) => vec![one.to_rfc3339()],
            MappedLocalTime::Ambiguous(first, second) => vec![first.to_rfc3339(), second.to_rfc3339()],
        }
    }

    #[test]
    fn a_clock_that_changes_has_no_time_or_two() {
        let berlin = zone("Europe/Berlin");
        assert_eq!(local(&berlin, "2026-07-01 06:00"), ["2026-07-01T06:00:00+02:00"]);
        assert_eq!(local(&berlin, "2026-03-29 02:30"), [""; 0]);
        assert_eq!(
            local(&berlin, "2026-10-25 02:30"),
            ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"],
            "the earlier one first"
        );
        assert_eq!(local(&zone("Asia/Kathmandu"), "2026-01-01 00:00"), ["2026-01-01T00:00:00+05:45"]);
        assert_eq!(local(&berlin, "2150-07-01 06:00"), ["2150-07-01T06:00:00+02:00"], "by the rules, without an end");
    }

    #[test]
    fn a_zone_has_its_name_as_the_database_writes_it() {
        for name in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "US/Pacific", "Etc/GMT-3"] {
            assert!(name.parse::<IanaZone>().is_ok(), "{name}");
        }
        for name in ["", "europe/berlin", "Etc/Unknown", "CEST", "+02:00", "Mars/Olympus", "../etc/passwd"] {
            assert!(name.parse::<IanaZone>().is_err(), "{name}");
        }
    }
}
