//! The value of an evaluation, and how it is found in the output of the command.

mod extract;
mod numbers;

use labcat::Outcome;
use serde_json::{Map, Value};

use crate::format::shortened;
pub(crate) use extract::{Column, Extraction, Row, Separator};
pub(crate) use numbers::Numbers;

/// Other fields than the value are kept up to this size.
const FIELDS_KEPT: usize = 4 * 1024;
/// How much a value may differ from the sum of squares of the residuals beside it, by rounding.
const SAME_VALUE: f64 = 1e-6;

/// The result of a command: its value, and everything that was printed with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Missing only where a constraint is violated.
    pub(crate) value: Option<f64>,
    /// Standard deviation of the noise in the value, if the command printed it.
    pub(crate) std: Option<f64>,
    /// The residuals whose squares sum to the value; empty if there are none.
    pub(crate) residuals: Vec<f64>,
    /// Derivatives of the value by each parameter, NaN where one is not known; empty if none is.
    pub(crate) gradient: Vec<f64>,
    /// The whole object, `value` included, `residuals` not.
    fields: Map<String, Value>,
    /// The fields that the study needs: they are always kept.
    needed: Vec<String>,
}

impl Reading {
    /// A bare number. SQLite has no negative zero: nobody else may see one either, or a resumed study would differ.
    pub(crate) fn of(value: f64) -> Reading {
        Reading::with(Some(value), Map::new())
    }

    /// A value, or none, with the fields printed beside it.
    pub(crate) fn with(value: Option<f64>, mut fields: Map<String, Value>) -> Reading {
        let value = value.map(|value| value + 0.0);
        fields.insert("value".to_owned(), value.into());
        Reading { value, std: None, residuals: Vec::new(), gradient: Vec::new(), fields, needed: Vec::new() }
    }

    /// The same, of a study that needs these fields.
    pub(crate) fn needing(self, needed: &[String]) -> Reading {
        Reading { needed: needed.to_vec(), ..self }
    }

    /// The same with the standard deviation of its noise. The error completes "the line …".
    pub(crate) fn with_std(mut self, std: f64) -> Result<Reading, String> {
        if !(std.is_finite() && std >= 0.0) {
            return Err(format!("has a \"std\" of {std}, which is not a finite number of at least 0"));
        }
        self.fields.insert("std".to_owned(), std.into());
        Ok(Reading { std: Some(std), ..self })
    }

    /// The same with residuals: the value is the sum of their squares. The error completes "the line …".
    pub(crate) fn with_residuals(mut self, residuals: Vec<f64>) -> Result<Reading, String> {
        if residuals.is_empty() {
            return Err("has an empty list of residuals".to_owned());
        }
        // SQLite and JSON need not keep a negative zero.
        let residuals: Vec<f64> = residuals.into_iter().map(|r| r + 0.0).collect();
        let sum = Outcome::of_residuals(residuals.clone()).value();
        let sum = sum.ok_or("has residuals whose squares have no finite sum")?;
        if let Some(value) = self.value.filter(|value| (value - sum).abs() > SAME_VALUE * sum.max(value.abs())) {
            return Err(format!(
                "has the value {value} and residuals whose squares sum to {sum}: the sum is the value, leave the other out"
            ));
        }
        self.fields.insert("value".to_owned(), sum.into());
        Ok(Reading { value: Some(sum), residuals, ..self })
    }

    /// The same with the derivatives of its value by each parameter, in their order. The error completes "the line …".
    pub(crate) fn with_gradient(mut self, list: Value) -> Result<Reading, String> {
        let gradient = gradient_of(&list)?;
        self.fields.insert("gradient".to_owned(), list);
        Ok(Reading { gradient, ..self })
    }

    /// The gradient in what was stored; empty if there is none.
    pub(crate) fn stored_gradient(stored: &Value) -> Vec<f64> {
        stored.get("gradient").and_then(|list| gradient_of(list).ok()).unwrap_or_default()
    }

    /// The standard deviation in what was stored.
    pub(crate) fn stored_std(stored: &Value) -> Option<f64> {
        stored.get("std")?.as_f64().filter(|std| *std >= 0.0)
    }

    /// The stored object, read back; `None` if it is not an object.
    pub(crate) fn restored(stored: Value) -> Option<Reading> {
        let (std, gradient) = (Reading::stored_std(&stored), Reading::stored_gradient(&stored));
        let Value::Object(fields) = stored else { return None };
        let value = fields.get("value").and_then(Value::as_f64);
        Some(Reading { std, gradient, ..Reading::with(value, fields) })
    }

    /// A number that stands beside the value, or the value itself; a boolean is 0 or 1.
    pub(crate) fn result(&self, name: &str) -> Option<f64> {
        match self.fields.get(name)? {
            Value::Number(number) => number.as_f64(),
            Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
            _ => None,
        }
    }

