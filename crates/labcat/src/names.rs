//! Names of enums, as users write them.

/// A name that stands for nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value:?} is not allowed: it takes {allowed}")]
pub struct UnknownName {
    /// The name.
    pub value: String,
    /// What is allowed, in words.
    pub allowed: String,
}

/// "a, b or c".
pub(crate) fn in_words(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// `FromStr` for enums that derive `Display`, `VariantNames` and `VariantArray` of `strum`.
macro_rules! read_by_name {
    ($type:ty) => {
        impl std::str::FromStr for $type {
            type Err = crate::names::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                use strum::{VariantArray, VariantNames};
                let named = <Self as VariantNames>::VARIANTS
                    .iter()
                    .zip(<Self as VariantArray>::VARIANTS)
                    .find(|(name, _)| **name == text);
                named.map(|(_, variant)| *variant).ok_or_else(|| crate::names::UnknownName {
                    value: text.into(),
                    allowed: crate::names::in_words(<Self as VariantNames>::VARIANTS),
                })
            }
        }
    };
}

pub(crate) use read_by_name;
