//! The report: one self-contained HTML page that shows a study, and opens anywhere without a network.

mod data;

pub(crate) use data::{Evaluation, Parameter, ReportData, Restart, TrustRegion};

const TEMPLATE: &str = include_str!("page/template.html");
const STYLE: &str = include_str!("page/page.css");
/// The page's script, in the order of its parts: each may use what stands before it.
const SCRIPT: &str = concat!(
    "\"use strict\";\n{\n",
    include_str!("page/base.js"),
    include_str!("page/chart.js"),
    include_str!("page/curves.js"),
    include_str!("page/filter.js"),
    include_str!("page/parallel.js"),
    include_str!("page/region.js"),
    include_str!("page/table.js"),
    include_str!("page/page.js"),
    "}\n",
);

/// The page of a study.
pub(crate) fn render(data: &ReportData) -> String {
    fill(
        TEMPLATE,
        &[
            ("name", &escape_html(&data.name)),
            ("summary", &escape_html(&summary(data))),
            ("version", env!("CARGO_PKG_VERSION")),
            ("style", STYLE),
            ("data", &script_safe_json(data)),
            ("script", SCRIPT),
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
    let coordinates = data.parameters.iter().zip(&best.x);
    let point: Vec<String> = coordinates.map(|(parameter, x)| format!("{} = {x}", parameter.name)).collect();
    format!("{count}; best value {value} at {}.", point.join(", "))
}

/// JSON that can stand inside a `script` element: no `<` can end the element or begin a comment in it.
fn script_safe_json(data: &ReportData) -> String {
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
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let size = template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>();
    let mut page = String::with_capacity(size);
    for (position, piece) in template.split("@@").enumerate() {
        let part = parts.iter().find(|(key, _)| *key == piece).map(|(_, part)| *part);
        page.push_str(if position % 2 == 1 { part.unwrap_or_default() } else { piece });
    }
    page
}
