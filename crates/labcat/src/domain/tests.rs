use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn parameter(low: f64, high: f64, scale: Scale) -> Parameter {
    Parameter::real("p", low, high).scaled(scale)
}

/// A domain of one parameter whose low and width lie anywhere from 1e-12 to 1e12.
fn linear() -> impl Strategy<Value = Domain> {
    (-12.0..12.0_f64, -12.0..12.0_f64, any::<bool>()).prop_filter_map("wide enough", |(place, width, negative)| {
        let low = if negative { -(10_f64.powf(place)) } else { 10_f64.powf(place) };
        Domain::from_parameters(vec![parameter(low, low + 10_f64.powf(width), Scale::Linear)]).ok()
    })
}

fn logarithmic() -> impl Strategy<Value = Domain> {
    (-300.0..300.0_f64, 1e-6..300.0_f64).prop_filter_map("finite", |(place, decades)| {
        let (low, high) = (10_f64.powf(place), 10_f64.powf(place + decades));
        Domain::from_parameters(vec![parameter(low, high, Scale::Log)]).ok()
    })
}

proptest! {
    #![proptest_config(Config { cases: 2000, rng_seed: RngSeed::Fixed(2), ..Config::default() })]

    #[test]
    fn values_survive_the_way_to_the_box_and_back(domain in prop_oneof![linear(), logarithmic()], t in 0.0..=1.0_f64) {
        let Parameter { low, high, scale, .. } = domain.parameters()[0].clone();
        let value = match scale {
            Scale::Linear => low + t * (high - low),
            Scale::Log => (low.ln() + t * (high.ln() - low.ln())).exp(),
        }
        .clamp(low, high);
        let (mut u, mut back) = ([0.0], [0.0]);
        domain.to_unit(&[value], &mut u);
        prop_assert!(u[0].abs() <= 1.0);
        domain.to_user(&u, &mut back);
        prop_assert!(domain.check(&back).is_ok());
        let tolerance = match scale {
            Scale::Linear => 4.0 * f64::EPSILON * (low.abs().max(high.abs()) + (high - low)),
            Scale::Log => 4.0 * f64::EPSILON * value * (1.0 + low.ln().abs().max(high.ln().abs())),
        };
        prop_assert!((back[0] - value).abs() <= tolerance, "{value:e} became {:e} in [{low:e}, {high:e}]", back[0]);
    }

    #[test]
    fn places_survive_the_way_to_the_user_and_back(domain in prop_oneof![linear(), logarithmic()], u in -1.0..=1.0_f64) {
        let (mut x, mut back) = ([0.0], [0.0]);
        domain.to_user(&[u], &mut x);
        prop_assert!(domain.check(&x).is_ok());
        domain.to_unit(&x, &mut back);
        // What a unit in the last place of the user's value is worth in the box.
        let Span { middle, half, .. } = domain.spans[0];
        let tolerance = 4.0 * f64::EPSILON * (1.0 + (middle.abs() + half) / half);
        prop_assert!((back[0] - u).abs() <= tolerance, "{u} became {}", back[0]);
    }
}

#[test]
fn ends_and_middle_are_where_they_belong() {
    let domain = Domain::from_parameters(vec![
        parameter(-5.0, 10.0, Scale::Linear),
        Parameter::real("q", 1e-4, 1e4).scaled(Scale::Log),
    ])
    .unwrap();
    let mut u = [0.0; 2];
    let mut x = [0.0; 2];
    for (user, place) in [([-5.0, 1e-4], [-1.0, -1.0]), ([10.0, 1e4], [1.0, 1.0])] {
        domain.to_unit(&user, &mut u);
        assert_eq!(u, place);
        domain.to_user(&place, &mut x);
        assert!((x[0] - user[0]).abs() < 1e-14 && (x[1] / user[1] - 1.0).abs() < 1e-14);
    }
    domain.to_user(&[0.0, 0.0], &mut x);
    assert!((x[0] - 2.5).abs() < 1e-15 && (x[1] - 1.0).abs() < 1e-14);
}

#[test]
fn the_widest_and_the_narrowest_bounds_do_not_overflow() {
    for (low, high) in [(-f64::MAX, f64::MAX), (-1e300, 1e300), (0.0, 1e-300), (-1e-308, 1e-308), (0.0, f64::MAX)] {
        let domain = Domain::new(&[(low, high)]).unwrap();
        for place in [-1.0, -0.5, 0.0, 0.3, 1.0] {
            let (mut x, mut u) = ([0.0], [0.0]);
            domain.to_user(&[place], &mut x);
            assert!(domain.check(&x).is_ok(), "{place} of ({low:e}, {high:e})");
            domain.to_unit(&x, &mut u);
            assert!((u[0] - place).abs() < 1e-12, "{place} of ({low:e}, {high:e}) came back as {}", u[0]);
            assert!(domain.resolution(0, place) > 0.0);
            assert!(domain.stretch(0, place) > 0.0);
        }
    }
}

