//! Noise: given, told with a value, or found out; and the recommendation, which is not the luckiest draw.

use crate::support::{Dice, bits, optimizer, seeded, stream};
use labcat::{Config, Direction, Noise, Optimizer, Origin, Outcome, Preset, RestartCause, StopReason};

const BOX: (f64, f64) = (-5.0, 5.0);

fn bowl(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(j, x)| (x - 1.1 - 0.3 * j as f64).powi(2)).sum()
}

/// Draws of a normal distribution.
struct Normal(Dice);

impl Normal {
    fn next(&mut self) -> f64 {
        let (u, v) = (1.0 - self.0.unit(), self.0.unit());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

fn config(noise: Noise, seed: u64) -> Config {
    let mut config = seeded(Preset::Default, seed);
    config.noise = noise;
    config
}

/// A bowl in `d` dimensions under noise of `sigma`, after `n` evaluations.
fn noisy_bowl(d: usize, sigma: f64, n: usize, config: Config) -> Optimizer {
    let mut normal = Normal(Dice(1 + config.seed));
    let mut optimizer = optimizer(&vec![BOX; d], config);
    for _ in 0..n {
        let suggestion = optimizer.ask().unwrap();
        optimizer.tell(suggestion.id, bowl(&suggestion.x) + sigma * normal.next()).unwrap();
    }
    optimizer
}

#[test]
fn the_recommendation_is_good_and_knows_how_good() {
    for noise in [Noise::Sigma(1.0), Noise::Auto] {
        let (mut within, mut true_values, seeds) = (0, Vec::new(), 24);
        for seed in 0..seeds {
            let optimizer = noisy_bowl(3, 1.0, 100, config(noise, seed));
            let found = optimizer.recommended().unwrap();
            let value = bowl(&found.x);
            within += usize::from((found.mean - value).abs() <= 2.0 * found.std);
            true_values.push(value);
            let draw = optimizer.best().and_then(|e| e.outcome.value()).unwrap();
            assert!(draw < found.mean, "the best of 100 draws is lucky");
        }
        true_values.sort_by(f64::total_cmp);
        assert!(within >= 18, "{noise:?}: within two standard deviations in {within} of {seeds}");
        let median = true_values[true_values.len() / 2];
        assert!(median < 0.15, "{noise:?}: the median of the true values is {median}");
    }
}

#[test]
fn where_the_objective_is_a_quadratic_all_that_was_seen_is_of_use() {
    // The model, which has to learn all functions from what lies near, knows less of where the bottom of a bowl is than a
    // regression over all evaluations.
    let regret = |seed| bowl(&noisy_bowl(3, 1.0, 100, config(Noise::Auto, seed)).recommended().unwrap().x);
    let mut regrets: Vec<f64> = (0..21).map(regret).collect();
    regrets.sort_by(f64::total_cmp);
    assert!(regrets[10] < 0.05, "the median is {}", regrets[10]);
}

#[test]
fn noise_that_grows_with_the_height_is_told_from_noise_that_is_everywhere_the_same() {
    // What is low is known far better than what is high, and no trend over the whole box says more.
    let regret = |seed| {
        let mut normal = Normal(Dice(400 + seed));
        let mut optimizer = optimizer(&[BOX; 3], config(Noise::Auto, seed));
        for _ in 0..120 {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, (1.0 + bowl(&suggestion.x)) * (0.5 * normal.next()).exp()).unwrap();
        }
        bowl(&optimizer.recommended().unwrap().x)
    };
    let mut regrets: Vec<f64> = (0..15).map(regret).collect();
    regrets.sort_by(f64::total_cmp);
    assert!(regrets[7] < 0.2, "the median is {}", regrets[7]);
}

#[test]
fn more_evaluations_make_the_recommendation_no_worse() {
    // Over the restarts too: what the runs before have seen counts as much, and no lucky run takes over.
    let (at, seeds) = ([60, 120, 240, 480], 15);
    let mut regrets = [const { Vec::new() }; 4];
    let mut restarts = 0;
    for seed in 0..seeds {
        let mut normal = Normal(Dice(50 + seed));
        let mut optimizer = optimizer(&[BOX; 3], config(Noise::Auto, seed));
        for n in 1..=480 {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, bowl(&suggestion.x) + normal.next()).unwrap();
            if let Some(k) = at.iter().position(|at| *at == n) {
                regrets[k].push(bowl(&optimizer.recommended().unwrap().x));
            }
        }
        restarts += optimizer.restarts().len();
    }
    let medians = regrets.map(|mut regrets| {
        regrets.sort_by(f64::total_cmp);
        regrets[regrets.len() / 2]
    });
    assert!(restarts >= seeds as usize, "{restarts} restarts in {seeds} runs");
    assert!(medians.is_sorted_by(|a, b| a >= b) && medians[3] < 0.25 * medians[0], "{medians:?} after {at:?}");
}

