use super::kernel::KernelKind;
use super::likelihood::Derivatives;
use super::*;
use crate::rng::Rng;

fn random_inputs(rng: &mut Rng, n: usize, d: usize, width: f64) -> Matrix {
    let mut x = Matrix::zeros(n, d);
    for j in 0..d {
        for v in x.col_mut(j) {
            *v = rng.between(-width, width);
        }
    }
    x
}

fn fit(x: &Matrix, y: &[f64], ln_ell: &[f64], prior: Prior) -> Gp {
    let mut b = Buffers::default();
    let inputs = b.inputs(x.rows(), x.cols());
    for j in 0..x.cols() {
        for (to, from) in inputs.col_mut(j).iter_mut().zip(x.col(j)) {
            *to = from / ln_ell[j].exp();
        }
    }
    Gp::fit(prior, y, b).unwrap()
}

#[test]
fn dbg_ill() {
    let mut rng = Rng::new(3);
    let (n, d) = (35, 5);
    for nug in [1e-3, 1e-6, 1e-9, 1e-12] {
        let x = random_inputs(&mut rng, n, d, 0.3);
        let mut y: Vec<f64> = (0..n)
            .map(|p| (0..d).map(|j| x[(p, j)].abs().powf(2.0 + 4.0 * j as f64 / 4.0)).sum::<f64>().sqrt())
            .collect();
        let o = crate::frame::normalise(&mut y, false, &mut vec![]);
        let prior = Prior { nugget: nug, ..Prior::of(&y, KernelKind::SquaredExponential, 1.0, 0.0) };
        let gp = fit(&x, &y, &vec![0.0; d], prior);
        let mut ds = Derivatives::default();
        ds.compute(&gp, true);
        println!("nug {nug:e} ll {} grad {:?} {o:?}", gp.log_likelihood(), ds.gradient);
        for i in 0..d {
            let h = 1e-4;
            let mut up = vec![0.0; d];
            up[i] = h;
            let mut dn = vec![0.0; d];
            dn[i] = -h;
            let (a, b) = (fit(&x, &y, &up, prior), fit(&x, &y, &dn, prior));
            let g = (a.log_likelihood() - b.log_likelihood()) / (2.0 * h);
            let (mut da, mut db) = (Derivatives::default(), Derivatives::default());
            da.compute(&a, false);
            db.compute(&b, false);
            let hr: Vec<f64> = (0..d).map(|j| (da.gradient[j] - db.gradient[j]) / (2.0 * h)).collect();
            println!("  i {i} fd grad {g} H {:?} fd {hr:?}", ds.hessian.col(i));
        }
    }
}
