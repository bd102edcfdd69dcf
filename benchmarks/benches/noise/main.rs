//! What is said under noise, against the truth: `cargo bench -p labcat-benchmarks --bench noise -- WHAT SEEDS`.

use labcat::{Config, Domain, Noise, Optimizer, Outcome, Parameter, Preset};

/// A generator of its own, so that nothing here depends on the optimizer's.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.unit(), self.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn between(&mut self, d: usize, low: f64, high: f64) -> Vec<f64> {
        (0..d).map(|_| low + (high - low) * self.unit()).collect()
    }
}

const FUNCTIONS: [&str; 5] = ["quadratic", "quartic", "absolute", "exponential", "rosenbrock"];
/// On which nothing was chosen, with other seeds.
const OTHERS: [&str; 5] = ["ellipsoid", "cosh", "root", "hinge", "wavy"];

fn value(name: &str, z: &[f64]) -> f64 {
    match name {
        "quadratic" => z.iter().map(|z| z * z).sum(),
        "quartic" => z.iter().map(|z| z.powi(4)).sum(),
        "absolute" => z.iter().map(|z| z.abs()).sum(),
        "exponential" => z.iter().map(|z| (0.6 * z).exp() - 0.6 * z - 1.0).sum(),
        "ellipsoid" => {
            let last = z.len() as f64 - 1.0;
            z.iter().enumerate().map(|(j, y)| 10_f64.powf(j as f64 / last - 1.0) * (y + 0.5 * z[0]).powi(2)).sum()
        }
        "cosh" => z.iter().map(|z| 3.0 * z.cosh().ln()).sum(),
        "root" => z.iter().map(|z| z.abs().powf(1.5)).sum(),
        "hinge" => z.iter().map(|z| if *z > 0.0 { 4.0 * z } else { 0.3 * z * z }).sum(),
        "wavy" => z.iter().map(|z| z * z + 2.0 - 2.0 * (2.0 * z).cos()).sum(),
        _ => z.windows(2).map(|w| 10.0 * (w[1] - w[0] * w[0]).powi(2) + (w[0] - 1.0).powi(2)).sum(),
    }
}

fn minus(x: &[f64], c: &[f64]) -> Vec<f64> {
    x.iter().zip(c).map(|(x, c)| x - c).collect()
}

fn optimizer(domain: Domain, noise: Noise, seed: u64, constraints: usize) -> Result<Optimizer, labcat::Error> {
    let mut config = Config::new(Preset::Default);
    (config.seed, config.noise, config.constraints, config.budget) = (seed, noise, constraints, Some(1_000_000));
    Optimizer::new(domain, config)
}

