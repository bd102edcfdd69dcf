//! The report page as text: it carries the data unharmed, nothing in the data can become markup, and nothing in it
//! points outside. What it does in a browser is tested in `tests/browser`.

#[path = "../src/report/mod.rs"]
mod report;
#[path = "../examples/report_page/samples.rs"]
mod samples;

use report::{ReportData, Setting};
use serde_json::Value;

fn page_of(data: &ReportData) -> String {
    report::render(data, Setting::File)
}

/// The text between the page's data element's tags.
fn data_of(page: &str) -> &str {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap_or_default();
    rest.split_once("</script>").unwrap_or_default().0
}

#[test]
fn every_sample_carries_its_data() -> Result<(), serde_json::Error> {
    for (name, data) in samples::all() {
        let carried: Value = serde_json::from_str(data_of(&page_of(&data)))?;
        assert_eq!(carried["name"], data.name, "{name}");
        assert_eq!(carried["seed"], data.seed.to_string(), "{name}");
        let evaluations = carried["evaluations"].as_array().map_or(0, Vec::len);
        assert_eq!(evaluations, data.evaluations.len(), "{name}");
        for (index, evaluation) in data.evaluations.iter().enumerate() {
            let shown = &carried["evaluations"][index];
            assert_eq!(shown["value"].as_f64(), evaluation.value, "{name} {index}");
            assert_eq!(shown["x"], serde_json::to_value(&evaluation.x)?, "{name} {index}");
        }
    }
    Ok(())
}

#[test]
fn data_cannot_become_markup() {
    let plain = page_of(&samples::empty());
    let awkward = page_of(&samples::awkward());
    for tag in ["<script", "</script", "<title", "</title", "<style", "<!--", "<img", "<b>"] {
        let count = |page: &str| page.matches(tag).count();
        assert_eq!(count(&awkward), count(&plain), "{tag}");
    }
    assert!(awkward.contains("<h1>&lt;/title&gt;&lt;script&gt;alert(&#39;name&#39;)"));
    assert!(awkward.contains("@@style@@ 🐈</h1>"), "what is put in must not be searched for places to fill");
}

#[test]
fn long_output_keeps_its_end() -> Result<(), serde_json::Error> {
    let mut data = samples::single();
    data.evaluations[0].stdout = format!("begin{}end", "é".repeat(10_000));
    data.evaluations[0].stderr = "é".repeat(2_000);
    let carried: Value = serde_json::from_str(data_of(&page_of(&data)))?;
    let output = |stream: &str| carried["evaluations"][0][stream].as_str().unwrap_or_default().to_owned();
    assert_eq!(output("stdout").chars().count(), 2_001);
    assert!(output("stdout").starts_with('…') && output("stdout").ends_with("éend"));
    assert_eq!(output("stderr"), "é".repeat(2_000));
    Ok(())
}

#[test]
fn values_that_json_cannot_hold_are_absent() -> Result<(), serde_json::Error> {
    let mut data = samples::single();
    data.evaluations[0].value = Some(f64::INFINITY);
    let carried: Value = serde_json::from_str(data_of(&page_of(&data)))?;
    assert_eq!(carried["evaluations"][0]["value"], Value::Null);
    Ok(())
}

#[test]
fn nothing_points_outside() {
    let page = page_of(&samples::rosenbrock());
    let addresses = page.matches("http://").count() + page.matches("https://").count();
    assert_eq!(addresses, 1, "only the name of the SVG namespace");
    for outward in [" src=", "@import", "url(http", "fetch(", "XMLHttpRequest", "import("] {
        assert!(!page.contains(outward), "{outward}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn a_served_page_speaks_to_its_server_only() {
    let page = report::render(&samples::rosenbrock(), Setting::Served);
    assert!(page.contains("connect-src 'self'") && page.contains("fetch(`${location.pathname}/data?known="));
    assert_eq!(page.matches("http://").count() + page.matches("https://").count(), 1);
}

#[test]
fn the_best_is_told_without_scripts() {
    let page = page_of(&samples::single());
    assert!(page.contains("<noscript><p>1 evaluation; best value "));
    assert!(page.contains(" at angle = "));
}
