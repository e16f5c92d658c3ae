//! Ids of requests, in both directions, and the record of our own requests that are still open.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

/// How many forgotten requests are remembered, so that their late answers are told from repeated ones.
const FORGOTTEN: usize = 32;

/// The id of a request of ours: 0, 1, 2 and so on within one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RequestId(u64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a request of the peer, kept as the peer wrote it: a number of any size and form, a string, or any other
/// JSON value but null.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct PeerId(Box<RawValue>);

impl PeerId {
    pub(super) fn new(raw: &RawValue) -> Self {
        Self(raw.to_owned())
    }

    /// The id's JSON text.
    pub fn get(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for PeerId {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for PeerId {}

/// What an answer is to the requests that were sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The first answer to an open request.
    Awaited(RequestId),
    /// Another answer to a request that has been answered.
    Repeated,
    /// An answer to nothing that was asked, or to a request that was forgotten.
    Unknown,
}

/// Our own requests that have no answer yet.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    next: u64,
    open: BTreeSet<u64>,
    forgotten: VecDeque<u64>,
}

impl OpenRequests {
    /// The id that the next request gets. It is used up by [`open`](Self::open).
    pub(super) fn next_id(&self) -> RequestId {
        RequestId(self.next)
    }

    /// Records that the next request is on its way.
    pub(super) fn open(&mut self) {
        self.open.insert(self.next);
        self.next += 1;
    }

    pub(super) fn forget(&mut self, id: RequestId) {
        if self.open.remove(&id.0) {
            if self.forgotten.len() == FORGOTTEN {
                self.forgotten.pop_front();
            }
            self.forgotten.push_back(id.0);
        }
    }

    /// Takes the answer to the request whose id has the JSON text `id`. Only an exact integer is ours.
    pub(super) fn answer(&mut self, id: &str) -> Answer {
        let Ok(id) = id.parse::<u64>() else {
            return Answer::Unknown;
        };
        if self.open.remove(&id) {
            return Answer::Awaited(RequestId(id));
        }
        if let Some(place) = self.forgotten.iter().position(|forgotten| *forgotten == id) {
            self.forgotten.remove(place);
            return Answer::Unknown;
        }
        if id < self.next {
            Answer::Repeated
        } else {
            Answer::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(count: u64) -> OpenRequests {
        let mut requests = OpenRequests::default();
        for _ in 0..count {
            requests.open();
        }
        requests
    }

    #[test]
    fn only_the_exact_integer_answers() {
        let mut requests = asked(1);
        for other in [
            "\"0\"",
            "0.0",
            "0e0",
            "-0",
            "1",
            "-1",
            "18446744073709551616",
            "[0]",
            "true",
        ] {
            assert_eq!(requests.answer(other), Answer::Unknown, "{other}");
        }
        assert_eq!(requests.answer("0"), Answer::Awaited(RequestId(0)));
        assert_eq!(requests.answer("0"), Answer::Repeated);
    }

    #[test]
    fn a_late_answer_to_a_forgotten_request_is_unknown_and_the_next_one_repeated() {
        let mut requests = asked(2);
        requests.forget(RequestId(0));
        assert_eq!(requests.answer("0"), Answer::Unknown);
        assert_eq!(requests.answer("0"), Answer::Repeated);
        assert_eq!(requests.answer("1"), Answer::Awaited(RequestId(1)));
        requests.forget(RequestId(1));
        assert_eq!(requests.answer("1"), Answer::Repeated);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut requests = asked(1000);
        for id in 0..1000 {
            requests.forget(RequestId(id));
        }
        assert!(requests.open.is_empty());
        assert_eq!(requests.forgotten.len(), FORGOTTEN);
    }
}