#[test]
fn the_stretch_is_the_slope_of_the_map() {
    for (low, high, scale) in [(-3.0, 9.0, Scale::Linear), (1e-3, 1e5, Scale::Log)] {
        let domain = Domain::from_parameters(vec![parameter(low, high, scale)]).unwrap();
        for place in [-0.9, 0.0, 0.4] {
            let (mut up, mut down) = ([0.0], [0.0]);
            domain.to_user(&[place + 1e-5], &mut up);
            domain.to_user(&[place - 1e-5], &mut down);
            let numeric = (up[0] - down[0]) / 2e-5;
            assert!((domain.stretch(0, place) / numeric - 1.0).abs() < 1e-6);
        }
    }
}

fn stepped(low: f64, high: f64, step: f64) -> Result<Domain, DomainError> {
    Domain::from_parameters(vec![Parameter::real("t", low, high).with_step(step)])
}

#[test]
fn a_real_in_steps_takes_the_decimals_that_people_write() {
    let domain = stepped(20.0, 90.0, 0.1).unwrap();
    assert_eq!(domain.configurations(), Some(701));
    let p = &domain.parameters()[0];
    for k in 0..=700_u64 {
        let written: f64 = format!("{}.{}", 20 + k / 10, k % 10).parse().unwrap();
        assert_eq!(p.level(k), written);
        assert!(domain.check(&[written]).is_ok(), "{written}");
        let mut u = [0.0];
        domain.to_unit(&[written], &mut u);
        let (mut x, place) = ([0.0], u);
        domain.snap(&mut u);
        domain.to_user(&u, &mut x);
        assert_eq!((x[0], u), (written, place));
    }
    assert_eq!(p.kind.name(), "real");
    assert_eq!(p.label(20.3), Label::Number(20.3));
    let between = domain.check(&[20.25]).unwrap_err().to_string();
    assert_eq!(between, "t = 20.25 is not allowed: it must be one of 20, 20.1, … 90");
    assert_eq!(domain.neighbours(&[20.3]), [[20.2], [20.4]]);
    assert_eq!(domain.neighbours(&[90.0]), [[89.9]]);
}

#[test]
fn steps_of_any_size_end_at_high_and_stay_in_the_range() {
    let mut rng = crate::rng::Rng::new(7);
    for _ in 0..2000 {
        let step = crate::math::exp(rng.between(-20.0, 20.0));
        let low = step * rng.between(-1e4, 1e4);
        let steps = 1.0 + rng.between(0.0, 5000.0).floor();
        let domain = stepped(low, low + step * steps, step).unwrap();
        let p = &domain.parameters()[0];
        assert_eq!(p.levels(), Some(steps as u64 + 1));
        assert_eq!((p.level(0), p.level(steps as u64)), (p.low, p.high));
        let value = p.nearest(rng.between(p.low, p.high));
        assert!(domain.check(&[value]).is_ok() && p.nearest(value) == value);
    }
}

#[test]
fn steps_that_do_not_fill_a_range_are_refused() {
    let says = |result: Result<Domain, DomainError>, part: &str| {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    says(
        stepped(0.0, 1.0, 0.3),
        "t has low 0, high 1, step 0.3: high must be low plus a multiple of the step, such as 0.9",
    );
    says(stepped(0.0, 1.0, 2.0), "such as 0 or 2");
    for step in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        says(stepped(0.0, 1.0, step), "the step must be a finite number above 0");
    }
    says(stepped(1.0, 0.0, 0.1), "low must be below high");
    says(stepped(1e17, 2e17, 1.0), "large enough to be told apart");
    let log = |low: f64, step: f64| {
        Domain::from_parameters(vec![Parameter::real("t", low, 10.0).with_step(step).scaled(Scale::Log)])
    };
    says(log(0.05, 0.05 + 0.15), "high must be");
    says(log(0.25, 0.75), "on a log scale the step must be at most low");
    assert!(log(0.25, 0.25).is_ok());
}

#[cfg(feature = "serde")]
#[test]
fn a_step_is_part_of_what_is_stored() {
    let p = Parameter::real("t", 0.0, 1.0).with_step(0.05);
    let text = serde_json::to_string(&p).unwrap();
    assert!(text.contains(r#""type":{"stepped":{"step":0.05}}"#), "{text}");
    assert_eq!(serde_json::from_str::<Parameter>(&text).unwrap(), p);
}
