//! `functions`: lists the built-in functions, or evaluates one.

use std::io::{Write, stdout};

use crate::functions::{ALL, Function};
use serde_json::json;

use crate::cli;
use crate::failure::Failure;
use crate::format::{brief, count, number};
use crate::study::nearest;

/// The dimension of a function that is defined in many.
pub(crate) const DEFAULT_DIM: usize = 2;

/// Lists the functions, or one, or evaluates it.
pub(crate) fn functions(args: &cli::Functions) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let Some(name) = &args.name else {
        return ALL.iter().try_for_each(|function| describe(function, args.json, &mut out));
    };
    let function = by_name(name)?;
    if args.x.is_empty() {
        return describe(function, args.json, &mut out);
    }
    check_dim(function, args.x.len())?;
    writeln!(out, "{}", number(function.value(&args.x)))?;
    Ok(())
}

/// The function of this name, or words that help to find it.
pub(crate) fn by_name(name: &str) -> Result<&'static Function, Failure> {
    Function::by_name(name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|function| function.name).collect();
        let guess = nearest(name, &names).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
        Failure::usage(format!("there is no function `{name}`{guess}: the functions are {}", names.join(", ")))
    })
}

/// The dimension that is used when none is asked for.
pub(crate) fn default_dim(function: &Function) -> usize {
    function.only_dim.unwrap_or(DEFAULT_DIM)
}

/// Whether the function is defined in so many dimensions.
pub(crate) fn check_dim(function: &Function, dim: usize) -> Result<(), Failure> {
    if function.allows(dim) {
        return Ok(());
    }
    let allowed = function.only_dim.map_or_else(|| "2 or more".to_owned(), |only| only.to_string());
    Err(Failure::usage(format!(
        "`{}` is not defined for {}: it needs {allowed}",
        function.name,
        count(dim, "parameter")
    )))
}

fn describe(function: &Function, as_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let dim = default_dim(function);
    let (bounds, minimum) = (function.bounds(dim), function.minimum(dim));
    if as_json {
        let line = json!({
            "name": function.name, "summary": function.summary, "only_dim": function.only_dim,
            "bounds": bounds, "minimum": minimum,
        });
        writeln!(out, "{line}")?;
        return Ok(());
    }
    let dims = function.only_dim.map_or_else(|| "any".to_owned(), |only| only.to_string());
    writeln!(out, "{:<12} dim {dims:<4} minimum {:<9} {}", function.name, brief(minimum, 6), function.summary)?;
    Ok(())
}
