//! Ask and tell in Rust, timed: the other half of `python/tests/overhead.py`, which runs it.
//!
//! `ask_tell DIM STEPS SEED` prints the seconds spent in `ask` and `tell`, and the best value.

use std::error::Error;
use std::time::{Duration, Instant};

use labcat::{Config, Domain, Optimizer, Preset};

fn main() -> Result<(), Box<dyn Error>> {
    let numbers = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<u64>, _>>()?;
    let [dim, steps, seed] = numbers[..] else {
        return Err("usage: ask_tell DIM STEPS SEED".into());
    };
    let domain = Domain::new(&vec![(-5.0, 5.0); usize::try_from(dim)?])?;
    let mut config = Config::new(Preset::Default);
    config.seed = seed;
    let mut optimizer = Optimizer::new(domain, config)?;
    let mut spent = Duration::ZERO;
    for _ in 0..steps {
        let start = Instant::now();
        let suggestion = optimizer.ask()?;
        spent += start.elapsed();
        let value = objective(&suggestion.x);
        let start = Instant::now();
        optimizer.tell(suggestion.id, value)?;
        spent += start.elapsed();
    }
    let best = optimizer.best().and_then(|e| e.outcome.value());
    println!("{:e} {:e}", spent.as_secs_f64(), best.unwrap_or(f64::NAN));
    Ok(())
}

/// The same operations in the same order as in Python, so that both walk the same path.
fn objective(x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, v) in x.iter().enumerate() {
        let t = v - 0.3;
        sum += (1.0 + i as f64) * t * t;
    }
    sum
}
