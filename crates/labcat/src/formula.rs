//! Constraints as text on the parameters of a domain.

use crate::domain::{Domain, ParameterKind};
use crate::known::Known;
use labcat_formula::{Formula, FormulaError};

impl Domain {
    /// The place of each name of a formula among the parameters, `None` if it is of none. A category of texts has no number to compute with.
    pub fn places(&self, formula: &Formula) -> Result<Vec<Option<usize>>, FormulaError> {
        let place = |(k, name): (usize, &str)| {
            let place = self.parameters().iter().position(|p| p.name == name);
            if let Some(ParameterKind::Categorical { labels, .. }) = place.map(|i| &self.parameters()[i].kind)
                && labels.iter().any(|label| label.number().is_none())
            {
                let why =
                    "has texts as categories, and texts have no value: leave it out, or give it numbers as choices";
                return Err(formula.error(k, format!("`{name}` {why}")));
            }
            Ok(place)
        };
        formula.names().enumerate().map(place).collect()
    }
}

impl Known {
    /// Adds a formula of the parameters, which are numbers, integers, booleans (0 or 1) and categories of numbers. It is evaluated as it is
    /// written. Where one of its parameters does not apply, it is satisfied.
    ///
    /// ```
    /// use labcat::{Config, Domain, Formula, Known, Optimizer};
    ///
    /// let domain = Domain::new(&[(-2.0, 2.0), (-2.0, 2.0)])?; // x0 and x1
    /// let known = Known::default().formula(&Formula::parse("x0 + x1 <= 1")?, &domain)?;
    /// let mut optimizer = Optimizer::with_constraints(domain, Config::default(), known)?;
    /// let x = optimizer.ask()?.x;
    /// assert!(x[0] + x[1] <= 1.0);
    /// # Ok::<(), labcat::Error>(())
    /// ```
    pub fn formula(mut self, formula: &Formula, domain: &Domain) -> Result<Self, FormulaError> {
        let parameters = domain.parameters();
        let unknown = |k: usize| {
            let all = parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
            let name = formula.names().nth(k).unwrap_or_default();
            formula.error(k, format!("`{name}` is not a parameter: the parameters are {all}"))
        };
        let places = domain.places(formula)?.into_iter().enumerate();
        let places = places.map(|(k, place)| place.ok_or_else(|| unknown(k))).collect::<Result<Vec<_>, _>>()?;
        let plain = |i: &usize| {
            parameters[*i].when.is_none() && !matches!(parameters[*i].kind, ParameterKind::Categorical { .. })
        };
        // Factors of all parameters and what their sum is compared with.
        let linear = |k: usize| {
            let (found, constant) = formula.linear(k).filter(|_| places.iter().all(plain))?;
            let mut factors = vec![0.0; parameters.len()];
            places.iter().zip(found).for_each(|(place, factor)| factors[*place] = factor);
            Some((factors, constant))
        };
        for k in 0..formula.comparisons().len() {
            match (formula.is_equation(k), linear(k)) {
                (true, Some((factors, constant))) => {
                    self = self.equal_to(factors, constant);
                    continue;
                }
                (true, None) => {
                    let message = "an equation must be linear, of numbers that always apply: write two limits instead, such as \
                                   0.999 <= x*y <= 1.001";
                    return Err(FormulaError { column: 1, message: message.to_owned() });
                }
                (false, row) => self.linear_functions.extend(row),
            }
            let (formula, domain, places) = (formula.clone(), domain.clone(), places.clone());
            self = self.met(move |x| {
                if !places.iter().all(|i| domain.is_active(*i, x)) {
                    return -1.0;
                }
                let value = |i: &usize| domain.parameters()[*i].number(x[*i]).unwrap_or(f64::NAN);
                formula.excess(k, &places.iter().map(value).collect::<Vec<f64>>())
            });
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
