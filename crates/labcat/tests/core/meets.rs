//! Where two capabilities meet: what each of them does alone, it does with the other.

use crate::support::{Dice, all_distinct, best_value, bits, evaluate, function, optimizer, seeded};
use labcat::{
    AcquisitionKind, Config, Domain, Formula, Known, Noise, Optimizer, Origin, Outcome, Parameter, Preset, Scope,
    Suggestion,
};

fn config(seed: u64, noise: Noise, constraints: usize) -> Config {
    let mut config = seeded(Preset::Default, seed);
    (config.noise, config.constraints) = (noise, constraints);
    config
}

fn mixed(parameters: Vec<Parameter>, config: Config) -> Optimizer {
    Optimizer::new(Domain::from_parameters(parameters).unwrap(), config).unwrap()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A bowl whose least value, 0, is not in the middle of anything.
fn bowl(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(j, x)| (x - 0.7 - 0.2 * j as f64).powi(2)).sum()
}

/// Nearly normal: the sum of twelve uniform draws.
fn normal(dice: &mut Dice) -> f64 {
    (0..12).map(|_| dice.unit()).sum::<f64>() - 6.0
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn noise_in_batches_is_noticed() {
    let mut noticed = 0;
    let seeds = 6;
    for seed in 0..seeds {
        let (mut dice, d) = (Dice(seed), 5);
        let mut optimizer = optimizer(&vec![(-5.0, 5.0); d], config(seed, Noise::Auto, 0));
        for _ in 0..12 {
            for s in optimizer.ask_many(8).unwrap() {
                optimizer.tell(s.id, bowl(&s.x) + normal(&mut dice)).unwrap();
            }
        }
        noticed += u64::from(optimizer.has_noise());
    }
    assert!(
        noticed >= seeds - 1,
        "noise of 1 in 96 evaluations, eight at a time, is noticed in {noticed} of {seeds} runs"
    );
}

/// Evaluations of a bowl, least at (0.7, 0.9), under the constraint x + y ≤ 1, which leaves (0.4, 0.6) with 0.18. Both have noise.
fn noisy_line(seed: u64, n: usize) -> Optimizer {
    let mut dice = Dice(100 + seed);
    let mut optimizer = optimizer(&[(-2.0, 2.0); 2], config(seed, Noise::Sigma(0.1), 1));
    for _ in 0..n {
        let s = optimizer.ask().unwrap();
        let g = s.x[0] + s.x[1] - 1.0 + 0.5 * normal(&mut dice);
        let outcome = Outcome::from(bowl(&s.x) + 0.1 * normal(&mut dice));
        optimizer.tell(s.id, outcome.with_constraints(vec![g])).unwrap();
    }
    optimizer
}

#[test]
fn noisy_constraints_recommend_feasible() {
    let found: Vec<Vec<f64>> = (0..16).map(|seed| noisy_line(seed, 60).recommended().unwrap().x).collect();
    let excess: Vec<f64> = found.iter().map(|x| x[0] + x[1] - 1.0).collect();
    let feasible = excess.iter().filter(|g| **g <= 0.0).count();
    let regret = median(found.iter().map(|x| bowl(x) - 0.18).collect());
    assert!(feasible >= 12, "{feasible} of 16 recommendations are truly feasible: {excess:.2?}");
    assert!(regret < 0.5, "and not far from the boundary: {regret}");
}

#[test]
fn noisy_constrained_reals_may_repeat_a_point() {
    // The best point is a corner of the box: under noise it is worth more than one evaluation, with a constraint as well.
    let repeated = |seed: u64, constraints: usize| {
        let mut dice = Dice(100 + seed);
        let mut optimizer = optimizer(&[(-2.0, 2.0); 2], config(seed, Noise::Sigma(0.5), constraints));
        let mut points = Vec::new();
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            let value = -s.x[0] - 0.8 * s.x[1] + 0.5 * normal(&mut dice);
            let g = s.x[0] - s.x[1] - 0.5;
            optimizer.tell(s.id, Outcome::from(value).with_constraints(vec![g; constraints])).unwrap();
            points.push(s.x);
        }
        let mut all = bits(&points);
        all.sort_unstable();
        all.dedup();
        points.len() - all.len()
    };
    let with: Vec<usize> = (0..6).map(|seed| repeated(seed, 1)).collect();
    let without: Vec<usize> = (0..6).map(|seed| repeated(seed, 0)).collect();
    let runs = with.iter().filter(|n| **n > 0).count();
    assert!(runs >= 4, "evaluations that repeat a point, run by run: {with:?}; without the constraint {without:?}");
}