    /// Reads a finite number, or an object with one: `1.25`, `1.5D+02`, `{"value": 1.25, "note": "anything"}`. A study that
    /// needs other fields may lack the value. The error completes "the line …".
    pub(crate) fn parse(line: &str, needed: &[String]) -> Result<Reading, String> {
        if let Some(value) = number(line) {
            return finite(value).map(Reading::of);
        }
        let object = serde_json::from_str::<Value>(line).or_else(|_| serde_json::from_str(&without_nan(line)));
        let Ok(Value::Object(mut fields)) = object else {
            let list = if line.starts_with('[') { "; residuals are printed as {\"residuals\": […]}" } else { "" };
            return Err(format!("is neither a number nor {{\"value\": …}}{list}"));
        };
        let residuals = fields.shift_remove("residuals").map(list_of_residuals).transpose()?;
        let value = match fields.get("value") {
            None | Some(Value::Null) if !needed.is_empty() || residuals.is_some() => None,
            None => return Err("has no \"value\"".to_owned()),
            Some(value) => Some(finite(value.as_f64().ok_or("has a \"value\" that is not a number")?)?),
        };
        let has_value = value.is_some() || residuals.is_some();
        let std = fields.get("std").filter(|_| has_value).cloned();
        let gradient = fields.shift_remove("gradient").filter(|_| has_value);
        let reading = Reading::with(value, fields).needing(needed);
        let reading = match residuals {
            None => reading,
            Some(residuals) => reading.with_residuals(residuals)?,
        };
        let reading = match std {
            None => reading,
            Some(std) => reading.with_std(std.as_f64().ok_or("has a \"std\" that is not a number")?)?,
        };
        match gradient {
            None => Ok(reading),
            Some(list) => reading.with_gradient(list),
        }
    }

    /// The numbers that the study needs, by name.
    pub(crate) fn needed(&self) -> Vec<(&str, f64)> {
        self.needed.iter().filter_map(|name| Some((name.as_str(), self.result(name)?))).collect()
    }

