//! No allocation in the steady state: after warm-up, `tell` allocates nothing and `ask` the two copies of the point it hands out
//! (the suggestion's and the pending list's).
#![allow(clippy::unwrap_used, unsafe_code)]

#[allow(dead_code, unreachable_pub)] // the command line has them
#[path = "../../labcat-cli/src/functions.rs"]
mod functions;

use functions::Function;
use labcat::{Config, Domain, Optimizer, Origin, Preset};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the allocations of each thread on its own.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count_one() {
    // A thread that is being torn down has nothing left to count with, and nothing to be measured.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches only a `Cell` of the thread.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_one();
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_one();
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_one();
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = COUNT.get();
    let result = work();
    (COUNT.get() - before, result)
}

/// Steps until the model has as many observations as it keeps, then counts a hundred more.
fn steady_state(preset: Preset, name: &str, d: usize, budget: Option<usize>) {
    let f = Function::by_name(name).unwrap();
    let mut config = Config::new(preset);
    config.budget = budget;
    (config.quartic, config.nearby) = (false, false);
    let mut optimizer = Optimizer::new(Domain::new(&f.bounds(d)).unwrap(), config).unwrap();
    let (mut counted, mut bounded) = (0, 0);
    for step in 0..300 {
        let restarts = optimizer.restarts().len();
        let (asking, suggestion) = allocations(|| optimizer.ask().unwrap());
        let value = f.value(&suggestion.x);
        let (telling, told) = allocations(|| optimizer.tell(suggestion.id, value));
        told.unwrap();
        let steady = step >= 7 * d + 10
            && optimizer.restarts().len() == restarts
            && optimizer.report().is_some_and(|r| r.origin == Origin::Model);
        if steady {
            // Each of three forecasts that were looked at and not followed takes two more: its place, and the monomials there. A few are turned
            // into the frame first, or end at bounds: these take memory of their own.
            bounded += usize::from(preset == Preset::Default && asking > 8);
            assert!(asking == 2 || preset == Preset::Default, "{preset}, {name}, d = {d}: {asking} at step {step}");
            assert_eq!(telling, 0, "{preset}, {name}, d = {d}: tell at step {step}");
            counted += 1;
        }
        if counted == 100 || optimizer.restarts().len() > restarts {
            break; // a restart makes new memory; the steady state before it was counted
        }
    }
    assert!(counted >= 20, "{preset}, {name}, d = {d}: only {counted} steady steps");
    assert!(20 * bounded <= counted, "{preset}, {name}, d = {d}: {bounded} of {counted} steps took more memory");
}

#[test]
fn the_steady_state_allocates_only_what_it_hands_out() {
    for preset in [Preset::Paper, Preset::Default] {
        for budget in [None, Some(400)] {
            for (name, d) in [("rosenbrock", 2), ("ackley", 2), ("rosenbrock", 5), ("ellipsoid", 5)] {
                steady_state(preset, name, d, budget);
            }
        }
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(vec![1.0; 10])).0, 1);
    assert_eq!(allocations(|| 1 + 1).0, 0);
}
