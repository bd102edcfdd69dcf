//! `minimize`: a built-in function, in this process.

use std::io::{Write, stdout};
use std::time::{Duration, Instant};

use crate::functions::Function;
use labcat::{AskError, Config, Domain, Optimizer, Preset, default_budget};
use serde_json::json;

use super::functions::{by_name, check_dim, default_dim};
use crate::cli;
use crate::failure::Failure;
use crate::format::{count, number, stopped_by};
use crate::study::duration;

/// Minimises a function and prints where it ended.
pub(crate) fn minimize(args: &cli::Minimize) -> Result<(), Failure> {
    let function = by_name(&args.function)?;
    let dim = args.dim.unwrap_or_else(|| default_dim(function));
    check_dim(function, dim)?;
    let time_limit = args.time_limit.as_deref().map(time_limit).transpose()?;
    let mut config = Config::new(args.preset.parse::<Preset>().map_err(labcat::Error::from)?);
    args.switches.apply(&mut config).map_err(labcat::Error::from)?;
    let unlimited = !is_limited(&config, time_limit);
    if unlimited {
        config.budget = Some(default_budget(dim));
    }
    let domain = Domain::new(&function.bounds(dim)).map_err(labcat::Error::from)?;
    let mut optimizer = Optimizer::new(domain, config)?;
    let began = Instant::now();
    let stop = evaluate(&mut optimizer, function, time_limit.map(|limit| began + limit))?;
    let seconds = began.elapsed().as_secs_f64();
    match args.json {
        true => print_json(&optimizer, function, &stop, seconds),
        false => print_words(&optimizer, function, &stop, seconds, unlimited),
    }
}

fn time_limit(text: &str) -> Result<Duration, Failure> {
    duration::parse(text).filter(|limit| Instant::now().checked_add(*limit).is_some()).ok_or_else(|| {
        Failure::usage(format!("--time-limit {text} is not a span of time: write {}", duration::EXAMPLES))
    })
}

/// Whether something will end the run; a tolerance does so only when nothing is restarted.
pub(crate) fn is_limited(config: &Config, time_limit: Option<Duration>) -> bool {
    let tolerance = config.tolerance.is_some() && !config.restarts;
    config.budget.is_some() || config.target.is_some() || tolerance || time_limit.is_some()
}

/// Evaluates until there are no more suggestions, and says why.
fn evaluate(optimizer: &mut Optimizer, function: &Function, deadline: Option<Instant>) -> Result<String, Failure> {
    loop {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Ok("time_limit".to_owned());
        }
        match optimizer.ask() {
            Ok(suggestion) => {
                let value = function.value(&suggestion.x);
                optimizer.tell(suggestion.id, value).map_err(labcat::Error::from)?;
            }
            Err(AskError::Stopped(reason)) => return Ok(reason.to_string()),
            Err(error) => return Err(Failure::run(error.to_string())),
        }
    }
}

fn print_json(optimizer: &Optimizer, function: &Function, stop: &str, seconds: f64) -> Result<(), Failure> {
    let config = optimizer.config();
    let best = optimizer.best();
    let line = json!({
        "function": function.name,
        "dim": optimizer.domain().dim(),
        "preset": config.preset.to_string(),
        "seed": config.seed,
        "value": best.and_then(|best| best.outcome.value()),
        "x": best.map(|best| &best.x),
        "evaluations": optimizer.n_evaluations(),
        "restarts": optimizer.restarts().len(),
        "stop": stop,
        "seconds": seconds,
    });
    writeln!(stdout(), "{line}")?;
    Ok(())
}

fn print_words(
    optimizer: &Optimizer,
    function: &Function,
    stop: &str,
    seconds: f64,
    unlimited: bool,
) -> Result<(), Failure> {
    let config = optimizer.config();
    let dim = optimizer.domain().dim();
    let mut out = stdout().lock();
    writeln!(out, "{} in {dim} dimensions, preset {}, seed {}", function.name, config.preset, config.seed)?;
    if let Some(best) = optimizer.best() {
        let value = best.outcome.value().map(number).unwrap_or_default();
        let x: Vec<String> = best.x.iter().map(|x| number(*x)).collect();
        writeln!(out, "value  {value} (the minimum is {})", number(function.minimum(dim)))?;
        writeln!(out, "x      {}", x.join("  "))?;
    }
    let evaluations = count(optimizer.n_evaluations(), "evaluation");
    let restarts = count(optimizer.restarts().len(), "restart");
    let took = duration::show(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    writeln!(out, "stopped by {} after {evaluations}, {restarts}, {took}", stopped_by(stop))?;
    if unlimited {
        writeln!(
            out,
            "the budget is 200 per dimension, as no limit was given: --budget, --target or --time-limit change it"
        )?;
    }
    Ok(())
}
