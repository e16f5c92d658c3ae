//! The environment of a child, and what a host gives to it on purpose. Which variables it inherits is `env_policy`'s.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

use crate::EnvPolicy;

/// The complete environment of a child: nothing else is inherited.
///
/// ```
/// use subagent_subprocess::{ChildEnv, EnvPolicy};
///
/// let host = [("PATH", "/usr/bin"), ("GITHUB_TOKEN", "abc"), ("dsh_home", "/x")];
/// let host = host.map(|(name, value)| (name.into(), value.into()));
/// let mut env = ChildEnv::inherited(EnvPolicy::Scrubbed, host);
/// env.set("GEMINI_API_KEY", "given on purpose");
///
/// assert_eq!(env.get("PATH"), Some("/usr/bin".as_ref()));
/// assert_eq!(env.get("GITHUB_TOKEN"), None);
/// assert_eq!(env.get("dsh_home"), None);
/// assert_eq!(env.get("GEMINI_API_KEY"), Some("given on purpose".as_ref()));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ChildEnv {
    variables: BTreeMap<OsString, OsString>,
}

impl ChildEnv {
    /// What `policy` lets through of `host`. Names and values that are not UTF-8 pass unharmed.
    pub fn inherited(policy: EnvPolicy, host: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: host.into_iter().filter(|(name, _)| policy.passes(name)).collect(),
        }
    }

    /// What `policy` lets through of the environment of this process.
    pub fn of_this_process(policy: EnvPolicy) -> Self {
        Self::inherited(policy, std::env::vars_os())
    }

    /// Sets a variable, whatever its name.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.variables.insert(name.into(), value.into());
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Shows names alone: values are often credentials.
impl fmt::Debug for ChildEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// Environment variables that a host gives to its children on purpose, in order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct EnvVars(Vec<(OsString, OsString)>);

impl EnvVars {
    /// Appends a variable. Of two with one name the later one counts.
    pub fn push(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.push((name.into(), value.into()));
    }

    /// All variables, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for EnvVars {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        Self(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl From<Vec<(OsString, OsString)>> for EnvVars {
    fn from(variables: Vec<(OsString, OsString)>) -> Self {
        Self(variables)
    }
}

/// Shows names alone: values are often credentials.
impl fmt::Debug for EnvVars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_on_purpose_goes_over_what_is_inherited() {
        let host = [("HOME", "/srv/somebody"), ("GITHUB_TOKEN", "x"), ("EDITOR", "vi")];
        let host = || host.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        for (policy, editor) in [(EnvPolicy::Scrubbed, Some("vi")), (EnvPolicy::Minimal, None)] {
            let mut env = ChildEnv::inherited(policy, host());
            assert_eq!(env.get("GITHUB_TOKEN"), None);
            assert_eq!(env.get("EDITOR"), editor.map(OsStr::new));
            env.set("GITHUB_TOKEN", "given");
            env.set("HOME", "/srv/agent");
            assert_eq!(env.get("GITHUB_TOKEN"), Some("given".as_ref()));
            assert_eq!(env.get("HOME"), Some("/srv/agent".as_ref()));
        }
    }

    #[test]
    fn values_are_not_shown_to_whoever_prints_an_environment() {
        let given = EnvVars::from_iter([("GEMINI_API_KEY", "secret value")]);
        let whole = ChildEnv::inherited(EnvPolicy::Scrubbed, [("HOME".into(), "secret value".into())]);
        assert_eq!(format!("{given:?} {whole:?}"), r#"{"GEMINI_API_KEY"} {"HOME"}"#);
    }

    #[cfg(unix)]
    #[test]
    fn names_and_values_that_are_not_utf8_pass_unharmed() {
        use std::os::unix::ffi::OsStringExt as _;
        let name = OsString::from_vec(vec![b'A', 0xff]);
        let value = OsString::from_vec(vec![0xfe, b'=']);
        let env = ChildEnv::inherited(EnvPolicy::Scrubbed, [(name.clone(), value.clone())]);
        assert_eq!(
            env.iter().collect::<Vec<_>>(),
            [(name.as_os_str(), value.as_os_str())]
        );
    }
}
