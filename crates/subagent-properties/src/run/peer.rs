//! Does what a script says, as a child and now and then as its host. Owns what was done, byte by byte, so that what the
//! host made of it can be judged.

use std::convert::Infallible;
use std::time::Duration;

use serde_json::Value;
use subagent_seam::{TeardownUrgency, Urgency};
use subagent_subprocess::ExitFacts;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::process::Life;
use super::script::{Step, steps};
use super::wire::Wire;

/// A word that may reach nobody but as the assistant's own output.
pub(crate) const CANARY: &str = "canary-5d1e";

/// Private characters around the number of a text that was said on purpose.
pub(crate) const TAG: (char, char) = ('\u{e000}', '\u{e001}');

/// How well-formed frames of a protocol are written.
pub(crate) trait Speech {
    /// The run's session as long as the host has not named it.
    const SESSION: &'static str;

    /// The frame that `words` stand for. `id` is that of the last request of the host, `session` the run's; `tag` is to be
    /// part of what is said, if something is.
    fn frame(&mut self, words: &str, id: &str, session: &str, tag: &str) -> Option<Said>;
}

/// A well-formed frame.
pub(crate) struct Said {
    pub(crate) frame: Value,
    pub(crate) kind: Kind,
}

/// What a well-formed frame is to the output of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Says the tag.
    Text,
    /// From here on text counts.
    Begin,
    /// Stands in the place of every text.
    Replace,
    /// The run may end here.
    End,
    Other,
}

/// Something that was written, with where its line began and ended in the child's output.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) kind: Option<Kind>,
    /// The session that a text was said in.
    pub(crate) session: String,
    /// What was said after the number, if something was.
    pub(crate) text: String,
    /// The line itself when it was not well-formed on purpose.
    pub(crate) raw: Vec<u8>,
}

/// What a child and its host did.
#[derive(Debug, Default)]
pub(crate) struct Deeds {
    pub(crate) lines: Vec<Line>,
    /// Whether the child ever kept the host from writing, or hid how much it has written.
    pub(crate) obstructs: bool,
    /// Where the output stood when the host cancelled or disposed.
    pub(crate) cancelled_at: Option<u64>,
    /// Where it stood when the child exited.
    pub(crate) exited_at: Option<u64>,
}

pub(crate) struct Peer<'a, S> {
    pub(crate) wire: Wire,
    pub(crate) life: watch::Sender<Life>,
    pub(crate) cancel: CancellationToken,
    pub(crate) dispose: CancellationToken,
    pub(crate) urgency: TeardownUrgency,
    pub(crate) speech: S,
    pub(crate) deeds: &'a mut Deeds,
    /// How many frames of the host were waited for.
    pub(crate) taken: usize,
    pub(crate) id: String,
    pub(crate) session: String,
    /// The line that is being written.
    pub(crate) line: Vec<u8>,
    /// Whether some descendant holds the output open when the child exits.
    pub(crate) outlived: bool,
}

