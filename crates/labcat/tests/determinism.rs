//! One seed, one stream, whatever the build: a fingerprint of long streams, stored in `tests/golden/fingerprint.txt`. `scripts/test-core`
//! runs this file unoptimised, optimised, and for the processor at hand; each must find the stored fingerprint.
//!
//! To write it anew: `LABCAT_BLESS=1 cargo test -p labcat --test determinism`
#![allow(clippy::unwrap_used, clippy::panic)]

use labcat::functions::Function;
use labcat::{AcquisitionKind, Config, Domain, KernelKind, Optimizer, Preset};
use std::fs;
use std::path::PathBuf;

/// FNV-1a over 64-bit words.
fn mix(hash: u64, word: u64) -> u64 {
    word.to_le_bytes().iter().fold(hash, |h, byte| (h ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The fingerprint of a run in which points are asked in batches and told out of order, some of them failed.
fn fingerprint(name: &str, d: usize, config: Config, n: usize) -> u64 {
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
    prediction.map_or(hash, |p| mix(mix(hash, p.mean.to_bits()), p.std.to_bits()))
}

/// Every run by its name.
fn runs() -> Vec<(String, u64)> {
    let mut all = Vec::new();
    for preset in [Preset::Paper, Preset::Default] {
        for (name, d, n) in
            [("branin", 2, 300), ("levy", 3, 300), ("rosenbrock", 5, 250), ("rastrigin", 12, 120), ("sphere", 34, 90)]
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

fn text() -> String {
    runs().iter().map(|(name, hash)| format!("{hash:016x} {name}\n")).collect()
}

#[test]
fn the_fingerprint_is_the_stored_one() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/fingerprint.txt");
    if std::env::var_os("LABCAT_BLESS").is_some_and(|v| v == "1") {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text()).unwrap();
        return;
    }
    let stored = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let now = text();
    println!("{now}");
    assert_eq!(stored, now, "the streams of this build are not the stored ones");
}

#[test]
fn threads_at_the_same_time_give_the_same_streams() {
    let alone = text();
    let together: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(text)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(together.iter().all(|t| *t == alone));
}

#[test]
fn an_optimizer_may_move_between_threads() {
    fn usable<T: Send + Sync>() {}
    usable::<Optimizer>();
    usable::<labcat::Error>();
}
