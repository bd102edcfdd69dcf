use super::*;
use crate::domain::{Domain, Parameter};

#[test]
fn every_coordinate_of_a_latin_hypercube_visits_every_cell_once() {
    let mut rng = Rng::new(1);
    for d in [1, 2, 3, 5, 10, 40] {
        for count in [1, 2, d + 1, 2 * d + 1, 57] {
            let points = latin_hypercube(&mut rng, count, d);
            assert_eq!(points.len(), count);
            for j in 0..d {
                let mut cells: Vec<usize> =
                    points.iter().map(|p| ((p[j] + 1.0) / 2.0 * count as f64).floor() as usize).collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..count).collect::<Vec<_>>(), "d = {d}, coordinate {j} of {count} points");
            }
            assert!(points.iter().flatten().all(|u| (-1.0..=1.0).contains(u)));
        }
    }
}

#[test]
fn latin_hypercubes_differ_from_draw_to_draw_and_within() {
    let mut rng = Rng::new(2);
    let (a, b) = (latin_hypercube(&mut rng, 11, 5), latin_hypercube(&mut rng, 11, 5));
    assert_ne!(a, b);
    for (i, p) in a.iter().enumerate() {
        assert!(a[..i].iter().all(|q| p != q));
    }
    assert_eq!(latin_hypercube(&mut Rng::new(2), 11, 5), a, "one seed, one design");
}

#[test]
fn the_farthest_point_is_far_from_everything_taken() {
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    for d in [1, 2, 5] {
        let mut rng = Rng::new(3);
        let mut taken: Vec<Vec<f64>> = vec![vec![0.0; d]];
        for n in 1..40_usize {
            let u = one_more(
                &mut rng,
                &Domain::new(&vec![(-1.0, 1.0); d]).unwrap(),
                taken.iter().map(Vec::as_slice),
                f64::INFINITY,
            );
            assert!(u.iter().all(|u| (-1.0..=1.0).contains(u)));
            let nearest = taken.iter().map(|t| distance(t, &u)).fold(f64::INFINITY, f64::min);
            // n + 1 points cannot all be farther apart than the box is wide; a space-filling set comes within a factor of that.
            let spacing = 2.0 / ((n + 1) as f64).powf(1.0 / d as f64);
            assert!(nearest > 0.2 * spacing, "d = {d}, n = {n}: {nearest} against {spacing}");
            taken.push(u);
        }
    }
    let alone = one_more(&mut Rng::new(4), &Domain::new(&[(-1.0, 1.0); 3]).unwrap(), std::iter::empty(), f64::INFINITY);
    assert_eq!(alone.len(), 3);
}

/// Without a radius the design reaches three tenths as far as the start is from zero, between a two-thousandth and a twentieth of the range; zero has no
/// size.
#[test]
fn a_start_says_how_far_the_first_design_reaches() {
    let domain = Domain::new(&[(-100.0, 100.0); 5]).unwrap();
    let start = [0.0, 4.0, -50.0, 0.5, 0.01];
    let points = around(&mut Rng::new(1), &domain, &start, (None, PART_OF_START));
    let moved: Vec<f64> = (0..5).map(|i| (points[i][i] - start[i]).abs()).collect();
    for (moved, expected) in moved.into_iter().zip([1.0, 1.2, 10.0, 0.15, 0.1]) {
        assert!((moved - expected).abs() < 1e-12, "{moved} instead of {expected}");
    }
}

/// An integer on a log scale is moved by at least a step too, also where its radius is less; and a range may be wider than the largest number.
#[test]
fn on_a_log_scale_the_first_design_moves_integers_and_stays_near() {
    let count = Parameter::integer("n", 1.0, 1000.0).scaled(Scale::Log);
    let wide = Parameter::real("x", 1e-200, 1e200).scaled(Scale::Log);
    let domain = Domain::from_parameters(vec![count, wide]).unwrap();
    for (n, radius) in [(1.0, None), (2.0, Some(&[0.2, 0.5][..])), (1000.0, None)] {
        let points = around(&mut Rng::new(1), &domain, &[n, 1.0], (radius, PART_OF_START));
        assert_ne!(points[0][0], n);
        let factor = math::ln(points[1][1]).abs();
        assert!(factor > 0.0 && factor < 50.0, "{factor}");
    }
}
