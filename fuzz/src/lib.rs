//! What the fuzz targets share: a runtime in which no time passes unless nothing else is left to do.

use std::future::Future;

/// Runs a property to its end. Every wait is over at once, in the order in which it would have been.
pub fn without_waiting<F: Future>(property: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime of one thread needs nothing that could be missing")
        .block_on(property)
}
