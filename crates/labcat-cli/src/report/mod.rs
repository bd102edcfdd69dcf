//! The report: one self-contained HTML page that shows a study, and opens anywhere without a network.

mod data;

pub(crate) use data::{
    Evaluation, Expected, Fit, FitSeries, Map, Parameter, Recommended, ReportData, Restart, TrustRegion,
};

const TEMPLATE: &str = include_str!("page/template.html");
pub(crate) const STYLE: &str = include_str!("page/page.css");
/// What the scripts of all pages begin with.
pub(crate) const TOOLS: &str = concat!(include_str!("page/tools.js"), include_str!("page/frame.js"));
/// The page of a study as a function of the study, in the order of its parts: each may use what stands before it.
const SCRIPT: &str = concat!(
    "const showStudy = (study) => {\n",
    include_str!("page/base.js"),
    include_str!("page/chart.js"),
    include_str!("page/curves.js"),
    include_str!("page/expected.js"),
    include_str!("page/fit.js"),
    include_str!("page/filter.js"),
    include_str!("page/parallel.js"),
    include_str!("page/region.js"),
    include_str!("page/table.js"),
    include_str!("page/page.js"),
    "};\n",
);
const LIVE: &str = include_str!("page/live.js");
/// The study that the page carries.
const CARRIED: &str = "JSON.parse($(\"data\").textContent)";

/// Where a page is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Setting {
    /// From a file: it never changes and needs nothing.
    File,
    /// From `labcat serve`: it asks the server what is new.
    Served,
}

/// The page of a study.
pub(crate) fn render(data: &ReportData, setting: Setting) -> String {
    let served = setting == Setting::Served;
    let start = match served {
        true => format!("{LIVE}startLive({CARRIED});\n}}"),
        false => format!("showStudy({CARRIED});\n}}"),
    };
    fill(
        TEMPLATE,
        &[
            ("name", &escape_html(&data.name)),
            ("summary", &escape_html(&summary(data))),
            ("version", env!("CARGO_PKG_VERSION")),
            (
                "brand",
                if served { "<a href=\"/\">labcat</a> <span>live</span>" } else { "labcat <span>study report</span>" },
            ),
            ("connect", if served { " connect-src 'self';" } else { "" }),
            ("style", STYLE),
            ("data", &script_safe_json(data)),
            ("script", &format!("\"use strict\";\n{{\n{TOOLS}{SCRIPT}")),
            ("start", &start),
        ],
    )
}

/// The study in one line, for readers without scripts.
fn summary(data: &ReportData) -> String {
    let number = data.evaluations.len();
    let count = format!("{number} evaluation{}", if number == 1 { "" } else { "s" });
    let best = data.best.and_then(|index| data.evaluations.get(index));
    let Some((best, value)) = best.and_then(|best| Some((best, best.value?))) else {
        return format!("{count}, no value yet.");
    };
    if !best.is_feasible() {
        return format!(
            "{count}, none of which satisfies the constraints; evaluation {} has the smallest violation.",
            best.id
        );
    }
    let at = |x: &[f64]| {
        let applying = data.parameters.iter().zip(x).filter(|(_, x)| !x.is_nan());
        let text = |p: &Parameter, x: f64| p.labels.get(x as usize).cloned().unwrap_or_else(|| x.to_string());
        applying.map(|(p, x)| format!("{} = {}", p.name, text(p, *x))).collect::<Vec<_>>().join(", ")
    };
    match &data.recommended {
        Some(found) => format!("{count}; recommended {} ± {} at {}.", found.mean, found.std, at(&found.x)),
        None => format!("{count}; best value {value} at {}.", at(&best.x)),
    }
}

/// JSON that can stand inside a `script` element: no `<` can end the element or begin a comment in it.
pub(crate) fn script_safe_json(data: &impl serde::Serialize) -> String {
    // Plain structs of text and numbers: serialising into memory has no way to fail, and `null` shows as an empty page.
    serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned()).replace('<', "\\u003c")
}

fn escape_html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Puts each part where the template says `@@its-key@@`, in one pass: what is put in is never searched for keys.
pub(crate) fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let size = template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>();
    let mut page = String::with_capacity(size);
    for (position, piece) in template.split("@@").enumerate() {
        let part = parts.iter().find(|(key, _)| *key == piece).map(|(_, part)| *part);
        page.push_str(if position % 2 == 1 { part.unwrap_or_default() } else { piece });
    }
    page
}
