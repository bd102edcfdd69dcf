//! Several pending evaluations: each worker counts, and one at a time stays as it was.

use crate::support::{bits, evaluate, function, optimizer, seeded};
use labcat::{Optimizer, Origin, Preset};
use std::collections::VecDeque;

/// Evaluations until a value is no more than `target`, with `q` always pending and told in the order asked.
fn evaluations_to(target: f64, most: usize, q: usize, mut optimizer: Optimizer, f: impl Fn(&[f64]) -> f64) -> usize {
    let mut running = VecDeque::new();
    for evaluation in 1..=most {
        while running.len() < q {
            running.push_back(optimizer.ask().unwrap());
        }
        let next = running.pop_front().unwrap();
        let value = f(&next.x);
        optimizer.tell(next.id, value).unwrap();
        if value <= target {
            return evaluation;
        }
    }
    usize::MAX
}

/// Batches until a value is no more than `target`, each of them told before the next is asked.
fn batches_to(target: f64, most: usize, q: usize, mut optimizer: Optimizer, f: impl Fn(&[f64]) -> f64) -> usize {
    for batch in 1..=most {
        for suggestion in optimizer.ask_many(q).unwrap() {
            let value = f(&suggestion.x);
            optimizer.tell(suggestion.id, value).unwrap();
            if value <= target {
                return batch;
            }
        }
    }
    usize::MAX
}

fn bowl(x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(i, x)| (1.0 + i as f64) * (x - 1.0).powi(2)).sum()
}

fn median(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    values[values.len() / 2]
}

#[test]
fn a_bowl_is_solved_with_any_number_pending() {
    let bounds = [(-5.0, 10.0); 5];
    for q in [2, 8, 32] {
        for seed in 0..4 {
            let new = || optimizer(&bounds, seeded(Preset::Default, seed));
            let limit = 21 + 10 + 2 * q;
            let evaluations = evaluations_to(1e-9, limit, q, new(), bowl);
            assert!(evaluations <= limit, "{q} pending, seed {seed}: not solved in {limit} evaluations");
            let batches = batches_to(1e-9, limit, q, new(), bowl);
            assert!(batches <= limit.div_ceil(q) + 1, "batches of {q}, seed {seed}: {batches}");
        }
    }
}

/// Its minimum is a corner of the box: workers that follow a linear fit only as far as what was seen would crowd on the way there.
#[test]
fn a_slope_is_followed_to_its_corner_in_one_go() {
    let slope = |x: &[f64]| x.iter().enumerate().map(|(i, x)| 10_f64.powf(0.5 * i as f64) * (5.0 - x)).sum::<f64>();
    let d = 5;
    for q in [2, 8, 32] {
        for seed in 0..4 {
            let new = || optimizer(&vec![(-5.0, 5.0); d], seeded(Preset::Default, seed));
            // As many as a linear fit takes and one that it predicts, what was asked meanwhile, and the corner.
            let limit = d + 2 + q;
            let evaluations = evaluations_to(0.0, 50 * q, q, new(), slope);
            assert!(evaluations <= limit, "{q} pending, seed {seed}: {evaluations} evaluations, not {limit}");
        }
    }
}

#[test]
fn more_at_a_time_take_fewer_rounds_in_a_curved_valley() {
    let f = function("rosenbrock");
    let new = |seed| optimizer(&f.bounds(3), seeded(Preset::Default, seed));
    let rounds = |q: usize| {
        let each = |seed| evaluations_to(1e-6, 300 * q, q, new(seed), |x| f.value(x)).div_ceil(q);
        median((0..7).map(each).collect())
    };
    let batches = |q| median((0..7).map(|seed| batches_to(1e-6, 300, q, new(seed), |x| f.value(x))).collect());
    let (one, four, sixteen) = (rounds(1), rounds(4), rounds(16));
    assert!(sixteen < four && four < one, "rounds: {one}, {four}, {sixteen}");
    let (four, sixteen) = (batches(4), batches(16));
    assert!(sixteen < four && four < one, "batches: {one}, {four}, {sixteen}");
}

#[test]
fn most_of_a_batch_may_follow_fits_of_the_nearest_and_they_differ() {
    let (f, q, mut most) = (function("rosenbrock"), 8, 0);
    for d in [3, 5] {
        let mut optimizer = optimizer(&f.bounds(d), seeded(Preset::Default, 1));
        for batch in 0..20 {
            let mut minima: Vec<Vec<f64>> = Vec::new();
            let mut running = Vec::new();
            for _ in 0..q {
                let suggestion = optimizer.ask().unwrap();
                if optimizer.report().unwrap().origin == Origin::Quadratic {
                    assert!(!minima.contains(&suggestion.x), "d = {d}, batch {batch}: twice the same");
                    minima.push(suggestion.x.clone());
                }
                running.push(suggestion);
            }
            most = most.max(minima.len());
            for suggestion in running {
                optimizer.tell(suggestion.id, f.value(&suggestion.x)).unwrap();
            }
        }
    }
    assert!(most > q / 2, "at most {most} of {q} followed fits");
}

/// Smooth, but no quadratic, turned and a hundred times as steep along one axis as along another. At (1, …, 1) it is 0.
fn smooth(x: &[f64]) -> f64 {
    let d = x.len();
    let z = |i: usize| (0..d).map(|j| if i == j { 1.0 } else { 0.3 } * (x[j] - 1.0)).sum::<f64>();
    (0..d).map(|i| 100_f64.powf(i as f64 / (d - 1) as f64) * (z(i).exp() - z(i) - 1.0)).sum()
}

