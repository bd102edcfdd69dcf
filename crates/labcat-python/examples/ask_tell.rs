//! Ask and tell in Rust: the other half of `python/tests/overhead.py`, which runs it and measures its processor time.
//!
//! `ask_tell DIM STEPS SEED` prints the best value.

use std::error::Error;

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
    for _ in 0..steps {
        let suggestion = optimizer.ask()?;
        optimizer.tell(suggestion.id, objective(&suggestion.x))?;
    }
    println!("{:e}", optimizer.best().and_then(|e| e.outcome.value()).unwrap_or(f64::NAN));
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
