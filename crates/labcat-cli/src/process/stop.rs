//! Stopping by Ctrl-C or a termination signal.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

/// Shared by all workers: how often the user has asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Counts SIGINT, SIGTERM and SIGHUP from now on, and calls `notify` for each. One that was ignored when the
    /// program started (`nohup`, a script's background job) stays ignored.
    pub(crate) fn on_signals(notify: impl Fn() + Send + 'static) -> io::Result<Stop> {
        let stop = Stop::default();
        let counter = stop.clone();
        let ignored = ignored_signals();
        let mut signals =
            Signals::new([SIGINT, SIGTERM, SIGHUP].iter().filter(|signal| ignored & mask(**signal) == 0))?;
        thread::spawn(move || {
            for _ in &mut signals {
                counter.request();
                notify();
            }
        });
        Ok(stop)
    }

    /// Asks once more.
    pub(crate) fn request(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Running programs shall end.
    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Asked twice: running programs are killed.
    pub(crate) fn at_once(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}

/// The bit of a signal in the masks of the kernel.
fn mask(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// The signals that this process ignores, where the kernel tells (Linux).
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Makes a write beyond the file-size limit an error instead of the end of the process.
/// A handler that does nothing, rather than ignoring the signal, leaves the default to the programs we start.
pub(crate) fn ignore_file_size_signal() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(|_| ())
}
