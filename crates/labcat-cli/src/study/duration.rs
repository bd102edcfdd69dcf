//! Spans of time as people write them: `"90s"`, `"10m"`, `"1h30m"`.

use std::time::Duration;

/// What to write, for messages.
pub(crate) const EXAMPLES: &str = r#""90s", "10m", "1h30m" or a number of seconds"#;

const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86400.0)];

/// Reads `1h30m`, `2.5s`, `500ms`; a bare number is seconds. `None` for anything else, zero included.
pub(crate) fn parse(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return positive(seconds);
    }
    let mut rest = text;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
        seconds += number.parse::<f64>().ok()? * factor;
        rest = tail.trim_start();
    }
    positive(seconds)
}

fn positive(seconds: f64) -> Option<Duration> {
    (seconds > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

/// The shortest way to write a span that people read: `850ms`, `12.3s`, `4m05s`, `2h03m`, `3d04h`.
pub(crate) fn show(span: Duration) -> String {
    let whole = span.as_secs();
    match span.as_secs_f64() {
        s if s < 0.9995 => format!("{:.0}ms", s * 1e3),
        s if s < 59.95 => format!("{}s", (s * 10.0).round() / 10.0),
        _ if whole < 3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ if whole < 86400 => format!("{}h{:02}m", whole / 3600, whole % 3600 / 60),
        _ => format!("{}d{:02}h", whole / 86400, whole % 86400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, millis) in [
            ("90s", 90_000),
            ("10m", 600_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("2.5", 2_500),
            ("500ms", 500),
            ("1d", 86_400_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in ["", "m", "10 minutes", "-5s", "0", "0s", "1e400", "nan", "inf", "5x", "1..2s", "10m5"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn shows_briefly() {
        for (millis, text) in [
            (850, "850ms"),
            (12_340, "12.3s"),
            (59_990, "0m59s"),
            (245_000, "4m05s"),
            (7_380_000, "2h03m"),
            (273_600_000, "3d04h"),
        ] {
            assert_eq!(show(Duration::from_millis(millis)), text);
        }
    }
}
