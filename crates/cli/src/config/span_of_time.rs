//! Spans of time as people write them: `500ms`, `10s`, `5m`, `2h`.

use std::time::Duration;

/// Nothing that is waited for takes longer: a mistyped unit shows here, and clocks can add it.
const MOST: Duration = Duration::from_secs(24 * 60 * 60);

/// Reads one; the error says what is wrong with it.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let wanted = "a span of time is a whole number and a unit: 500ms, 10s, 5m, 2h";
    let number: u64 = number.parse().map_err(|_| wanted.to_owned())?;
    let thousandths = match unit.trim_start() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wanted.to_owned()),
    };
    let span = number.checked_mul(thousandths).map(Duration::from_millis);
    match span {
        Some(span) if span.is_zero() => Err("it has to be longer than nothing".to_owned()),
        Some(span) if span <= MOST => Ok(span),
        Some(_) | None => Err("it is longer than a day".to_owned()),
    }
}

/// Writes one so that it can be read again.
pub fn show(span: Duration) -> String {
    let thousandths = span.as_millis();
    for (unit, size) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
        if thousandths >= size && thousandths.is_multiple_of(size) {
            return format!("{}{unit}", thousandths / size);
        }
    }
    format!("{thousandths}ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read_and_written() {
        for (text, thousandths) in [("500ms", 500), ("10s", 10_000), ("5m", 300_000), ("2h", 7_200_000)] {
            assert_eq!(parse(text), Ok(Duration::from_millis(thousandths)));
            assert_eq!(show(Duration::from_millis(thousandths)), text);
        }
        assert_eq!(parse(" 90 s "), Ok(Duration::from_secs(90)));
        assert_eq!(show(Duration::from_secs(90)), "90s");
    }

    #[test]
    fn anything_else_is_refused_with_what_is_wanted() {
        for text in ["", "10", "s", "-5s", "1.5s", "10 parsecs", "5мин", "١٠s", "0s", "0ms"] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        assert!(parse("25h").is_err());
        assert!(parse("99999999999999999999s").is_err());
        assert!(parse("18446744073709551615h").is_err());
    }
}
