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
