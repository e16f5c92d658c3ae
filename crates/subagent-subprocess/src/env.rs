//! The environment of a child. Owns the rule that keeps the host's credentials out of it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Names that contain one of these, in any case, stay with the host.
const SECRET_PARTS: [&[u8]; 4] = [b"KEY", b"SECRET", b"TOKEN", b"PASSWORD"];

/// Names that start with this, in any case, stay with the host.
const HARNESS_PREFIX: &[u8] = b"DSH_";

/// The complete environment of a child: nothing else is inherited.
///
/// ```
/// use subagent_subprocess::ChildEnv;
///
/// let host = [("PATH", "/usr/bin"), ("GITHUB_TOKEN", "abc"), ("dsh_home", "/x")];
/// let mut env = ChildEnv::scrubbed(host.map(|(name, value)| (name.into(), value.into())));
/// env.set("GEMINI_API_KEY", "given on purpose");
///
/// assert_eq!(env.get("PATH"), Some("/usr/bin".as_ref()));
/// assert_eq!(env.get("GITHUB_TOKEN"), None);
/// assert_eq!(env.get("dsh_home"), None);
/// assert_eq!(env.get("GEMINI_API_KEY"), Some("given on purpose".as_ref()));
/// ```
///
/// The rule looks at names alone: a URL with a password inside, under a name like `DATABASE_URL`, passes.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ChildEnv {
    variables: BTreeMap<OsString, OsString>,
}

impl ChildEnv {
    /// `host` without every name that contains `KEY`, `SECRET`, `TOKEN` or `PASSWORD` and without every name that starts
    /// with `DSH_`, each in any case. Names and values that are not UTF-8 pass unharmed.
    pub fn scrubbed(host: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self {
            variables: host
                .into_iter()
                .filter(|(name, _)| !stays_with_the_host(name))
                .collect(),
        }
    }

    /// The scrubbed environment of this process.
    pub fn of_this_process() -> Self {
        Self::scrubbed(std::env::vars_os())
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

fn stays_with_the_host(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes().to_ascii_uppercase();
    name.starts_with(HARNESS_PREFIX)
        || SECRET_PARTS
            .iter()
            .any(|part| name.windows(part.len()).any(|window| window == *part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_names_stay_with_the_host_in_any_case_and_at_any_place() {
        let secret = [
            "APP_JWT_SIGNING_KEY",
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "github_token",
            "Pgpassword",
            "monkey",
            "DSH_HOME",
            "dsh_anything",
        ];
        for name in secret {
            assert!(stays_with_the_host(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn ordinary_names_reach_the_child() {
        let ordinary = [
            "PATH",
            "HOME",
            "TMPDIR",
            "LANG",
            "LC_ALL",
            "https_proxy",
            "DATABASE_URL",
            "DSH",
            "MY_DSH_",
            "PASSWD",
        ];
        for name in ordinary {
            assert!(!stays_with_the_host(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn values_are_not_shown_to_whoever_prints_an_environment() {
        let given = EnvVars::from_iter([("GEMINI_API_KEY", "secret value")]);
        let whole = ChildEnv::scrubbed([("HOME".into(), "secret value".into())]);
        assert_eq!(format!("{given:?} {whole:?}"), r#"{"GEMINI_API_KEY"} {"HOME"}"#);
    }

    #[cfg(unix)]
    #[test]
    fn names_and_values_that_are_not_utf8_pass_unharmed() {
        use std::os::unix::ffi::OsStringExt as _;
        let name = OsString::from_vec(vec![b'A', 0xff]);
        let value = OsString::from_vec(vec![0xfe, b'=']);
        let env = ChildEnv::scrubbed([(name.clone(), value.clone())]);
        assert_eq!(
            env.iter().collect::<Vec<_>>(),
            [(name.as_os_str(), value.as_os_str())]
        );
    }
}
