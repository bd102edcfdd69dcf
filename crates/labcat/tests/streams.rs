//! One seed, one stream, for ever and whatever the build: the first thirty suggestions of both presets on fixed functions, to the
//! bit, fingerprints of longer streams, and of short ones with every capability and every pair of them, stored in `tests/golden`.
//! `scripts/test-core` runs this file unoptimised and optimised for the processor at hand, and, as a test of the package `labcat-python`, with
//! the build of the core that is released; each must find what is stored.
//!
//! A change of those files changes what users see and needs a line in the changelog. To write them anew:
//! `LABCAT_BLESS=1 cargo test -p labcat --test streams`
#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code, unexpected_cfgs)] // the other tests walk the table as well; only the core has its features
mod capabilities;
#[allow(dead_code, unreachable_pub)] // the command line has them
#[path = "../../labcat-cli/src/functions.rs"]
mod functions;

use capabilities::{CAPABILITIES, Plan, name, singles_and_pairs};
use functions::Function;
use labcat::{AcquisitionKind, Config, Domain, KernelKind, Optimizer, Preset};
use std::fs;
use std::path::PathBuf;

/// FNV-1a over 64-bit words.
fn mix(hash: u64, word: u64) -> u64 {
    word.to_le_bytes().iter().fold(hash, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The fingerprints of a run in which points are asked in batches and told out of order, some of them failed: of the steps, and with what is
/// predicted at its end.
fn fingerprint(name: &str, d: usize, config: Config, n: usize) -> [u64; 2] {
    let f = Function::by_name(name).unwrap();
    let mut optimizer = Optimizer::new(Domain::new(&f.bounds(d)).unwrap(), config).unwrap();
    let mut hash = 0xcbf2_9ce4_8422_2325;
    while optimizer.n_evaluations() < n {
        let mut batch = optimizer.ask_many(1 + optimizer.n_evaluations() % 3).unwrap();
        batch.reverse();
        for suggestion in batch {
            hash = suggestion.x.iter().fold(hash, |h, v| mix(h, v.to_bits()));
            let failed = optimizer.n_evaluations() % 17 == 16;
            optimizer.tell(suggestion.id, if failed { f64::NAN } else { f.value(&suggestion.x) }).unwrap();
        }
        if let Some(report) = optimizer.report() {
            hash = mix(mix(hash, report.log_likelihood.to_bits()), report.acquisition.to_bits());
        }
    }
    let at = optimizer.best().unwrap().x.clone();
    let prediction = optimizer.predict(&at).unwrap(); // none while a restart fills its design
    [hash, prediction.map_or(hash, |p| mix(mix(hash, p.mean.to_bits()), p.std.to_bits()))]
}

/// Every run by its name.
fn runs() -> Vec<(String, [u64; 2])> {
    let mut all = Vec::new();
    for preset in [Preset::Paper, Preset::Default] {
        for (name, d, n) in
            [("branin", 2, 200), ("levy", 3, 100), ("rosenbrock", 5, 70), ("rastrigin", 12, 45), ("sphere", 34, 74)]
        {
            let mut config = Config::new(preset);
            (config.seed, config.tolerance) = (7, Some(1e-12));
            all.push((format!("{preset} {name} {d}"), fingerprint(name, d, config.clone(), n)));
            config.kernel = KernelKind::Matern52;
            config.acquisition = AcquisitionKind::LowerConfidenceBound;
            all.push((
                format!("{preset} {name} {d} matern52 lower_confidence_bound"),
                fingerprint(name, d, config, n / 2),
            ));
        }
    }
    all
}

fn fingerprints() -> String {
    runs().iter().map(|(name, [steps, all])| format!("{steps:016x} {all:016x} {name}\n")).collect()
}

/// One line per suggestion: the bits of each coordinate in hexadecimal, then the coordinates for the reader.
fn golden(preset: Preset, name: &str, d: usize) -> String {
    let f = Function::by_name(name).unwrap();
    let mut config = Config::new(preset);
    config.seed = 42;
    let mut optimizer = Optimizer::new(Domain::new(&f.bounds(d)).unwrap(), config).unwrap();
    let mut lines = format!("# preset {preset}, seed 42, {name} in {d} dimensions: bits of each coordinate | value\n");
    for _ in 0..30 {
        let suggestion = optimizer.ask().unwrap();
        let bits: Vec<String> = suggestion.x.iter().map(|v| format!("{:016x}", v.to_bits())).collect();
        let shown: Vec<String> = suggestion.x.iter().map(f64::to_string).collect();
        lines += &format!("{} | {}\n", bits.join(" "), shown.join(" "));
        optimizer.tell(suggestion.id, f.value(&suggestion.x)).unwrap();
    }
    lines
}

/// Compares with what is stored, or stores it.
fn compare(file: &str, now: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../labcat/tests/golden").join(file);
    if std::env::var_os("LABCAT_BLESS").is_some_and(|v| v == "1") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, now).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert_eq!(stored.lines().count(), now.lines().count());
    for (n, (stored, now)) in stored.lines().zip(now.lines()).enumerate() {
        assert_eq!(stored, now, "{}: line {} is another than stored", file.display(), n + 1);
    }
}

#[test]
fn golden_streams_are_what_they_were() {
    for preset in [Preset::Paper, Preset::Default] {
        for (name, d) in [("branin", 2), ("rosenbrock", 2), ("sphere", 5), ("levy", 5)] {
            compare(&format!("{preset}-{name}-{d}.txt"), &golden(preset, name, d));
        }
    }
}

#[test]
fn fingerprints_are_what_they_were() {
    compare("fingerprints.txt", &fingerprints());
}

/// Evaluations of a run with capabilities.
const SHORT: usize = 40;

/// Fingerprints after every eighth suggestion, to see where streams part, and a few points for the reader.
fn short(preset: Preset, chosen: &[usize]) -> String {
    let plan = Plan::new(preset, 5, chosen);
    let mut optimizer = plan.optimizer();
    let (mut hash, mut points, mut hashes) = (0xcbf2_9ce4_8422_2325, Vec::new(), Vec::new());
    plan.run(&mut optimizer, SHORT, |_, x| {
        hash = x.iter().fold(hash, |h, v| mix(h, v.to_bits()));
        points.push(x.iter().map(f64::to_string).collect::<Vec<_>>().join(" "));
        if points.len() % 8 == 0 {
            hashes.push(format!("{hash:016x}"));
        }
    });
    let found = optimizer.recommended().unwrap();
    hash = found.x.iter().chain([&found.mean, &found.std]).fold(hash, |h, v| mix(h, v.to_bits()));
    hashes.push(format!("{hash:016x}"));
    let shown = [&points[0], &points[7], &points[15], &points[23]].map(String::as_str).join(" | ");
    format!("{preset}, {}: {} | {shown}\n", name(chosen), hashes.join(" "))
}

/// What the published algorithm is asked for with: its streams stay for ever. Those of everything else may be written anew.
const PUBLISHED: [&str; 4] = ["pending", "failures", "cancellations", "corrections"];

#[test]
fn every_capability_and_every_pair_of_them_is_what_it_was() {
    let is_published = |chosen: &[usize]| chosen.iter().all(|c| PUBLISHED.contains(&CAPABILITIES[*c].name));
    let about =
        "fingerprints of the first 8, 16, … suggestions, of all with the recommendation | suggestions 1, 8, 16, 24";
    let (mut published, mut others) = (format!("# {about}\n"), format!("# {about}\n"));
    for preset in [Preset::Paper, Preset::Default] {
        for chosen in singles_and_pairs() {
            let stays = preset == Preset::Paper && is_published(&chosen);
            *(if stays { &mut published } else { &mut others }) += &short(preset, &chosen);
        }
    }
    compare("paper-pairs.txt", &published);
    compare("pairs.txt", &others);
}

#[test]
fn threads_at_the_same_time_give_the_same_streams() {
    let run = || fingerprint("levy", 3, Config::new(Preset::Default), 100);
    let alone = run();
    let together: Vec<[u64; 2]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert_eq!(together, [alone; 4]);
}

#[test]
fn an_optimizer_may_move_between_threads() {
    fn usable<T: Send + Sync>() {}
    usable::<Optimizer>();
    usable::<labcat::Error>();
}
