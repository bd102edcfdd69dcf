//! What was measured and could not be told.

use crate::format::number;
use crate::journal::{Claim, Record};

/// Keeps a result in the file of its evaluation. In words: where it is, or, if even that cannot be written, what it was.
pub(super) fn keep(claim: &mut Claim, id: u64, record: &Record, again: bool, word: &str) -> String {
    match claim.keep(record, again) {
        Ok(path) => {
            format!("the result of evaluation {id} is kept in {}; the next run or worker takes it in", path.display())
        }
        Err(error) => {
            let (verb, value) =
                (if again { "correct" } else { "tell" }, record.value().map_or("failed".to_owned(), number));
            let needed = record.reading.iter().flat_map(|reading| reading.needed());
            let needed: String = needed.map(|(name, number)| format!(" {name}={number}")).collect();
            format!(
                "the result of evaluation {id} cannot be written down ({error}): `labcat {verb} {word} {id} {value}{needed}` records it"
            )
        }
    }
}
