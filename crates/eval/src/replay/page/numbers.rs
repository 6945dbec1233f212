//! Numbers as a person reads them. What is no number is a dash.

use mainstay_engine::decide::marker::thousands;

/// What stands where there is nothing.
pub const NONE: &str = "–";

/// Dollars: two places, more below one dollar, so that three figures can be read.
pub fn dollars(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let sign = if value < 0.0 { "−" } else { "" };
    let size = value.abs();
    if size >= 1000.0 {
        return format!("{sign}${}", thousands(size.round() as u64));
    }
    let places = match size {
        _ if size >= 1.0 || size == 0.0 => 2,
        _ if size >= 0.1 => 3,
        _ if size >= 0.01 => 4,
        _ => 5,
    };
    format!("{sign}${size:.places$}")
}

/// Tokens, shortly: 870, 143k, 1.24M.
pub fn tokens(value: f64) -> String {
    match value {
        _ if !value.is_finite() => NONE.to_owned(),
        _ if value >= 999_500_000.0 => format!("{}B", short(value / 1e9)),
        _ if value >= 999_500.0 => format!("{}M", short(value / 1e6)),
        _ if value >= 1000.0 => format!("{}k", short(value / 1e3)),
        _ => format!("{value:.0}"),
    }
}

/// Three figures, without zeroes behind the point.
fn short(value: f64) -> String {
    let places = match value {
        _ if value >= 99.5 => 0,
        _ if value >= 9.95 => 1,
        _ => 2,
    };
    let text = format!("{value:.places$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A share in per cent.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if !value.is_finite() {
        return NONE.to_owned();
    }
    format!("{}\u{a0}%", plain(value, 1))
}

/// A share in per cent, with its sign.
pub fn signed(share: f64) -> String {
    match percent(share.abs()) {
        none if none == NONE => none,
        shown if shown.starts_with("0.0") => "±0.0\u{a0}%".to_owned(),
        shown if share < 0.0 => format!("−{shown}"),
        shown => format!("+{shown}"),
    }
}

/// A difference in words: `14.2 % less`.
pub fn change(share: f64) -> String {
    let shown = percent(share.abs());
    match share {
        _ if shown == NONE => shown,
        _ if shown.starts_with("0.0") => "as much".to_owned(),
        _ if share < 0.0 => format!("{shown} less"),
        _ => format!("{shown} more"),
    }
}

/// A number to so many places.
pub fn plain(value: f64, places: usize) -> String {
    if value.is_finite() {
        format!("{value:.places$}").replace('-', "−")
    } else {
        NONE.to_owned()
    }
}

/// Seconds as hours, minutes or seconds.
pub fn duration(seconds: f64) -> String {
    match seconds {
        _ if !seconds.is_finite() => NONE.to_owned(),
        _ if seconds < 90.0 => format!("{seconds:.0}\u{a0}s"),
        _ if seconds < 5400.0 => format!("{:.0}\u{a0}min", seconds / 60.0),
        _ => format!("{:.1}\u{a0}h", seconds / 3600.0),
    }
}

/// A count with its noun.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{}\u{a0}{noun}{plural}", thousands(count as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_say_what_they_are() {
        assert_eq!(
            [0.0, 0.00123, 0.0456, 0.789, 12.346, 12345.6, -3.0, f64::NAN].map(dollars),
            [
                "$0.00", "$0.00123", "$0.0456", "$0.789", "$12.35", "$12,346", "−$3.00", "–"
            ]
        );
        assert_eq!(
            [0.0, 870.0, 1000.0, 14_260.0, 143_000.0, 999_600.0, 1_240_000.0, 2.5e9].map(tokens),
            ["0", "870", "1k", "14.3k", "143k", "1M", "1.24M", "2.5B"]
        );
        assert_eq!(
            [-0.1421, 0.0, 0.5].map(signed),
            ["−14.2\u{a0}%", "±0.0\u{a0}%", "+50.0\u{a0}%"]
        );
        assert_eq!(
            [-0.1421, 0.0001, 0.5].map(change),
            ["14.2\u{a0}% less", "as much", "50.0\u{a0}% more"]
        );
        assert_eq!(
            [45.0, 600.0, 9000.0].map(duration),
            ["45\u{a0}s", "10\u{a0}min", "2.5\u{a0}h"]
        );
        assert_eq!(
            [counted(1, "pass"), counted(2310, "request")],
            ["1\u{a0}pass", "2,310\u{a0}requests"]
        );
    }
}
