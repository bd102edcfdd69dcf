//! Numbers, points and dates as text, and lines for people.

use std::io::{Write, stderr};
use std::time::{SystemTime, UNIX_EPOCH};

/// The shortest decimal that reads back as the same number; an exponent where plain digits would be long.
pub(crate) fn number(x: f64) -> String {
    let magnitude = x.abs();
    if magnitude == 0.0 || (1e-5..1e16).contains(&magnitude) || !x.is_finite() {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

/// A number with about `digits` significant digits, for people.
pub(crate) fn brief(x: f64, digits: usize) -> String {
    let magnitude = x.abs();
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    if !(1e-3..1e6).contains(&magnitude) {
        return format!("{x:.*e}", digits - 1);
    }
    let decimals = (digits as i32 - 1 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// `x = 1.02, y = 0.98`.
pub(crate) fn point(names: &[&str], x: &[f64], digits: usize) -> String {
    let parts: Vec<String> =
        names.iter().zip(x).map(|(name, value)| format!("{name} = {}", brief(*value, digits))).collect();
    parts.join(", ")
}

/// `1 evaluation`, `12 evaluations`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        _ => format!("{n} {noun}s"),
    }
}

/// A line on standard error. Nobody may be reading it, which must not end a run.
pub(crate) fn complain(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// `2025-03-09 14:05 UTC`.
pub(crate) fn date(seconds_since_1970: u64) -> String {
    let days = (seconds_since_1970 / 86_400) as i64;
    let minutes = seconds_since_1970 % 86_400 / 60;
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Seconds since 1970; 0 on a machine whose clock is before that.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |span| span.as_secs())
}

/// The Gregorian date of a day counted from 1970-01-01, with years that begin in March so that leap days come last.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_exactly() {
        for x in [0.0, -0.0, 1.0, 0.1, -1.0 / 3.0, 1e-300, 1.5e300, 5e-324, f64::MAX, 123_456_789.125, 9.9e-6] {
            assert_eq!(number(x).parse::<f64>().unwrap().to_bits(), x.to_bits(), "{x}");
        }
        assert_eq!(number(1e-300), "1e-300");
        assert_eq!(number(-2.5), "-2.5");
    }

    #[test]
    fn brief_numbers() {
        for (x, text) in
            [(1.0, "1"), (0.397_887_4, "0.39789"), (1_234_567.0, "1.2346e6"), (150.0, "150"), (-1e-9, "-1.0000e-9")]
        {
            assert_eq!(brief(x, 5), text);
        }
    }

    #[test]
    fn dates() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_827_696), "2000-02-29 12:34 UTC");
        assert_eq!(date(1_741_529_100), "2025-03-09 14:05 UTC");
    }
}
