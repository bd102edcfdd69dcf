use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn matrix(rows: &[Vec<f64>], d: usize) -> Matrix {
    let mut x = Matrix::zeros(rows.len(), d);
    for (i, row) in rows.iter().enumerate() {
        for (j, v) in row.iter().enumerate() {
            x[(i, j)] = *v;
        }
    }
    x
}

#[test]
fn the_region_is_closed() {
    let region = TrustRegion { beta: 0.5, keep: 2 };
    let x = matrix(&[vec![0.5, -0.5], vec![0.5, 0.500_000_000_000_000_1], vec![0.0, 0.0]], 2);
    let mut out = Vec::new();
    region.discard(&x, 2, &[0.5; 2], &mut out);
    assert_eq!(out, [1], "the corner is inside");
    region.discard(&x, 2, &[0.5, f64::INFINITY], &mut out);
    assert_eq!(out, [0], "a choice is never outside");
}

#[test]
fn the_oldest_outside_go_first_then_the_oldest_inside() {
    let region = TrustRegion { beta: 1.0, keep: 3 };
    let rows = [0.1, 5.0, 0.0, 0.2, 7.0, 0.3, 9.0];
    let x = matrix(&rows.map(|v| vec![v]), 1);
    let mut out = vec![99];
    region.discard(&x, 2, &[1.0], &mut out);
    assert_eq!(out, [0, 1, 4, 6]);
    region.discard(&x, 0, &[1.0], &mut out);
    assert_eq!(out, [1, 2, 4, 6], "the best stays though it is the oldest");
    TrustRegion { beta: 1.0, keep: 5 }.discard(&x, 2, &[1.0], &mut out);
    assert_eq!(out, [1, 4], "the youngest outside stays while there is room");
    TrustRegion { beta: 1.0, keep: 7 }.discard(&x, 2, &[1.0], &mut out);
    assert!(out.is_empty());
}

proptest! {
    #![proptest_config(Config { cases: 512, rng_seed: RngSeed::Fixed(1), ..Config::default() })]

    #[test]
    fn what_is_discarded_follows_the_rule(
        rows in prop::collection::vec(prop::collection::vec(-2.0..2.0_f64, 3), 1..40),
        keep in 1..30_usize,
        beta in 0.1..2.0_f64,
        best in any::<prop::sample::Index>(),
    ) {
        let n = rows.len();
        let best = best.index(n);
        let region = TrustRegion { beta, keep };
        let mut out = Vec::new();
        region.discard(&matrix(&rows, 3), best, &[beta; 3], &mut out);

        prop_assert!(out.windows(2).all(|w| w[0] < w[1]), "ascending");
        prop_assert!(!out.contains(&best), "never the best");
        prop_assert_eq!(n - out.len(), n.min(keep), "never below the bound, never above it");
        let outside = |row: usize| rows[row].iter().any(|v| v.abs() > beta);
        let kept: Vec<usize> = (0..n).filter(|row| !out.contains(row) && *row != best).collect();
        for &gone in &out {
            for &stays in &kept {
                let earlier_turn = (outside(gone) && !outside(stays)) || (outside(gone) == outside(stays) && gone < stays);
                prop_assert!(earlier_turn, "{} was discarded, {} was not", gone, stays);
            }
        }
    }
}
