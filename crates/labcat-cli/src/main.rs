//! The `labcat` binary.

fn main() -> std::process::ExitCode {
    labcat_cli::main(std::env::args_os()).into()
}
