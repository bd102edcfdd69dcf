//! Results that could not be stored in the journal.

use serde_json::{Map, Value};

use crate::format::number;
use crate::journal::{Claim, Record};

/// Keeps a result in the file of its evaluation. In words: where it is, or, if even that cannot be written, what it was.
pub(super) fn keep(claim: &mut Claim, id: u64, record: &Record, again: bool, word: &str) -> String {
    match claim.keep(record, again) {
        Ok(path) => {
            format!("the result of evaluation {id} is kept in {}; the next run or worker stores it", path.display())
        }
        Err(error) => {
            let verb = if again { "correct" } else { "tell" };
            let result = in_words(record);
            format!(
                "the result of evaluation {id} cannot be saved ({error}): `labcat {verb} {word} {id} {result}` records it"
            )
        }
    }
}

/// A result as people tell it.
fn in_words(record: &Record) -> String {
    let needed = record.reading.iter().flat_map(|reading| reading.needed());
    if record.residuals().is_empty() {
        let needed: String = needed.map(|(name, number)| format!(" {name}={number}")).collect();
        return record.value().map_or("failed".to_owned(), number) + &needed;
    }
    let mut object: Map<String, Value> = needed.map(|(name, number)| (name.to_owned(), number.into())).collect();
    object.insert("residuals".to_owned(), record.residuals().into());
    format!("'{}'", Value::Object(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Reading;

    #[test]
    fn a_result_is_shown_as_it_can_be_told() {
        let needed = ["mass".to_owned()];
        let of = |line: &str| Record { reading: Reading::parse(line, &needed).ok(), ..Record::default() };
        assert_eq!(in_words(&of("2.5")), "2.5");
        assert_eq!(in_words(&of(r#"{"value": 2.5, "mass": 4}"#)), "2.5 mass=4");
        assert_eq!(in_words(&of(r#"{"residuals": [3, -4.5], "mass": 4}"#)), r#"'{"mass":4.0,"residuals":[3.0,-4.5]}'"#);
        assert_eq!(in_words(&Record::default()), "failed");
    }
}