#[test]
fn a_run_begins_again_once_it_knows_that_values_have_noise() {
    // As long as values are taken as exact the region closes in on the luckiest of them.
    let mut wider = 0;
    for seed in 0..6 {
        let mut normal = Normal(Dice(40 + seed));
        let mut optimizer = optimizer(&[BOX; 2], config(Noise::Auto, seed));
        let (mut widths, mut repeats) = (Vec::new(), Vec::new());
        for n in 0..60 {
            let suggestion = optimizer.ask().unwrap();
            let report = optimizer.report().unwrap();
            if report.origin == Origin::Repeat {
                repeats.push(n);
            }
            widths.push(report.half_widths.iter().copied().fold(f64::INFINITY, f64::min));
            optimizer.tell(suggestion.id, bowl(&suggestion.x) + 3.0 * normal.next()).unwrap();
        }
        let [first, second, ..] = repeats[..] else { panic!("seed {seed}: {repeats:?}") };
        assert!(second < 60, "seed {seed}: {repeats:?}");
        let after = widths[second.max(first + 1)];
        wider += usize::from(after > widths[first - 1]);
    }
    assert!(wider >= 5, "{wider} of 6 regions are wider once the noise is known");
}

#[test]
fn a_step_under_noise_has_twice_the_observations_of_one_without() {
    for sigma in [0.3, 3.0, 30.0] {
        for noise in [Noise::Auto, Noise::Sigma(sigma)] {
            let kept = noisy_bowl(2, sigma, 80, config(noise, 1)).report().unwrap().observations;
            assert!((15..=28).contains(&kept), "{kept} with {noise:?} and {sigma}");
        }
    }
}

#[test]
fn the_noise_is_found_out_and_estimated() {
    let mut sigmas = Vec::new();
    for seed in 0..10 {
        let optimizer = noisy_bowl(2, 0.5, 120, config(Noise::Auto, seed));
        assert!(optimizer.has_noise());
        sigmas.push(optimizer.noise_sigma().unwrap());
    }
    sigmas.sort_by(f64::total_cmp);
    assert!(sigmas[5] > 0.35 && sigmas[5] < 0.7, "σ = 0.5 is estimated as {sigmas:?}");
}

#[test]
fn until_auto_doubts_it_is_none_and_it_doubts_once() {
    for d in [1, 2, 3, 5] {
        let none = stream(&vec![BOX; d], config(Noise::None, 3), bowl, 40);
        let mut auto = optimizer(&vec![BOX; d], config(Noise::Auto, 3));
        let mut repeats = 0;
        for point in none {
            let suggestion = auto.ask().unwrap();
            repeats += usize::from(auto.report().unwrap().origin == Origin::Repeat);
            assert!(repeats > 0 || suggestion.x == point, "d = {d}");
            auto.tell(suggestion.id, bowl(&suggestion.x)).unwrap();
        }
        assert!(repeats <= 1 && !auto.has_noise(), "d = {d}: {repeats} repeated evaluations");
    }
}

#[test]
fn accuracies_of_a_few_samples_are_not_taken_as_exact() {
    for seed in 0..12 {
        let mut dice = Dice(50 + seed);
        let mut optimizer = optimizer(&[BOX; 2], config(Noise::Auto, seed));
        for _ in 0..80 {
            let suggestion = optimizer.ask().unwrap();
            let wrong = 0.1 + 0.02 * bowl(&suggestion.x).min(40.0);
            let count = (0..20).filter(|_| dice.unit() < wrong).count();
            optimizer.tell(suggestion.id, count as f64 / 20.0).unwrap();
        }
        assert!(optimizer.has_noise(), "seed {seed}");
    }
}

