//! `constraint`: formulas of parameters are known constraints, which no suggestion violates; formulas of results are measured.

use labcat::{Domain, Formula, FormulaError, Known};
use serde_json::{Map, Value};
use toml::Spanned;

use super::reader::{Reader, Table, nearest};
use crate::format::{brief, number};
use crate::value::Reading;

const EXAMPLE: &str = "x + 2*y <= 1";

/// Results that the journal and its exports have a place of their own for.
const NOT_MEASURED: [&str; 4] = ["id", "status", "seconds", "feasible"];

/// The constraints of a study.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constraints {
    domain: Option<Domain>,
    known: Vec<Formula>,
    measured: Vec<Measured>,
}

/// A constraint on results.
#[derive(Clone, Debug)]
struct Measured {
    formula: Formula,
    /// Of each of its names the parameter, by its place, or else the result.
    names: Vec<Source>,
}

/// What an evaluation says of the measured constraints.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measures {
    /// By how much each comparison is violated: satisfied when g ≤ 0.
    pub(crate) excesses: Vec<f64>,
    /// Standard deviation of the noise in each, NaN where none is known; empty if none is.
    pub(crate) std: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Source {
    Parameter(usize),
    Result(String),
}

/// The field with the standard deviation of a result.
fn std_of(name: &str) -> String {
    format!("{name}_std")
}

impl Measured {
    /// Standard deviation of the noise in each comparison, to first order in that of the results; NaN if none is told. The error
    /// completes "its output …".
    fn noise(&self, values: &[f64], reading: &Reading) -> Result<Vec<f64>, String> {
        let comparisons = self.formula.comparisons().len();
        let mut variance: Option<Vec<f64>> = None;
        for (k, source) in self.names.iter().enumerate() {
            let Source::Result(name) = source else { continue };
            let std = if name == "value" { reading.std } else { reading.result(&std_of(name)) };
            let Some(std) = std else { continue };
            if !(std.is_finite() && std >= 0.0) {
                return Err(format!("has a \"{}\" of {std}, which is not a finite number of at least 0", std_of(name)));
            }
            let moved = |by: f64| {
                let mut values = values.to_vec();
                values[k] += by;
                self.formula.excesses(&values)
            };
            let total = variance.get_or_insert_with(|| vec![0.0; comparisons]);
            for (total, (above, below)) in total.iter_mut().zip(moved(std).iter().zip(moved(-std))) {
                *total += (above - below) * (above - below) / 4.0;
            }
        }
        let std = |variance: f64| Some(variance.sqrt()).filter(|std| std.is_finite()).unwrap_or(f64::NAN);
        Ok(variance.map_or_else(|| vec![f64::NAN; comparisons], |all| all.into_iter().map(std).collect()))
    }
}

/// The texts of `constraint`: one, or a list of them.
pub(super) fn texts(reader: &mut Reader<'_>, table: &Table<'_, '_>) -> Vec<Spanned<String>> {
    let Some(entry) = table.entries.get("constraint") else { return Vec::new() };
    match entry.get_ref().as_array() {
        Some(_) => reader.strings("constraint", entry, &format!("[{EXAMPLE:?}]")).unwrap_or_default(),
        None => reader.string(table, "constraint", EXAMPLE).into_iter().collect(),
    }
}

impl Constraints {
    /// Reads them; each error with the place of the one that is wrong, which is left out.
    pub(crate) fn of(texts: &[impl AsRef<str>], domain: &Domain) -> (Constraints, Vec<(usize, FormulaError)>) {
        let mut all = Constraints { domain: Some(domain.clone()), ..Constraints::default() };
        let add = |(place, text): (usize, &_)| Some((place, all.add(AsRef::<str>::as_ref(text), domain).err()?));
        let wrong = texts.iter().enumerate().filter_map(add).collect();
        (all, wrong)
    }

    fn add(&mut self, text: &str, domain: &Domain) -> Result<(), FormulaError> {
        let formula = Formula::parse(text)?;
        let places = domain.places(&formula)?;
        if places.iter().all(Option::is_some) {
            Known::default().formula(&formula, domain)?;
            self.known.push(formula);
            return Ok(());
        }
        let wrong = |message: String| FormulaError { column: 1, message };
        if formula.has_equation() {
            return Err(wrong(
                "a measured result never equals a number exactly: write two limits instead, such as 4.99 <= mass <= 5.01"
                    .to_owned(),
            ));
        }
        if let Some(name) = formula.names().find(|name| NOT_MEASURED.contains(name)) {
            return Err(wrong(format!("`{name}` is not a parameter and cannot be a result: write another name")));
        }
        let source = |(place, name): (&Option<usize>, &str)| match place {
            Some(place) => Source::Parameter(*place),
            None => Source::Result(name.to_owned()),
        };
        let names = places.iter().zip(formula.names()).map(source).collect();
        self.measured.push(Measured { formula, names });
        Ok(())
    }

    /// What no suggestion may violate.
    pub(crate) fn known(&self) -> Result<Known, FormulaError> {
        let Some(domain) = &self.domain else { return Ok(Known::default()) };
        self.known.iter().try_fold(Known::default(), |known, formula| known.formula(formula, domain))
    }

    /// The texts of the known ones.
    pub(crate) fn of_parameters(&self) -> impl Iterator<Item = &Formula> {
        self.known.iter()
    }

