//! Modules import one way: no two of them, by whatever way round, need each other.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The sources of a folder and below, without tests, by their module's path.
fn modules(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let join = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}::{name}") };
        if path.is_dir() && name != "tests" {
            modules(&path, &join(&name), found);
        } else if let Some(name) = name.strip_suffix(".rs").filter(|name| *name != "tests" && *name != "lib") {
            let module = if name == "mod" { prefix.to_owned() } else { join(name) };
            let text = fs::read_to_string(path).unwrap();
            found.insert(module, text.split("#[cfg(test)]").next().unwrap().to_owned());
        }
    }
}

/// `a::{b, c::{d}}` as `a::b` and `a::c::d`.
fn flat(prefix: &str, tree: &str, out: &mut Vec<String>) {
    let (mut depth, mut item) = (0, String::new());
    for c in tree.chars().chain([',']) {
        match c {
            ',' if depth == 0 => {
                let whole = item.trim();
                match whole.split_once('{') {
                    Some((head, rest)) => {
                        flat(&format!("{prefix}{head}"), rest.trim_end().strip_suffix('}').unwrap(), out);
                    }
                    None if !whole.is_empty() => out.push(format!("{prefix}{whole}")),
                    None => {}
                }
                item.clear();
            }
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                item.push(c);
            }
        }
    }
}

/// What a module imports from others, neither its parents nor its children.
fn imports(module: &str, text: &str, all: &BTreeMap<String, String>) -> BTreeSet<String> {
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut found = BTreeSet::new();
    for statement in
        text.split(';').filter_map(|s| s.rsplit_once("use ").filter(|(head, _)| is_start(head)).map(|s| s.1))
    {
        let mut paths = Vec::new();
        flat("", statement, &mut paths);
        for path in paths {
            let path = path.split(" as ").next().unwrap().trim().to_owned();
            let absolute = match path.split_once("::") {
                Some(("crate", rest)) => rest.to_owned(),
                Some(("super", rest)) => format!("{parent}::{rest}").trim_start_matches("::").to_owned(),
                _ => continue,
            };
            let mut parts: Vec<&str> = absolute.split("::").collect();
            while !parts.is_empty() && !all.contains_key(&parts.join("::")) {
                parts.pop();
            }
            let other = parts.join("::");
            let related = |a: &str, b: &str| a == b || a.starts_with(&format!("{b}::"));
            if !other.is_empty() && !related(module, &other) && !related(&other, module) {
                found.insert(other);
            }
        }
    }
    found
}

/// Whether a statement begins here, behind nothing but a visibility.
fn is_start(head: &str) -> bool {
    let line = head.rsplit('\n').next().unwrap().trim();
    line.is_empty() || (line.starts_with("pub") && !line.contains(' '))
}

/// The modules that a module needs, by whatever way round.
fn reached<'a>(from: &'a str, edges: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for other in edges.get(module).into_iter().flatten() {
            if found.insert(other.as_str()) {
                open.push(other);
            }
        }
    }
    found
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let mut all = BTreeMap::new();
    modules(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut all);
    let edges: BTreeMap<String, BTreeSet<String>> =
        all.iter().map(|(module, text)| (module.clone(), imports(module, text, &all))).collect();
    let count: usize = edges.values().map(BTreeSet::len).sum();
    assert!(all.len() > 50 && count > 150, "only {count} imports of {} modules were found", all.len());
    let circular: Vec<&String> =
        edges.keys().filter(|module| reached(module, &edges).contains(module.as_str())).collect();
    assert!(circular.is_empty(), "these need themselves: {circular:?}");
}
