//! What a supervisor is told to start, as bytes: the agent's whole launch and the windows that it gets if the host dies.
//! Owns the format, which carries every byte of a name or value unharmed; how it travels is `channel`'s.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::time::Duration;

use crate::{ChildEnv, ChildSpec, Program};

/// How long an agent may take to end when its host has gone without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// After the end of its input.
    pub(crate) eof_grace: Duration,
    /// After `SIGTERM`.
    pub(crate) grace: Duration,
}

/// The order to start one agent.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) windows: Windows,
    /// The file to execute.
    pub(crate) located: PathBuf,
    pub(crate) spec: ChildSpec,
}

impl Order {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4096);
        for window in [self.windows.eof_grace, self.windows.grace] {
            let micros = u64::try_from(window.as_micros()).unwrap_or(u64::MAX);
            bytes.extend(micros.to_le_bytes());
        }
        put(&mut bytes, self.located.as_os_str());
        let (kind, name) = match &self.spec.program {
            Program::Bare(name) => (BARE, name.as_os_str()),
            Program::Path(path) => (PATH, path.as_os_str()),
        };
        bytes.push(kind);
        put(&mut bytes, name);
        put(&mut bytes, self.spec.cwd.as_os_str());
        put_number(&mut bytes, self.spec.args.len());
        for arg in &self.spec.args {
            put(&mut bytes, arg);
        }
        put_number(&mut bytes, self.spec.env.iter().count());
        for (name, value) in self.spec.env.iter() {
            put(&mut bytes, name);
            put(&mut bytes, value);
        }
        bytes
    }

    /// Reads an order; `None` if the bytes are anything but exactly one.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        let windows = Windows {
            eof_grace: rest.window()?,
            grace: rest.window()?,
        };
        let located = rest.text()?.into();
        let program = match rest.take::<1>()? {
            [BARE] => Program::Bare(rest.text()?),
            [PATH] => Program::Path(rest.text()?.into()),
            _ => return None,
        };
        let cwd = rest.text()?.into();
        let mut args = Vec::new();
        for _ in 0..rest.number()? {
            args.push(rest.text()?);
        }
        let mut env = ChildEnv::default();
        for _ in 0..rest.number()? {
            env.set(rest.text()?, rest.text()?);
        }
        let spec = ChildSpec {
            program,
            args,
            cwd,
            env,
        };
        rest.0.is_empty().then_some(Self {
            windows,
            located,
            spec,
        })
    }
}

const BARE: u8 = 0;
const PATH: u8 = 1;

/// A length or count. One that does not fit belongs to an order that is too long to be sent anyway.
fn put_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn put(bytes: &mut Vec<u8>, text: &OsStr) {
    put_number(bytes, text.len());
    bytes.extend(text.as_bytes());
}

/// What is not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.take()?)).ok()
    }

    fn window(&mut self) -> Option<Duration> {
        Some(Duration::from_micros(u64::from_le_bytes(self.take()?)))
    }

    fn text(&mut self) -> Option<OsString> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(OsString::from_vec(text.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(program: Program) -> Order {
        let odd = OsString::from_vec(vec![0xff, b'=', b'\n', 0xfe]);
        let mut env = ChildEnv::default();
        env.set("PATH", "/usr/bin");
        env.set(OsString::from_vec(vec![b'A', 0xff]), odd.clone());
        env.set("EMPTY", "");
        Order {
            windows: Windows {
                eof_grace: Duration::from_millis(2_147_483_647),
                grace: Duration::from_micros(1),
            },
            located: "/opt/bin/agent".into(),
            spec: ChildSpec {
                program,
                args: vec!["--stdio".into(), "".into(), odd.clone()],
                cwd: odd.into(),
                env,
            },
        }
    }

    fn facts(order: &Order) -> impl PartialEq + std::fmt::Debug {
        let spec = &order.spec;
        (
            order.windows,
            order.located.clone(),
            spec.program.clone(),
            spec.args.clone(),
            spec.cwd.clone(),
            spec.env
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn an_order_arrives_as_it_was_sent() {
        for program in [Program::Bare("agent".into()), Program::Path("/x/agent".into())] {
            let sent = order(program);
            let arrived = Order::decode(&sent.encode()).unwrap();
            assert_eq!(facts(&arrived), facts(&sent));
        }
    }

    #[test]
    fn a_part_of_an_order_or_more_than_one_is_none() {
        let mut bytes = order(Program::Bare("agent".into())).encode();
        for length in 0..bytes.len() {
            assert!(Order::decode(&bytes[..length]).is_none(), "{length} bytes");
        }
        bytes.push(0);
        assert!(Order::decode(&bytes).is_none());
    }

    #[test]
    fn a_length_beyond_the_end_or_an_unknown_kind_is_refused() {
        let bytes = order(Program::Bare("agent".into())).encode();
        let mut long = bytes.clone();
        long[16..20].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(Order::decode(&long).is_none());
        let mut odd = bytes;
        odd[20 + "/opt/bin/agent".len()] = 7;
        assert!(Order::decode(&odd).is_none());
    }
}