#[test]
fn one_repeated_evaluation_shows_that_a_rugged_function_is_exact() {
    let rugged = |x: &[f64]| bowl(x) + x.iter().map(|x| (1e4 * x).sin()).sum::<f64>();
    let mut optimizer = optimizer(&[BOX; 3], config(Noise::Auto, 1));
    let mut repeats = 0;
    for _ in 0..150 {
        let suggestion = optimizer.ask().unwrap();
        repeats += usize::from(optimizer.report().unwrap().origin == Origin::Repeat);
        optimizer.tell(suggestion.id, rugged(&suggestion.x)).unwrap();
    }
    assert_eq!((repeats, optimizer.has_noise()), (1, false));
}

#[test]
fn without_noise_the_best_point_is_recommended() {
    for noise in [Noise::None, Noise::Auto, Noise::Sigma(0.0)] {
        let optimizer = noisy_bowl(2, 0.0, 30, config(noise, 1));
        let (best, found) = (optimizer.best().unwrap(), optimizer.recommended().unwrap());
        assert_eq!((&found.x, Some(found.mean), found.std), (&best.x, best.outcome.value(), 0.0));
    }
}

#[test]
fn decisions_know_no_unit_of_the_objective() {
    let run = |scale: f64, noise: Noise| {
        let mut normal = Normal(Dice(5));
        let mut optimizer = optimizer(&[BOX; 2], config(noise, 2));
        let mut points = Vec::new();
        for _ in 0..80 {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, scale * (bowl(&suggestion.x) + normal.next())).unwrap();
            points.push(suggestion.x);
        }
        (bits(&points), optimizer.recommended().unwrap())
    };
    for scale in [0.125, 1024.0] {
        for (noise, scaled) in [(Noise::Auto, Noise::Auto), (Noise::Sigma(1.0), Noise::Sigma(scale))] {
            let (here, there) = (run(1.0, noise), run(scale, scaled));
            assert_eq!(here.0, there.0, "{noise:?} times {scale}");
            assert_eq!((scale * here.1.mean, scale * here.1.std), (there.1.mean, there.1.std));
        }
    }
}

#[test]
fn maximising_is_minimising_the_negative() {
    let mut of_negative = config(Noise::Sigma(1.0), 4);
    of_negative.direction = Direction::Maximize;
    let (mut a, mut b) = (optimizer(&[BOX; 2], config(Noise::Sigma(1.0), 4)), optimizer(&[BOX; 2], of_negative));
    let mut normal = Normal(Dice(6));
    for _ in 0..60 {
        let (one, other) = (a.ask().unwrap(), b.ask().unwrap());
        assert_eq!(one, other);
        let value = bowl(&one.x) + normal.next();
        a.tell(one.id, value).unwrap();
        b.tell(other.id, -value).unwrap();
    }
    let (a, b) = (a.recommended().unwrap(), b.recommended().unwrap());
    assert_eq!((a.x, a.mean, a.std), (b.x, -b.mean, b.std));
}

#[cfg(feature = "serde")]
#[test]
fn a_resumed_optimizer_goes_on_bit_for_bit() {
    for noise in [Noise::Auto, Noise::Sigma(1.0)] {
        let mut normal = Normal(Dice(7));
        let mut whole = optimizer(&[BOX; 2], config(noise, 5));
        let mut resumed = whole.clone();
        for n in 0..400 {
            if n % 5 == 0 {
                resumed = Optimizer::from_json(&resumed.to_json()).unwrap();
            }
            let (a, b) = (whole.ask().unwrap(), resumed.ask().unwrap());
            assert_eq!(a, b, "{noise:?}, evaluation {n}");
            let value = bowl(&a.x) + normal.next();
            whole.tell(a.id, value).unwrap();
            resumed.tell(b.id, value).unwrap();
            if n % 20 == 0 {
                assert_eq!(whole.recommended(), resumed.recommended());
            }
        }
        assert!(!whole.restarts().is_empty(), "the recommendation of an earlier run is part of the state");
    }
}

