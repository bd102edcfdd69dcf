//! Every equation tag of the sources stands in `docs/notation.md`, every tag there in the sources, every file named there exists.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(directory: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") && path.file_name().is_some_and(|n| n != "tests.rs") {
            out.push(path);
        }
    }
}

/// The labels that stand in a text as `eq:name`.
fn tags(text: &str) -> BTreeSet<String> {
    text.match_indices("eq:")
        .filter(|(at, _)| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        .map(|(at, _)| {
            let name = &text[at + "eq:".len()..];
            let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(name.len());
            format!("eq:{}", &name[..end])
        })
        .collect()
}

/// The cells of the rows of the table, without its head.
fn table(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &str| {
        line.replace("\\|", "\u{2223}").trim_matches('|').split('|').map(|c| c.trim().to_owned()).collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = rows.map(cells).collect();
    assert_eq!(all[0], ["symbol", "Rust name", "file", "equation"]);
    all[2..].to_vec()
}

/// What stands between backquotes.
fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn tags_of_the_sources_and_of_the_notation_are_the_same() {
    let mut files = Vec::new();
    rust_files(&root().join("crates/labcat/src"), &mut files);
    let mut in_sources = BTreeSet::new();
    for file in &files {
        in_sources.extend(tags(&fs::read_to_string(file).unwrap()));
    }
    let notation = fs::read_to_string(root().join("docs/notation.md")).unwrap();
    let in_notation: BTreeSet<String> = table(&notation).iter().flat_map(|row| tags(&row[3])).collect();
    assert!(in_sources.len() > 20, "only {} tags in the sources", in_sources.len());
    assert_eq!(
        in_sources.difference(&in_notation).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "not in docs/notation.md"
    );
    assert_eq!(in_notation.difference(&in_sources).collect::<Vec<_>>(), Vec::<&String>::new(), "not in the sources");
}

#[test]
fn rows_of_the_notation_name_files_that_hold_the_names_and_the_tags() {
    let notation = fs::read_to_string(root().join("docs/notation.md")).unwrap();
    for row in table(&notation) {
        assert_eq!(row.len(), 4, "{row:?}");
        let text: String = quoted(&row[2])
            .iter()
            .map(|file| fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}")))
            .collect();
        assert!(!text.is_empty(), "no file in {row:?}");
        let in_files = tags(&text);
        for tag in tags(&row[3]) {
            assert!(in_files.contains(&tag), "{tag} does not stand in {}", row[2]);
        }
        for name in quoted(&row[1]) {
            // `Type::{a, b}` and `Type::a` name a and b, the rest a single word.
            let last = name.rsplit("::").next().unwrap();
            for word in last.trim_matches(['{', '}']).split(", ") {
                assert!(text.contains(word), "{name} does not stand in {}", row[2]);
            }
        }
    }
}
