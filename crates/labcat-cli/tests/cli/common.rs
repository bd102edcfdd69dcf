//! What the tests of the command line share: fresh directories, running `labcat`, looking into a journal.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// The program under test.
pub(crate) const LABCAT: &str = env!("CARGO_BIN_EXE_labcat");

/// A fresh directory of one test.
pub(crate) struct Dir(PathBuf);

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    fn of(output: Output) -> Ended {
        Ended {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts the exit status and gives everything printed.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32) -> &Ended {
        assert_eq!(self.status.code(), Some(code), "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that standard error names something.
    #[track_caller]
    pub(crate) fn says(&self, part: &str) -> &Ended {
        assert!(self.stderr.contains(part), "{part:?} is not in: {}", self.stderr);
        self
    }

    /// Standard output as one JSON value.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// Runs a command to its end.
pub(crate) fn output(command: &mut Command) -> Ended {
    Ended::of(command.stdin(Stdio::null()).output().expect("the command starts"))
}

impl Dir {
    pub(crate) fn new(name: &str) -> Dir {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        // A test that failed may have left it read-only.
        let _ = fs::set_permissions(&path, fs::Permissions::from_mode(0o755));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    /// A fresh directory with copies of the files of another one, which is named from the repository's root.
    pub(crate) fn copy_of(name: &str, from: &str) -> Dir {
        let dir = Dir::new(name);
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(from)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), dir.0.join(entry.file_name())).unwrap();
            }
        }
        dir
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        fs::write(self.path(file), text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// `labcat` with these arguments, in this directory.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(LABCAT);
        command.args(args).current_dir(&self.0);
        command
    }

    pub(crate) fn labcat(&self, args: &[&str]) -> Ended {
        output(&mut self.command(args))
    }

    pub(crate) fn told(&self, journal: &str) -> Vec<Told> {
        told(&self.path(journal))
    }
}

/// A study of two parameters with the given lines in `[study]` and `[objective]`.
pub(crate) fn study(general: &str, objective: &str) -> String {
    format!(
        "[study]\n{general}\n\
         [[parameter]]\nname = \"x\"\ntype = \"real\"\nlow = -5\nhigh = 10\n\
         [[parameter]]\nname = \"y\"\ntype = \"real\"\nlow = -5\nhigh = 10\n\
         [objective]\n{objective}\n"
    )
}

/// An objective that evaluates a built-in function.
pub(crate) fn built_in(function: &str) -> String {
    format!("command = [{LABCAT:?}, \"functions\", \"{function}\", \"{{x}}\", \"{{y}}\"]")
}

/// An objective that is a shell's.
pub(crate) fn shell(script: &str) -> String {
    format!("shell = true\ncommand = {}", toml::Value::String(script.to_owned()))
}

/// An evaluation as the journal has it; numbers by their bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) id: i64,
    pub(crate) x: String,
    pub(crate) value: Option<u64>,
    pub(crate) status: String,
}

/// Opens a journal, checks that it is whole, and gives what was told, in order.
pub(crate) fn told(journal: &Path) -> Vec<Told> {
    let db = rusqlite::Connection::open(journal).unwrap();
    let whole: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(whole, "ok");
    let tables: i64 =
        db.query_row("SELECT count(*) FROM sqlite_schema WHERE name = 'trial'", [], |row| row.get(0)).unwrap();
    if tables == 0 {
        return Vec::new();
    }
    let mut statement =
        db.prepare("SELECT id, x, value, status, told FROM trial WHERE told IS NOT NULL ORDER BY told").unwrap();
    let rows = statement.query_map([], |row| {
        let told = Told {
            id: row.get(0)?,
            x: row.get(1)?,
            value: row.get::<_, Option<f64>>(2)?.map(f64::to_bits),
            status: row.get(3)?,
        };
        Ok((row.get::<_, i64>(4)?, told))
    });
    let rows: Vec<(i64, Told)> = rows.unwrap().collect::<Result<_, _>>().unwrap();
    for (index, (place, _)) in rows.iter().enumerate() {
        assert_eq!(*place, index as i64, "the order of telling has no gap");
    }
    rows.into_iter().map(|(_, told)| told).collect()
}

/// How many suggestions a journal has pending.
pub(crate) fn pending(journal: &Path) -> i64 {
    let db = rusqlite::Connection::open(journal).unwrap();
    db.query_row("SELECT count(*) FROM trial WHERE status = 'pending'", [], |row| row.get(0)).unwrap()
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(600);
    while !holds() {
        assert!(Instant::now() < give_up, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process exists and is not a zombie.
pub(crate) fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}
