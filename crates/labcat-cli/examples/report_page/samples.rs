//! Sample studies: what a report must be able to show, from nothing at all to thousands of evaluations.

use crate::report::{
    Evaluation, Expected, Fit, FitSeries, Map, Parameter, Recommended, ReportData, Restart, TrustRegion,
};

/// Every sample with the name of its page.
pub(crate) fn all() -> Vec<(&'static str, ReportData)> {
    vec![
        ("rosenbrock", rosenbrock()),
        ("training", training()),
        ("empty", empty()),
        ("failures", failures()),
        ("large", large()),
        ("awkward", awkward()),
        ("single", single()),
        ("narrow", narrow()),
        ("many", many()),
        ("gaps", gaps()),
        ("tight", tight()),
        ("noisy", noisy()),
        ("constrained", constrained()),
        ("astray", astray()),
        ("choices", choices()),
        ("fitted", fitted()),
    ]
}

/// Two parameters, 150 evaluations with failures and restarts: the boxes can be drawn.
pub(crate) fn rosenbrock() -> ReportData {
    let parameters = vec![linear("x", -5.0, 10.0), linear("y", -5.0, 10.0)];
    let value = |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
    let search = Search { parameters, direction: "minimize", count: 150, failing: 0.05, value: &value };
    ReportData { name: "rosenbrock".into(), budget: Some(150), stop_reason: Some("budget".into()), ..search.run(7) }
}

/// Six parameters, half of them on a log scale, maximised, with values of both signs.
pub(crate) fn training() -> ReportData {
    let parameters = vec![
        log("learning_rate", 1e-5, 1e-1),
        log("weight_decay", 1e-8, 1e-2),
        linear("dropout", 0.0, 0.6),
        linear("momentum", 0.5, 0.999),
        log("batch_size", 8.0, 1024.0),
        linear("label_smoothing", 0.0, 0.3),
    ];
    let value = |x: &[f64]| {
        let rate = (x[0].log10() + 2.7).powi(2) / 3.0;
        let decay = (x[1].log10() + 4.2).powi(2) / 40.0;
        let rest = (x[2] - 0.15).powi(2) * 2.0 + (x[3] - 0.93).powi(2) + (x[5] - 0.08).powi(2);
        0.934 - rate - decay - rest - (x[4].log2() - 6.0).powi(2) / 300.0
    };
    let search = Search { parameters, direction: "maximize", count: 300, failing: 0.03, value: &value };
    ReportData { name: "image classifier, validation accuracy".into(), budget: Some(1200), ..search.run(20) }
}

/// Values with noise, a few of them with one of their own, and a recommendation.
pub(crate) fn noisy() -> ReportData {
    let parameters = vec![linear("x", -5.0, 10.0), linear("y", -5.0, 10.0)];
    let value = |x: &[f64]| (x[0] - 1.0).powi(2) + (x[1] - 2.0).powi(2) + 3.0 * (1e4 * x[0]).sin();
    let search = Search { parameters, direction: "minimize", count: 120, failing: 0.02, value: &value };
    let mut data = search.run(5);
    for evaluation in data.evaluations.iter_mut().step_by(9) {
        evaluation.std = evaluation.value.map(|_| 6.0);
    }
    let recommended = Recommended { x: vec![1.02, 1.97], mean: 0.21, std: 0.4, noise: Some(2.1) };
    let (steps, smooth) = (31, |x: f64, y: f64| 0.21 + (x - 1.02).powi(2) + (y - 1.97).powi(2));
    let std = |x: f64, y: f64| 0.4 + 0.1 * ((x - 1.02).powi(2) + (y - 1.97).powi(2));
    let at: Vec<f64> = (0..steps).map(|k| -5.0 + 15.0 * f64::from(k) / f64::from(steps - 1)).collect();
    let along = |x: f64, y: f64, at: f64| Expected { at, mean: smooth(x, y), std: std(x, y) };
    let slices =
        vec![at.iter().map(|x| along(*x, 1.97, *x)).collect(), at.iter().map(|y| along(1.02, *y, *y)).collect()];
    let over = |f: &dyn Fn(f64, f64) -> f64| at.iter().map(|y| at.iter().map(|x| f(*x, *y)).collect()).collect();
    let map = Map { axes: [0, 1], at: [at.clone(), at.clone()], mean: over(&smooth), std: over(&std) };
    let relevance_std = vec![0.06, 0.05];
    ReportData {
        name: "with noise".into(),
        budget: Some(120),
        recommended: Some(recommended),
        slices,
        map: Some(map),
        relevance_std,
        ..data
    }
}

