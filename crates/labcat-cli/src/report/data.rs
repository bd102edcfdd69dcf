//! The data of a report page: made from a study, and read only by the page.

use serde::{Serialize, Serializer};

/// The longest tail of a program's output that the page carries, in characters: a page of thousands of
/// evaluations must still open on a phone.
const OUTPUT_TAIL: usize = 2_000;

/// Everything on the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ReportData {
    /// The study's name.
    pub(crate) name: String,
    /// `minimize` or `maximize`.
    pub(crate) direction: String,
    /// The seed; text on the page, for a script's numbers cannot hold every `u64`.
    #[serde(serialize_with = "as_text")]
    pub(crate) seed: u64,
    /// The preset's name.
    pub(crate) preset: String,
    /// The most evaluations the study may spend, if it has such a limit.
    pub(crate) budget: Option<usize>,
    /// Why the study stopped (`budget`, `target`, `tolerance`, …); `None` while it can go on.
    pub(crate) stop_reason: Option<String>,
    /// `running` while somebody evaluates for it; `None` otherwise, or if nobody looked.
    pub(crate) activity: Option<String>,
    /// Differs after every change of the study; empty if nobody asks.
    pub(crate) revision: String,
    /// When the study was begun, as it should be read.
    pub(crate) created: String,
    /// When this page was written, as it should be read.
    pub(crate) generated: String,
    /// The parameters, in the order of the points' coordinates.
    pub(crate) parameters: Vec<Parameter>,
    /// The constraints that no suggestion violates, as text.
    pub(crate) known_constraints: Vec<String>,
    /// The comparisons that each evaluation measures, as text.
    pub(crate) measured_constraints: Vec<String>,
    /// The evaluations, in the order told.
    pub(crate) evaluations: Vec<Evaluation>,
    /// Where in `evaluations` the best one is, or, if none satisfies the constraints, the one with the smallest violation; `None` while none succeeded.
    pub(crate) best: Option<usize>,
    /// The recommended point, if the values have noise.
    pub(crate) recommended: Option<Recommended>,
    /// The restarts, in order.
    pub(crate) restarts: Vec<Restart>,
    /// The trust region after each model-based step, in order; empty if it was not recorded.
    pub(crate) trust_regions: Vec<TrustRegion>,
    /// How much each parameter matters to the value, one per parameter, summing to one; empty while unknown.
    pub(crate) relevance: Vec<f64>,
    /// Standard deviation of each.
    pub(crate) relevance_std: Vec<f64>,
    /// What all evaluations say along each parameter through the point to use; empty while unknown and where a parameter does not apply.
    pub(crate) slices: Vec<Vec<Expected>>,
    /// The same over the two numbers that matter most, if there are two.
    pub(crate) map: Option<Map>,
    /// What the residuals say at the best point, if it is a least-squares study.
    pub(crate) fit: Option<Fit>,
    /// How many evaluations and trust regions there are, each with a checksum of all: by these a page says what it has. `None` if nobody asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<[String; 2]>,
}

/// A model fitted to data, at the best point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Fit {
    /// The best evaluation.
    pub(crate) evaluation: u64,
    /// How many residuals there are.
    pub(crate) count: usize,
    /// The columns that are compared.
    pub(crate) series: Vec<FitSeries>,
    /// The standard deviation of a residual; `None` while the evaluations do not determine the parameters.
    pub(crate) sigma: Option<f64>,
    /// The standard error of each parameter, where it has one; empty while the evaluations do not determine them.
    pub(crate) standard_errors: Vec<Option<f64>>,
}

/// One column of the data and the model beside it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct FitSeries {
    /// The name of the column in the data; empty if there are only residuals.
    pub(crate) name: String,
    /// Where the data were measured, or else the numbers of the rows.
    pub(crate) at: Vec<f64>,
    /// The name of `at`; empty if it has the numbers of the rows.
    pub(crate) at_name: String,
    /// Empty if the residuals stand alone; so is `model`.
    pub(crate) data: Vec<f64>,
    /// The standard deviation of the data; empty if it is not known.
    pub(crate) error: Vec<f64>,
    pub(crate) model: Vec<f64>,
    pub(crate) residuals: Vec<f64>,
}

