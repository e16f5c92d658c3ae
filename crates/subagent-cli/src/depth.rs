//! How deep in a chain of delegations this process is. Owns the variable that tells it, the limit, and the refusal; every
//! command that starts agents asks here first.

use std::env;
use std::ffi::OsStr;

use subagent_config::Config;

use crate::error::CliError;

/// The variable that a child reads its depth from.
const VARIABLE: &str = "SUBAGENT_DEPTH";

/// The limit when nobody sets one.
pub(crate) const DEFAULT_LIMIT: u32 = 3;

/// How many delegations lie between the first command of a chain and this process: 0 for that first command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Depth(u32);

/// The chain of delegations has become as long as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("delegation depth {limit} is the limit")]
pub(crate) struct TooDeep {
    /// The longest that it may be.
    limit: u32,
}

impl Depth {
    /// The depth that this process was started at.
    pub(crate) fn of_process() -> Result<Self, CliError> {
        Self::read(env::var_os(VARIABLE).as_deref())
    }

    /// The depth of a process that may start agents, for a command with this limit.
    pub(crate) fn within(limit: u32) -> Result<Self, CliError> {
        let depth = Self::of_process()?;
        depth.check(limit)?;
        Ok(depth)
    }

    /// Whether a process at this depth may start agents.
    pub(crate) fn check(self, limit: u32) -> Result<(), TooDeep> {
        if self.0 < limit {
            Ok(())
        } else {
            Err(TooDeep { limit })
        }
    }

    /// The depth as a number.
    pub(crate) const fn get(self) -> u32 {
        self.0
    }

    /// Tells the children of every provider that they are one deeper, whatever their entries say.
    pub(crate) fn hand_down(self, config: &mut Config) {
        config.set_child_variable(VARIABLE, &self.0.saturating_add(1).to_string());
    }

    fn read(value: Option<&OsStr>) -> Result<Self, CliError> {
        let Some(value) = value else {
            return Ok(Self(0));
        };
        value
            .to_str()
            // The parser would take a sign.
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse().ok())
            .map(Self)
            .ok_or_else(|| CliError::Depth {
                variable: VARIABLE,
                value: value.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use subagent_config::{HostContext, load_str};

    use super::*;

    fn read(value: &str) -> Result<u32, String> {
        Depth::read(Some(value.as_ref()))
            .map(Depth::get)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn no_variable_is_the_first_command_of_a_chain() {
        assert_eq!(Depth::read(None).unwrap(), Depth(0));
        assert_eq!(read("0"), Ok(0));
        assert_eq!(read("17"), Ok(17));
        assert_eq!(read("4294967295"), Ok(u32::MAX));
    }

    #[test]
    fn what_is_no_whole_number_is_refused() {
        for value in ["", " ", "two", "-1", "+1", "1.5", " 1", "4294967296"] {
            assert_eq!(
                read(value).unwrap_err(),
                format!(
                    "SUBAGENT_DEPTH: {value:?} is no delegation depth, expected a whole number such as 0"
                )
            );
        }
    }

    #[test]
    fn a_depth_below_the_limit_may_start_agents_and_no_other() {
        assert_eq!(Depth(2).check(3), Ok(()));
        for depth in [3, 4, u32::MAX] {
            let refused = Depth(depth).check(3).unwrap_err();
            assert_eq!(refused.to_string(), "delegation depth 3 is the limit");
        }
        assert_eq!(
            Depth(0).check(0).unwrap_err().to_string(),
            "delegation depth 0 is the limit"
        );
    }

    #[test]
    fn an_entry_cannot_say_otherwise_to_its_child() {
        let file = "- { id: a, name: subagent-acp, config: { providerName: a, command: x, env: { SUBAGENT_DEPTH: '0' } } }\n\
                    - { id: b, name: subagent-dsh-sdk, config: { providerName: b, command: x } }";
        let mut config = load_str(file, "subagents.yml", &HostContext::new("/", |_| None)).unwrap();
        for (depth, told) in [(0, "1"), (2, "3"), (u32::MAX, "4294967295")] {
            Depth(depth).hand_down(&mut config);
            let [a, b] = config.providers() else {
                panic!("{config:?}");
            };
            // Of two variables of one name the later one counts.
            let told = Some((OsStr::new(VARIABLE), OsStr::new(told)));
            assert_eq!(a.as_acp().unwrap().env.iter().last(), told);
            assert_eq!(b.as_dsh_sdk().unwrap().env.iter().last(), told);
        }
    }
}