/// A bowl whose lowest points violate a measured constraint; a few of those have no value.
pub(crate) fn constrained() -> ReportData {
    let parameters = vec![linear("x", -2.0, 2.0), linear("y", -2.0, 2.0)];
    let value = |x: &[f64]| (x[0] - 1.0).powi(2) + (x[1] - 1.0).powi(2) + 0.01;
    let search = Search { parameters, direction: "minimize", count: 120, failing: 0.08, value: &value };
    let mut data = search.run(9);
    for evaluation in data.evaluations.iter_mut().filter(|evaluation| evaluation.value.is_some()) {
        let mass = evaluation.x[0].powi(2) + 2.0 * evaluation.x[1].powi(2);
        evaluation.constraints = vec![mass - 1.5, 0.01 - mass];
        if evaluation.id % 20 == 0 && mass > 1.5 {
            (evaluation.value, evaluation.status) = (None, "failed".into());
            evaluation.message = Some(format!("no value; violated: `mass <= 1.5` by {}", mass - 1.5));
        }
    }
    let feasible = data.evaluations.iter().enumerate().filter(|(_, evaluation)| evaluation.is_feasible());
    let best = feasible.min_by(|a, b| a.1.value.unwrap_or(f64::MAX).total_cmp(&b.1.value.unwrap_or(f64::MAX)));
    ReportData {
        name: "with constraints".into(),
        budget: Some(120),
        best: best.map(|(index, _)| index),
        known_constraints: vec!["x + y <= 3".into()],
        measured_constraints: vec!["mass <= 1.5".into(), "mass >= 0.01".into()],
        ..data
    }
}

/// An exponential decay fitted to data with their errors, and residuals that stand alone.
pub(crate) fn fitted() -> ReportData {
    let parameters = vec![linear("amplitude", 0.0, 10.0), log("rate", 0.01, 10.0)];
    let (at, error): (Vec<f64>, Vec<f64>) = (0..40).map(|k| (f64::from(k) / 8.0, 0.1 + f64::from(k) / 400.0)).unzip();
    let model = |x: &[f64], t: f64| x[0] * (-x[1] * t).exp();
    let data: Vec<f64> = at.iter().map(|t| model(&[5.0, 0.7], *t) + 0.12 * (40.0 * t * t).sin()).collect();
    let residuals = |x: &[f64]| -> Vec<f64> {
        at.iter().zip(&data).zip(&error).map(|((t, value), error)| (model(x, *t) - value) / error).collect()
    };
    let value = |x: &[f64]| residuals(x).iter().map(|r| r * r).sum::<f64>();
    let search = Search { parameters, direction: "minimize", count: 80, failing: 0.05, value: &value };
    let data_of = search.run(11);
    let best = data_of.best.map_or(&[5.0, 0.7][..], |index| &data_of.evaluations[index].x);
    let series = FitSeries {
        name: "concentration".into(),
        at_name: "time".into(),
        model: at.iter().map(|t| model(best, *t)).collect(),
        residuals: residuals(best),
        at: at.clone(),
        data: data.clone(),
        error: error.clone(),
    };
    let alone = FitSeries { at: vec![1.0, 2.0, 3.0], residuals: vec![0.1, -0.2, 0.05], ..FitSeries::default() };
    let fit = Fit {
        evaluation: data_of.best.map_or(0, |index| data_of.evaluations[index].id),
        count: 43,
        series: vec![series, alone],
        sigma: Some(1.02),
        standard_errors: vec![Some(0.041), None],
    };
    ReportData { name: "fit to data".into(), budget: Some(80), fit: Some(fit), ..data_of }
}

/// A category, an integer, a boolean, and a real that only two of the categories have.
pub(crate) fn choices() -> ReportData {
    let labelled = |name: &str, kind: &str, labels: &[&str]| Parameter {
        kind: kind.into(),
        labels: labels.iter().map(|label| (*label).into()).collect(),
        ..linear(name, 0.0, labels.len() as f64 - 1.0)
    };
    let parameters = vec![
        labelled("solver", "categorical", &["lu", "qr", "conjugate gradients"]),
        log("tolerance", 1e-6, 1.0),
        Parameter { kind: "integer".into(), ..linear("levels", 1.0, 6.0) },
        labelled("reorder", "boolean", &["false", "true"]),
    ];
    let value = |x: &[f64]| {
        let solver = [1.0, 0.0, 0.4][x[0].round() as usize];
        0.1 + solver + 0.05 * (x[1].log10() + 3.0).powi(2) + 0.2 * (x[2].round() - 4.0).abs() + 0.3 * x[3].round()
    };
    let search = Search { parameters, direction: "minimize", count: 120, failing: 0.05, value: &value };
    let mut data = search.run(31);
    for evaluation in &mut data.evaluations {
        for axis in [0, 2, 3] {
            evaluation.x[axis] = evaluation.x[axis].round();
        }
        if evaluation.x[0] == 0.0 {
            evaluation.x[1] = f64::NAN; // a direct solver has no tolerance
        }
    }
    for region in &mut data.trust_regions {
        region.half_widths = vec![region.half_widths[1], region.half_widths[2]]; // the region does not bound choices
    }
    ReportData { name: "linear solver".into(), budget: Some(120), ..data }
}

