//! A seed fixes the stream for ever: the first thirty suggestions, to the bit, of both presets on fixed functions.
//!
//! A change of these files changes what users see and needs a line in the changelog. To write them anew:
//! `LABCAT_BLESS=1 cargo test -p labcat --test core golden`

use crate::support::{PRESETS, function, seeded, stream};
use labcat::Preset;
use std::fs;
use std::path::PathBuf;

const LENGTH: usize = 30;

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// One line per suggestion: the bits of each coordinate in hexadecimal, then the coordinates for the reader.
fn text(preset: Preset, name: &str, d: usize) -> String {
    let f = function(name);
    let mut lines = format!("# preset {preset}, seed 42, {name} in {d} dimensions: bits of each coordinate | value\n");
    for point in stream(&f.bounds(d), seeded(preset, 42), |x| f.value(x), LENGTH) {
        let bits: Vec<String> = point.iter().map(|v| format!("{:016x}", v.to_bits())).collect();
        let shown: Vec<String> = point.iter().map(f64::to_string).collect();
        lines += &format!("{} | {}\n", bits.join(" "), shown.join(" "));
    }
    lines
}

fn compare(preset: Preset, name: &str, d: usize) {
    let file = path(&format!("{preset}-{name}-{d}.txt"));
    let now = text(preset, name, d);
    if std::env::var_os("LABCAT_BLESS").is_some_and(|v| v == "1") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, now).unwrap();
        return;
    }
    let stored = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert_eq!(stored.lines().count(), LENGTH + 1);
    for (n, (a, b)) in stored.lines().zip(now.lines()).enumerate() {
        assert_eq!(a, b, "{}: suggestion {n} is another than before", file.display());
    }
}

#[test]
fn golden_streams_are_what_they_were() {
    for preset in PRESETS {
        for (name, d) in [("branin", 2), ("rosenbrock", 2), ("sphere", 5), ("levy", 5)] {
            compare(preset, name, d);
        }
    }
}
