//! The four invariants, after rescaling and before discarding, over random problems of every scale; and what is kept.

use super::*;
use crate::domain::Domain;
use crate::frame::{Frame, MOST_MEDIANS, normalise};
use crate::gp::{Buffers, Gp, Prior};
use crate::optimizer::Optimizer;
use crate::optimizer::config::{Config, Preset};
use crate::optimizer::problem::problem;
use crate::optimizer::search::share_of_region;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The first half of a step, up to the point where the invariants hold: the best member and the fit.
fn restore_invariants(optimizer: &mut Optimizer) -> Result<(usize, Gp, Vec<f64>), RestartCause> {
    let (problem, run, work) = (problem!(optimizer), &mut optimizer.state.run, &mut optimizer.work);
    let (news, passes) = model::begin_step(problem, run, work);
    let outputs = model::normalise_outputs(problem, run, Output::Objective, work);
    let standing = model::assess(problem, run, &outputs, work)?;
    if let Some(cause) = convergence::why_over(problem, run, &outputs, &standing) {
        return Err(cause);
    }
    model::adapt_trust_region(problem, run, &standing, news);
    model::centre(problem, run, standing.best);
    let (gp, _, _) = model::fit_model(problem, run, &outputs, passes, work)?;
    let best = run.now.members.iter().position(|p| *p == standing.best);
    Ok((best.unwrap(), gp, work.length_scales.ell.clone()))
}

/// y′ of the members.
fn outputs(optimizer: &Optimizer) -> Vec<f64> {
    let mut y: Vec<f64> =
        optimizer.state.run.now.members.iter().map(|&p| optimizer.observations.value(p).unwrap()).collect();
    normalise(&mut y, optimizer.settings.switches.warp.then_some(MOST_MEDIANS), &mut Vec::new());
    y
}

/// Places of the members in the box.
fn members(optimizer: &Optimizer) -> Vec<Vec<f64>> {
    optimizer.state.run.now.members.iter().map(|&p| optimizer.observations.unit(p).to_vec()).collect()
}

/// log p(Y′ | X′) of the members in a frame, at length-scales ℓ in it, with the nugget that the model used.
fn likelihood(optimizer: &Optimizer, prior: Prior, frame: &Frame, ell: &[f64]) -> f64 {
    let d = ell.len();
    let places = members(optimizer);
    let mut buffers = Buffers::default();
    let mut x = vec![0.0; d];
    let inputs = buffers.inputs(places.len(), d);
    for (p, u) in places.iter().enumerate() {
        frame.to_local(u, &mut x);
        for j in 0..d {
            inputs[(p, j)] = x[j] / ell[j];
        }
    }
    Gp::fit(prior, &outputs(optimizer), buffers).unwrap().log_likelihood()
}

