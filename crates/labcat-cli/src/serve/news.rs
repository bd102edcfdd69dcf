//! A snapshot of a study, and the part of it that a page does not have yet.
//!
//! Evaluations and trust regions are added one after another and seldom change afterwards. A page sends their number and a checksum;
//! if these match the beginning of the current data, it gets only the rest.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::OnceLock;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::body::Body;
use crate::report::{ReportData, Setting, render};

/// A study at one moment.
pub(super) struct Snapshot {
    data: ReportData,
    /// Everything but the lists.
    head: Map<String, Value>,
    evaluations: List,
    regions: List,
    /// Its page, made when somebody asks.
    page: OnceLock<Body>,
}

/// The part of a study that a page has.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Known<'a> {
    pub(super) revision: &'a str,
    evaluations: &'a str,
    regions: &'a str,
}

impl<'a> Known<'a> {
    /// From a query: `known=…&evaluations=12-…&trust_regions=3-…`.
    pub(super) fn of(query: &'a str) -> Known<'a> {
        let field = |name: &str| {
            let parts = query.split('&').filter_map(|part| part.split_once('='));
            parts.filter(|(key, _)| *key == name).map(|(_, value)| value).next().unwrap_or_default()
        };
        Known { revision: field("known"), evaluations: field("evaluations"), regions: field("trust_regions") }
    }
}

impl Snapshot {
    pub(super) fn new(mut data: ReportData) -> Snapshot {
        let (evaluations, regions) = (List::of(&data.evaluations), List::of(&data.trust_regions));
        data.history = Some([evaluations.all(), regions.all()]);
        let lists = (mem::take(&mut data.evaluations), mem::take(&mut data.trust_regions));
        let head = serde_json::to_value(&data).ok().and_then(|value| value.as_object().cloned()).unwrap_or_default();
        (data.evaluations, data.trust_regions) = lists;
        Snapshot { data, head, evaluations, regions, page: OnceLock::new() }
    }

    pub(super) fn data(&self) -> &ReportData {
        &self.data
    }

    pub(super) fn revision(&self) -> &str {
        &self.data.revision
    }

    pub(super) fn page(&self) -> &Body {
        self.page.get_or_init(|| Body::new(render(&self.data, Setting::Served)))
    }

    /// The study without what is known already; `since` says how much of each list was left out.
    pub(super) fn since(&self, known: &Known<'_>) -> String {
        let (told, regions) = (self.evaluations.known(known.evaluations), self.regions.known(known.regions));
        let mut head = self.head.clone();
        head.insert("since".to_owned(), json!({"evaluations": told, "trust_regions": regions}));
        head.remove("evaluations");
        head.remove("trust_regions");
        let head = Value::Object(head).to_string();
        format!(
            "{},\"evaluations\":[{}],\"trust_regions\":[{}]}}",
            head.strip_suffix('}').unwrap_or_default(),
            self.evaluations.from(told),
            self.regions.from(regions)
        )
    }
}

/// A list as JSON, item by item, and of each of its beginnings a checksum.
struct List {
    items: Vec<String>,
    checksums: Vec<u64>,
}

impl List {
    fn of(list: &[impl Serialize]) -> List {
        let items: Vec<String> = list.iter().map(|item| serde_json::to_string(item).unwrap_or_default()).collect();
        let mut sum = DefaultHasher::new();
        let next = |item: &String| {
            item.hash(&mut sum);
            sum.finish()
        };
        let checksums = items.iter().map(next).collect();
        List { items, checksums }
    }

    /// How many there are, and the checksum of all.
    fn all(&self) -> String {
        self.checksums.last().map_or_else(String::new, |sum| format!("{}-{sum:x}", self.items.len()))
    }

    /// How many of the first ones somebody has.
    fn known(&self, text: &str) -> usize {
        let read = || {
            let (count, sum) = text.split_once('-')?;
            let (count, sum) = (count.parse::<usize>().ok()?, u64::from_str_radix(sum, 16).ok()?);
            (self.checksums.get(count.checked_sub(1)?) == Some(&sum)).then_some(count)
        };
        read().unwrap_or(0)
    }

    fn from(&self, first: usize) -> String {
        self.items.get(first..).unwrap_or_default().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_the_beginning_that_has_not_changed() {
        let (short, long, changed) = (List::of(&[1, 2]), List::of(&[1, 2, 3, 4]), List::of(&[1, 5, 3, 4]));
        assert_eq!((long.known(&short.all()), long.known(&long.all()), long.known("")), (2, 4, 0));
        assert_eq!((changed.known(&short.all()), short.known(&long.all())), (0, 0));
        for wrong in ["0-0", "-", "9-1", "2-zz", "99999999999999999999-1"] {
            assert_eq!(long.known(wrong), 0, "{wrong}");
        }
    }

    #[test]
    fn a_query_says_what_a_page_has() {
        let known = Known::of("known=a-b&evaluations=2-ff&trust_regions=1-0");
        assert_eq!((known.revision, known.evaluations, known.regions), ("a-b", "2-ff", "1-0"));
        assert_eq!(Known::of(""), Known::default());
    }
}