/// Evaluates until `n` evaluations were told.
fn run(optimizer: &mut Optimizer, n: usize, mut f: impl FnMut(&[f64]) -> Outcome) -> Result<(), labcat::Error> {
    while optimizer.n_evaluations() < n {
        let suggestion = optimizer.ask()?;
        let outcome = f(&suggestion.x);
        optimizer.tell(suggestion.id, outcome)?;
    }
    Ok(())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How often the truth lies within two standard deviations of what is recommended, σ = 1 in [−5, 5]^d.
fn coverage(seeds: std::ops::Range<u64>, dims: &[usize], functions: [&str; 5]) -> Result<(), labcat::Error> {
    println!("noise d evaluations function: within 2 std, median regret, median std");
    for (word, noise) in [("auto", Noise::Auto), ("given", Noise::Sigma(1.0))] {
        for &d in dims {
            for name in functions {
                let at = [if d == 5 { 100 } else { 60 }, if d == 5 { 250 } else { 150 }];
                let mut found = at.map(|_| (0, Vec::new(), Vec::new()));
                for seed in seeds.clone() {
                    let (mut dice, c) = (Dice(77 + seed), Dice(1000 + seed).between(d, -2.0, 2.0));
                    let mut optimizer = optimizer(Domain::new(&vec![(-5.0, 5.0); d])?, noise, seed, 0)?;
                    for (n, (within, regrets, stds)) in at.iter().zip(&mut found) {
                        run(&mut optimizer, *n, |x| (value(name, &minus(x, &c)) + dice.normal()).into())?;
                        let Some(r) = optimizer.recommended() else { continue };
                        let truth = value(name, &minus(&r.x, &c));
                        *within += u64::from((r.mean - truth).abs() <= 2.0 * r.std);
                        regrets.push(truth);
                        stds.push(r.std);
                    }
                }
                for (n, (within, mut regrets, mut stds)) in at.iter().zip(found) {
                    let share = within as f64 / seeds.clone().count() as f64;
                    println!("{word} {d} {n} {name}: {share:.2} {:.4} {:.3}", median(&mut regrets), median(&mut stds));
                }
            }
        }
    }
    Ok(())
}

/// σ = 100 on 60 |x − c|² in [0, 2]^12.
fn strong(seeds: u64) -> Result<(), labcat::Error> {
    let at = [150, 300, 470];
    let mut regrets = at.map(|_| Vec::new());
    for seed in 0..seeds {
        let (mut dice, c) = (Dice(7 + seed), Dice(500 + seed).between(12, 0.5, 1.5));
        let f = |x: &[f64]| 60.0 * value("quadratic", &minus(x, &c));
        let mut optimizer = optimizer(Domain::new(&[(0.0, 2.0); 12])?, Noise::Auto, seed, 0)?;
        for (n, regrets) in at.iter().zip(&mut regrets) {
            run(&mut optimizer, *n, |x| (f(x) + 100.0 * dice.normal()).into())?;
            regrets.extend(optimizer.recommended().map(|r| f(&r.x)));
        }
    }
    println!("median regret after {at:?}: {:.1?}", regrets.map(|mut r| median(&mut r)));
    Ok(())
}

/// Runs whose recommendation violates a linear constraint under noise of .1 in both outputs.
fn constraints(seeds: u64) -> Result<(), labcat::Error> {
    for told in [false, true] {
        for d in [2, 4] {
            let (mut infeasible, mut regrets) = (0, Vec::new());
            for seed in 0..seeds {
                let mut dice = Dice(31 + seed);
                let noise = if told { Noise::Sigma(0.1) } else { Noise::Auto };
                let mut optimizer = optimizer(Domain::new(&vec![(0.0, 1.0); d])?, noise, seed, 1)?;
                let f = |x: &[f64]| x.iter().map(|x| (x - 0.8) * (x - 0.8)).sum::<f64>();
                let g = |x: &[f64]| x.iter().sum::<f64>() / d as f64 - 0.5;
                run(&mut optimizer, 30 * d, |x| {
                    let outcome =
                        Outcome::from(f(x) + 0.1 * dice.normal()).with_constraints(vec![g(x) + 0.1 * dice.normal()]);
                    let std = if told { vec![0.1] } else { Vec::new() };
                    outcome.clone().with_constraint_std(std).unwrap_or(outcome)
                })?;
                let Some(r) = optimizer.recommended() else { continue };
                infeasible += u64::from(g(&r.x) > 0.0);
                regrets.push(f(&r.x) - 0.09 * d as f64);
            }
            println!(
                "told {told}, d = {d}: infeasible {infeasible} of {seeds}, median excess {:.3}",
                median(&mut regrets)
            );
        }
    }
    Ok(())
}

/// The regret of choosing one of several values by the means of `n` evaluations: as many of each, or by Thompson sampling.
fn chosen(values: &[f64], sigma: f64, n: usize, thompson: bool, dice: &mut Dice) -> f64 {
    let (mut sum, mut count) = (vec![0.0; values.len()], vec![0.0_f64; values.len()]);
    let lowest = |of: Vec<f64>| (0..of.len()).min_by(|a, b| of[*a].total_cmp(&of[*b])).unwrap_or(0);
    for k in 0..n {
        let drawn = |(s, c): (&f64, &f64)| s / c + sigma / c.sqrt() * dice.normal();
        let first = k < values.len() || !thompson;
        let pick = if first { k % values.len() } else { lowest(sum.iter().zip(&count).map(drawn).collect()) };
        (sum[pick], count[pick]) = (sum[pick] + values[pick] + sigma * dice.normal(), count[pick] + 1.0);
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    values[lowest(sum.iter().zip(&count).map(|(s, c)| s / c).collect())] - least
}

/// Labels whose values are uniform in [0, 1], against as many evaluations of each and against Thompson sampling of independent labels, which
/// are known from twenty runs for each of ours.
fn labels(seeds: u64) -> Result<(), labcat::Error> {
    for (count, n) in [(10, 60), (10, 150), (30, 150)] {
        for sigma in [0.3, 1.0] {
            let mut regrets = [(); 4].map(|()| Vec::new());
            for seed in 0..seeds {
                let values = Dice(9100 + seed).between(count, 0.0, 1.0);
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let names: Vec<String> = (0..count).map(|k| k.to_string()).collect();
                for (noise, regrets) in [Noise::Sigma(sigma), Noise::Auto].into_iter().zip(&mut regrets) {
                    let (mut dice, label) =
                        (Dice(91 + seed), Parameter::categorical("label", names.iter().map(String::as_str)));
                    let mut optimizer = optimizer(Domain::from_parameters(vec![label])?, noise, seed, 0)?;
                    run(&mut optimizer, n, |x| (values[x[0] as usize] + sigma * dice.normal()).into())?;
                    regrets.push(optimizer.recommended().map_or(1.0, |r| values[r.x[0] as usize] - least));
                }
                let mut dice = Dice(700 + seed);
                for (thompson, regrets) in [false, true].into_iter().zip(&mut regrets[2..]) {
                    regrets.push((0..20).map(|_| chosen(&values, sigma, n, thompson, &mut dice) / 20.0).sum());
                }
            }
            let [given, auto, equal, thompson] = regrets.map(|r: Vec<f64>| {
                let (n, mean) = (r.len() as f64, r.iter().sum::<f64>() / r.len() as f64);
                let error = (r.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n / n).sqrt();
                format!("{mean:.3} ± {error:.3}")
            });
            println!(
                "{count} labels, {n} evaluations, sigma {sigma}: given {given}, auto {auto}, equal {equal}, Thompson {thompson}"
            );
        }
    }
    Ok(())
}

/// Accuracies on 20 test samples, told how uncertain they are and not: d = 2, 80 evaluations.
fn binomial(seeds: u64) -> Result<(), labcat::Error> {
    for told in [true, false] {
        let (mut missed, mut regrets) = (0, Vec::new());
        for seed in 0..seeds {
            let (mut dice, c) = (Dice(41 + seed), Dice(800 + seed).between(2, -2.0, 2.0));
            let f = |x: &[f64]| 0.1 + 0.02 * value("quadratic", &minus(x, &c)).min(40.0);
            let mut optimizer = optimizer(Domain::new(&[(-5.0, 5.0); 2])?, Noise::Auto, seed, 0)?;
            run(&mut optimizer, 80, |x| {
                let wrong = (0..20).filter(|_| dice.unit() < f(x)).count() as f64 / 20.0;
                let std = ((wrong + 0.05) * (1.05 - wrong) / 20.0).sqrt();
                let outcome = Outcome::from(wrong);
                if told { outcome.clone().with_std(std).unwrap_or(outcome) } else { outcome }
            })?;
            missed += u64::from(!optimizer.has_noise());
            regrets.extend(optimizer.recommended().map(|r| f(&r.x) - 0.1));
        }
        let mean = regrets.iter().sum::<f64>() / regrets.len() as f64;
        let error = (regrets.iter().map(|r| (r - mean).powi(2)).sum::<f64>()).sqrt() / regrets.len() as f64;
        println!(
            "told {told}: missed {missed} of {seeds}, regret {mean:.4} ± {error:.4}, median {:.4}",
            median(&mut regrets)
        );
    }
    Ok(())
}

/// Runs in batches, σ = 1 in [−5, 5]^d, 250 evaluations, whose noise was never noticed. The seeds go over the functions, the sizes and the dimensions
/// in turn.
fn batches(runs: u64) -> Result<(), labcat::Error> {
    let (names, sizes, dims) = (["exponential", "absolute", "quadratic"], [3, 5, 8, 12], [5, 8, 10]);
    let mut missed = Vec::new();
    for run in 0..runs {
        let k = run as usize;
        let (name, q, d) = (names[k % 3], sizes[k / 3 % 4], dims[k / 12 % 3]);
        let (mut dice, c) = (Dice(51 + run), Dice(600 + run).between(d, -2.0, 2.0));
        let mut optimizer = optimizer(Domain::new(&vec![(-5.0, 5.0); d])?, Noise::Auto, run, 0)?;
        while optimizer.n_evaluations() < 250 {
            let batch = (0..q).map(|_| optimizer.ask()).collect::<Result<Vec<_>, _>>()?;
            for suggestion in batch {
                optimizer.tell(suggestion.id, value(name, &minus(&suggestion.x, &c)) + dice.normal())?;
            }
        }
        if !optimizer.has_noise() {
            missed.push(format!("{name}, q = {q}, d = {d}"));
        }
    }
    println!("missed in {} of {runs} runs {missed:?}", missed.len());
    Ok(())
}

/// Student's t with two degrees of freedom, and one value in fifty far off.
fn outliers(seeds: u64) -> Result<(), labcat::Error> {
    for (far, noise) in
        [(false, Noise::Auto), (true, Noise::Auto), (false, Noise::Sigma(1.0)), (true, Noise::Sigma(1.0))]
    {
        let mut regrets = Vec::new();
        for seed in 0..seeds {
            let (mut dice, c) = (Dice(61 + seed), Dice(300 + seed).between(3, -2.0, 2.0));
            let mut optimizer = optimizer(Domain::new(&[(-5.0, 5.0); 3])?, noise, seed, 0)?;
            run(&mut optimizer, 150, |x| {
                let normal = dice.normal();
                let noise = match far {
                    true if dice.unit() < 0.02 => 100.0 * normal.signum(),
                    true => normal,
                    false => normal / (-(1.0 - dice.unit()).ln()).sqrt(),
                };
                (value("quadratic", &minus(x, &c)) + noise).into()
            })?;
            regrets.extend(optimizer.recommended().map(|r| value("quadratic", &minus(&r.x, &c))));
        }
        let middle = median(&mut regrets);
        let worst = regrets.last().copied().unwrap_or(f64::NAN);
        println!(
            "{}, {noise:?}: median regret {middle:.3}, worst {worst:.3}",
            if far { "one in fifty 100 off" } else { "Student t2" }
        );
    }
    Ok(())
}

/// What a recommendation, a prediction and the parameters' shares cost at d = 5 after 500 evaluations.
fn cost() -> Result<(), labcat::Error> {
    let mut dice = Dice(5);
    let mut optimizer = optimizer(Domain::new(&[(-5.0, 5.0); 5])?, Noise::Auto, 1, 0)?;
    run(&mut optimizer, 500, |x| (value("exponential", x) + dice.normal()).into())?;
    let least = |f: &dyn Fn()| {
        let time = || {
            let begun = std::time::Instant::now();
            f();
            1e3 * begun.elapsed().as_secs_f64()
        };
        (0..5).map(|_| time()).fold(f64::INFINITY, f64::min)
    };
    println!("recommended {:.1} ms", least(&|| drop(optimizer.recommended())));
    println!("predict {:.1} ms", least(&|| drop(optimizer.predict(&[0.0; 5]))));
    println!("relevance {:.1} ms", least(&|| drop(optimizer.relevance())));
    Ok(())
}

/// Milliseconds of 300 steps on a rippled bowl, σ = 1 in [−5, 5]^d, without noise and under it, averaged over seeds. Every run is the same again:
/// the least time of each step stands, since other programs only ever make it longer.
fn steps(seeds: u64, dims: &[usize]) -> Result<(), labcat::Error> {
    const STEPS: usize = 300;
    const AGAIN: usize = 5;
    for &d in dims {
        let mut total = [0.0; 3];
        for seed in 0..seeds {
            let c = Dice(1000 + seed).between(d, -2.0, 2.0);
            for (total, noise) in total.iter_mut().zip([Noise::None, Noise::Auto, Noise::Sigma(1.0)]) {
                let mut least = [f64::INFINITY; STEPS];
                for _ in 0..AGAIN {
                    let mut dice = Dice(77 + seed);
                    let sigma = if noise == Noise::None { 0.0 } else { 1.0 };
                    let mut optimizer = optimizer(Domain::new(&vec![(-5.0, 5.0); d])?, noise, seed, 0)?;
                    for (n, least) in least.iter_mut().enumerate() {
                        let begun = std::time::Instant::now();
                        run(&mut optimizer, n + 1, |x| (value("wavy", &minus(x, &c)) + sigma * dice.normal()).into())?;
                        *least = least.min(begun.elapsed().as_secs_f64());
                    }
                }
                *total += 1e3 * least.iter().sum::<f64>() / seeds as f64;
            }
        }
        let [plain, auto, given] = total;
        println!(
            "d = {d}: plain {plain:.1} ms, auto {auto:.1} ({:.1} times), given {given:.1} ({:.1} times)",
            auto / plain,
            given / plain
        );
    }
    Ok(())
}

/// What is predicted after a noiseless run on Rosenbrock's function, at (0, 0), far away and at its own points.
fn exact() -> Result<(), labcat::Error> {
    let f = |x: &[f64]| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
    let mut optimizer = optimizer(Domain::new(&[(-5.0, 5.0); 2])?, Noise::None, 1, 0)?;
    run(&mut optimizer, 300, |x| f(x).into())?;
    for x in [[0.0, 0.0], [1.0, 1.0], [-3.0, 4.0], [4.0, -4.0]] {
        println!("{x:?}: {:.3e}, predicted {:?}", f(&x), optimizer.predict(&x)?);
    }
    let told: Vec<(Vec<f64>, f64)> =
        optimizer.evaluations().iter().filter_map(|e| Some((e.x.clone(), e.outcome.value()?))).collect();
    let points: Vec<&[f64]> = told.iter().map(|(x, _)| x.as_slice()).collect();
    let predicted = optimizer.predict_many(&points)?.unwrap_or_default();
    let within = predicted.iter().zip(&told).filter(|(p, (_, y))| (p.mean - y).abs() <= 3.0 * p.std).count();
    println!("{} restarts; {within} of {} values within 3 std", optimizer.restarts().len(), told.len());
    println!("shares {:.3?}", optimizer.importance());
    Ok(())
}

fn main() -> Result<(), labcat::Error> {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let seeds = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(20);
    let dims: Vec<usize> = args.get(2).map_or(vec![2, 3, 5], |d| d.split(',').filter_map(|d| d.parse().ok()).collect());
    match args.first().map(String::as_str) {
        Some("coverage") => coverage(0..seeds, &dims, FUNCTIONS),
        Some("confirm") => coverage(100..100 + seeds, &dims, OTHERS),
        Some("strong") => strong(seeds),
        Some("constraints") => constraints(seeds),
        Some("labels") => labels(seeds),
        Some("binomial") => binomial(seeds),
        Some("outliers") => outliers(seeds),
        Some("batches") => batches(seeds),
        Some("cost") => cost(),
        Some("steps") => steps(seeds, &dims),
        Some("exact") => exact(),
        _ => {
            println!(
                "coverage, confirm, strong, constraints, labels, binomial, outliers, batches, steps (each with a number of seeds), cost or exact"
            );
            Ok(())
        }
    }
}
