//! `report`: the page about a study.

use labcat::{Domain, Label, ParameterKind};
use std::io::Write;

use labcat::Optimizer;

use super::export::write_file;
use crate::best::recommended;
use crate::cli;
use crate::expected::around;
use crate::failure::Failure;
use crate::fit;
use crate::format::{date, now, people};
use crate::journal::{Journal, Trial};
use crate::paths::{Paths, check_output};
use crate::report::{Evaluation, Parameter, Recommended, ReportData, Restart, Setting, TrustRegion, render};
use crate::step::Step;
use crate::study::{Constraints, Identity};
use crate::value::Reading;

/// Writes the page.
pub(crate) fn report(args: &cli::Report) -> Result<(), Failure> {
    let paths = Paths::of(&args.study.path);
    let (journal, _) = Journal::of_begun_study(&paths)?;
    let file = args.output.clone().unwrap_or_else(|| paths.journal.with_extension("html"));
    check_output(&paths, &file)?;
    let page = render(&of_journal(&journal)?, Setting::File);
    write_file(&file, &page).map_err(|error| Failure::unwritten(&file, &error))?;
    writeln!(people(), "{}", file.display())?;
    Ok(())
}

/// Everything that the page of a study shows.
pub(crate) fn of_journal(journal: &Journal) -> Result<ReportData, Failure> {
    let optimizer = journal.optimizer()?;
    let mut steps = Vec::new();
    for (at_evaluation, text) in journal.steps()? {
        let step: Step = serde_json::from_str(&text).map_err(|error| journal.damaged("trust regions", &error))?;
        steps.push((at_evaluation, step));
    }
    let domain = optimizer.domain();
    let evaluations = journal.told()?.into_iter().map(|trial| evaluation(trial, domain)).collect();
    let identity = journal.identity()?;
    let constraints = identity.as_ref().map_or_else(|| Ok(Constraints::default()), Identity::constraints)?;
    let measured = identity.map(|identity| identity.data).unwrap_or_default();
    let data = data(&journal.name()?, journal.created()?, &optimizer, evaluations, steps);
    Ok(ReportData { fit: fit::of(&optimizer, &measured), ..data.with_constraints(&constraints) })
}

/// The page's data of an optimizer and what was kept beside it.
pub(crate) fn data(
    name: &str,
    created: u64,
    optimizer: &Optimizer,
    evaluations: Vec<Evaluation>,
    steps: Vec<(usize, Step)>,
) -> ReportData {
    let config = optimizer.config();
    let best = optimizer.best();
    let (relevance, relevance_std): (Vec<f64>, Vec<f64>) =
        optimizer.importance().unwrap_or_default().into_iter().map(|share| (share.mean, share.std)).unzip();
    let recommended = recommended(optimizer);
    let used =
        recommended.as_ref().map(|found| &found.x).or(best.map(|best| &best.x)).filter(|_| !relevance.is_empty());
    let (slices, map) = used.map(|x| around(optimizer, x, &relevance)).unwrap_or_default();
    let best = best.map(|best| best.id.0);
    ReportData {
        name: name.to_owned(),
        direction: config.direction.to_string(),
        seed: config.seed,
        preset: config.preset.to_string(),
        budget: config.budget,
        stop_reason: optimizer.stop_reason().map(|reason| reason.to_string()),
        activity: None,
        revision: String::new(),
        created: date(created),
        generated: date(now()),
        parameters: optimizer.domain().parameters().iter().map(parameter).collect(),
        known_constraints: Vec::new(),
        measured_constraints: Vec::new(),
        best: evaluations.iter().position(|evaluation| Some(evaluation.id) == best),
        evaluations,
        recommended: recommended.map(|found| Recommended {
            x: found.x,
            mean: found.mean,
            std: found.std,
            noise: optimizer.noise_sigma(),
        }),
        restarts: optimizer
            .restarts()
            .iter()
            .map(|restart| Restart { at_evaluation: restart.at_evaluation, cause: restart.cause.to_string() })
            .collect(),
        trust_regions: steps
            .into_iter()
            .map(|(at_evaluation, step)| TrustRegion {
                at_evaluation,
                centre: step.centre,
                half_widths: step.half_widths,
                corners: step.corners,
            })
            .collect(),
        relevance,
        relevance_std,
        slices,
        map,
        history: None,
        fit: None,
    }
}

impl ReportData {
    /// The same with the constraints of the study.
    pub(crate) fn with_constraints(self, constraints: &Constraints) -> ReportData {
        ReportData {
            known_constraints: constraints.of_parameters().map(ToString::to_string).collect(),
            measured_constraints: constraints.measured().into_iter().map(str::to_owned).collect(),
            ..self
        }
    }
}

fn parameter(parameter: &labcat::Parameter) -> Parameter {
    Parameter {
        name: parameter.name.clone(),
        low: parameter.low,
        high: parameter.high,
        scale: crate::study::scale_name(parameter.scale).to_owned(),
        kind: parameter.kind.name().to_owned(),
        labels: match &parameter.kind {
            ParameterKind::Categorical { labels, .. } => labels.iter().map(Label::to_string).collect(),
            ParameterKind::Boolean => vec!["false".to_owned(), "true".to_owned()],
            ParameterKind::Real | ParameterKind::Stepped { .. } | ParameterKind::Integer { .. } => Vec::new(),
        },
    }
}

fn evaluation(mut trial: Trial, domain: &Domain) -> Evaluation {
    let idle: Vec<usize> = (0..trial.x.len()).filter(|&i| !domain.is_active(i, &trial.x)).collect();
    for i in idle {
        trial.x[i] = f64::NAN;
    }
    Evaluation {
        id: trial.id,
        x: trial.x,
        value: trial.value,
        std: trial.result.as_ref().and_then(Reading::stored_std),
        constraints: trial.constraints,
        status: trial.status,
        seconds: trial.seconds,
        message: trial.message.filter(|_| trial.value.is_none()),
        stdout: trial.stdout,
        stderr: trial.stderr,
    }
}
