//! The trust region behind a suggestion, as the journal keeps it and the report draws it.

use labcat::{Optimizer, Origin, Region};
use serde::{Deserialize, Serialize};

/// The trust region at one model-based suggestion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Step {
    /// The best point of the run, in user units.
    pub(crate) centre: Vec<f64>,
    /// Along its own axes, in units of half a parameter's range.
    pub(crate) half_widths: Vec<f64>,
    /// In two dimensions, in order around the box, in user units.
    pub(crate) corners: Option<[[f64; 2]; 4]>,
}

impl Step {
    /// That of the newest suggestion; `None` if it is a design or enqueued point.
    pub(crate) fn newest(optimizer: &Optimizer) -> Option<Step> {
        let report = optimizer.report().filter(|r| matches!(r.origin, Origin::Model | Origin::Quadratic))?;
        let region = optimizer.trust_region()?;
        Some(Step { half_widths: report.half_widths.clone(), corners: corners(&region), centre: region.centre })
    }
}

fn corners(region: &Region) -> Option<[[f64; 2]; 4]> {
    let ([cx, cy], [a, b]) = (region.centre.as_slice(), region.half_axes.as_slice()) else { return None };
    let corner = |s: f64, t: f64| [cx + s * a[0] + t * b[0], cy + s * a[1] + t * b[1]];
    Some([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)])
}