    /// The texts of the measured ones.
    pub(crate) fn of_results(&self) -> impl Iterator<Item = &Formula> {
        self.measured.iter().map(|measured| &measured.formula)
    }

    /// The known constraint that a point violates.
    pub(crate) fn violated_by(&self, x: &[f64]) -> Option<&Formula> {
        let domain = self.domain.as_ref()?;
        let allows = |formula: &&Formula| Known::default().formula(formula, domain).is_ok_and(|known| known.allows(x));
        self.known.iter().find(|formula| !allows(formula))
    }

    /// Each measured comparison, as text: what the numbers of [`Constraints::measure`] belong to.
    pub(crate) fn measured(&self) -> Vec<&str> {
        self.of_results().flat_map(|formula| formula.comparisons().iter().map(String::as_str)).collect()
    }

    pub(crate) fn is_measured(&self) -> bool {
        !self.measured.is_empty()
    }

    /// The results that are needed beside the value, each once.
    pub(crate) fn results(&self) -> Vec<String> {
        let mut results: Vec<String> = Vec::new();
        for source in self.measured.iter().flat_map(|measured| &measured.names) {
            if let Source::Result(name) = source
                && name != "value"
                && !results.contains(name)
            {
                results.push(name.clone());
            }
        }
        results
    }

    /// The fields that are looked for beside the value: the results, and the noise in each, `NAME_std`, which may be missing.
    pub(crate) fn fields(&self) -> Vec<String> {
        let results = self.results();
        let noise: Vec<String> =
            results.iter().map(|name| std_of(name)).filter(|name| !results.contains(name)).collect();
        [results, noise].concat()
    }

    /// By how much each comparison is violated at a point that gave these results. The error completes "its output …".
    pub(crate) fn measure(&self, x: &[f64], reading: &Reading) -> Result<Measures, String> {
        let Some(domain) = &self.domain else { return Ok(Measures::default()) };
        let mut all = Measures::default();
        for measured in &self.measured {
            let Measured { formula, names } = measured;
            let mut values = Vec::with_capacity(names.len());
            let mut applies = true;
            for source in names {
                values.push(match source {
                    Source::Parameter(i) => {
                        applies &= domain.is_active(*i, x);
                        domain.parameters()[*i].number(x[*i]).unwrap_or(f64::NAN)
                    }
                    Source::Result(name) => reading.result(name).ok_or_else(|| self.lacks(name, formula))?,
                });
            }
            let found = match applies {
                true => formula.excesses(&values),
                false => vec![-1.0; formula.comparisons().len()],
            };
            if found.iter().any(|excess| !excess.is_finite()) {
                return Err(format!("gives no number to the constraint `{formula}`"));
            }
            all.std.extend(if applies { measured.noise(&values, reading)? } else { vec![f64::NAN; found.len()] });
            all.excesses.extend(found);
        }
        if reading.value.is_none() && all.excesses.iter().all(|excess| *excess <= 0.0) {
            return Err("has no value, which may be missing only where a constraint is violated".to_owned());
        }
        if all.std.iter().all(|std| std.is_nan()) {
            all.std.clear();
        }
        Ok(all)
    }

    fn lacks(&self, name: &str, formula: &Formula) -> String {
        let parameters = self.domain.iter().flat_map(|domain| domain.parameters());
        let parameters: Vec<&str> = parameters.map(|parameter| parameter.name.as_str()).collect();
        let meant =
            nearest(name, &parameters).map_or_else(String::new, |near| format!("; is the parameter `{near}` meant?"));
        format!("has no number \"{name}\", which the constraint `{formula}` needs{meant}")
    }

    /// What is violated and by how much, in words; `None` if nothing is.
    pub(crate) fn violation(&self, excesses: &[f64]) -> Option<String> {
        let violated = self.measured().into_iter().zip(excesses).filter(|(_, excess)| **excess > 0.0);
        let parts: Vec<String> = violated.map(|(text, excess)| format!("`{text}` by {}", brief(*excess, 4))).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// The measured constraints of an evaluation as JSON: by how much each is violated.
    pub(crate) fn as_json(&self, excesses: &[f64]) -> Map<String, Value> {
        self.measured().into_iter().zip(excesses).map(|(text, excess)| (text.to_owned(), (*excess).into())).collect()
    }

    /// Whether an evaluation met them: `None` if that is not known, for it failed.
    pub(crate) fn is_met(value: Option<f64>, excesses: &[f64]) -> Option<bool> {
        match (value, excesses.is_empty()) {
            (None, true) => None,
            (None, false) => Some(false),
            (Some(_), _) => Some(excesses.iter().all(|excess| *excess <= 0.0)),
        }
    }

    /// Why there is no value, where that is allowed.
    pub(crate) fn no_value(&self, excesses: &[f64]) -> String {
        format!("no value; violated: {}", self.violation(excesses).unwrap_or_default())
    }

    /// The measured constraints of an evaluation, a line each.
    pub(crate) fn lines(&self, excesses: &[f64]) -> Vec<String> {
        let line = |(text, excess): (&str, &f64)| match *excess > 0.0 {
            true => format!("{text}: violated by {}", number(*excess)),
            false => format!("{text}: satisfied, {} to spare", number(0.0 - *excess)),
        };
        self.measured().into_iter().zip(excesses).map(line).collect()
    }
}
