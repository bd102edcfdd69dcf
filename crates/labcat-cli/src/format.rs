//! Numbers, points and dates as text, and lines for people.

use std::borrow::Cow;
use std::io::{self, Write, stderr, stdout};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

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

/// What stopped a search, in words: `stopped by …`.
pub(crate) fn stopped_by(reason: &str) -> &str {
    match reason {
        "exhausted" => "an exhausted space",
        "time_limit" => "the time limit",
        other => other,
    }
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
    let _ = writeln!(stderr(), "{}", printable(line));
}

/// Standard output for people: nothing that is written to it can steer a terminal.
pub(crate) fn people() -> Printable<io::Stdout> {
    Printable(stdout())
}

/// Where text is made [`printable`] before it is written.
pub(crate) struct Printable<W>(W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What `writeln!` hands over are whole texts.
        self.0.write_all(printable(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// JSON in which what could steer a terminal is escaped; it reads back as the same.
pub(crate) fn json_text(value: &serde_json::Value) -> String {
    let text = value.to_string();
    if !text.contains(is_harmful) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match is_harmful(c) {
            true => escaped.push_str(&format!("\\u{:04x}", c as u32)),
            false => escaped.push(c),
        }
    }
    escaped
}

/// Whether a terminal would obey a character.
fn is_harmful(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || turns
}

/// The name under which a file is written before it is whole.
pub(crate) fn part_of(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}

/// Text for a terminal: characters that would move its cursor, change its colours or the order of its letters are shown
/// as what they are (`^[`), and none of them is obeyed.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            _ if !is_harmful(c) => shown.push(c),
            '\0'..='\x1f' => shown.extend(['^', char::from(c as u8 + b'@')]),
            '\x7f' => shown.push_str("^?"),
            _ => shown.extend(c.escape_unicode()),
        }
    }
    Cow::Owned(shown)
}

/// The beginning of a text that may be long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The end of what a failed program said, standard error first choice.
pub(crate) fn last_lines<'a>(stdout: &'a str, stderr: &'a str) -> Vec<&'a str> {
    const SHOWN: usize = 4;
    let text = if stderr.trim().is_empty() { stdout } else { stderr };
    let lines: Vec<&str> = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN)..].to_vec()
}

/// A path as a word that a shell reads back, for commands that people copy.
pub(crate) fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "-_./+:@%,=".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// `2025-03-09 14:05 UTC`.
pub(crate) fn date(seconds_since_1970: u64) -> String {
    time(seconds_since_1970 as f64, "%Y-%m-%d %H:%M UTC")
}

/// `2025-03-09T14:05:07.250Z`.
pub(crate) fn timestamp(seconds_since_1970: f64) -> String {
    time(seconds_since_1970, "%Y-%m-%dT%H:%M:%S.%3fZ")
}

fn time(seconds_since_1970: f64, form: &str) -> String {
    let time = Timestamp::from_millisecond((seconds_since_1970 * 1e3).round() as i64);
    time.map_or_else(|_| "unknown time".to_owned(), |time| time.strftime(form).to_string())
}

/// Seconds since 1970; 0 on a machine whose clock is before that.
pub(crate) fn now() -> u64 {
    moment() as u64
}

/// Seconds since 1970, with fractions.
pub(crate) fn moment() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |span| span.as_secs_f64())
}

/// The name of this machine.
pub(crate) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
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
        assert_eq!(timestamp(1_741_529_107.25), "2025-03-09T14:05:07.250Z");
        assert_eq!(date(u64::MAX), "unknown time");
    }

    #[test]
    fn a_terminal_is_told_nothing_but_text() {
        assert_eq!(printable("a\tb\nc é 🐈"), "a\tb\nc é 🐈");
        assert_eq!(
            printable("\x1b[31mred\x1b]0;title\x07\r\x7f\u{9b}2J\u{202e}"),
            "^[[31mred^[]0;title^G^M^?\\u{9b}2J\\u{202e}"
        );
    }

    #[test]
    fn paths_are_words_of_a_shell() {
        for (path, text) in
            [("a/b-1.toml", "a/b-1.toml"), ("my study.toml", "'my study.toml'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(word(Path::new(path)), text);
        }
    }
}