#[test]
fn told_noise_in_a_finite_space_spreads_over_labels() {
    // Ten labels a third of σ apart: which is best takes evaluations of all of them.
    let labels = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let (mut shares, mut regret, mut equal) = (Vec::new(), 0.0, 0.0);
    let seeds = 25;
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        let order: Vec<f64> =
            (0..labels.len()).map(|k| ((k + seed as usize * 3) % labels.len()) as f64 / 3.0).collect();
        let mut optimizer = mixed(vec![Parameter::categorical("kind", labels)], config(seed, Noise::Sigma(1.0), 0));
        let mut counts = [0; 10];
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            counts[s.x[0] as usize] += 1;
            optimizer.tell(s.id, order[s.x[0] as usize] + normal(&mut dice)).unwrap();
        }
        shares.push(f64::from(*counts.iter().max().unwrap()) / 60.0);
        regret += order[optimizer.recommended().unwrap().x[0] as usize] / seeds as f64;
        let means: Vec<f64> = order.iter().map(|v| v + (0..6).map(|_| normal(&mut dice)).sum::<f64>() / 6.0).collect();
        let chosen = (0..10).min_by(|a, b| means[*a].total_cmp(&means[*b])).unwrap();
        equal += order[chosen] / seeds as f64;
    }
    let share = median(shares);
    let found = format!(
        "the most evaluated of ten labels gets {share:.2}; mean regret {regret:.3}, of equal shares {equal:.3}"
    );
    assert!(share < 0.7 && regret < 1.5 * equal, "{found}");
}

/// A valley with a bend, and its derivatives.
fn valley(x: &[f64]) -> (f64, Vec<f64>) {
    let bend = x[1] - x[0] * x[0];
    ((x[0] - 0.7).powi(2) + 4.0 * bend * bend, vec![2.0 * (x[0] - 0.7) - 16.0 * x[0] * bend, 8.0 * bend])
}

/// After the same evaluations of the valley, with or without their gradients: how wrong predictions are, and the next suggestion.
/// Parameters beyond the first two mean nothing.
fn informed(mut optimizer: Optimizer, seed: u64, gradients: bool) -> (Vec<f64>, Suggestion) {
    let mut dice = Dice(seed);
    let sigma = if optimizer.config().noise == Noise::None { 0.0 } else { 0.05 };
    let mut outcome = |x: &[f64]| {
        let (value, mut gradient) = valley(x);
        gradient.resize(x.len(), f64::NAN);
        let outcome = Outcome::from(value + sigma * normal(&mut dice));
        outcome.with_gradient(if gradients { gradient } else { Vec::new() })
    };
    let mut places = Dice(99 + seed);
    let mut place = |optimizer: &Optimizer, low: f64, high: f64| {
        let mut x = vec![low + (high - low) * places.unit(), low + (high - low) * places.unit()];
        x.resize(optimizer.domain().parameters().len(), 0.0);
        x
    };
    for _ in 0..10 {
        let x = place(&optimizer, -0.5, 1.5);
        optimizer.tell_point(&x, outcome(&x)).unwrap();
    }
    let suggestion = loop {
        let s = optimizer.ask().unwrap();
        if optimizer.report().unwrap().origin != Origin::Design && optimizer.predict(&s.x).unwrap().is_some() {
            break s;
        }
        optimizer.tell(s.id, outcome(&s.x)).unwrap();
    };
    let mut error = || {
        let x = place(&optimizer, 0.0, 1.0);
        (optimizer.predict(&x).unwrap().unwrap().mean - valley(&x).0).abs()
    };
    ((0..9).map(|_| error()).collect(), suggestion)
}