#[test]
fn a_run_ends_and_its_region_stays_open() {
    let mut normal = Normal(Dice(8));
    let mut optimizer = optimizer(&[BOX; 2], config(Noise::Auto, 6));
    let mut narrowest = f64::INFINITY;
    for _ in 0..500 {
        let suggestion = optimizer.ask().unwrap();
        let report = optimizer.report().unwrap();
        narrowest = report.half_widths.iter().copied().fold(narrowest, f64::min);
        optimizer.tell(suggestion.id, bowl(&suggestion.x) + normal.next()).unwrap();
    }
    assert!(
        narrowest > 1e-2,
        "half-widths down to {narrowest} of a box in which the bowl rises by 50 under noise of 1"
    );
    assert!(optimizer.restarts().iter().any(|r| r.cause == RestartCause::Noise), "{:?}", optimizer.restarts());
}

#[test]
fn the_region_is_never_too_narrow_to_be_seen() {
    // Even if the whole budget had been spent on one axis, it could not resolve a change of f below σ/√budget along it. A bowl
    // changes along every axis, a valley along some.
    const BUDGET: i32 = 300;
    fn valley(x: &[f64]) -> f64 {
        x.windows(2).map(|w| 10.0 * (w[1] - w[0] * w[0]).powi(2) + (w[0] - 1.0).powi(2)).sum()
    }
    for (f, sigma) in [(bowl as fn(&[f64]) -> f64, 1.0), (valley, 30.0)] {
        let mut normal = Normal(Dice(12));
        let mut optimizer = optimizer(&[BOX; 2], config(Noise::Sigma(sigma), 7));
        for n in 1..=BUDGET {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, f(&suggestion.x) + sigma * normal.next()).unwrap();
            let Some(region) = optimizer.trust_region() else { continue };
            let change = |half_axis: &Vec<f64>, sign: f64| {
                let end: Vec<f64> = region.centre.iter().zip(half_axis).map(|(c, v)| c + sign * v).collect();
                (f(&end) - f(&region.centre)).abs()
            };
            let mut seen: Vec<f64> = region.half_axes.iter().map(|v| change(v, 1.0).max(change(v, -1.0))).collect();
            seen.sort_by(f64::total_cmp);
            let seen = if sigma == 1.0 { seen[0] } else { seen[1] };
            assert!(seen > sigma / f64::from(BUDGET).sqrt(), "σ = {sigma}, evaluation {n}: f changes by {seen}");
        }
        assert!(!optimizer.restarts().is_empty(), "σ = {sigma}");
    }
}

#[test]
fn what_is_predicted_at_the_recommendation_is_what_it_says() {
    let mut after = 0;
    for seed in 0..4 {
        let mut normal = Normal(Dice(20 + seed));
        let mut optimizer = optimizer(&[BOX; 2], config(Noise::Auto, seed));
        for _ in 0..300 {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, bowl(&suggestion.x) + normal.next()).unwrap();
            if optimizer.restarts().is_empty() || !optimizer.n_evaluations().is_multiple_of(12) {
                continue;
            }
            let found = optimizer.recommended().unwrap();
            let predicted = optimizer.predict(&found.x).unwrap().unwrap();
            let same = |a: f64, b: f64| (a - b).abs() < 1e-6 * found.std;
            assert!(same(predicted.mean, found.mean) && same(predicted.std, found.std), "{predicted:?}, {found:?}");
            after += 1;
        }
    }
    assert!(after > 20, "{after} evaluations after a restart");
}

