//! The value of an evaluation: what a command gave, and how it is found in what the command wrote.

mod extract;

use serde_json::{Map, Value};

use crate::format::shortened;
pub(crate) use extract::{Column, Extraction, Row, Separator};

/// Other fields than the value are kept up to this size.
const FIELDS_KEPT: usize = 4 * 1024;

/// What a command gave: its value, and whatever else stood beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) value: f64,
    /// Standard deviation of the noise in it, if the command told.
    pub(crate) std: Option<f64>,
    /// The whole object, `value` included.
    fields: Map<String, Value>,
}

impl Reading {
    /// A bare number. SQLite has no negative zero: nobody else may see one either, or a resumed study would differ.
    pub(crate) fn of(value: f64) -> Reading {
        Reading::with(value, Map::new())
    }

    fn with(value: f64, mut fields: Map<String, Value>) -> Reading {
        let value = value + 0.0;
        fields.insert("value".to_owned(), value.into());
        Reading { value, std: None, fields }
    }

    /// The same with the standard deviation of its noise. The error completes "the line …".
    pub(crate) fn with_std(mut self, std: f64) -> Result<Reading, String> {
        if !(std.is_finite() && std >= 0.0) {
            return Err(format!("has a \"std\" of {std}, which is not a finite number of at least 0"));
        }
        self.fields.insert("std".to_owned(), std.into());
        Ok(Reading { std: Some(std), ..self })
    }

    /// The standard deviation in what was stored.
    pub(crate) fn stored_std(stored: &Value) -> Option<f64> {
        stored.get("std")?.as_f64().filter(|std| *std >= 0.0)
    }

    /// Reads a finite number, or an object with one: `1.25`, `1.5D+02`, `{"value": 1.25, "note": "anything"}`.
    /// The error completes "the line …".
    pub(crate) fn parse(line: &str) -> Result<Reading, String> {
        if let Some(value) = number(line) {
            return finite(value).map(Reading::of);
        }
        match serde_json::from_str::<Value>(line) {
            Ok(Value::Object(fields)) => {
                let value = fields.get("value").ok_or("has no \"value\"")?;
                let value = value.as_f64().ok_or("has a \"value\" that is not a number")?;
                let std = fields.get("std").cloned();
                let reading = Reading::with(finite(value)?, fields);
                match std {
                    None => Ok(reading),
                    Some(std) => reading.with_std(std.as_f64().ok_or("has a \"std\" that is not a number")?),
                }
            }
            _ => Err("is neither a number nor {\"value\": …}".to_owned()),
        }
    }

    /// As the journal keeps it; fields that are too long are left out.
    pub(crate) fn stored(&self) -> String {
        let whole = serde_json::json!(self.fields).to_string();
        match whole.len() <= FIELDS_KEPT {
            true => whole,
            false => match self.std {
                Some(std) => serde_json::json!({ "value": self.value, "std": std }).to_string(),
                None => serde_json::json!({ "value": self.value }).to_string(),
            },
        }
    }
}

/// The error completes "the line …".
fn finite(value: f64) -> Result<f64, String> {
    match value.is_finite() {
        true => Ok(value),
        false => Err("is not a finite number".to_owned()),
    }
}

/// A decimal number, also as Fortran writes it: `1.5D+02`, `.5d0`, and `1.5-102` when the exponent needs three digits.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(value) = text.parse::<f64>() {
        return Some(value);
    }
    let plain =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    let (mantissa, exponent) = match text.split_once(['d', 'D']) {
        Some(parts) => parts,
        None => text.split_at(1 + text.get(1..)?.rfind(['+', '-'])?),
    };
    (plain(mantissa) && plain(exponent)).then(|| format!("{mantissa}e{exponent}").parse().ok())?
}

/// The number that a text is, with words for when it is none; they complete "it found …".
fn found(text: &str) -> Result<Reading, String> {
    let value = number(text).ok_or_else(|| format!("`{}`, which is not a number", shortened(text)))?;
    finite(value).map(Reading::of).map_err(|why| format!("`{}`, which {why}", shortened(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_number_or_an_object_with_one() {
        for (line, value) in [("1.5", 1.5), ("-3e-7", -3e-7), ("+2", 2.0), (r#"{"value": 4, "note": "x"}"#, 4.0)] {
            assert_eq!(Reading::parse(line).map(|reading| reading.value), Ok(value), "{line}");
        }
        for line in
            ["", "1,5", "value 3", "nan", "inf", "1e999", "{}", r#"{"value": "3"}"#, r#"{"value": null}"#, "[1]"]
        {
            assert!(Reading::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn the_noise_of_a_value_stands_beside_it() {
        let reading = Reading::parse(r#"{"value": 4, "std": 0.5}"#).unwrap();
        assert_eq!((reading.value, reading.std), (4.0, Some(0.5)));
        assert_eq!(Reading::stored_std(&serde_json::from_str(&reading.stored()).unwrap()), Some(0.5));
        let long = format!(r#"{{"value": 1, "std": 2, "all": "{}"}}"#, "x".repeat(FIELDS_KEPT));
        let short: serde_json::Value = serde_json::from_str(&Reading::parse(&long).unwrap().stored()).unwrap();
        assert_eq!(short, serde_json::json!({ "value": 1.0, "std": 2.0 }));
        for (line, part) in [
            (r#"{"value": 4, "std": -1}"#, "of -1, which is not a finite number of at least 0"),
            (r#"{"value": 4, "std": "x"}"#, "not a number"),
            (r#"{"value": 4, "std": null}"#, "not a number"),
        ] {
            assert!(Reading::parse(line).unwrap_err().contains(part), "{line}");
        }
    }

    #[test]
    fn numbers_of_fortran_are_numbers() {
        for (text, value) in [
            ("1.5D+02", 150.0),
            ("1.5d2", 150.0),
            (" -.5D-1 ", -0.05),
            ("0.12345D-100", 0.12345e-100),
            ("0.12345-100", 0.12345e-100),
            ("-1.0+120", -1e120),
            ("3.", 3.0),
            ("7E+00", 7.0),
        ] {
            assert_eq!(number(text), Some(value), "{text}");
        }
        for text in ["", "D", "1D", "D2", "******", "1.5D+02x", "0x1d", "1-2-3", "2024-11-15", "d1", "+", "1.5 2"] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    #[test]
    fn what_stands_beside_the_value_is_kept_if_it_is_small() {
        let small = Reading::parse(r#"{"mass": 2.5, "value": -0.0}"#).unwrap();
        assert_eq!(small.stored(), r#"{"mass":2.5,"value":0.0}"#);
        let large = Reading::parse(&format!(r#"{{"value": 1, "all": "{}"}}"#, "x".repeat(FIELDS_KEPT))).unwrap();
        assert_eq!(large.stored(), r#"{"value":1.0}"#);
    }
}