/// How many times the error of the predictions without gradients is that with them, and in how many of five runs the suggestions differ.
fn gain_of_gradients(optimizer: impl Fn(u64) -> Optimizer) -> (f64, usize) {
    let (mut with, mut without, mut others) = (Vec::new(), Vec::new(), 0);
    for seed in 0..5 {
        let start = optimizer(seed);
        let (a, b) = (informed(start.clone(), seed, true), informed(start, seed, false));
        others += usize::from(a.1 != b.1);
        with.extend(a.0);
        without.extend(b.0);
    }
    (median(without) / median(with), others)
}

#[test]
fn predict_uses_gradients() {
    let (gain, _) = gain_of_gradients(|seed| optimizer(&[(-2.0, 2.0); 2], config(seed, Noise::None, 0)));
    assert!(gain > 1.2, "the error of predictions without gradients is {gain} times that with them");
}

#[test]
fn gradients_under_noise_change_the_model() {
    let (gain, others) = gain_of_gradients(|seed| optimizer(&[(-2.0, 2.0); 2], config(seed, Noise::Sigma(0.05), 0)));
    assert!(others == 5, "gradients change the suggestion in {others} of 5 runs");
    assert!(gain > 1.2, "the error of predictions without gradients is {gain} times that with them");
}

#[test]
fn gradients_in_mixed_spaces_change_the_model() {
    let (gain, others) = gain_of_gradients(|seed| {
        let reals = vec![Parameter::real("x", -2.0, 2.0), Parameter::real("y", -2.0, 2.0)];
        let others = [Parameter::integer("n", 0.0, 5.0), Parameter::categorical("kind", ["a", "b", "c"])];
        mixed(reals.into_iter().chain(others).collect(), config(seed, Noise::None, 0))
    });
    assert!(others == 5, "gradients change the suggestion in {others} of 5 runs");
    assert!(gain > 1.2, "the error of predictions without gradients is {gain} times that with them");
}

/// The suggestions of a short run on the valley with a measured line or gradients.
fn short(change: impl Fn(&mut Config), constraints: usize, gradients: bool) -> Vec<Vec<u64>> {
    let mut config = config(3, Noise::None, constraints);
    config.quadratic &= !gradients; // steps along gradients need no acquisition function
    change(&mut config);
    let mut optimizer = optimizer(&[(-2.0, 2.0); 2], config);
    let mut points = Vec::new();
    for _ in 0..20 {
        let s = optimizer.ask().unwrap();
        let (value, gradient) = valley(&s.x);
        let outcome = Outcome::from(value).with_constraints(vec![s.x[0] + s.x[1] - 1.0; constraints]);
        optimizer.tell(s.id, outcome.with_gradient(if gradients { gradient } else { Vec::new() })).unwrap();
        points.push(s.x);
    }
    bits(&points)
}

/// Those of the options that change nothing.
fn ignored(constraints: usize, gradients: bool) -> Vec<&'static str> {
    let usual = short(|_| {}, constraints, gradients);
    type Change = fn(&mut Config);
    let options: [(&str, Change); 2] = [
        ("acquisition", |config| config.acquisition = AcquisitionKind::LowerConfidenceBound),
        ("refine", |config| config.refine = 0),
    ];
    let all = options.into_iter().filter(|(_, change)| short(change, constraints, gradients) == usual);
    all.map(|(name, _)| name).collect()
}

#[test]
fn acquisition_and_refine_are_used_with_constraints() {
    assert_eq!(ignored(0, false), [""; 0], "without constraints");
    assert_eq!(ignored(1, false), [""; 0], "with constraints");
}

#[test]
fn acquisition_and_refine_are_used_with_gradients() {
    assert_eq!(ignored(0, true), [""; 0]);
}

#[test]
fn mixed_pending_points_are_distinct() {
    // As with reals alone: none of the points that are pending together is, within 0.002 of the trust region, another's place.
    let (mut same, mut all) = (0, 0);
    for seed in 0..16 {
        let parameters = vec![
            Parameter::real("x", -1.0, 1.0),
            Parameter::real("y", -1.0, 1.0),
            Parameter::categorical("kind", ["a", "b", "c"]),
        ];
        let mut optimizer = mixed(parameters, config(seed, Noise::None, 0));
        for _ in 0..8 {
            let mut asked: Vec<Suggestion> = Vec::new();
            for _ in 0..6 {
                let s = optimizer.ask().unwrap();
                let half_widths = &optimizer.report().unwrap().half_widths;
                let width = half_widths.iter().copied().fold(f64::INFINITY, f64::min);
                same += usize::from(width.is_finite() && asked.iter().any(|t| distance(&s.x, &t.x) < 2e-3 * width));
                all += 1;
                asked.push(s);
            }
            for s in asked {
                optimizer.tell(s.id, valley(&s.x).0 + [0.5, 0.0, 0.3][s.x[2] as usize]).unwrap();
            }
        }
    }
    assert_eq!(same, 0, "of {all} suggestions, those in the place of another that is pending");
}