#[test]
fn what_is_told_with_a_value_counts() {
    // Half of the evaluations are a hundred times as noisy as the others, and say so.
    let run = |told: bool, noise: Noise| {
        let mut normal = Normal(Dice(9));
        let mut values = Vec::new();
        for seed in 0..8 {
            let mut optimizer = optimizer(&[BOX; 2], config(noise, seed));
            for n in 0..80 {
                let suggestion = optimizer.ask().unwrap();
                let std = if n % 2 == 0 { 0.05 } else { 5.0 };
                let value = Outcome::from(bowl(&suggestion.x) + std * normal.next());
                let outcome = if told { value.with_std(std).unwrap() } else { value };
                optimizer.tell(suggestion.id, outcome).unwrap();
            }
            values.push(bowl(&optimizer.recommended().unwrap().x));
        }
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (told, given, ignored) = (run(true, Noise::Auto), run(false, Noise::Sigma(3.5)), run(true, Noise::None));
    assert!(told < 0.5 * given && told < 0.5 * ignored, "{told} told, {given} with one σ for all, {ignored} ignored");
}

#[test]
fn a_standard_deviation_is_a_number_of_at_least_0() {
    for std in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = Outcome::from(1.0).with_std(std).unwrap_err();
        let message =
            format!("std = {std} is not the standard deviation of a value: it must be a finite number of at least 0");
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(Outcome::from(1.0).with_std(0.0).unwrap().std(), Some(0.0));
    assert_eq!(Outcome::from(f64::NAN).with_std(0.5).unwrap().std(), None, "what a reload would forget");
}

#[test]
fn a_target_is_met_by_the_posterior_and_not_by_a_draw() {
    let with_target = |noise| {
        let mut config = config(noise, 3);
        config.target = Some(-1.0); // the bowl is nowhere below 0
        config.budget = Some(120);
        let mut normal = Normal(Dice(10));
        let mut optimizer = optimizer(&[BOX; 2], config);
        while let Ok(suggestion) = optimizer.ask() {
            optimizer.tell(suggestion.id, bowl(&suggestion.x) + normal.next()).unwrap();
        }
        optimizer.stop_reason()
    };
    assert_eq!(with_target(Noise::None), Some(StopReason::Target));
    assert_eq!(with_target(Noise::Sigma(1.0)), Some(StopReason::Budget));
    // One that can be met is.
    let mut config = config(Noise::Sigma(0.1), 3);
    (config.target, config.budget) = (Some(0.5), Some(200));
    let mut normal = Normal(Dice(11));
    let mut optimizer = optimizer(&[BOX; 2], config);
    while let Ok(suggestion) = optimizer.ask() {
        optimizer.tell(suggestion.id, bowl(&suggestion.x) + 0.1 * normal.next()).unwrap();
    }
    assert_eq!(optimizer.stop_reason(), Some(StopReason::Target));
    assert!(bowl(&optimizer.recommended().unwrap().x) < 0.5);
}

#[test]
fn several_at_a_time_are_different_points() {
    let mut optimizer = noisy_bowl(2, 1.0, 60, config(Noise::Auto, 1));
    let asked = optimizer.ask_many(12).unwrap();
    let points: Vec<Vec<f64>> = asked.into_iter().map(|s| s.x).collect();
    assert!(crate::support::all_distinct(&points));
}

/// A valley that drowns in the noise and bends: no quadratic holds along it, and no model of one run sees enough of it.
#[test]
fn along_a_bent_valley_all_that_was_seen_is_of_use() {
    fn valley(x: &[f64]) -> f64 {
        100.0 * (x[1] - x[0] * x[0]).powi(2) + (0.7 - x[0]).powi(2)
    }
    let (sigma, seeds) = (4.0, 10);
    let (mut early, mut late) = (0.0, 0.0);
    for seed in 0..seeds {
        let mut normal = Normal(Dice(100 + seed));
        let mut optimizer = optimizer(&[(-2.0, 2.0); 2], config(Noise::Auto, seed));
        for n in 1..=400 {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, valley(&suggestion.x) + sigma * normal.next()).unwrap();
            if n == 80 || n == 400 {
                let value = valley(&optimizer.recommended().unwrap().x) / sigma;
                *(if n == 80 { &mut early } else { &mut late }) += value.log10() / seeds as f64;
            }
        }
    }
    assert!(late < early - 0.1 && late < -1.1, "log10 {early:.2} after 80 evaluations, {late:.2} after 400");
}