/// Nothing meets the constraints yet.
pub(crate) fn astray() -> ReportData {
    let mut data = constrained();
    for evaluation in data.evaluations.iter_mut().filter(|evaluation| !evaluation.constraints.is_empty()) {
        evaluation.constraints[0] += 3.0;
    }
    let violated = |evaluation: &Evaluation| evaluation.constraints.iter().map(|excess| excess.max(0.0)).sum::<f64>();
    let measured = data.evaluations.iter().enumerate().filter(|(_, evaluation)| !evaluation.constraints.is_empty());
    let least = measured.min_by(|a, b| violated(a.1).total_cmp(&violated(b.1))).map(|(index, _)| index);
    ReportData { name: "astray".into(), best: least, ..data }
}

pub(crate) fn empty() -> ReportData {
    let parameters = vec![linear("x", -5.0, 10.0), linear("y", -5.0, 10.0)];
    let search = Search { parameters, direction: "minimize", count: 0, failing: 0.0, value: &|_| 0.0 };
    ReportData { name: "not yet begun".into(), budget: Some(400), ..search.run(0) }
}

pub(crate) fn failures() -> ReportData {
    let parameters = vec![linear("thickness", 0.1, 2.5), log("stiffness", 1.0, 1e4)];
    let search = Search { parameters, direction: "minimize", count: 60, failing: 1.0, value: &|_| 0.0 };
    ReportData { name: "bracket".into(), budget: Some(60), stop_reason: Some("budget".into()), ..search.run(3) }
}

/// Five thousand evaluations of six parameters, and a seed that no script's number can hold.
pub(crate) fn large() -> ReportData {
    let parameters = (0..6).map(|axis| linear(&format!("x{axis}"), -5.0, 5.0)).collect();
    let value = |x: &[f64]| {
        let waves: f64 = x.iter().map(|x| x * x - 10.0 * (std::f64::consts::TAU * x).cos() + 10.0).sum();
        waves + 1e-3
    };
    let search = Search { parameters, direction: "minimize", count: 5_000, failing: 0.02, value: &value };
    ReportData { name: "rastrigin, 5,000 evaluations".into(), budget: Some(5_000), ..search.run(u64::MAX) }
}

/// Names and output that would break a page that did not escape them, and a value that never changes.
pub(crate) fn awkward() -> ReportData {
    let parameters = vec![
        linear("</script><script>alert(1)</script>", -1.0, 1.0),
        linear("a \"quoted\" & 'single' name of quite remarkable length, <b>bold</b>", 0.0, 1e-12),
        log("température 🌡️", 1.0, 1e12),
    ];
    let search = Search { parameters, direction: "minimize", count: 24, failing: 0.3, value: &|_| 42.0 };
    let mut data = search.run(1);
    for evaluation in &mut data.evaluations {
        evaluation.stdout = "<!-- <script> \u{2028} \\u003c @@data@@ \u{1F408} ".repeat(3);
        evaluation.stderr = format!("</script><img src=x onerror=alert(2)> \"{}\"", "z".repeat(5_000));
    }
    data.name = "</title><script>alert('name')</script> \"x\" & 'y' @@style@@ 🐈".into();
    data
}

pub(crate) fn single() -> ReportData {
    let parameters = vec![linear("angle", 0.0, 90.0)];
    let search =
        Search { parameters, direction: "maximize", count: 1, failing: 0.0, value: &|x| x[0].to_radians().sin() };
    ReportData { name: "lab bench".into(), budget: None, ..search.run(5) }
}