/// The point to use of a study whose values have noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Recommended {
    /// The point, in the users' units.
    pub(crate) x: Vec<f64>,
    /// The expected value at the point.
    pub(crate) mean: f64,
    /// Standard deviation of the expected value.
    pub(crate) std: f64,
    /// Standard deviation of one value; `None` if each was told with its own.
    pub(crate) noise: Option<f64>,
}

/// The value expected somewhere along a parameter, and its standard deviation; NaN (on the page: null) where nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Expected {
    pub(crate) at: f64,
    pub(crate) mean: f64,
    pub(crate) std: f64,
}

/// Values expected over two parameters, the others as in the point to use.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Map {
    /// Which parameters.
    pub(crate) axes: [usize; 2],
    /// Their values, ascending.
    pub(crate) at: [Vec<f64>; 2],
    /// One row for each value of the second.
    pub(crate) mean: Vec<Vec<f64>>,
    pub(crate) std: Vec<Vec<f64>>,
}

/// One parameter and its range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: String,
    /// Lower bound.
    pub(crate) low: f64,
    /// Upper bound.
    pub(crate) high: f64,
    /// `linear` or `log`.
    pub(crate) scale: String,
    /// `real`, `integer`, `categorical` or `boolean`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The labels of its values, by their numbers; empty for numbers.
    pub(crate) labels: Vec<String>,
}

/// One evaluation that ended, well or not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Evaluation {
    /// The trial's number.
    pub(crate) id: u64,
    /// The point, in the users' units; a choice as the number of its label, and NaN (on the page: null) where a parameter does not apply.
    pub(crate) x: Vec<f64>,
    /// The value; `None` if the evaluation failed.
    pub(crate) value: Option<f64>,
    /// Standard deviation of the noise in it, if it was told.
    pub(crate) std: Option<f64>,
    /// By how much each measured constraint is violated: satisfied when g ≤ 0. Empty if that was not measured.
    pub(crate) constraints: Vec<f64>,
    /// `ok`, or a word for what went wrong (`failed`, `timeout`, …).
    pub(crate) status: String,
    /// Why it failed, if it did and somebody knows.
    pub(crate) message: Option<String>,
    /// How long it took; `None` if nobody measured it (an imported or typed value).
    pub(crate) seconds: Option<f64>,
    /// The end of its standard output; the page carries the last 2,000 characters.
    #[serde(serialize_with = "as_tail")]
    pub(crate) stdout: String,
    /// The end of its standard error; likewise.
    #[serde(serialize_with = "as_tail")]
    pub(crate) stderr: String,
}

impl Evaluation {
    /// Whether it has a value and satisfies the constraints.
    pub(crate) fn is_feasible(&self) -> bool {
        self.value.is_some() && self.constraints.iter().all(|excess| *excess <= 0.0)
    }
}

/// One restart of the local search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Restart {
    /// How many evaluations had been told when it happened.
    pub(crate) at_evaluation: usize,
    /// Why, in words.
    pub(crate) cause: String,
}

/// The trust region at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TrustRegion {
    /// How many evaluations had been told when it was made.
    pub(crate) at_evaluation: usize,
    /// Its centre, in the users' units.
    pub(crate) centre: Vec<f64>,
    /// Its half-width along each of its own (rotated) axes, in the scaled space in which every parameter
    /// runs from -1 to 1: a half-width of 1 spans a parameter's whole range.
    pub(crate) half_widths: Vec<f64>,
    /// With two parameters its corners in the users' units, in order around the box; otherwise `None`.
    pub(crate) corners: Option<[[f64; 2]; 4]>,
}

fn as_text<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn as_tail<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let start = text.char_indices().rev().nth(OUTPUT_TAIL - 1).map_or(0, |(at, _)| at);
    if start == 0 {
        serializer.serialize_str(text)
    } else {
        serializer.collect_str(&format_args!("…{}", &text[start..]))
    }
}