/// Evaluations until Rosenbrock's function in three dimensions is solved, `q` at a time.
fn until_solved(seed: u64, q: usize) -> f64 {
    let f = function("rosenbrock");
    let mut config = config(seed, Noise::None, 0);
    (config.target, config.budget) = (Some(1e-8), Some(400));
    let mut optimizer = optimizer(&f.bounds(3), config);
    while let Ok(batch) = optimizer.ask_many(q) {
        for s in batch {
            optimizer.tell(s.id, f.value(&s.x)).unwrap();
        }
    }
    optimizer.n_evaluations() as f64
}

#[test]
fn quartic_serves_one_at_a_time() {
    let needed = |q: usize| median((0..7).map(|seed| until_solved(seed, q)).collect());
    let (one, two) = (needed(1), needed(2));
    assert!(one <= 1.1 * two, "{one} evaluations one at a time, {two} two at a time");
}

#[test]
fn ties_among_labels_are_broken_by_the_seed() {
    // Labels that mean nothing: the first that the model suggests is any of them.
    let (labels, seeds) = (["a", "b", "c", "d", "e", "f", "g", "h"], 60);
    let first = |seed: u64| {
        let parameters = vec![Parameter::categorical("kind", labels), Parameter::boolean("on")];
        let mut optimizer = mixed(parameters, config(seed, Noise::None, 0));
        loop {
            let s = optimizer.ask().unwrap();
            if optimizer.report().unwrap().origin != Origin::Design {
                return s.x[0];
            }
            optimizer.tell(s.id, s.x[1]).unwrap();
        }
    };
    let all: Vec<f64> = (0..seeds).map(first).collect();
    let mean = all.iter().sum::<f64>() / seeds as f64;
    assert!((2.5..4.5).contains(&mean), "on average number {mean:.2} of 0 to 7: {all:?}");
}

#[test]
fn ties_among_labels_under_noise_are_broken_by_the_seed() {
    let mut recommended = [0; 6];
    for seed in 0..60 {
        let parameters = vec![Parameter::categorical("kind", ["a", "b", "c", "d", "e", "f"]), Parameter::boolean("on")];
        let mut optimizer = mixed(parameters, config(seed, Noise::Sigma(0.1), 0));
        for _ in 0..20 {
            let s = optimizer.ask().unwrap();
            optimizer.tell(s.id, s.x[1]).unwrap();
        }
        recommended[optimizer.recommended().unwrap().x[0] as usize] += 1;
    }
    // The first evaluation is at the fourth label, in the middle, with the worse of the two values.
    let fair = recommended.iter().enumerate().all(|(k, n)| (usize::from(k != 3)..=22).contains(n));
    assert!(fair, "of six labels that are alike: {recommended:?}");
}

/// The median gap after 60 evaluations of a bowl under Σ x ≤ 1, told by a function of the true constraint.
fn gap_told_as(d: usize, told: fn(f64) -> f64) -> f64 {
    let bottom = |j: usize| 1.0 + 0.2 * j as f64;
    let least = ((0..d).map(bottom).sum::<f64>() - 1.0).powi(2) / d as f64;
    let gap = |seed: u64| {
        let mut optimizer = optimizer(&vec![(-2.0, 2.0); d], config(seed, Noise::None, 1));
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            let value: f64 = s.x.iter().enumerate().map(|(j, x)| (x - bottom(j)).powi(2)).sum();
            let g = told(s.x.iter().sum::<f64>() - 1.0);
            optimizer.tell(s.id, Outcome::from(value).with_constraints(vec![g])).unwrap();
        }
        if optimizer.best().unwrap().outcome.is_feasible() { best_value(&optimizer) - least } else { f64::INFINITY }
    };
    median((0..11).map(gap).collect())
}