impl<S: Speech> Peer<'_, S> {
    /// Plays a script, and then does nothing any more but end when its input is closed.
    pub(crate) async fn play(mut self, input: &[u8]) -> Infallible {
        for step in steps(input) {
            self.take(step).await;
        }
        loop {
            if self.wire.lock().input_closed && !self.life.borrow().manners.stays {
                self.exit(0);
            }
            self.wire.changed().await;
        }
    }

    async fn take(&mut self, step: Step<'_>) {
        match step {
            Step::Await => self.next_frame().await,
            Step::Line(text) => {
                self.end_line();
                let text = self.filled_in(text);
                self.write(&text);
                self.end_line();
            }
            Step::Part(text) => {
                let text = self.filled_in(text);
                self.write(&text);
            }
            Step::Raw(text) => {
                self.write(text);
                self.write(b"\n");
            }
            Step::Frame(words) => self.say(words),
            Step::Filler(size) => self.write(&vec![b'x'; size]),
            Step::Pieces(size) => self.wire.change(|state| state.piece = size),
            Step::Pass(time) => tokio::time::sleep(Duration::from_millis(time)).await,
            Step::Exit(code) => self.exit(code),
            Step::Become(what) => self.become_like(what),
            Step::Host(what) => self.be_host(what),
            Step::Nothing => {}
        }
    }

    /// Waits for a frame of the host, and takes its id.
    async fn next_frame(&mut self) {
        let awaited = async {
            loop {
                {
                    let state = self.wire.lock();
                    if state.frames.len() > self.taken || state.input_closed {
                        return;
                    }
                }
                self.wire.changed().await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), awaited).await;
        let state = self.wire.lock();
        let Some(written) = state.frames.get(self.taken) else {
            return;
        };
        self.taken += 1;
        let frame: Value = serde_json::from_slice(&written.line).unwrap_or_default();
        if frame.get("method").is_some() && frame.get("id").is_some() {
            self.id = frame["id"].to_string();
        }
        if let Some(session) = frame["params"]["sessionId"].as_str() {
            session.clone_into(&mut self.session);
        }
    }

    fn say(&mut self, words: &str) {
        self.end_line();
        let tag = format!("{}{}{}", TAG.0, self.deeds.lines.len(), TAG.1);
        let Some(Said { frame, kind }) = self.speech.frame(words, &self.id, &self.session, &tag) else {
            return;
        };
        let begin = self.wire.lock().written;
        let mut line = frame.to_string();
        line.push('\n');
        self.wire.write(line.as_bytes());
        let end = self.wire.lock().written;
        if end > begin {
            self.deeds.lines.push(Line {
                begin,
                end,
                kind: Some(kind),
                session: self.session.clone(),
                text: words.split_once(' ').map_or("", |(_, text)| text).to_owned(),
                raw: Vec::new(),
            });
        }
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.write(b"\n");
        }
    }

    /// Writes what is not well-formed on purpose, and notes each line that it ends.
    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.wire.write(part);
            self.line.extend(part);
            if part.ends_with(b"\n") {
                let raw = std::mem::take(&mut self.line);
                let end = self.wire.lock().written;
                self.deeds.lines.push(Line {
                    begin: end.saturating_sub(raw.len() as u64),
                    end,
                    kind: None,
                    session: String::new(),
                    text: String::new(),
                    raw,
                });
            }
        }
    }

    fn filled_in(&self, text: &[u8]) -> Vec<u8> {
        if !text.contains(&b'$') {
            return text.to_vec();
        }
        let mut filled = Vec::new();
        let mut rest = text;
        'text: while let Some((first, after)) = rest.split_first() {
            for (name, value) in [
                ("$id", &*self.id),
                ("$session", &*self.session),
                ("$canary", CANARY),
            ] {
                if let Some(after) = rest.strip_prefix(name.as_bytes()) {
                    filled.extend(value.as_bytes());
                    rest = after;
                    continue 'text;
                }
            }
            filled.push(*first);
            rest = after;
        }
        filled
    }

    fn exit(&mut self, code: i32) {
        self.deeds.exited_at.get_or_insert(self.wire.lock().written);
        self.life.send_modify(|life| {
            life.exit.get_or_insert(ExitFacts {
                code: (code >= 0).then_some(code),
                signal: (code < 0).then_some(code.saturating_neg()),
            });
        });
        let outlived = self.outlived;
        self.wire.change(|state| {
            state.output_closed |= !outlived;
            state.deaf = true;
        });
    }

    fn become_like(&mut self, what: u8) {
        self.deeds.obstructs |= b"xdsb".contains(&what);
        self.outlived |= what == b'o';
        self.life.send_modify(|life| match what {
            b'e' => life.manners.stays = true,
            b't' => life.manners.ignores_term = true,
            b'k' => life.manners.immortal = true,
            _ => {}
        });
        self.wire.change(|state| match what {
            b'x' => state.output_closed = true,
            b'd' => state.deaf = true,
            b's' => state.stalled = true,
            b'g' => state.stalled = false,
            b'b' => state.blind = true,
            _ => {}
        });
    }

    fn be_host(&mut self, what: u8) {
        let written = self.wire.lock().written;
        match what {
            b'c' => self.cancel.cancel(),
            b'd' => self.dispose.cancel(),
            b'h' => return self.urgency.raise(Urgency::Hurried),
            b'i' => return self.urgency.raise(Urgency::Immediate),
            _ => return,
        }
        self.deeds.cancelled_at.get_or_insert(written);
    }
}
