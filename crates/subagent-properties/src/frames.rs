//! The frame reader and the connection above it, fed in arbitrary chunks. Owns the property that neither the cuts nor the
//! bytes between two newlines matter for anything but themselves.
//!
//! Input: four bytes that choose the bound and the cuts, then the stream. In the stream the byte `F5`, which no text
//! holds, and the one after it stand for a run of up to 256 KiB, so that a small input can be a giant frame.

mod source;

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use subagent_subprocess::rpc::{Connection, Ignored, Incoming, Limits, RpcError};
use tokio::io::{Sink, sink};

use self::source::{Cut, Spied};

/// The bounds that the first byte chooses from.
const BOUNDS: [usize; 8] = [1 << 20, 0, 1, 17, 100, 8 * 1024, 64 * 1024, 256 * 1024 + 1];

/// More than this is never read beyond the bound: what one read asks for.
const CHUNK: usize = 64 * 1024;

/// How many requests are open while the stream is read: their ids are 0, 1 and 2.
const REQUESTS: usize = 3;

/// The longest stream, once its runs are written out.
const MOST_BYTES: usize = 2 << 20;

/// What was heard of a stream.
#[derive(Debug, PartialEq, Eq)]
pub struct Heard {
    /// How many frames meant something.
    pub frames: usize,
    /// How many lines meant nothing.
    pub ignored: u64,
    /// Whether a line was above the bound.
    pub too_long: bool,
}

/// Checks what the connection makes of a stream, however it is cut.
pub fn check(input: &[u8]) -> Heard {
    let (head, rest) = input.split_at(input.len().min(4));
    let mut choice = [b'0'; 4];
    choice[..head.len()].copy_from_slice(head);
    let limit = BOUNDS[usize::from(choice[0] % 8)];
    let stream = written_out(rest);

    let whole = hear(Cut::whole(&stream), limit, None);
    let pieces = choice.map(piece);
    let cut = hear(Cut::into(&stream, &pieces, true), limit, None);
    assert_eq!(
        cut, whole,
        "the frames depend on how the stream is cut into {pieces:?}"
    );
    account_for(&stream, limit, &whole);

    // A peer that has exited while a descendant of it holds its output open: what is there is heard, and then it ends.
    let open = hear(
        Cut::into(&stream, &pieces, false),
        limit,
        Some(usize::from(choice[3])),
    );
    assert!(
        whole.events.starts_with(&open.events),
        "an exit changes what was said before it: {:?}, not {:?}",
        open.events,
        whole.events
    );
    Heard {
        frames: whole.events.len(),
        ignored: whole.ignored.not_json + whole.ignored.unknown_response + whole.ignored.repeated_response,
        too_long: whole.end == "too long",
    }
}

/// The stream with its runs written out.
fn written_out(input: &[u8]) -> Vec<u8> {
    let mut stream = Vec::with_capacity(input.len());
    let mut bytes = input.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == 0xf5 {
            let length = (usize::from(bytes.next().unwrap_or(0)) + 1) * 1024;
            let room = MOST_BYTES.saturating_sub(stream.len());
            stream.extend(std::iter::repeat_n(b'x', length.min(room)));
        } else {
            stream.push(byte);
        }
    }
    stream
}

/// How many bytes a cut takes: small ones by ones, large ones by leaps.
fn piece(choice: u8) -> usize {
    match choice {
        0..=199 => usize::from(choice) + 1,
        large => (usize::from(large) - 199) * 2048,
    }
}

/// Everything that was told of a stream.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    events: Vec<String>,
    ignored: Ignored,
    end: &'static str,
}

/// Hears a stream to its end. After `exit_after` reads the peer is said to have exited, if it ever is.
fn hear(source: Cut<'_>, limit: usize, exit_after: Option<usize>) -> Told {
    let most_buffer = limit + CHUNK;
    // Each poll reads something, yields something, is one of those that are not ready, or waits for the exit.
    let mut patience =
        source.left.iter().map(|piece| piece.len()).sum::<usize>() + 2 * source.left.len() + 600;
    let (spy, buffer) = Spied::new(source);
    let limits = Limits {
        max_frame_bytes: limit,
        max_queued_bytes: 1024,
    };
    let mut connection: Connection<Spied<'_>, Sink> = Connection::new(spy, sink(), limits);
    for _ in 0..REQUESTS {
        connection
            .request("ask", &())
            .expect("an idle connection takes a request");
    }
    let mut told = Told {
        events: Vec::new(),
        ignored: Ignored::default(),
        end: "",
    };
    let mut polls = 0;
    let mut last_end = 0;
    while told.end.is_empty() {
        patience -= 1;
        assert!(
            patience > 0,
            "the connection hangs after {} events",
            told.events.len()
        );
        if exit_after.is_some_and(|after| polls >= after) {
            connection.finish_reading();
        }
        polls += 1;
        match pin!(connection.next()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => {}
            Poll::Ready(Ok(frame)) => {
                if let Incoming::Notification { end, .. } = &frame {
                    assert!(*end > last_end, "the places of frames go backwards");
                    last_end = *end;
                }
                told.events.push(shown(&frame));
            }
            Poll::Ready(Err(error)) => {
                told.end = match error {
                    RpcError::Closed => "closed",
                    RpcError::FrameTooLong { limit: named } if named == limit => "too long",
                    other => panic!("a stream that can be read fails as {other:?}"),
                }
            }
        }
        let least = buffer.load(Ordering::Relaxed);
        assert!(
            least <= most_buffer,
            "a read buffer of at least {least} bytes for a bound of {limit}"
        );
    }
    assert!(last_end <= connection.received_bytes());
    told.ignored = connection.ignored();
    told
}

/// Every line of the stream is an event, or ignored, or blank; none above the bound is any of these.
fn account_for(stream: &[u8], limit: usize, told: &Told) {
    let mut lines: Vec<_> = stream.split(|byte| *byte == b'\n').collect();
    // What stands behind the last newline is a line only if it is anything.
    if lines.last().is_some_and(|line| line.is_empty()) {
        lines.pop();
    }
    let within = lines.iter().take_while(|line| line.len() <= limit).count();
    let end = if within == lines.len() {
        "closed"
    } else {
        "too long"
    };
    assert_eq!(told.end, end);
    let full = lines[..within]
        .iter()
        .filter(|line| !line.trim_ascii_end().is_empty())
        .count();
    let ignored = told.ignored.not_json + told.ignored.unknown_response + told.ignored.repeated_response;
    assert_eq!(told.events.len() as u64 + ignored, full as u64, "{told:?}");
    let responses = told
        .events
        .iter()
        .filter(|event| event.starts_with("response"))
        .count();
    assert!(responses <= REQUESTS, "an answer was told twice: {told:?}");
    let objects = lines[..within].iter().filter(|line| is_object(line)).count();
    assert!(
        told.events.len() <= objects,
        "what is no object was told: {told:?}"
    );
}

/// Whether a line could be a frame: nothing that is not written as an object is one.
fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.first() == Some(&b'{') && line.last() == Some(&b'}')
}

fn shown(frame: &Incoming<'_>) -> String {
    match frame {
        Incoming::Notification { method, params, end } => {
            format!(
                "notification {method} {:?} {end}",
                params.map(|params| params.get().len())
            )
        }
        Incoming::Request { id, method, params } => {
            format!(
                "request {} {method} {:?}",
                id.get(),
                params.map(|params| params.get().len())
            )
        }
        Incoming::Response { id, outcome } => format!("response {id} {outcome:?}"),
    }
}