/// Two parameters, one on a log scale, in a box as narrow as rounding, of which one corner lies where no logarithm is.
pub(crate) fn narrow() -> ReportData {
    let parameters = vec![linear("gap", 0.0, 4.0), log("load", 1e-3, 1e3)];
    let search = Search {
        parameters,
        direction: "minimize",
        count: 30,
        failing: 0.0,
        value: &|x| (x[0] - 1.0).powi(2) + x[1].ln().powi(2),
    };
    let mut data = search.run(11);
    for region in &mut data.trust_regions {
        let [gap, load] = [region.centre[0], region.centre[1]];
        region.half_widths = vec![1e-12, 2e-12];
        region.corners = Some(
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[s, t]| [gap + s * 2e-12, load * (1.0 + t * 4e-12)]),
        );
    }
    if let Some([.., corner]) = data.trust_regions.last_mut().and_then(|region| region.corners.as_mut()) {
        corner[1] = -1.0;
    }
    ReportData { name: "narrow".into(), ..data }
}

/// Sixty parameters: the charts must not be behind a wall of numbers.
pub(crate) fn many() -> ReportData {
    let parameters = (0..60).map(|axis| linear(&format!("coefficient_{axis}"), -0.0125, 0.0375)).collect();
    let search = Search {
        parameters,
        direction: "minimize",
        count: 200,
        failing: 0.02,
        value: &|x| 1234.5 + x.iter().map(|x| x * x).sum::<f64>(),
    };
    let relevance = (1..=60).map(|rank| f64::from(rank) / 1830.0).collect();
    ReportData { name: "sixty parameters".into(), budget: Some(12_000), relevance, ..search.run(8) }
}

/// Values that agree in their first ten digits.
pub(crate) fn tight() -> ReportData {
    let parameters = vec![linear("offset", -123.456, 987.654), log("rate", 3e-7, 2e-3)];
    let search = Search {
        parameters,
        direction: "minimize",
        count: 40,
        failing: 0.1,
        value: &|x| 1_000_000.123 + 1e-9 * x[0].abs() + 1e-4 * x[1],
    };
    ReportData { name: "tight".into(), ..search.run(4) }
}

/// Several workers: told in another order than asked, some numbers never told, and a step whose evaluation still runs.
pub(crate) fn gaps() -> ReportData {
    let mut data = rosenbrock();
    for (index, evaluation) in data.evaluations.iter_mut().enumerate() {
        evaluation.id = 100 + 2 * (index as u64 ^ 1);
    }
    if let Some(newest) = data.trust_regions.last().cloned() {
        data.trust_regions.push(TrustRegion { at_evaluation: data.evaluations.len(), ..newest });
    }
    ReportData { name: "several workers".into(), ..data }
}

fn linear(name: &str, low: f64, high: f64) -> Parameter {
    Parameter { name: name.into(), low, high, scale: "linear".into(), kind: "real".into(), labels: vec![] }
}

fn log(name: &str, low: f64, high: f64) -> Parameter {
    Parameter { name: name.into(), low, high, scale: "log".into(), kind: "real".into(), labels: vec![] }
}

/// A crude search in a shrinking rotated box: it only has to give a history that looks like one.
struct Search<'a> {
    parameters: Vec<Parameter>,
    direction: &'static str,
    count: usize,
    failing: f64,
    value: &'a dyn Fn(&[f64]) -> f64,
}