fn configuration(preset: Preset, seed: u64) -> Config {
    let mut config = Config::new(preset);
    config.seed = seed;
    // A nugget that keeps K well conditioned, so that the two ways to the same likelihood can be compared closely.
    config.nugget = 1e-3;
    config
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 200, rng_seed: RngSeed::Fixed(21), ..Default::default() })]

    #[test]
    fn the_four_invariants_hold_after_rescaling(
        seed: u64,
        d in 1..7_usize,
        width in -12.0..12.0_f64,
        height in -12.0..12.0_f64,
        more in 0..30_usize,
        paper: bool,
    ) {
        let (width, height) = (10_f64.powf(width), 10_f64.powf(height));
        let domain = Domain::new(&vec![(-0.3 * width, 0.7 * width); d]).unwrap();
        let preset = if paper { Preset::Paper } else { Preset::Default };
        let mut optimizer = Optimizer::new(domain, configuration(preset, seed)).unwrap();
        let value = |x: &[f64]| {
            let t: Vec<f64> = x.iter().map(|x| x / width).collect();
            height * (0..d).map(|i| (i + 1) as f64 * (t[i] - 0.1).powi(2) + 0.3 * t[i] * t[(i + 1) % d]).sum::<f64>()
        };
        // Real steps, so that the frame has a history, then one more whose middle is looked at; where a run is over just then, or a
        // restart fills its design, the next one that has a middle.
        let design = optimizer.settings.initial_points.max(d + 2);
        for _ in 0..design + more {
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, value(&suggestion.x)).unwrap();
        }
        let mut middle = None;
        for _ in 0..100 {
            let ready = optimizer.state.run.design.is_empty() && optimizer.state.run.now.members.len() >= design.min(d + 2);
            let mut trial = optimizer.clone();
            if ready && let Ok(found) = restore_invariants(&mut trial) {
                optimizer = trial;
                middle = Some(found);
                break;
            }
            let suggestion = optimizer.ask().unwrap();
            optimizer.tell(suggestion.id, value(&suggestion.x)).unwrap();
        }
        prop_assert!(middle.is_some(), "no step with a middle in a hundred");
        let (best, gp, ell) = middle.unwrap();
        let places = members(&optimizer);
        let frame = optimizer.state.run.now.frame.clone();
        let gp = &gp;

        // The best point is at the origin.
        for j in 0..d {
            prop_assert_eq!(gp.inputs()[(best, j)], 0.0);
        }
        prop_assert_eq!(frame.centre(), places[best].as_slice());
        let told_best = optimizer.state.run.now.members.iter().map(|&p| optimizer.observations.value(p).unwrap()).fold(f64::MAX, f64::min);
        prop_assert_eq!(optimizer.observations.value(optimizer.state.run.now.members[best]).unwrap(), told_best);

        // Unit length-scales: the model of the new frame is that of the old one at ℓ*.
        let ell = &ell;
        let at = |frame: &Frame, ell: &[f64]| likelihood(&optimizer, *gp.prior(), frame, ell);
        let before = frame.clone().rescaled(&ell.iter().map(|l| 1.0 / l).collect::<Vec<_>>());
        let (new, old) = (at(&frame, &vec![1.0; d]), at(&before, ell));
        let tolerance = 1e-6 * (1.0 + gp.log_likelihood().abs());
        prop_assert!((gp.log_likelihood() - new).abs() <= tolerance, "{} and {}", gp.log_likelihood(), new);
        prop_assert!((old - new).abs() <= tolerance, "{} and {}", old, new);

        // Outputs in [0, 1], both ends attained.
        let y = &outputs(&optimizer);
        prop_assert!(y.iter().all(|y| (0.0..=1.0).contains(y)));
        prop_assert!(y.contains(&0.0) && y.contains(&1.0));
        prop_assert_eq!(y[best], 0.0);

        // X′ W² X′ᵀ of the unscaled frame is diagonal.
        let mut z = vec![0.0; d];
        let mut gram = vec![vec![0.0; d]; d];
        for (u, y) in places.iter().zip(y) {
            frame.along_axes(u, &mut z);
            for i in 0..d {
                for j in 0..d {
                    gram[i][j] += (1.0 - y) * (1.0 - y) * z[i] * z[j];
                }
            }
        }
        let size = (0..d).map(|i| gram[i][i]).fold(0.0, f64::max);
        for i in 0..d {
            for j in 0..i {
                prop_assert!(gram[i][j].abs() <= 1e-13 * size, "axes {} and {}: {:e} of {:e}", i, j, gram[i][j], size);
            }
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_holds_the_best(seed: u64, d in 1..5_usize, factor in 1.0..9.0_f64, paper: bool) {
        let preset = if paper { Preset::Paper } else { Preset::Default };
        let mut config = configuration(preset, seed);
        config.cache_factor = factor;
        let keep = (factor * d as f64).ceil() as usize;
        let mut optimizer = Optimizer::new(Domain::new(&vec![(-1.0, 1.0); d]).unwrap(), config).unwrap();
        let mut rng = crate::rng::Rng::new(seed);
        let mut looked_at = 0;
        for _ in 0..60 {
            let suggestion = optimizer.ask().unwrap();
            if optimizer.model.is_some() && optimizer.state.run.fresh() == 0 && optimizer.state.run.started() {
                prop_assert!(optimizer.state.run.now.members.len() <= keep);
                let of_run = optimizer.observations.all().iter().filter(|e| e.run == optimizer.state.run.number);
                let best = of_run.min_by(|a, b| a.outcome.value().unwrap().total_cmp(&b.outcome.value().unwrap())).unwrap();
                let position = optimizer.observations.position(best.id).unwrap();
                prop_assert!(optimizer.state.run.now.members.contains(&position), "the best was discarded");
                prop_assert!(optimizer.state.run.now.members.windows(2).all(|w| w[0] < w[1]), "the oldest first");
                looked_at += 1;
            }
            optimizer.tell(suggestion.id, rng.unit()).unwrap();
        }
        prop_assert!(looked_at >= 20, "only {} of 60 steps had a model", looked_at);
    }
}

