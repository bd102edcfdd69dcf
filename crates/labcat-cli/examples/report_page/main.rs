#[path = "../../src/report/mod.rs"]
mod report;
fn main() {
    println!(
        "{}",
        report::render(&report::ReportData {
            name: "a".into(),
            direction: "minimize".into(),
            seed: 1,
            preset: "default".into(),
            budget: None,
            stop_reason: None,
            created: "".into(),
            generated: "".into(),
            parameters: vec![],
            evaluations: vec![],
            best: None,
            restarts: vec![],
            trust_regions: vec![],
            relevance: vec![]
        })
    )
}
