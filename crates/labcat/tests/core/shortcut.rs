//! Linear and quadratic functions are seen through: the fit is followed to its minimum, and never where it does not hold.

use labcat::{Config, Domain, Optimizer, Origin, Preset};

fn optimizer(preset: Preset, d: usize, seed: u64) -> Optimizer {
    let mut config = Config::new(preset);
    config.seed = seed;
    Optimizer::new(Domain::new(&vec![(-5.0, 5.0); d]).unwrap(), config).unwrap()
}

/// A bowl a hundred times as steep along its last axis as along its first, with its minimum away from the centre.
fn bowl(x: &[f64]) -> f64 {
    let last = (x.len() - 1) as f64;
    x.iter().enumerate().map(|(i, x)| 100_f64.powf(i as f64 / last) * (x - 1.3 + 0.4 * i as f64).powi(2)).sum()
}

/// Evaluations until a value below `target` is told, and how many of the suggestions came from a fit.
fn evaluations_to(target: f64, limit: usize, mut optimizer: Optimizer, f: impl Fn(&[f64]) -> f64) -> (usize, usize) {
    let mut followed = 0;
    for evaluation in 1..=limit {
        let suggestion = optimizer.ask().unwrap();
        followed += usize::from(optimizer.report().is_some_and(|r| r.origin == Origin::Quadratic));
        let value = f(&suggestion.x);
        optimizer.tell(suggestion.id, value).unwrap();
        if value <= target {
            return (evaluation, followed);
        }
    }
    (usize::MAX, followed)
}

#[test]
fn a_bowl_is_solved_soon_after_its_coefficients_are_determined() {
    for d in [2, 5, 8] {
        let limit = (d + 1) * (d + 2) / 2 + 10;
        for seed in 0..5 {
            let (evaluations, followed) = evaluations_to(1e-9, limit, optimizer(Preset::Default, d, seed), bowl);
            assert!(evaluations <= limit, "d = {d}, seed {seed}: not solved in {limit} evaluations");
            assert!(followed > 0, "d = {d}, seed {seed}: the fit was not needed");
        }
    }
}

#[test]
fn a_slope_leads_to_the_corner() {
    for d in [2, 5, 20] {
        let slope = |x: &[f64]| x.iter().enumerate().map(|(i, x)| (1.0 + i as f64) * (5.0 - x)).sum::<f64>();
        for seed in 0..5 {
            let (evaluations, _) = evaluations_to(1e-9, 3 * d + 15, optimizer(Preset::Default, d, seed), slope);
            assert!(evaluations <= 3 * d + 15, "d = {d}, seed {seed}");
        }
    }
}

#[test]
fn the_paper_knows_no_shortcut() {
    let (_, followed) = evaluations_to(f64::NEG_INFINITY, 60, optimizer(Preset::Paper, 3, 1), bowl);
    assert_eq!(followed, 0);
}

#[test]
fn a_shortcut_that_fails_is_not_tried_again() {
    let d = 3;
    let mut failing = optimizer(Preset::Default, d, 1);
    let mut followed = Vec::new();
    for _ in 0..80 {
        let suggestion = failing.ask().unwrap();
        if failing.report().unwrap().origin == Origin::Quadratic {
            assert!(!followed.contains(&suggestion.x), "suggested twice");
            followed.push(suggestion.x.clone());
            failing.fail(suggestion.id).unwrap();
        } else {
            failing.tell(suggestion.id, bowl(&suggestion.x)).unwrap();
        }
    }
    assert!(!followed.is_empty());
    assert!(failing.best().unwrap().outcome.value().unwrap() < 1e-2, "the model goes on without it");
}

#[test]
fn a_rugged_function_is_hardly_ever_mistaken_for_a_quadratic_one() {
    let rugged = |x: &[f64]| x.iter().map(|x| x * x - 10.0 * (6.0 * x).cos()).sum::<f64>();
    for d in [2, 5] {
        let (_, followed) = evaluations_to(f64::NEG_INFINITY, 400, optimizer(Preset::Default, d, 3), rugged);
        assert!(followed <= 20, "d = {d}: {followed} of 400");
    }
}

/// Smooth and convex, but no quadratic, turned and a hundred times as steep along one axis as along another. At (1, …, 1) it is 0.
fn smooth(x: &[f64]) -> f64 {
    let d = x.len();
    let z = |i: usize| (0..d).map(|j| if i == j { 1.0 } else { 0.3 } * (x[j] - 1.0)).sum::<f64>();
    (0..d).map(|i| 100_f64.powf(i as f64 / (d - 1) as f64) * (z(i).exp() - z(i) - 1.0)).sum()
}

/// The same along half of the axes, and falling towards x = 2 along the others.
fn smooth_with_faces(x: &[f64]) -> f64 {
    let (inner, outer) = x.split_at(x.len() / 2);
    let bend = 1.0 + 0.1 * inner.iter().map(|x| x * x).sum::<f64>();
    smooth(inner) + bend * outer.iter().map(|x| 2.0 - x).sum::<f64>()
}

/// Whether the median over seeds of the evaluations to 10⁻⁸ falls by a tenth with fits of the nearest observations.
fn check_gain(d: usize, f: fn(&[f64]) -> f64) {
    let median = |nearby: bool| {
        let evaluations = |seed| {
            let mut config = Config::new(Preset::Default);
            (config.seed, config.nearby) = (seed, nearby);
            let optimizer = Optimizer::new(Domain::new(&vec![(-2.5, 2.0); d]).unwrap(), config).unwrap();
            evaluations_to(1e-8, 100 * d, optimizer, f).0
        };
        let mut all: Vec<usize> = (0..7).map(evaluations).collect();
        all.sort_unstable();
        all[3]
    };
    let (with, without) = (median(true), median(false));
    assert!(10 * with <= 9 * without, "d = {d}: {with} with, {without} without");
}

#[test]
fn a_smooth_function_takes_fewer_evaluations_with_fits_of_what_is_nearest() {
    check_gain(6, smooth);
    check_gain(9, smooth);
}

#[test]
fn and_where_its_minimum_lies_on_faces_of_the_box() {
    check_gain(6, smooth_with_faces);
    check_gain(10, smooth_with_faces);
}

/// Where the actual reduction is never the predicted one, the wait doubles each time.
#[test]
fn a_fit_that_never_predicts_well_is_followed_less_and_less() {
    let d = 5;
    let mut deceived = optimizer(Preset::Default, d, 1);
    let mut followed = Vec::new();
    for n in 0..300 {
        let suggestion = deceived.ask().unwrap();
        let is_fit = deceived.report().unwrap().origin == Origin::Quadratic;
        followed.extend(is_fit.then_some(n));
        let value = smooth(&suggestion.x.iter().map(|x| 0.3 * x).collect::<Vec<_>>()) + if is_fit { 1e3 } else { 0.0 };
        deceived.tell(suggestion.id, value).unwrap();
        if !deceived.restarts().is_empty() {
            break; // the next run begins anew
        }
    }
    assert!(followed.len() >= 3, "{followed:?}");
    for (k, pair) in followed.windows(2).enumerate() {
        assert!(pair[1] - pair[0] > d << k.min(3), "{followed:?}");
    }
}
