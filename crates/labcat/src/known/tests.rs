use super::*;

fn square() -> Domain {
    Domain::new(&[(-2.0, 2.0), (-2.0, 2.0)]).unwrap()
}

#[test]
fn contradictions_are_found_early() {
    let known = Known::default().at_most(vec![1.0, 1.0], -5.0);
    assert_eq!(known.check(&square()).unwrap_err(), KnownError::Empty);
    let known = Known::default().equal_to(vec![1.0, 1.0], 1.0).equal_to(vec![2.0, 2.0], 3.0);
    assert_eq!(known.check(&square()).unwrap_err(), KnownError::Empty);
    let known = Known::default().met(|_| 1.0).check(&square()).unwrap();
    assert!(matches!(known.sample(&square(), &mut Rng::new(1)), Err(KnownError::NotFound { .. })));
    let known = Known::default().at_most(vec![1.0], 1.0);
    assert_eq!(known.check(&square()).unwrap_err(), KnownError::WrongLength { got: 1, expected: 2 });
    let known = Known::default().at_most(vec![1.0, f64::NAN], 1.0);
    assert_eq!(known.check(&square()).unwrap_err(), KnownError::NotFinite);
}

#[test]
fn small_sets_and_equations_are_found() {
    let mut rng = Rng::new(5);
    // A sliver, a line, a thin ring.
    let sets = [
        Known::default().at_most(vec![1.0, 1.0], 1e-6).at_most(vec![-1.0, -1.0], 1e-6),
        Known::default().equal_to(vec![1.0, 2.0], 0.5),
        Known::default().met(|x| (x[0] * x[0] + x[1] * x[1] - 1.0).abs() - 1e-3),
    ];
    for known in sets {
        let known = known.check(&square()).unwrap();
        let u = known.sample(&square(), &mut rng).unwrap();
        let mut x = vec![0.0; 2];
        square().to_user(&u, &mut x);
        assert!(known.admits(&square(), &mut x), "{known:?} {x:?}");
        let pulled = known.pull(&square(), &[1.0, 1.0], &u).unwrap();
        assert!(known.allows(&pulled));
    }
}
