//! Carries a script out: one thread, one step after the other.
//!
//! Owns the waiting, the order of reading, recording and acting, and the end of a script. The steps are in `step`, what
//! they send is made in `render`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::error::StepError;
use crate::frame::Inbox;
use crate::input::{Input, Next};
use crate::process::{self, Facts, Sigterm};
use crate::record::Recorder;
use crate::render::{cut, render, restore};
use crate::runtime::Outcome;
use crate::stdio::{Output, Stdio};
use crate::step::{Condition, Signal, Step};
use crate::values::Values;

/// Conditions outside the pipes (a file, a signal) are looked at so often.
const TICK: Duration = Duration::from_millis(1);

mod sending;

/// Whether the script goes on after a step.
pub(crate) type Flow = Result<ControlFlow<Outcome>, StepError>;
const GO_ON: Flow = Ok(ControlFlow::Continue(()));

/// What came of waiting for one more line.
enum More {
    Line,
    End,
    Late,
}

pub(crate) struct Engine {
    input: Input,
    output: Output,
    errors: Output,
    recorder: Option<Recorder>,
    values: Values,
    descendants: Option<PathBuf>,
    inbox: Inbox,
    ended: bool,
    ignores_eof: bool,
    sigterm: Sigterm,
    deadline: Instant,
}

impl Engine {
    pub(crate) fn new(
        stdio: Stdio,
        recorder: Option<Recorder>,
        values: Values,
        descendants: Option<PathBuf>,
        lifetime: Duration,
    ) -> Self {
        let Stdio {
            input,
            output,
            errors,
        } = stdio;
        Self {
            input,
            output,
            errors,
            recorder,
            values,
            descendants,
            inbox: Inbox::default(),
            ended: false,
            ignores_eof: false,
            sigterm: Sigterm::default(),
            deadline: Instant::now() + lifetime,
        }
    }

