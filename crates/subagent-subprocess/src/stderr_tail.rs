//! What a child writes to its standard error. Owns draining it, so that a chatty child never blocks, and keeping its
//! end for the host. Nothing of it may reach a parent model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt as _;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::rpc::Source;

const CHUNK: usize = 16 * 1024;

/// Drains a pipe in a task of its own and keeps the last bytes. Dropping it ends the task.
#[derive(Debug)]
pub struct StderrTail {
    kept: Arc<Mutex<Tail>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl StderrTail {
    /// Drains `stderr` and keeps its last `capacity` bytes. Must be called within a Tokio runtime.
    pub fn drain(stderr: impl Source + 'static, capacity: usize) -> Self {
        let kept = Arc::new(Mutex::new(Tail {
            bytes: VecDeque::new(),
            capacity,
        }));
        let stop = CancellationToken::new();
        let task = tokio::spawn(drain(stderr, Arc::clone(&kept), stop.clone()));
        Self { kept, stop, task }
    }

    /// The last bytes so far.
    pub fn snapshot(&self) -> Vec<u8> {
        lock(&self.kept).bytes.iter().copied().collect()
    }

    /// Takes what the pipe holds at this moment, stops draining and returns the last bytes. For a child that has ended:
    /// a descendant that holds the pipe open is not waited for. Cancel-safe. Ends at once.
    pub async fn finish(&mut self) -> Vec<u8> {
        self.stop.cancel();
        if !self.task.is_finished() {
            let _ = (&mut self.task).await;
        }
        self.snapshot()
    }
}

impl Drop for StderrTail {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The last bytes of a stream.
#[derive(Debug)]
struct Tail {
    bytes: VecDeque<u8>,
    capacity: usize,
}

impl Tail {
    fn push(&mut self, more: &[u8]) {
        let more = &more[more.len().saturating_sub(self.capacity)..];
        let excess = (self.bytes.len() + more.len()).saturating_sub(self.capacity);
        self.bytes.drain(..excess);
        self.bytes.extend(more);
    }
}

async fn drain(mut stderr: impl Source, kept: Arc<Mutex<Tail>>, stop: CancellationToken) {
    let mut chunk = vec![0; CHUNK];
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            read = stderr.read(&mut chunk) => match read {
                Ok(0) | Err(_) => return,
                Ok(count) => lock(&kept).push(&chunk[..count]),
            }
        }
    }
    let mut left = stderr.available().ok().flatten().unwrap_or(0);
    while left > 0 {
        let room = left.min(chunk.len());
        match stderr.read_now(&mut chunk[..room]) {
            Ok(Some(count)) if count > 0 => {
                lock(&kept).push(&chunk[..count]);
                left -= count;
            }
            _ => return,
        }
    }
}

fn lock(tail: &Mutex<Tail>) -> std::sync::MutexGuard<'_, Tail> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(capacity: usize, chunks: &[&[u8]]) -> Vec<u8> {
        let mut tail = Tail {
            bytes: VecDeque::new(),
            capacity,
        };
        for chunk in chunks {
            tail.push(chunk);
            assert!(tail.bytes.len() <= capacity);
        }
        tail.bytes.into()
    }

    #[test]
    fn the_last_bytes_are_kept_across_chunks() {
        assert_eq!(tail_of(4, &[b"ab", b"cd"]), b"abcd");
        assert_eq!(tail_of(4, &[b"ab", b"cd", b"e"]), b"bcde");
        assert_eq!(tail_of(4, &[b"ab", b"cdefgh"]), b"efgh");
        assert_eq!(tail_of(0, &[b"ab"]), b"");
    }
}
