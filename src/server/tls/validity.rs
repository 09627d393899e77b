//! Validity of a certificate: the two times in its DER (RFC 5280, 4.1).

use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};

/// Tags of DER.
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// First and last moment at which a certificate counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validity {
    pub from: DateTime<Utc>,
    pub until: DateTime<Utc>,
}

impl Validity {
    /// Reads it from a certificate. `None`: the bytes are no certificate.
    pub fn of_der(certificate: &[u8]) -> Option<Self> {
        let (signed, _) = take(certificate, SEQUENCE)?;
        let (mut fields, _) = take(signed, SEQUENCE)?;
        // Version, serial number, signature, issuer.
        if let Some((_, rest)) = take(fields, VERSION) {
            fields = rest;
        }
        (_, fields) = take(fields, INTEGER)?;
        (_, fields) = take(fields, SEQUENCE)?;
        (_, fields) = take(fields, SEQUENCE)?;
        let (times, _) = take(fields, SEQUENCE)?;
        let (from, times) = time(times)?;
        let (until, _) = time(times)?;
        Some(Self { from, until })
    }

    pub fn is_over_in(&self, time: Duration) -> bool {
        self.until <= Utc::now() + time
    }
}

/// Contents of the first element, and what follows it. `None`: it has another tag, or is cut off.
fn take(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk::<2>()?;
    if found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

fn time(bytes: &[u8]) -> Option<(DateTime<Utc>, &[u8])> {
    let (text, rest, is_short) = match take(bytes, UTC_TIME) {
        Some((text, rest)) => (text, rest, true),
        None => take(bytes, GENERALIZED_TIME).map(|(text, rest)| (text, rest, false))?,
    };
    let text = str::from_utf8(text).ok()?;
    // Two digits of a year mean 1950 to 2049.
    let century = match text.as_bytes().first()? {
        _ if !is_short => "",
        b'5'..=b'9' => "19",
        _ => "20",
    };
    let time = NaiveDateTime::parse_from_str(&format!("{century}{text}"), "%Y%m%d%H%M%SZ").ok()?;
    Some((time.and_utc(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_time_are_read() {
        let texts = [
            (UTC_TIME, "491231235959Z", "2049-12-31T23:59:59+00:00"),
            (UTC_TIME, "500101000000Z", "1950-01-01T00:00:00+00:00"),
            (GENERALIZED_TIME, "20500101000000Z", "2050-01-01T00:00:00+00:00"),
        ];
        for (tag, text, expected) in texts {
            let bytes = [&[tag, u8::try_from(text.len()).unwrap()], text.as_bytes(), b"rest"].concat();
            let (time, rest) = time(&bytes).unwrap();
            assert_eq!((time.to_rfc3339().as_str(), rest), (expected, b"rest".as_slice()));
        }
        assert!(time(&[UTC_TIME, 3, b'1']).is_none() && time(&[]).is_none() && time(&[UTC_TIME, 1, b'x']).is_none());
    }

    #[test]
    fn bytes_that_are_no_certificate_have_no_validity() {
        for bytes in [b"".as_slice(), b"text", &[SEQUENCE, 0x85, 1, 1, 1, 1, 1], &[SEQUENCE, 4, SEQUENCE, 2, 1, 1]] {
            assert_eq!(Validity::of_der(bytes), None);
        }
    }
}
