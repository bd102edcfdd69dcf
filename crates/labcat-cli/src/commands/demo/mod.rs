//! `demo`: a search on a map of a built-in function, then its report.

mod map;

use std::io::{self, IsTerminal, Write, stdout};
use std::thread;
use std::time::{Duration, Instant};

use crate::functions::Function;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use labcat::{Config, Domain, Optimizer, Preset};
use rustix::termios::tcgetwinsize;

use super::export::write_file;
use super::functions::by_name;
use super::report;
use crate::cli;
use crate::failure::Failure;
use crate::format::{brief, count, now, number, point};
use crate::report::{Evaluation, Setting, render};
use crate::step::Step;
use crate::study::duration;
use map::Map;

/// How long the whole show lasts on a terminal.
const SHOW: Duration = Duration::from_secs(6);
/// The longest that one evaluation stays on the screen.
const LONGEST_FRAME: Duration = Duration::from_millis(150);
/// The bars of the small chart, low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What the search has done so far.
struct Search {
    function: &'static Function,
    optimizer: Optimizer,
    steps: Vec<(usize, Step)>,
    /// The time the optimizer itself has taken.
    thinking: Duration,
}

/// Runs the search, shows it, and writes the page.
pub(crate) fn demo(args: &cli::Demo) -> Result<(), Failure> {
    let function = by_name(&args.function)?;
    if !function.allows(2) {
        return Err(Failure::usage(format!(
            "`{}` has no map, it needs more than two dimensions: choose another of `labcat functions`",
            function.name
        )));
    }
    let place = args.output.parent().filter(|place| !place.as_os_str().is_empty());
    if place.is_some_and(|place| !place.is_dir()) {
        return Err(Failure::unwritten(&args.output, &io::ErrorKind::NotFound.into()));
    }
    let mut config = Config::new(Preset::Default);
    (config.budget, config.seed) = (Some(args.budget), args.seed);
    let domain = Domain::new(&function.bounds(2)).map_err(labcat::Error::from)?;
    let optimizer = Optimizer::new(domain, config)?;
    let mut search = Search { function, optimizer, steps: Vec::new(), thinking: Duration::ZERO };
    match map_fits() {
        true => search.show(args.budget)?,
        false => search.list()?,
    }
    let page = render(&search.page(), Setting::File);
    write_file(&args.output, &page).map_err(|error| Failure::unwritten(&args.output, &error))?;
    search.conclude(args)
}

