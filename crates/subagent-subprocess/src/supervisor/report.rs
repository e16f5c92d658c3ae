//! The small messages between host and supervisor. Owns their bytes; an order is `order`'s.

use crate::ExitFacts;
use crate::os::Blow;

/// What a supervisor tells its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The agent runs under this process id.
    Started(i32),
    /// The agent could not be started, for this reason of the system's; 0 if the system was not even asked.
    Failed(i32),
    /// The agent itself has ended.
    Ended(ExitFacts),
}

impl Report {
    pub(super) const BYTES: usize = 5;

    pub(super) fn encode(self) -> [u8; Self::BYTES] {
        let (kind, number) = match self {
            Self::Started(pid) => (b'P', pid),
            Self::Failed(errno) => (b'F', errno),
            Self::Ended(ExitFacts { code: Some(code), .. }) => (b'C', code),
            Self::Ended(ExitFacts { signal, .. }) => (b'S', signal.unwrap_or_default()),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [kind, a, b, c, d]
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let [kind, a, b, c, d] = *bytes.as_array::<{ Self::BYTES }>()?;
        let number = i32::from_le_bytes([a, b, c, d]);
        Some(match kind {
            b'P' => Self::Started(number),
            b'F' => Self::Failed(number),
            b'C' => Self::Ended(ExitFacts {
                code: Some(number),
                signal: None,
            }),
            b'S' => Self::Ended(ExitFacts {
                code: None,
                signal: Some(number),
            }),
            _ => return None,
        })
    }
}

/// What a host tells its supervisor: whom it strikes is always the whole tree.
pub(super) fn encode_blow(blow: Blow) -> [u8; 1] {
    match blow {
        Blow::Terminate => *b"T",
        Blow::Kill => *b"K",
    }
}

pub(super) fn decode_blow(bytes: &[u8]) -> Option<Blow> {
    match bytes {
        b"T" => Some(Blow::Terminate),
        b"K" => Some(Blow::Kill),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_report_and_blow_arrives_as_it_was_sent() {
        let ended = |code, signal| Report::Ended(ExitFacts { code, signal });
        let reports = [
            Report::Started(4_194_304),
            Report::Failed(2),
            ended(Some(0), None),
            ended(Some(255), None),
            ended(None, Some(9)),
        ];
        for report in reports {
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        for blow in [Blow::Terminate, Blow::Kill] {
            assert_eq!(decode_blow(&encode_blow(blow)), Some(blow));
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for bytes in [&b""[..], b"P123", b"P12345", b"X1234"] {
            assert_eq!(Report::decode(bytes), None, "{bytes:?}");
        }
        for bytes in [&b""[..], b"X", b"TT"] {
            assert_eq!(decode_blow(bytes), None, "{bytes:?}");
        }
    }
}