#[test]
fn a_model_lost_is_made_again_to_the_bit() {
    for preset in [Preset::Paper, Preset::Default] {
        let mut optimizer =
            Optimizer::new(Domain::new(&[(-5.0, 10.0), (0.0, 15.0)]).unwrap(), Config::new(preset)).unwrap();
        for _ in 0..40 {
            let suggestion = optimizer.ask().unwrap();
            let mut forgetful = optimizer.clone();
            forgetful.drop_model();
            assert_eq!(optimizer.clone().ask().unwrap(), forgetful.ask().unwrap());
            let x = &suggestion.x;
            optimizer.tell(suggestion.id, (x[0] - 3.0).powi(2) + 10.0 * (x[1] - 2.0).powi(2)).unwrap();
        }
    }
}

#[test]
fn beyond_what_one_region_uses_suggestions_take_regions_of_every_size() {
    let d = 4;
    let mut optimizer = Optimizer::new(Domain::new(&vec![(-1.0, 1.0); d]).unwrap(), Config::default()).unwrap();
    for others in [0, d / 2 - 1, d / 2, 2 * d, 31, 63] {
        let crowd = ((1.0 + others as f64) / (0.5 * d as f64)).max(1.0);
        optimizer.state.run.now.others = others;
        optimizer.state.pending.clear();
        let mut shares = Vec::new();
        for _ in 0..64 {
            shares.push(share_of_region(problem!(optimizer), &optimizer.state.run));
            optimizer.suggest(vec![0.0; d], 0);
        }
        if crowd == 1.0 {
            assert!(shares.iter().all(|s| *s == 1.0), "{others} others: the whole region");
            continue;
        }
        let least = 1.0 / crowd.sqrt();
        assert!(shares.iter().all(|s| (least..=1.0).contains(s)));
        // As many in the upper as in the lower half of the sizes, among any eight in a row.
        for eight in shares.chunks(8) {
            let large = eight.iter().filter(|s| **s > least.sqrt()).count();
            assert!((3..=5).contains(&large), "{others} others: {eight:?}");
        }
    }
}

#[test]
fn with_pending_evaluations_a_run_ends_by_precision_that_much_later() {
    let mut optimizer = Optimizer::new(Domain::new(&[(-1.0, 1.0); 2]).unwrap(), Config::default()).unwrap();
    for (x, value) in [(-0.5, 0.0), (0.1, 0.2), (0.3, 0.4), (0.7, 1.0)] {
        optimizer.tell_point(&[x, x * x], value).unwrap();
    }
    let precision = optimizer.settings.switches.precision;
    optimizer.state.run.now.frame = Frame::of_box(2).with_scale([1e-6; 2]); // its region is small
    for others in [0, 7, 31] {
        let still = 1.0 + others as f64;
        for (range, over) in [(0.9 / still, true), (1.1 / still, false)] {
            optimizer.state.run.now.others = others;
            optimizer.state.run.now.spread = 1.0 / (range * precision);
            let (problem, run, work) = (problem!(optimizer), &mut optimizer.state.run, &mut optimizer.work);
            let outputs = model::normalise_outputs(problem, run, Output::Objective, work);
            assert_eq!(outputs.range(), 1.0);
            let standing = model::assess(problem, run, &outputs, work).unwrap();
            let cause = convergence::why_over(problem, run, &outputs, &standing);
            assert_eq!(cause == Some(RestartCause::OutputRange), over, "{others} others, {range} of the precision");
        }
    }
}
