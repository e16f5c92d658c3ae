//! Whoever reads standard output. Owns the notice that nobody does any more, which a write would bring only when there is
//! something to write.

use tokio_util::sync::CancellationToken;

/// Cancelled when nobody reads standard output any more, and with `stop`. Where that cannot be found out, by `stop` alone.
pub(crate) fn gone_or(stop: &CancellationToken) -> CancellationToken {
    let either = stop.child_token();
    watch(either.clone());
    either
}

/// Cancels `gone` when the other end of standard output is closed. It takes a thread: it waits for as long as the process
/// lives, and ends with it.
#[cfg(unix)]
fn watch(gone: CancellationToken) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;

    let watching = std::thread::Builder::new()
        .name("reader".to_owned())
        .spawn(move || {
            let stdout = std::io::stdout();
            loop {
                // Nothing is asked for: that the other end is closed is told without.
                let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
                match poll(&mut watched, None) {
                    Err(Errno::INTR) => {}
                    Ok(_) if watched[0].revents().is_empty() => {}
                    Ok(_) => break gone.cancel(),
                    Err(error) => break tracing::debug!(%error, "standard output cannot be watched"),
                }
            }
        });
    if let Err(error) = watching {
        tracing::debug!(%error, "standard output is not watched");
    }
}

#[cfg(not(unix))]
fn watch(_: CancellationToken) {}