#[test]
fn fits_of_the_nearest_save_rounds_with_others_on_their_way() {
    for q in [4, 16] {
        let rounds = |nearby: bool| {
            let each = |seed| {
                let mut config = seeded(Preset::Default, seed);
                config.nearby = nearby;
                evaluations_to(1e-8, 200 * q, q, optimizer(&[(-2.5, 2.0); 5], config), smooth).div_ceil(q)
            };
            median((0..7).map(each).collect())
        };
        let (with, without) = (rounds(true), rounds(false));
        assert!(10 * with <= 9 * without, "{q} pending: {with} rounds with, {without} without");
    }
}

/// A sum of squares of quadratic residuals, as of a calibration: a valley that bends, along turned axes. At (0.6, …, 0.6) it is 0.
fn misfit(x: &[f64]) -> f64 {
    let d = x.len();
    let z = |i: usize| (0..d).map(|j| if i == j { 1.0 } else { 0.4 } * (x[j] - 0.6)).sum::<f64>();
    (0..d).map(|i| (3.0 * (z((i + 1) % d) - z(i) * z(i))).powi(2) + z(i).powi(2)).sum()
}

/// Wherever its value is 0, whatever its units: once its coefficients are determined, d more have confirmed them and the turn of a fit has come.
#[test]
fn a_sum_of_squares_is_solved_once_its_coefficients_are_determined_with_others_on_their_way() {
    for (d, coefficients, q) in [(2, 15, 4), (3, 35, 16), (5, 126, 8), (5, 126, 32)] {
        let limit = coefficients + d + coefficients / 8 + 4 * q;
        for seed in 0..4 {
            for (units, zero) in [(1.0, 0.0), (3e5, -7e3)] {
                let new = || optimizer(&vec![(-2.5, 2.0); d], seeded(Preset::Default, seed));
                let f = |x: &[f64]| zero + units * misfit(x);
                let evaluations = evaluations_to(zero + 1e-8 * units, limit, q, new(), f);
                assert!(evaluations <= limit, "d = {d}, {q} pending, seed {seed}: not solved in {limit}");
            }
        }
    }
}

/// Kinks along a valley: nothing is followed, and the stream is that without such fits.
#[test]
fn a_fit_of_the_fourth_degree_is_not_followed_where_it_does_not_hold() {
    let kinks = |x: &[f64]| x.windows(2).map(|w| (w[0] - 0.3).abs() + (w[1] + w[0] * w[0]).abs()).sum::<f64>();
    let stream = |quartic: bool| {
        let mut config = seeded(Preset::Default, 3);
        config.quartic = quartic;
        let (mut optimizer, mut running, mut stream) =
            (optimizer(&[(-2.5, 2.0); 3], config), VecDeque::new(), Vec::new());
        for _ in 0..200 {
            while running.len() < 8 {
                running.push_back(optimizer.ask().unwrap());
            }
            let next = running.pop_front().unwrap();
            stream.push(next.x.clone());
            optimizer.tell(next.id, kinks(&next.x)).unwrap();
        }
        bits(&stream)
    };
    assert_eq!(stream(true), stream(false));
}

/// The fits are part of no state; what was followed before must not come again.
#[test]
#[cfg(feature = "serde")]
fn a_batch_goes_on_as_it_would_have_when_resumed_in_its_middle() {
    for f in [smooth, bowl] {
        let new = || optimizer(&[(-2.5, 2.0); 4], seeded(Preset::Default, 3));
        let (mut live, mut resumed) = (new(), new());
        for batch in 0..25 {
            let mut running = Vec::new();
            for k in 0..6 {
                let next = live.ask().unwrap();
                resumed = Optimizer::from_json(&resumed.to_json()).unwrap();
                assert_eq!(next, resumed.ask().unwrap(), "batch {batch}, point {k}");
                running.push(next);
            }
            for next in running {
                live.tell(next.id, f(&next.x)).unwrap();
                resumed.tell(next.id, f(&next.x)).unwrap();
            }
        }
    }
}

#[test]
fn what_one_at_a_time_is_told_changes_nothing() {
    let f = function("rosenbrock");
    let new = || optimizer(&f.bounds(3), seeded(Preset::Default, 2));
    let alone = evaluate(&mut new(), |x| f.value(x), 60);
    let mut expecting = new();
    expecting.expect_outstanding(1);
    assert_eq!(bits(&evaluate(&mut expecting, |x| f.value(x), 60)), bits(&alone));
    let mut asked_as_many = new();
    for x in &alone {
        let suggestion = asked_as_many.ask_many(1).unwrap().remove(0);
        assert_eq!(&suggestion.x, x);
        asked_as_many.tell(suggestion.id, f.value(x)).unwrap();
    }
}

#[test]
fn a_number_that_is_known_counts_before_it_is_seen() {
    let f = function("rosenbrock");
    let kept = |expected: usize| {
        let mut optimizer = optimizer(&f.bounds(5), seeded(Preset::Default, 2));
        optimizer.expect_outstanding(expected);
        evaluate(&mut optimizer, |x| f.value(x), 70);
        optimizer.ask().unwrap();
        optimizer.report().unwrap().observations
    };
    assert_eq!(kept(16), kept(1) + 15, "the cache holds one more for each pending evaluation");
}

#[test]
fn before_there_is_a_model_a_crowd_looks_everywhere() {
    let d = 5;
    let mut all = Vec::new();
    for seed in 0..10 {
        let mut optimizer = optimizer(&vec![(-1.0, 1.0); d], seeded(Preset::Default, seed));
        let batch = optimizer.ask_many(64).unwrap();
        all.extend(batch.into_iter().skip(2 * d).flat_map(|suggestion| suggestion.x));
    }
    // Half of the coordinates lie in the middle half of the box, not near its corners.
    let middle = all.iter().filter(|x| x.abs() < 0.5).count() as f64 / all.len() as f64;
    assert!((0.47..0.53).contains(&middle), "{middle} in the middle");
}
