//! The steps of the engine that write: to stdout and stderr, in one piece, in blocks or byte by byte.
//!
//! Owns the speed of repeated output and what a write to a peer that has gone means.

use std::io;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use super::{Engine, Flow, GO_ON, Outcome};
use crate::error::StepError;
use crate::render::{render_all, restore, sends, uses};
use crate::step::Step;

/// Repeated output is written in blocks of about so many bytes.
const BLOCK: usize = 256 * 1024;

impl Engine {
    pub(super) fn send(&mut self, bytes: &[u8]) -> Flow {
        let written = self.output.write(bytes)?;
        self.judge(written, "writing stdout")
    }

    pub(super) fn complain(&mut self, bytes: &[u8]) -> Flow {
        let written = self.errors.write(bytes)?;
        self.judge(written, "writing stderr")
    }

    fn judge(&mut self, written: io::Result<()>, what: &str) -> Flow {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe && self.ignores_eof => GO_ON,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Ok(ControlFlow::Break(Outcome::PeerClosed))
            }
            written => written.map(ControlFlow::Continue).map_err(StepError::io(what)),
        }
    }

    pub(super) fn byte_by_byte(&mut self, steps: &[Step], pause: Duration) -> Flow {
        let mut bytes = Vec::new();
        render_all(steps, &mut self.values, &mut bytes)?;
        for byte in bytes {
            if let end @ ControlFlow::Break(_) = self.send(&[byte])? {
                return Ok(end);
            }
            if !pause.is_zero() {
                thread::sleep(pause.min(self.left()));
            }
        }
        GO_ON
    }

    pub(super) fn repeat(&mut self, times: u64, steps: &[Step]) -> Flow {
        if !steps.iter().all(sends) || steps.iter().any(|step| matches!(step, Step::ByteByByte { .. })) {
            return self.repeat_acting(times, steps);
        }
        let mut block = Vec::new();
        if !uses(steps, "{index}") {
            // Rendered once; the block then holds as many copies as fit.
            render_all(steps, &mut self.values, &mut block)?;
            let (length, copies) = (block.len(), (BLOCK / block.len().max(1)).max(1));
            let mut left = usize::try_from(times).unwrap_or(usize::MAX);
            block = block.repeat(copies.min(left));
            while left > 0 {
                let now = copies.min(left);
                if let end @ ControlFlow::Break(_) = self.send(&block[..length * now])? {
                    return Ok(end);
                }
                left -= now;
            }
            return GO_ON;
        }
        let outer = self.values.locals.remove("index");
        for index in 0..times {
            self.values.locals.insert("index", index.to_string());
            render_all(steps, &mut self.values, &mut block)?;
            if block.len() >= BLOCK || index + 1 == times {
                if let end @ ControlFlow::Break(_) = self.send(&block)? {
                    return Ok(end);
                }
                block.clear();
            }
        }
        restore("index", outer, &mut self.values);
        GO_ON
    }

    fn repeat_acting(&mut self, times: u64, steps: &[Step]) -> Flow {
        let outer = self.values.locals.remove("index");
        for index in 0..times {
            self.values.locals.insert("index", index.to_string());
            if let end @ ControlFlow::Break(_) = self.steps(steps)? {
                return Ok(end);
            }
        }
        restore("index", outer, &mut self.values);
        GO_ON
    }

    pub(super) fn flood(&mut self, bytes: u64, final_newline: bool) -> Flow {
        let line = [&[b'.'; 63][..], b"\n"].concat();
        let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
        let block = line.repeat(BLOCK / line.len());
        while left > 0 {
            let now = block.len().min(left);
            let mut piece = block[..now].to_vec();
            left -= now;
            if left == 0 {
                piece[now - 1] = if final_newline { b'\n' } else { b'.' };
            }
            if let end @ ControlFlow::Break(_) = self.complain(&piece)? {
                return Ok(end);
            }
        }
        GO_ON
    }
}
