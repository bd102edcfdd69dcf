//! Names of enums, as users write them.

use strum::VariantNames;

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not allowed: it must be {allowed}")]
pub struct UnknownName {
    /// The name.
    pub value: String,
    /// The allowed names, in words.
    pub allowed: String,
}

/// The error of an enum's derived `FromStr`.
pub(crate) fn unknown<T: VariantNames>(text: &str) -> UnknownName {
    UnknownName { value: text.into(), allowed: in_words(T::VARIANTS) }
}

/// "a, b or c".
pub(crate) fn in_words(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
