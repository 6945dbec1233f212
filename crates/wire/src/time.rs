//! Timestamps of all spellings.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use mainstay_engine::transcript::Timestamp;

use crate::json;
use crate::json::Raw;

/// A number above this is milliseconds, not seconds: as seconds it would be past the year 5000.
const LATEST_SECONDS: f64 = 1e11;

/// The time an ISO 8601 text gives; without a zone it is taken as UTC.
pub fn parse(text: &str) -> Option<Timestamp> {
    let stamp = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let local = text.parse::<DateTime>().ok()?;
        Some(local.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })?;
    Some(Timestamp(stamp.as_millisecond()))
}

/// The time a number gives, in seconds or milliseconds since the epoch.
pub fn from_number(number: f64) -> Timestamp {
    let milliseconds = if number.abs() < LATEST_SECONDS {
        number * 1000.0
    } else {
        number
    };
    Timestamp(milliseconds as i64)
}

/// The time a JSON value gives: a text or a number.
pub fn read(raw: Raw<'_>) -> Option<Timestamp> {
    match json::number(raw) {
        Some(number) => Some(from_number(number)),
        None => parse(&json::text(raw)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_agree() {
        let expected = Some(Timestamp(1_785_578_400_250));
        assert_eq!(parse("2026-08-01T10:00:00.250Z"), expected);
        assert_eq!(parse("2026-08-01T12:00:00.25+02:00"), expected);
        assert_eq!(parse("2026-08-01T10:00:00.250"), expected);
        assert_eq!(parse("2026-08-01 10:00:00.250"), expected);
        assert_eq!(read(json::value("1785578400.25").unwrap()), expected);
        assert_eq!(read(json::value("1785578400250").unwrap()), expected);
        assert_eq!(parse("yesterday"), None);
    }
}