#[test]
fn constraints_flat_where_satisfied_are_met_closely() {
    let gap = gap_told_as(2, |g| g.max(0.0));
    assert!(gap < 1e-4, "the gap with max(0, g) is {gap:.1e}");
}

#[test]
fn constraints_that_pass_or_fail_are_met_closely() {
    let gap = gap_told_as(3, |g| if g > 0.0 { 1.0 } else { -1.0 });
    assert!(gap < 8e-2, "the gap with pass or fail is {gap:.1e}");
}

/// ½ Σ (x⁴ − 16 x² + 5 x): 2^d minima, the lowest towards one corner, of value −39.166 d.
fn many_minima(x: &[f64]) -> f64 {
    x.iter().map(|x| 0.5 * (x.powi(4) - 16.0 * x * x + 5.0 * x)).sum()
}

#[test]
fn a_global_search_finds_the_lowest_of_many_minima() {
    let found = |search: Scope| {
        let solved = |seed: &u64| {
            let mut config = config(*seed, Noise::None, 0);
            (config.budget, config.search) = (Some(90), search);
            let mut optimizer = optimizer(&[(-4.8, 4.3), (-4.1, 4.9), (-4.5, 3.9)], config);
            while let Ok(s) = optimizer.ask() {
                optimizer.tell(s.id, many_minima(&s.x)).unwrap();
            }
            many_minima(&optimizer.best().unwrap().x) < 3.0 * -39.16616 + 0.1
        };
        (0..12).filter(solved).count()
    };
    let (local, global) = (found(Scope::Local), found(Scope::Global));
    assert!(global >= 11 && global > local, "of 12 runs {global} found it, {local} with local runs alone");
}

#[cfg(feature = "serde")]
#[test]
fn a_resumed_global_search_goes_on_bit_for_bit() {
    let mut config = config(3, Noise::None, 0);
    config.search = Scope::Global;
    let mut one = optimizer(&[(-4.8, 4.3), (-4.1, 4.9)], config);
    for _ in 0..60 {
        let mut other = Optimizer::from_json(&one.to_json()).unwrap();
        let (s, t) = (one.ask().unwrap(), other.ask().unwrap());
        assert_eq!(s.x, t.x);
        one.tell(s.id, many_minima(&s.x)).unwrap();
    }
}

#[test]
fn measured_constraints_leave_predictions_and_relevance() {
    // A linear constraint, measured where the value is missing too, and more evaluations than the likelihood is learned from.
    let (mut dice, d) = (Dice(1), 2);
    let mut optimizer = optimizer(&vec![(-5.0, 5.0); d], config(1, Noise::None, 1));
    for _ in 0..200 {
        let x: Vec<f64> = (0..d).map(|_| 10.0 * dice.unit() - 5.0).collect();
        let g = x.iter().sum::<f64>();
        let value = if g > 0.0 { f64::NAN } else { bowl(&x) };
        optimizer.tell_point(&x, Outcome::from(value).with_constraints(vec![g])).unwrap();
    }
    let prediction = optimizer.predict(&[-1.0, -0.5]).unwrap().unwrap();
    let missed = (prediction.mean - bowl(&[-1.0, -0.5])).abs();
    assert!(missed < 0.1 && missed <= 4.0 * prediction.std, "{prediction:?} misses by {missed}");
    assert!(optimizer.relevance().is_some());
}

#[test]
fn exact_constraints_flat_where_satisfied_are_not_taken_for_noisy() {
    // Values of max(0, g) are tied, so that the best point is evaluated again and again.
    for seed in 0..4 {
        let mut optimizer = optimizer(&[(-2.0, 2.0); 2], config(seed, Noise::Auto, 1));
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            let g = (s.x[0] + s.x[1] - 0.55).max(0.0);
            optimizer.tell(s.id, Outcome::from(bowl(&s.x).exp()).with_constraints(vec![g])).unwrap();
        }
        assert!(!optimizer.has_noise(), "seed {seed}: {:?}", optimizer.noise_sigma());
    }
}

