//! Writes a report page for each of a few sample studies, for looking at and for the browser's tests:
//! `cargo run --example report_page -- DIRECTORY`.

#[path = "../../src/report/mod.rs"]
mod report;
mod samples;

use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let directory = env::args_os().nth(1).map_or_else(|| PathBuf::from("report-pages"), PathBuf::from);
    fs::create_dir_all(&directory)?;
    for (name, data) in samples::all() {
        let path = directory.join(name).with_extension("html");
        fs::write(&path, report::render(&data, report::Setting::File))?;
        println!("{}", path.display());
    }
    Ok(())
}
