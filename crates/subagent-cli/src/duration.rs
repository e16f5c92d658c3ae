//! Durations on the command line: `500ms`, `30s`, `2m`, `1h`. Owns their grammar and bounds.

use std::time::Duration;

/// The longest duration, in milliseconds: what the configuration file allows too.
const MAX_MILLIS: f64 = 2_147_483_647.0;

/// Why a text is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    /// There is no number, or it is malformed.
    #[error("expected a number with a unit, for example 500ms, 30s, 2m or 1h")]
    Number,
    /// What follows the number is not a unit.
    #[error("unknown unit {0:?}, expected ms, s, m or h")]
    Unit(String),
    /// Shorter than a millisecond.
    #[error("expected at least 1ms")]
    TooShort,
    /// Beyond the bound.
    #[error("expected at most 2147483647ms (about 24 days)")]
    TooLong,
}

/// Reads a duration. A number without a unit is seconds; fractions are rounded to whole milliseconds.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let unit_at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let number: f64 = number.parse().map_err(|_| DurationError::Number)?;
    let factor = match unit {
        "ms" => 1.0,
        "" | "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return Err(DurationError::Unit(unit.to_owned())),
    };
    let millis = (number * factor).round();
    if millis < 1.0 {
        Err(DurationError::TooShort)
    } else if millis > MAX_MILLIS {
        Err(DurationError::TooLong)
    } else {
        Ok(Duration::from_secs_f64(millis / 1_000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> u128 {
        parse(text).unwrap().as_millis()
    }

    #[test]
    fn every_unit_is_read_and_a_bare_number_is_seconds() {
        let texts = [
            "500ms",
            "30s",
            "2m",
            "1h",
            "7",
            "1.5s",
            "0.25",
            "2147483647ms",
            "1ms",
        ];
        assert_eq!(
            texts.map(millis),
            [
                500,
                30_000,
                120_000,
                3_600_000,
                7_000,
                1_500,
                250,
                2_147_483_647,
                1
            ]
        );
    }

    #[test]
    fn every_error_says_what_was_expected() {
        for (text, message) in [
            (
                "",
                "expected a number with a unit, for example 500ms, 30s, 2m or 1h",
            ),
            (
                "soon",
                "expected a number with a unit, for example 500ms, 30s, 2m or 1h",
            ),
            (
                "-5s",
                "expected a number with a unit, for example 500ms, 30s, 2m or 1h",
            ),
            (
                "1.2.3s",
                "expected a number with a unit, for example 500ms, 30s, 2m or 1h",
            ),
            ("5 s", "unknown unit \" s\", expected ms, s, m or h"),
            ("5d", "unknown unit \"d\", expected ms, s, m or h"),
            ("1e3", "unknown unit \"e3\", expected ms, s, m or h"),
            ("0", "expected at least 1ms"),
            ("0.4ms", "expected at least 1ms"),
            ("2147483648ms", "expected at most 2147483647ms (about 24 days)"),
            (
                "9999999999999999999999h",
                "expected at most 2147483647ms (about 24 days)",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
        }
    }
}
