use super::*;
use crate::domain::Parameter;
use crate::optimizer::Optimizer;
use crate::optimizer::config::Config;
use proptest::prelude::*;

fn space() -> Domain {
    let kind = Parameter::categorical("kind", ["a", "b", "c"]);
    Domain::from_parameters(vec![kind, Parameter::real("x", -1.0, 1.0)]).unwrap()
}

proptest! {
    /// Of points next to each other the survey holds the best, and of every point one next to it that is no worse.
    #[test]
    fn a_survey_holds_the_best_of_each_place(told in prop::collection::vec((0..3_u8, -0.1..0.1_f64, 0..9_u8), 1..40)) {
        let mut optimizer = Optimizer::new(space(), Config::default()).unwrap();
        let mut survey = LocalRun::with(0, Vec::new(), Frame::of_box(optimizer.domain.dim()), 1.0, Noisy::default());
        for (position, (kind, x, value)) in told.iter().enumerate() {
            optimizer.tell_point(&[f64::from(*kind), *x], f64::from(*value)).unwrap();
            place_in_survey(&optimizer.domain, &optimizer.observations, &mut survey, position);
        }
        let members = &survey.now.members;
        let near = |p: usize, q: usize| told[p].0 == told[q].0 && (told[p].1 - told[q].1).abs() <= ALIKE;
        prop_assert!(members.windows(2).all(|w| w[0] < w[1]));
        for p in 0..told.len() {
            prop_assert!(members.iter().any(|&q| told[q].2 <= told[p].2 && told[q].0 == told[p].0));
            let first_of_its_place = (0..told.len()).all(|q| q == p || !near(p, q));
            prop_assert!(!first_of_its_place || members.contains(&p));
        }
        let least = told.iter().map(|t| t.2).min().unwrap();
        prop_assert!(members.iter().any(|&p| told[p].2 == least));
    }
}

/// Labels alone and a small space are searched without one, and so are reals.
#[test]
fn what_is_surveyed() {
    let label = || Parameter::categorical("k", ["a", "b", "c"]);
    let (real, whole) = (|| Parameter::real("x", 0.0, 1.0), || Parameter::integer("n", 0.0, 1.0));
    let spaces = [
        (vec![label(), real()], true),
        (vec![Parameter::boolean("b"), real()], true),
        (vec![whole(), real()], true),
        (vec![label().ordered(), real()], true),
        (vec![real()], false),
        (vec![label(), Parameter::integer("n", 0.0, 99.0)], false),
        ((0..9).map(|k| Parameter::categorical(&format!("k{k}"), ["a", "b", "c"])).collect(), false),
        (
            (0..9).map(|k| Parameter::boolean(&format!("b{k}"))).chain([Parameter::integer("n", 0.0, 9.0)]).collect(),
            true,
        ),
    ];
    for (parameters, surveyed) in spaces {
        let mut optimizer = Optimizer::new(Domain::from_parameters(parameters).unwrap(), Config::default()).unwrap();
        for k in 0..12 {
            let s = optimizer.ask().unwrap();
            optimizer.tell(s.id, f64::from(k)).unwrap();
        }
        assert_eq!(optimizer.state.portfolio.survey.is_some(), surveyed, "{:?}", optimizer.domain());
    }
}