impl Search<'_> {
    fn run(self, seed: u64) -> ReportData {
        let dim = self.parameters.len();
        let sign = if self.direction == "maximize" { -1.0 } else { 1.0 };
        let mut random = Random(seed ^ 0x9E37_79B9_7F4A_7C15);
        let (mut evaluations, mut restarts, mut trust_regions) = (Vec::new(), Vec::new(), Vec::new());
        let mut local: Option<(Vec<f64>, f64)> = None;
        let (mut half, mut told_in_run, mut angle) = (0.5, 0, 0.4);
        for id in 0..self.count {
            let unit: Vec<f64> = match &local {
                Some((centre, _)) if told_in_run > 2 * dim => {
                    let widths: Vec<f64> = (0..dim).map(|axis| half / (1.0 + 0.6 * axis as f64)).collect();
                    angle += 0.25 * (random.next() - 0.5);
                    trust_regions.push(self.region(id, centre, &widths, angle));
                    let step: Vec<f64> = widths.iter().map(|width| width * (2.0 * random.next() - 1.0)).collect();
                    rotated(centre, &step, angle).iter().map(|u| u.clamp(-1.0, 1.0)).collect()
                }
                _ => (0..dim).map(|_| 2.0 * random.next() - 1.0).collect(),
            };
            told_in_run += 1;
            let x = self.users(&unit);
            let evaluation = self.evaluate(id as u64, x, &mut random);
            if let Some(value) = evaluation.value {
                let better = local.as_ref().is_none_or(|(_, best)| sign * value < sign * best);
                half *= if better { 1.35_f64 } else { 0.9 };
                half = half.min(0.6);
                if better {
                    local = Some((unit, value));
                }
            }
            evaluations.push(evaluation);
            if half < 2e-3 {
                restarts.push(Restart { at_evaluation: id + 1, cause: "the trust region became too small".into() });
                (local, half, told_in_run) = (None, 0.5, 0);
            }
        }
        let best = (0..evaluations.len())
            .filter_map(|index| evaluations[index].value.map(|value| (index, sign * value)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(index, _)| index);
        let weights: Vec<f64> = (0..dim).map(|axis| 1.0 / (1.0 + axis as f64).powf(1.4)).collect();
        let relevance = weights.iter().map(|weight| weight / weights.iter().sum::<f64>()).collect();
        ReportData {
            name: String::new(),
            direction: self.direction.into(),
            seed,
            preset: "default".into(),
            budget: None,
            stop_reason: None,
            activity: None,
            revision: String::new(),
            created: "2025-03-03 09:12".into(),
            generated: "2025-03-04 17:40".into(),
            fit: None,
            relevance: if trust_regions.is_empty() { Vec::new() } else { relevance },
            relevance_std: Vec::new(),
            slices: Vec::new(),
            map: None,
            parameters: self.parameters,
            known_constraints: Vec::new(),
            measured_constraints: Vec::new(),
            evaluations,
            best,
            recommended: None,
            restarts,
            trust_regions,
            history: None,
        }
    }

    fn evaluate(&self, id: u64, x: Vec<f64>, random: &mut Random) -> Evaluation {
        let seconds = Some(0.8 + 2.5 * random.next());
        if random.next() >= self.failing {
            let value = (self.value)(&x);
            let stdout = format!("reading mesh\nconverged after {} iterations\n{value}\n", 10 + id % 7);
            return Evaluation {
                id,
                x,
                value: Some(value),
                std: None,
                constraints: Vec::new(),
                status: "ok".into(),
                message: None,
                seconds,
                stdout,
                stderr: String::new(),
            };
        }
        let late = random.next() < 0.3;
        let (status, seconds) = if late { ("timeout", Some(600.0)) } else { ("failed", seconds) };
        let stdout = "reading mesh\niteration 1: residual 3.1e-1\niteration 2: residual nan\n".into();
        let stderr = if late {
            ""
        } else {
            "Traceback (most recent call last):\n  File \"simulate.py\", line 41, in <module>\n    main()\nFloatingPointError: the residual is not a number\n"
        };
        let message = Some(if late { "did not end within its timeout of 10m" } else { "exit status 1" }.to_owned());
        Evaluation {
            id,
            x,
            value: None,
            std: None,
            constraints: Vec::new(),
            status: status.into(),
            message,
            seconds,
            stdout,
            stderr: stderr.into(),
        }
    }

    fn region(&self, told: usize, centre: &[f64], widths: &[f64], angle: f64) -> TrustRegion {
        let corner = |signs: [f64; 2]| {
            let corner = self.users(&rotated(centre, &[signs[0] * widths[0], signs[1] * widths[1]], angle));
            [corner[0], corner[1]]
        };
        let corners = || [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]].map(corner);
        TrustRegion {
            at_evaluation: told,
            centre: self.users(centre),
            half_widths: widths.to_vec(),
            corners: (widths.len() == 2).then(corners),
        }
    }

    /// From the box [-1, 1] to the parameters' units.
    fn users(&self, unit: &[f64]) -> Vec<f64> {
        let place = |(parameter, u): (&Parameter, &f64)| {
            let share = (u + 1.0) / 2.0;
            if parameter.scale == "log" {
                parameter.low * (parameter.high / parameter.low).powf(share)
            } else {
                parameter.low + (parameter.high - parameter.low) * share
            }
        };
        self.parameters.iter().zip(unit).map(place).collect()
    }
}

/// The point `step` away from the centre, the first two axes turned by `angle`.
fn rotated(centre: &[f64], step: &[f64], angle: f64) -> Vec<f64> {
    let mut point: Vec<f64> = centre.iter().zip(step).map(|(c, s)| c + s).collect();
    if let ([c0, c1, ..], [s0, s1, ..]) = (centre, step) {
        point[0] = c0 + s0 * angle.cos() - s1 * angle.sin();
        point[1] = c1 + s0 * angle.sin() + s1 * angle.cos();
    }
    point
}

/// SplitMix64, as numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