#[test]
fn a_start_under_a_known_equation_is_suggested_once() {
    let domain =
        || Domain::from_parameters(vec![Parameter::real("x", -2.0, 2.0), Parameter::real("y", -1.0, 3.0)]).unwrap();
    for seed in 0..4 {
        let equation = Known::default().formula(&Formula::parse("x == y + 0.1").unwrap(), &domain()).unwrap();
        let mut optimizer = Optimizer::with_constraints(domain(), config(seed, Noise::None, 0), equation).unwrap();
        optimizer.start_at(&[&[0.6, 0.5]], Some(&[0.4, 0.4])).unwrap();
        assert!(all_distinct(&evaluate(&mut optimizer, bowl, 12)), "seed {seed}");
    }
}

#[test]
fn noise_in_residuals_is_noticed() {
    // Residuals always have a next step: the doubt whether they are exact comes before it.
    let mut noticed = 0;
    let seeds = 8;
    for seed in 0..seeds {
        let mut dice = Dice(seed);
        let mut optimizer = optimizer(&[(-2.0, 2.0), (-1.0, 3.0)], config(seed, Noise::Auto, 0));
        for _ in 0..60 {
            let s = optimizer.ask().unwrap();
            let (u, v) = (s.x[0], s.x[1]);
            let exact = [u - 0.6, 1.7 * (v - 0.5 * u * u), 0.3 * ((0.5 * u).exp() - 1.0)];
            let residuals = exact.iter().map(|r| r + 0.03 * normal(&mut dice)).collect();
            optimizer.tell(s.id, Outcome::of_residuals(residuals)).unwrap();
        }
        noticed += u64::from(optimizer.has_noise() && optimizer.recommended().is_some_and(|r| r.std > 0.0));
    }
    assert!(noticed >= seeds - 1, "noise in the residuals of 60 evaluations is noticed in {noticed} of {seeds} runs");
}

#[test]
fn under_noise_no_point_is_recommended_among_failures() {
    // The bowl goes on falling where evaluations fail.
    for (noise, residuals) in [(Noise::Auto, false), (Noise::Sigma(1.0), false), (Noise::Auto, true)] {
        for seed in 0..4 {
            let mut dice = Dice(seed);
            let mut optimizer = optimizer(&[(-5.0, 5.0); 2], config(seed, noise, 0));
            for _ in 0..70 {
                let s = optimizer.ask().unwrap();
                let z = [s.x[0] - 3.0, s.x[1] + 1.0];
                if s.x[0] > 1.0 {
                    optimizer.fail(s.id).unwrap();
                } else if residuals {
                    let residuals = z.iter().map(|z| z + 0.2 * normal(&mut dice)).collect();
                    optimizer.tell(s.id, Outcome::of_residuals(residuals)).unwrap();
                } else {
                    optimizer.tell(s.id, z.iter().map(|z| z * z).sum::<f64>() + normal(&mut dice)).unwrap();
                }
            }
            let x = optimizer.recommended().unwrap().x;
            // The border is known as closely as evaluations lie there.
            assert!(x[0] < 1.3 && x[0] > -1.5, "{noise:?}, residuals {residuals}, seed {seed}: {x:?}");
        }
    }
}

#[test]
fn under_noise_a_constraint_that_passes_or_fails_is_kept() {
    let (runs, mut kept, mut worst) = (8, 0, 0.0_f64);
    for seed in 0..runs {
        let mut dice = Dice(seed);
        let mut optimizer = optimizer(&[(-5.0, 5.0); 3], config(seed, Noise::Sigma(0.5), 1));
        for _ in 0..80 {
            let s = optimizer.ask().unwrap();
            let g = if s.x.iter().sum::<f64>() > 0.5 { 1.0 } else { -1.0 };
            let outcome = Outcome::from(bowl(&s.x) + 0.5 * normal(&mut dice));
            optimizer.tell(s.id, outcome.with_constraints(vec![g])).unwrap();
        }
        let excess = optimizer.recommended().unwrap().x.iter().sum::<f64>() - 0.5;
        kept += u64::from(excess <= 0.0);
        worst = worst.max(excess);
    }
    assert!(
        kept >= runs - 3 && worst < 0.3,
        "{kept} of {runs} recommendations are feasible, the worst exceeds by {worst}"
    );
}
