//! Loops as wide as the machine: the one place that asks which registers the processor has, and the only unsafe code.
//!
//! [`wide!`] compiles a function three times, for the baseline of the target, for AVX2 and for AVX-512, and calls the widest that the
//! processor can run. The three are the same source: every sum has its order written down, nothing is fused, and so they give the
//! same bits. The environment variable `LABCAT_KERNELS` (`baseline` or `avx2`), read once, asks for less than the processor has.

#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // elsewhere the baseline is all there is

use std::sync::LazyLock;

/// Instruction sets, from narrow to wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of the target has: SSE2, NEON.
    Baseline,
    /// Four numbers at a time.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Eight numbers at a time.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The levels that this processor can run, from narrow to wide.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wider = [
            (Self::Avx2, is_x86_feature_detected!("avx2")),
            (
                Self::Avx512,
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl"),
            ),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let wider: [(Self, bool); 0] = [];
        std::iter::once(Self::Baseline).chain(wider.into_iter().filter(|(_, has)| *has).map(|(level, _)| level))
    }

    /// The widest level of this processor that `LABCAT_KERNELS` allows.
    fn chosen() -> Self {
        let ceiling = std::env::var("LABCAT_KERNELS").unwrap_or_default();
        let allowed = |level: &Self| match ceiling.as_str() {
            "baseline" => *level == Self::Baseline,
            #[cfg(target_arch = "x86_64")]
            "avx2" => *level <= Self::Avx2,
            _ => true,
        };
        Self::available().filter(allowed).last().unwrap_or(Self::Baseline)
    }
}

static CHOSEN: LazyLock<Level> = LazyLock::new(Level::chosen);

#[cfg(any(test, feature = "widths"))]
thread_local! {
    static FORCED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) };
}

/// The level that the functions of [`wide!`] run at: one that this processor has.
pub fn level() -> Level {
    #[cfg(any(test, feature = "widths"))]
    if let Some(level) = FORCED.get() {
        return level;
    }
    *CHOSEN
}

/// What `work` gives at each level of this processor, on this thread.
#[cfg(any(test, feature = "widths"))]
pub fn at_each_level<T>(mut work: impl FnMut() -> T) -> Vec<(Level, T)> {
    let results = Level::available().map(|level| {
        FORCED.set(Some(level));
        (level, work())
    });
    let results = results.collect();
    FORCED.set(None);
    results
}

/// Makes a function that runs at the [`level`] of the machine. In its body `LANES` is the number of numbers in a register; what the
/// body calls must be `#[inline(always)]` to be as wide.
#[macro_export]
macro_rules! wide {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        #[allow(unsafe_code, clippy::too_many_arguments)]
        $vis fn $name($($arg: $ty),*) $(-> $out)? {
            #[inline(always)]
            #[allow(clippy::extra_unused_type_parameters)]
            fn body<const LANES: usize>($($arg: $ty),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) $(-> $out)? {
                    body::<4>($($arg),*)
                }
                #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
                fn avx512($($arg: $ty),*) $(-> $out)? {
                    body::<8>($($arg),*)
                }
                match $crate::width::level() {
                    $crate::width::Level::Baseline => body::<2>($($arg),*),
                    // SAFETY: the two functions are safe but for the instructions they use, and `level` names only what
                    // this processor was found to have.
                    $crate::width::Level::Avx2 => unsafe { avx2($($arg),*) },
                    $crate::width::Level::Avx512 => unsafe { avx512($($arg),*) },
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            body::<2>($($arg),*)
        }
    };
}