/// They have no range that the noise could be a part of.
#[test]
fn equal_values_with_noise_have_the_standard_deviation_of_their_mean() {
    for spread in [0.0, 1e-9, 1e-3] {
        for (d, n) in [(2, 40), (3, 100)] {
            let mut optimizer = optimizer(&vec![BOX; d], config(Noise::Sigma(2.0), 3));
            let mut dice = Dice(5);
            for _ in 0..n {
                let suggestion = optimizer.ask().unwrap();
                optimizer.tell(suggestion.id, 7.0 + spread * dice.unit()).unwrap();
            }
            let found = optimizer.recommended().unwrap();
            let of_mean = 2.0 / f64::from(n).sqrt();
            assert!((found.mean - 7.0).abs() <= 4.0 * spread, "{found:?}");
            assert!((0.5 * of_mean..3.0 * of_mean).contains(&found.std), "{} for {of_mean}", found.std);
        }
    }
}

#[test]
fn extreme_noise_and_values_end_nothing() {
    for sigma in [f64::MIN_POSITIVE, 1e-300, 1e300, f64::MAX] {
        for scale in [1e-300, 1.0, 1e300] {
            let mut optimizer = optimizer(&[BOX; 2], config(Noise::Sigma(sigma), 1));
            let mut dice = Dice(3);
            for _ in 0..25 {
                let suggestion = optimizer.ask().unwrap();
                optimizer.tell(suggestion.id, scale * (dice.unit() - 0.5)).unwrap();
                let found = optimizer.recommended().unwrap();
                assert!(found.x.iter().all(|x| x.abs() <= 5.0) && found.mean.is_finite() && found.std.is_finite());
            }
        }
    }
}

/// The order of telling, a constant and a unit change nothing in what is known.
#[test]
fn the_posterior_knows_no_order_no_zero_and_no_unit() {
    let recommend = |order: &dyn Fn(usize) -> usize, scale: f64, shift: f64| {
        let mut optimizer = optimizer(&[BOX; 2], config(Noise::Sigma(scale), 1));
        let mut normal = Normal(Dice(9));
        let told: Vec<([f64; 2], f64)> = (0..50)
            .map(|_| {
                let x = [normal.next().clamp(-5.0, 5.0), normal.next().clamp(-5.0, 5.0)];
                (x, bowl(&x) + normal.next())
            })
            .collect();
        for k in 0..50 {
            let (x, y) = told[order(k)];
            optimizer.tell_point(&x, scale * y + shift).unwrap();
        }
        (optimizer.recommended().unwrap(), optimizer.predict(&[2.0, -1.0]).unwrap().unwrap())
    };
    let (found, there) = recommend(&|k| k, 1.0, 0.0);
    let (again, there_again) = recommend(&|k| (7 * k) % 50, 1.0, 0.0);
    assert_eq!((&found, there), (&again, there_again));
    let (scaled, there_scaled) = recommend(&|k| k, 8.0, 0.0);
    assert_eq!((&found.x, 8.0 * found.mean, 8.0 * there.std), (&scaled.x, scaled.mean, there_scaled.std));
    let (shifted, _) = recommend(&|k| k, 1.0, 1000.0);
    assert!((shifted.mean - 1000.0 - found.mean).abs() < 1e-3 * found.std, "{found:?}, {shifted:?}");
}

#[test]
fn values_told_without_their_noise_have_that_of_the_others() {
    let mut regrets: Vec<f64> = (0..8)
        .map(|seed| {
            let mut dice = Dice(seed);
            let mut optimizer = optimizer(&[(-5.0, 5.0); 2], config(Noise::Auto, seed));
            for k in 0..80 {
                let s = optimizer.ask().unwrap();
                let steep: f64 = s.x.iter().map(|x| (0.6 * (x - 1.3)).exp() - 0.6 * (x - 1.3) - 1.0).sum();
                let value = Outcome::from(steep + (12.0_f64.sqrt() * (dice.unit() - 0.5)));
                optimizer.tell(s.id, if k % 2 == 0 { value.with_std(1.0).unwrap() } else { value }).unwrap();
            }
            let found = optimizer.recommended().unwrap();
            assert!((0.02..2.0).contains(&found.std), "seed {seed}: {found:?}");
            found.x.iter().map(|x| (0.6 * (x - 1.3)).exp() - 0.6 * (x - 1.3) - 1.0).sum()
        })
        .collect();
    regrets.sort_by(f64::total_cmp);
    assert!(regrets[4] < 0.5, "{regrets:.2?}");
}
