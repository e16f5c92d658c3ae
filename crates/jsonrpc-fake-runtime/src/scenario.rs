//! Ready-made scripts under a name, for people at a terminal and for tests that need nothing special.
//!
//! Owns the catalogue. The scripts of a protocol are in its own module.

use std::fmt;
use std::str::FromStr;

use crate::script::Script;

/// A protocol that scenarios exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// The Agent Client Protocol, version 1.
    Acp,
    /// The DSH SDK protocol of a DeepSeek Harness runtime.
    DshSdk,
}

impl Protocol {
    /// Every protocol.
    pub const ALL: &[Self] = &[Self::Acp, Self::DshSdk];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::DshSdk => "dsh-sdk",
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A protocol name that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol `{name}`, expected one of: {}", names())]
pub struct UnknownProtocol {
    name: String,
}

impl FromStr for Protocol {
    type Err = UnknownProtocol;

    fn from_str(name: &str) -> Result<Self, UnknownProtocol> {
        let known = Self::ALL.iter().copied().find(|protocol| protocol.name() == name);
        known.ok_or_else(|| UnknownProtocol {
            name: name.to_owned(),
        })
    }
}

/// A script under a name.
pub struct Scenario {
    name: String,
    about: String,
    build: Box<dyn Fn() -> Script>,
}

impl Scenario {
    pub(crate) fn new(
        name: impl Into<String>,
        about: impl Into<String>,
        build: impl Fn() -> Script + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            build: Box::new(build),
        }
    }

    /// The name on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line for people.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The script.
    pub fn script(&self) -> Script {
        (self.build)().about(self.about.clone())
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The scenarios of a protocol, in the order in which they are best read.
///
/// ```
/// use jsonrpc_fake_runtime::{Protocol, scenarios};
///
/// let ok = scenarios(Protocol::Acp).into_iter().find(|scenario| scenario.name() == "ok").unwrap();
/// assert_eq!(ok.about(), "answers with a short text and end_turn");
/// assert!(!ok.script().steps.is_empty());
/// ```
pub fn scenarios(protocol: Protocol) -> Vec<Scenario> {
    match protocol {
        Protocol::Acp => crate::acp::scenarios(),
        Protocol::DshSdk => crate::dsh_sdk::scenarios(),
    }
}

fn names() -> String {
    Protocol::ALL
        .iter()
        .map(|protocol| protocol.name())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_scenario_has_a_name_of_its_own_a_description_and_a_script_that_survives_its_file() {
        for &protocol in Protocol::ALL {
            let mut names = BTreeSet::new();
            for scenario in scenarios(protocol) {
                assert!(
                    names.insert(scenario.name().to_owned()),
                    "{} twice",
                    scenario.name()
                );
                assert!(
                    scenario
                        .name()
                        .bytes()
                        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_')),
                    "{}",
                    scenario.name()
                );
                assert!(
                    !scenario.about().is_empty() && !scenario.about().ends_with('.'),
                    "{}",
                    scenario.name()
                );
                let script = scenario.script();
                assert_eq!(
                    Script::from_json(&script.to_json()).unwrap(),
                    script,
                    "{}",
                    scenario.name()
                );
            }
        }
    }

    #[test]
    fn an_unknown_protocol_is_answered_with_the_known_ones() {
        let error = "smtp".parse::<Protocol>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("unknown protocol `smtp`, expected one of: {}", names())
        );
    }
}