    /// As the journal keeps it; fields that are too long are left out, but for those that the study needs.
    pub(crate) fn stored(&self) -> String {
        let whole = serde_json::json!(self.fields).to_string();
        if whole.len() <= FIELDS_KEPT {
            return whole;
        }
        let kept = |name: &String| ["value", "std", "gradient"].contains(&name.as_str()) || self.needed.contains(name);
        let fields: Map<String, Value> = self
            .fields
            .iter()
            .filter(|(name, _)| kept(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        serde_json::json!(fields).to_string()
    }
}

/// The error completes "the line …".
fn list_of_residuals(list: Value) -> Result<Vec<f64>, String> {
    let Value::Array(items) = list else {
        return Err("has \"residuals\" that are not a list of numbers".to_owned());
    };
    let number = |(place, item): (usize, &Value)| {
        let wrong = || format!("has {item} in place {} of its residuals, which is not a finite number", place + 1);
        item.as_f64().filter(|r| r.is_finite()).ok_or_else(wrong)
    };
    items.iter().enumerate().map(number).collect()
}

/// Derivatives in the order of the parameters; `null` is not known. The error completes "the line …".
fn gradient_of(list: &Value) -> Result<Vec<f64>, String> {
    let Value::Array(items) = list else {
        return Err("has a \"gradient\" that is not a list: one number for each parameter, null where it is not known"
            .to_owned());
    };
    let number = |(place, item): (usize, &Value)| match item {
        Value::Null => Ok(f64::NAN),
        item => item.as_f64().ok_or_else(|| {
            format!("has {item} in place {} of its gradient, which is neither a number nor null", place + 1)
        }),
    };
    items.iter().enumerate().map(number).collect()
}

/// Python and others write NaN and Infinity, which JSON does not have: as `null`, wherever they are no part of a text.
fn without_nan(line: &str) -> String {
    let parts = line.split('"').enumerate().map(|(k, part)| match k % 2 {
        0 => part.replace("-Infinity", "null").replace("Infinity", "null").replace("NaN", "null"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("\"")
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

/// The number that a text is, with words for when it is none; they complete "it found …". A study that needs other fields may
/// lack the value: it is NaN.
fn found(text: &str, needed: &[String]) -> Result<Option<f64>, String> {
    let value = number(text).ok_or_else(|| format!("`{}`, which is not a number", shortened(text)))?;
    match value.is_finite() {
        true => Ok(Some(value)),
        false if !needed.is_empty() => Ok(None),
        false => Err(format!("`{}`, which is not a finite number", shortened(text))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_number_or_an_object_with_one() {
        for (line, value) in [("1.5", 1.5), ("-3e-7", -3e-7), ("+2", 2.0), (r#"{"value": 4, "note": "x"}"#, 4.0)] {
            assert_eq!(Reading::parse(line, &[]).map(|reading| reading.value), Ok(Some(value)), "{line}");
        }
        for line in
            ["", "1,5", "value 3", "nan", "inf", "1e999", "{}", r#"{"value": "3"}"#, r#"{"value": null}"#, "[1]"]
        {
            assert!(Reading::parse(line, &[]).is_err(), "{line}");
        }
    }

    #[test]
    fn the_noise_of_a_value_stands_beside_it() {
        let reading = Reading::parse(r#"{"value": 4, "std": 0.5}"#, &[]).unwrap();
        assert_eq!((reading.value, reading.std), (Some(4.0), Some(0.5)));
        assert_eq!(Reading::stored_std(&serde_json::from_str(&reading.stored()).unwrap()), Some(0.5));
        let long = format!(r#"{{"value": 1, "std": 2, "all": "{}"}}"#, "x".repeat(FIELDS_KEPT));
        let short: serde_json::Value = serde_json::from_str(&Reading::parse(&long, &[]).unwrap().stored()).unwrap();
        assert_eq!(short, serde_json::json!({ "value": 1.0, "std": 2.0 }));
        for (line, part) in [
            (r#"{"value": 4, "std": -1}"#, "of -1, which is not a finite number of at least 0"),
            (r#"{"value": 4, "std": "x"}"#, "not a number"),
            (r#"{"value": 4, "std": null}"#, "not a number"),
        ] {
            assert!(Reading::parse(line, &[]).unwrap_err().contains(part), "{line}");
        }
    }

    #[test]
    fn residuals_are_a_value_too() {
        let reading = Reading::parse(r#"{"residuals": [3, -4.0, -0.0], "note": "x", "std": 2}"#, &[]).unwrap();
        assert_eq!(
            (reading.value, reading.std, reading.residuals.as_slice()),
            (Some(25.0), Some(2.0), &[3.0, -4.0, 0.0][..])
        );
        assert_eq!(reading.stored(), r#"{"note":"x","std":2.0,"value":25.0}"#);
        assert!(Reading::parse(r#"{"value": 25.000001, "residuals": [3, 4]}"#, &[]).is_ok());
        for (line, part) in [
            (r#"{"residuals": []}"#, "has an empty list of residuals"),
            (r#"{"residuals": 3}"#, "not a list of numbers"),
            (r#"{"residuals": [1, NaN]}"#, "has null in place 2 of its residuals, which is not a finite number"),
            (r#"{"residuals": [1, "x"]}"#, "has \"x\" in place 2 of its residuals"),
            (r#"{"residuals": [1e200, 1e200]}"#, "no finite sum"),
            (r#"{"residuals": [3, 4], "value": 12.5}"#, "has the value 12.5 and residuals whose squares sum to 25"),
        ] {
            let error = Reading::parse(line, &[]).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_gradient_stands_beside_the_value_and_is_always_kept() {
        let reading = Reading::parse(r#"{"value": 4, "gradient": [1.5, null, NaN]}"#, &[]).unwrap();
        assert_eq!(reading.gradient.iter().map(|g| g.is_nan()).collect::<Vec<_>>(), [false, true, true]);
        let long = format!(r#"{{"value": 1, "gradient": [2, 3], "all": "{}"}}"#, "x".repeat(FIELDS_KEPT));
        let stored = Reading::parse(&long, &[]).unwrap().stored();
        assert_eq!(stored, r#"{"value":1.0,"gradient":[2,3]}"#);
        assert_eq!(Reading::restored(serde_json::from_str(&stored).unwrap()).unwrap().gradient, [2.0, 3.0]);
        for (line, part) in [
            (r#"{"value": 4, "gradient": 3}"#, "a \"gradient\" that is not a list"),
            (r#"{"value": 4, "gradient": [1, "x"]}"#, "has \"x\" in place 2 of its gradient"),
        ] {
            let error = Reading::parse(line, &[]).unwrap_err();
            assert!(error.contains(part), "{error}");
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
        let small = Reading::parse(r#"{"mass": 2.5, "value": -0.0}"#, &[]).unwrap();
        assert_eq!(small.stored(), r#"{"mass":2.5,"value":0.0}"#);
        let large = Reading::parse(&format!(r#"{{"value": 1, "all": "{}"}}"#, "x".repeat(FIELDS_KEPT)), &[]).unwrap();
        assert_eq!(large.stored(), r#"{"value":1.0}"#);
    }

    #[test]
    fn a_value_may_be_missing_where_other_fields_are_needed() {
        let needed = ["mass".to_owned()];
        for line in [r#"{"mass": 7}"#, r#"{"value": null, "mass": 7}"#, r#"{"value": NaN, "mass": 7, "note": "a NaN"}"#]
        {
            let reading = Reading::parse(line, &needed).unwrap();
            assert_eq!((reading.value, reading.result("mass")), (None, Some(7.0)), "{line}");
            assert!(Reading::parse(line, &[]).is_err(), "{line}");
        }
        let long = format!(r#"{{"value": 1, "mass": 7, "all": "{}"}}"#, "x".repeat(FIELDS_KEPT));
        assert_eq!(Reading::parse(&long, &needed).unwrap().stored(), r#"{"value":1.0,"mass":7}"#);
        let reading = Reading::parse(r#"{"value": 1, "a": true, "b": "x", "c": NaN}"#, &needed).unwrap();
        assert_eq!(["a", "b", "c", "d"].map(|name| reading.result(name)), [Some(1.0), None, None, None]);
        assert!(Reading::parse(r#"{"value": "x", "mass": 7}"#, &needed).is_err());
    }
}