/// Whether standard output is a terminal with colours and room for the map.
fn map_fits() -> bool {
    let roomy = tcgetwinsize(stdout()).is_ok_and(|size| size.ws_col >= 80 && size.ws_row >= 22);
    roomy && stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

impl Search {
    /// One evaluation; `None` when there are no more.
    fn step(&mut self) -> Result<Option<Vec<f64>>, Failure> {
        let began = Instant::now();
        let Ok(suggestion) = self.optimizer.ask() else { return Ok(None) };
        self.steps.extend(Step::newest(&self.optimizer).map(|step| (self.optimizer.n_evaluations(), step)));
        let value = self.function.value(&suggestion.x);
        self.optimizer.tell(suggestion.id, value).map_err(labcat::Error::from)?;
        self.thinking += began.elapsed();
        Ok(Some(suggestion.x))
    }

    /// The best value so far and how far it is above the minimum.
    fn best(&self) -> (f64, f64) {
        let value = self.optimizer.best().and_then(|best| best.outcome.value()).unwrap_or(f64::INFINITY);
        (value, (value - self.function.minimum(2)).max(0.0))
    }

    /// Plain lines, one for each improvement.
    fn list(&mut self) -> Result<(), Failure> {
        let mut out = stdout().lock();
        writeln!(out, "labcat minimises {} ({})", self.function.name, self.function.summary)?;
        let mut before = f64::INFINITY;
        while let Some(x) = self.step()? {
            let (value, _) = self.best();
            if value < before {
                let at = self.optimizer.n_evaluations().saturating_sub(1); // its number on the page
                writeln!(out, "evaluation {at:>3}: {:<12} at {}", brief(value, 6), point(&["x0", "x1"], &x, 5))?;
                before = value;
            }
        }
        Ok(())
    }

    /// The map, live.
    fn show(&mut self, budget: usize) -> Result<(), Failure> {
        let map = Map::new(self.function);
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stdout());
        screen.set_move_cursor(true);
        let bar = screen.add(ProgressBar::new(budget as u64));
        if let Ok(style) = ProgressStyle::with_template("{msg}\n  {bar:44.cyan/blue}  {pos}/{len} evaluations") {
            bar.set_style(style.progress_chars("━╸─"));
        }
        let frame = (SHOW / u32::try_from(budget).unwrap_or(u32::MAX).max(1)).min(LONGEST_FRAME);
        while let Some(x) = self.step()? {
            bar.set_position(self.optimizer.n_evaluations() as u64);
            bar.set_message(self.picture(&map, &x));
            bar.tick();
            thread::sleep(frame);
        }
        bar.abandon();
        writeln!(stdout())?;
        Ok(())
    }

    /// The map with what is known of the search beside it.
    fn picture(&self, map: &Map, newest: &[f64]) -> String {
        let points: Vec<&[f64]> =
            self.optimizer.evaluations().iter().map(|evaluation| evaluation.x.as_slice()).collect();
        let best = self.optimizer.best().map(|best| best.x.as_slice());
        let region = self.steps.last().and_then(|(_, step)| step.corners.as_ref());
        let rows = map.draw(&points, newest, best, region);
        let notes = self.notes(map);
        let mut lines = vec![format!(
            "  \x1b[1mlabcat\x1b[0m looks for the minimum of {}: {}",
            self.function.name, self.function.summary
        )];
        lines.extend(
            rows.iter().enumerate().map(|(i, row)| format!("  {row}  {}", notes.get(i).map_or("", String::as_str))),
        );
        lines.join("\n")
    }

    /// Lines of at most 32 characters, so that all fits on 80.
    fn notes(&self, map: &Map) -> Vec<String> {
        let (value, above) = self.best();
        let coordinate = |i: usize| self.optimizer.best().map_or_else(String::new, |best| brief(best.x[i], 6));
        let region = match self.steps.last() {
            Some((_, step)) => {
                let widest = step.half_widths.iter().fold(0.0_f64, |a, b| a.max(*b)).min(1.0);
                format!("{} % of the box", brief(100.0 * widest, 2))
            }
            None => "none: filling the space".to_owned(),
        };
        vec![
            String::new(),
            format!("best     \x1b[1m{}\x1b[0m", brief(value, 10)),
            format!("  x0     {}", coordinate(0)),
            format!("  x1     {}", coordinate(1)),
            format!("region   {region}"),
            format!("restarts {}", self.optimizer.restarts().len()),
            String::new(),
            format!("above the minimum {}", brief(above, 2)),
            self.chart(),
            "(order of magnitude)".to_owned(),
            String::new(),
            format!("{} evaluated", map.swatch(map::POINT)),
            format!("{} newest", map.swatch(map::NEWEST)),
            format!("{} best", map.swatch(map::BEST)),
            format!("{} trust region", map.swatch(map::REGION)),
        ]
    }

    /// How the best value came down, from 10² to 10⁻¹² above the minimum, in at most 32 characters.
    fn chart(&self) -> String {
        let mut best = f64::INFINITY;
        let mut heights = Vec::new();
        for evaluation in self.optimizer.evaluations() {
            best = evaluation.outcome.value().map_or(best, |value| value.min(best));
            let magnitude = (best - self.function.minimum(2)).max(1e-12).log10();
            heights.push(((magnitude + 12.0) / 14.0 * 7.0).round().clamp(0.0, 7.0) as usize);
        }
        let every = heights.len().div_ceil(32).max(1);
        heights.iter().step_by(every).map(|height| BARS[*height]).collect()
    }

    fn page(&self) -> crate::report::ReportData {
        let evaluations = self.optimizer.evaluations().iter().map(|evaluation| Evaluation {
            id: evaluation.id.0,
            x: evaluation.x.clone(),
            value: evaluation.outcome.value(),
            std: evaluation.outcome.std(),
            constraints: Vec::new(),
            status: "ok".to_owned(),
            message: None,
            seconds: None,
            stdout: String::new(),
            stderr: String::new(),
        });
        let name = format!("labcat demo: {}", self.function.name);
        report::data(&name, now(), &self.optimizer, evaluations.collect(), self.steps.clone())
    }

    fn conclude(&self, args: &cli::Demo) -> Result<(), Failure> {
        let (value, above) = self.best();
        let mut out = stdout().lock();
        let best = self.optimizer.best().map(|best| best.x.clone()).unwrap_or_default();
        let evaluations = count(self.optimizer.n_evaluations(), "evaluation");
        writeln!(out, "found  {} at {}", number(value), point(&["x0", "x1"], &best, 10))?;
        writeln!(out, "       {} above the minimum, after {evaluations}", brief(above, 2))?;
        writeln!(out, "       labcat's own work took {}", duration::show(self.thinking))?;
        writeln!(out, "page   {}  (open it in a browser)", args.output.display())?;
        writeln!(out, "next   labcat init -p x:-5:10 -p y:-5:10 -- YOUR-PROGRAM --x={{x}} --y={{y}}")?;
        writeln!(out, "       labcat run study.toml")?;
        Ok(())
    }
}
