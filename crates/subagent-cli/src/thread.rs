//! Work that may block, on a thread of its own. Owns that a system without a thread to spare is an answer and not a panic,
//! which it is in the async runtime's own pool.

use std::io;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// Work that goes on on its own thread. Nobody waits for that thread: the end of the process ends it.
#[derive(Debug)]
pub(crate) struct Running<T>(oneshot::Receiver<T>);

/// Starts `work` on a thread of its own.
///
/// # Errors
///
/// The system has no thread to spare. The work comes back, not begun.
pub(crate) fn start<T, W>(work: W) -> Result<Running<T>, (io::Error, W)>
where
    T: Send + 'static,
    W: FnOnce() -> T + Send + 'static,
{
    // A thread that cannot be started drops all that it was given, so it is given the work once it is there.
    let (give, take) = mpsc::sync_channel::<W>(1);
    let (answer, answered) = oneshot::channel();
    let named = std::thread::Builder::new().name("subagent-blocking".to_owned());
    let started = named.spawn(move || {
        if let Ok(work) = take.recv() {
            // Whoever asked may have stopped waiting.
            drop(answer.send(work()));
        }
    });
    match started {
        Ok(_detached) => match give.send(work) {
            Ok(()) => Ok(Running(answered)),
            Err(mpsc::SendError(work)) => Err((io::ErrorKind::BrokenPipe.into(), work)),
        },
        Err(error) => Err((error, work)),
    }
}

/// Makes sure that the async runtime's own pool has `count` threads, for what can only be done there: it never panics over
/// a thread that cannot be started when it has one, and these stay. To be called within the runtime, before anything uses
/// the pool.
///
/// # Errors
///
/// The system has not so many threads to spare.
pub(crate) fn reserve(count: usize) -> io::Result<()> {
    // Tried outside of the pool, where it is an error; whoever is started waits until all are.
    let wait = |gate: &Arc<Mutex<Receiver<()>>>| {
        let gate = Arc::clone(gate);
        // What comes is the end of the channel.
        move || {
            gate.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv()
                .is_err()
        }
    };
    let (open, gate) = mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    let tried: io::Result<Vec<_>> = (0..count)
        .map(|_| std::thread::Builder::new().spawn(wait(&gate)))
        .collect();
    drop(open);
    for thread in tried? {
        // It has nothing to panic over.
        drop(thread.join());
    }
    let (open, gate) = mpsc::channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    for _ in 0..count {
        tokio::task::spawn_blocking(wait(&gate));
    }
    drop(open);
    Ok(())
}

impl<T> Running<T> {
    /// Waits until the work is done. Cancel-safe: the work goes on. Unbounded, as the work is.
    ///
    /// # Errors
    ///
    /// The work has panicked.
    pub(crate) async fn done(self) -> io::Result<T> {
        self.0
            .await
            .map_err(|_| io::Error::other("a thread of this process has panicked"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_on_another_thread() {
        let here = std::thread::current().id();
        let running = start(move || (std::thread::current().id() != here, 5))
            .ok()
            .unwrap();
        assert_eq!(running.done().await.unwrap(), (true, 5));
    }

    #[tokio::test]
    async fn a_panic_of_the_work_is_an_error() {
        let running = start(|| std::panic::resume_unwind(Box::new(()))).ok().unwrap();
        let error = Running::<()>::done(running).await.unwrap_err();
        assert_eq!(error.to_string(), "a thread of this process has panicked");
    }
}
