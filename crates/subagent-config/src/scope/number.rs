//! Numbers: milliseconds and counts, with their bounds. Owns the texts about them, which are the same for a number out
//! of bounds and for something that is no number.

use std::time::Duration;

use super::Scope;
use crate::problem::Problem;
use crate::tree::{Node, Value};

/// The longest time in milliseconds: what a 32-bit timer takes.
pub(crate) const MAX_MILLIS: u64 = 2_147_483_647;

/// The largest count: what every JSON reader keeps exactly.
pub(crate) const MAX_COUNT: u64 = 9_007_199_254_740_991;

impl Scope<'_> {
    /// A positive finite number of milliseconds.
    pub(crate) fn time(&mut self, key: &str, node: Node) -> Option<Duration> {
        let problem = Problem::Milliseconds {
            package: self.package,
            field: key.to_owned(),
        };
        let (at, value) = self.number(key, node, &problem)?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "whatever does not fit exactly is far out of bounds"
        )]
        let millis = match value {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        };
        #[expect(clippy::cast_precision_loss, reason = "the bound has 31 bits")]
        let fits = millis > 0.0 && millis <= MAX_MILLIS as f64;
        if !fits {
            self.fail(at, key, problem, None);
            return None;
        }
        // Not nothing, however small.
        Some(Duration::from_secs_f64(millis / 1000.0).max(Duration::from_nanos(1)))
    }

    /// A positive integer no greater than `limit`.
    pub(crate) fn count(&mut self, key: &str, node: Node, limit: u64) -> Option<u64> {
        let problem = Problem::Integer {
            package: self.package,
            field: key.to_owned(),
            limit,
        };
        let (at, value) = self.number(key, node, &problem)?;
        let count = match value {
            Number::Integer(integer) => u64::try_from(integer).ok(),
            Number::Float(float) => whole(float),
        };
        let count = count.filter(|count| (1..=limit).contains(count));
        if count.is_none() {
            self.fail(at, key, problem, None);
        }
        count
    }

    /// A count of bytes that may have to lie in memory.
    pub(crate) fn bytes(&mut self, key: &str, node: Node) -> Option<usize> {
        let limit = MAX_COUNT.min(usize::MAX as u64);
        self.count(key, node, limit)
            .and_then(|bytes| usize::try_from(bytes).ok())
    }

    fn number(&mut self, key: &str, node: Node, problem: &Problem) -> Option<(crate::Position, Number)> {
        let node = self.scalar(key, node, "a number")?;
        let hint = match node.value {
            Value::Integer(integer) => return Some((node.at, Number::Integer(integer))),
            Value::Float(float) => return Some((node.at, Number::Float(float))),
            Value::Refused(..) => return self.mismatch(key, &node, "a number", None),
            Value::Null => "give it a value, or leave the key out".to_owned(),
            Value::Text(_) => "write the number without quotes and without a unit".to_owned(),
            other => format!("expected a number, found {}", other.type_name()),
        };
        self.fail(node.at, key, problem.clone(), Some(hint));
        None
    }
}

enum Number {
    Integer(i128),
    Float(f64),
}

/// The integer that a float such as `1e6` stands for.
fn whole(float: f64) -> Option<u64> {
    #[expect(clippy::cast_precision_loss, reason = "the bound has 53 bits")]
    let exact = float.fract() == 0.0 && (0.0..=MAX_COUNT as f64).contains(&float);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked on the line above"
    )]
    exact.then_some(float as u64)
}