    /// Carries one step out; breaks off where it ends the script.
    pub(crate) fn step(&mut self, step: &Step) -> Flow {
        match step {
            Step::Expect { method } => self.wait_for_frame(|engine| {
                let frame = engine.inbox.take(method)?;
                engine.values.received.keep(method, frame);
                Some(())
            }),
            Step::ExpectAnswer { id } => self.wait_for_frame(|engine| {
                let frame = engine.inbox.take_answer(id)?;
                engine.values.received.keep_answer(id, frame);
                Some(())
            }),
            Step::WaitFor(condition) => self.wait_for(condition),
            Step::ByteByByte { steps, pause_us } => {
                self.byte_by_byte(steps, Duration::from_micros(*pause_us))
            }
            Step::Repeat { times, steps } => self.repeat(*times, steps),
            Step::EachPart { text, split, steps } => {
                let outer = self.values.locals.remove("part");
                for part in cut(&self.values.text(text), *split) {
                    self.values.locals.insert("part", part.to_owned());
                    if let end @ ControlFlow::Break(_) = self.steps(steps)? {
                        return Ok(end);
                    }
                }
                restore("part", outer, &mut self.values);
                GO_ON
            }
            Step::UntilFrame {
                method,
                every_ms,
                steps,
            } => self.until_frame(method, Duration::from_millis(*every_ms), steps),
            Step::Stderr { text } => {
                let text = self.values.text(text);
                self.complain(text.as_bytes())
            }
            Step::StderrFlood { bytes, final_newline } => self.flood(*bytes, *final_newline),
            Step::Sleep { ms } => {
                thread::sleep(Duration::from_millis(*ms).min(self.left()));
                if self.left().is_zero() {
                    Ok(ControlFlow::Break(Outcome::LifetimeOver))
                } else {
                    GO_ON
                }
            }
            Step::WriteFile { path, text } => {
                let (path, text) = (self.values.text(path), self.values.text(text));
                process::write_whole(&path, text.as_bytes()).map(ControlFlow::Continue)
            }
            Step::WriteFacts { path } => {
                let facts = Facts::gather().and_then(|facts| Ok(serde_json::to_vec(&facts)?));
                let facts = facts.map_err(StepError::io("gathering facts"))?;
                process::write_whole(&self.values.text(path), &facts).map(ControlFlow::Continue)
            }
            Step::CloseStdin => {
                self.input = Input::Closed;
                GO_ON
            }
            Step::CloseStdout => self.output.close().map(ControlFlow::Continue),
            Step::CloseStderr => self.errors.close().map(ControlFlow::Continue),
            Step::IgnoreEof => {
                self.ignores_eof = true;
                GO_ON
            }
            Step::IgnoreSigterm => self.sigterm.ignore().map(ControlFlow::Continue),
            Step::ExitOnSigterm { code } => Sigterm::exit_with(*code).map(ControlFlow::Continue),
            Step::Exit { code } => Ok(ControlFlow::Break(Outcome::Exited(*code))),
            Step::KillSelf { signal } => self.kill_self(*signal),
            Step::Spawn(descendant) => {
                let Some(program) = &self.descendants else {
                    return Err(StepError::Unsupported {
                        what: "descendants of a script run in-process",
                    });
                };
                let mut descendant = descendant.clone();
                descendant.pid_file = self.values.text(&descendant.pid_file);
                crate::descendant::start(program, descendant, &self.output).map(ControlFlow::Continue)
            }
            sending => {
                let mut bytes = Vec::new();
                render(sending, &mut self.values, &mut bytes)?;
                self.send(&bytes)
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) -> Flow {
        for step in steps {
            if let end @ ControlFlow::Break(_) = self.step(step)? {
                return Ok(end);
            }
        }
        GO_ON
    }

    // ---- receiving -------------------------------------------------------------------------------------------

    fn wait_for_frame(&mut self, take: impl Fn(&mut Self) -> Option<()>) -> Flow {
        loop {
            if take(self).is_some() {
                return GO_ON;
            }
            match self.more(self.deadline)? {
                More::Line => {}
                More::End => return Ok(self.peer_closed()),
                More::Late => return Ok(ControlFlow::Break(Outcome::LifetimeOver)),
            }
        }
    }

    fn wait_for(&mut self, condition: &Condition) -> Flow {
        match condition {
            Condition::File { path } => {
                let path = PathBuf::from(self.values.text(path));
                self.tick_until(|_| path.exists())
            }
            Condition::Frame { method } => {
                self.wait_for_frame(|engine| engine.inbox.holds(method).then_some(()))
            }
            Condition::StdinEof => loop {
                match self.more(self.deadline)? {
                    More::Line => {}
                    More::End => return GO_ON,
                    More::Late => return Ok(ControlFlow::Break(Outcome::LifetimeOver)),
                }
            },
            Condition::Sigterm => {
                self.sigterm.ignore()?;
                self.tick_until(|engine| engine.sigterm.arrived())
            }
            Condition::Never => Ok(ControlFlow::Break(self.stay())),
        }
    }

    fn until_frame(&mut self, method: &str, every: Duration, steps: &[Step]) -> Flow {
        while !self.inbox.holds(method) {
            if let end @ ControlFlow::Break(_) = self.steps(steps)? {
                return Ok(end);
            }
            let next_round = Instant::now() + every;
            while !self.inbox.holds(method) {
                match self.more(next_round.min(self.deadline))? {
                    More::Line => {}
                    More::End => return Ok(self.peer_closed()),
                    More::Late if self.left().is_zero() => {
                        return Ok(ControlFlow::Break(Outcome::LifetimeOver));
                    }
                    More::Late => break,
                }
            }
        }
        GO_ON
    }

    /// Reads one more line, records it and puts it into the inbox.
    fn more(&mut self, deadline: Instant) -> Result<More, StepError> {
        if matches!(self.input, Input::Closed) {
            return Err(StepError::Closed);
        }
        if self.ended {
            return Ok(More::End);
        }
        Ok(
            match self
                .input
                .next_line(deadline)
                .map_err(StepError::io("reading stdin"))?
            {
                Next::Line(line) => {
                    let value: Option<Value> = serde_json::from_slice(&line).ok();
                    if let Some(recorder) = &mut self.recorder {
                        recorder
                            .add(&line, value.is_some())
                            .map_err(StepError::io("recording a frame"))?;
                    }
                    self.inbox.add(value);
                    More::Line
                }
                Next::End => {
                    self.ended = true;
                    More::End
                }
                Next::Late => More::Late,
            },
        )
    }

    /// What a well-behaved agent does after its last step: reads and records until stdin ends.
    pub(crate) fn read_to_the_end(mut self) -> Result<Outcome, StepError> {
        if matches!(self.input, Input::Closed) {
            return Ok(Outcome::Finished);
        }
        loop {
            match self.more(self.deadline)? {
                More::Line => {}
                More::End if self.ignores_eof => {
                    return Ok(self.stay());
                }
                More::End => return Ok(Outcome::Finished),
                More::Late => return Ok(Outcome::LifetimeOver),
            }
        }
    }

    // ---- staying and going -----------------------------------------------------------------------------------

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn tick_until(&mut self, holds: impl Fn(&Self) -> bool) -> Flow {
        while !holds(self) {
            if self.left().is_zero() {
                return Ok(ControlFlow::Break(Outcome::LifetimeOver));
            }
            thread::sleep(TICK);
        }
        GO_ON
    }

    /// Stays, doing nothing, until killed or until the lifetime is over.
    fn stay(&self) -> Outcome {
        thread::sleep(self.left());
        Outcome::LifetimeOver
    }

    fn peer_closed(&self) -> ControlFlow<Outcome> {
        ControlFlow::Break(if self.ignores_eof {
            self.stay()
        } else {
            Outcome::PeerClosed
        })
    }

    fn kill_self(&mut self, signal: Signal) -> Flow {
        // A process may survive the first one: the standard library handles SIGSEGV once before it is deadly.
        while !self.left().is_zero() {
            process::signal_self(signal)?;
            thread::sleep(TICK);
        }
        Ok(ControlFlow::Break(Outcome::LifetimeOver))
    }
}

#[cfg(test)]
mod tests;
