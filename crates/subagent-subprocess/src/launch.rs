//! From a provider's options to a running child. Owns what is decided once, when the provider is built, and what is
//! decided for each run; the conversation that follows is `agent`'s.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::options::OptionError;
use crate::rpc::Limits;
use crate::spawn::spawn_under;
use crate::supervisor::{Supervision, Supervisor};
use crate::{
    AgentProcess, ChildEnv, ChildSpec, EnvPolicy, EnvVars, Error, IsolatedConfigDir, Ladder, Program,
    configured_cwd, session_cwd,
};

/// Where an isolated configuration directory of a child comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigDirSource {
    /// A new private directory for each run, removed afterwards.
    Fresh,
    /// This directory, as it is: never created, never removed.
    Pinned(PathBuf),
}

/// What a provider knows about all of its children.
#[derive(Clone, Debug)]
pub struct LaunchPlan {
    program: Program,
    args: Vec<OsString>,
    cwd: Option<PathBuf>,
    inherit_env: EnvPolicy,
    /// What the child's environment starts from; when absent, what the policy lets through of this process's own.
    base_env: Option<ChildEnv>,
    env: EnvVars,
    config_dirs: Vec<(OsString, ConfigDirSource)>,
    supervisor: Option<Supervisor>,
}

/// The options that a [`LaunchPlan`] is made of.
#[derive(Clone, Debug)]
pub struct LaunchOptions {
    /// The executable: a bare name is searched in the child's `PATH`, a relative path is resolved against the directory
    /// that this process was launched in.
    pub command: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// A working directory that replaces the session's.
    pub cwd: Option<PathBuf>,
    /// What the child inherits of this process's environment.
    pub inherit_env: EnvPolicy,
    /// Variables set over that.
    pub env: EnvVars,
    /// Variables that point at a configuration directory of the child's own.
    pub config_dirs: Vec<(OsString, ConfigDirSource)>,
}

impl LaunchPlan {
    /// Checks the options. Blocks for as long as the file system takes to look at the working directory.
    ///
    /// # Errors
    ///
    /// An option is out of its bounds, or the working directory cannot be used.
    pub fn new(options: LaunchOptions) -> Result<Self, OptionError> {
        let LaunchOptions {
            command,
            args,
            cwd,
            inherit_env,
            env,
            config_dirs,
        } = options;
        let launch_dir = match std::env::current_dir() {
            Ok(launch_dir) => launch_dir,
            Err(error) if has_relative_path(&command, cwd.as_deref(), &config_dirs) => {
                return Err(OptionError::LaunchDir(error));
            }
            // A host whose own directory is gone can still start what is named in full.
            Err(_) => PathBuf::new(),
        };
        check_names("env", env.iter().map(|(name, _)| name))?;
        check_names(
            "isolatedConfigDirs",
            config_dirs.iter().map(|(name, _)| name.as_os_str()),
        )?;
        if let Some((name, _)) = config_dirs
            .iter()
            .find(|(name, _)| env.iter().any(|(other, _)| other == name))
        {
            return Err(OptionError::VariableTwice { name: name.clone() });
        }
        let program = Program::new(&command, &launch_dir).map_err(|_| OptionError::EmptyCommand)?;
        let cwd = cwd
            .map(|cwd| configured_cwd(&cwd, &launch_dir))
            .transpose()
            .map_err(|error| match error {
                Error::UnusableCwd { path, source } => OptionError::UnusableCwd { path, source },
                _ => OptionError::EmptyCwd,
            })?;
        let config_dirs = config_dirs
            .into_iter()
            .map(|(name, source)| match source {
                ConfigDirSource::Pinned(path) => (name, ConfigDirSource::Pinned(launch_dir.join(path))),
                ConfigDirSource::Fresh => (name, source),
            })
            .collect();
        Ok(Self {
            program,
            args,
            cwd,
            inherit_env,
            base_env: None,
            env,
            config_dirs,
            supervisor: None,
        })
    }

    /// The same for a caller that owns the policy of what a child may inherit: its environment starts from `base`, as it
    /// is, and no longer from what [`LaunchOptions::inherit_env`] lets through of this process's own.
    #[must_use]
    pub fn with_base_env(mut self, base: ChildEnv) -> Self {
        self.base_env = Some(base);
        self
    }

    /// The same with the children's trees ended as `supervision` says. If the host dies, a supervisor walks `ladder` by
    /// itself; while the host lives, [`AgentProcess::teardown`] says what is walked.
    ///
    /// # Errors
    ///
    /// This platform has no supervisors, or this executable cannot be one.
    pub fn supervised(mut self, supervision: Supervision, ladder: &Ladder) -> Result<Self, OptionError> {
        self.supervisor = Supervisor::new(supervision, ladder)?;
        Ok(self)
    }

    /// The working directory of a run: the configured one, else the session's, which is checked now.
    ///
    /// # Errors
    ///
    /// There is none, or the session's is relative or cannot be entered.
    pub fn working_dir(&self, session: Option<&Path>) -> Result<PathBuf, Error> {
        match &self.cwd {
            Some(cwd) => Ok(cwd.clone()),
            None => session_cwd(session),
        }
    }

    /// Spawns a child in `cwd`, with the environment and the configuration directories of this plan. Must be called
    /// within a Tokio runtime. Blocks until the child runs its program, a millisecond or two as a rule.
    ///
    /// # Errors
    ///
    /// A private directory could not be made, or the child could not be spawned. Nothing is left behind.
    pub fn launch(
        &self,
        cwd: PathBuf,
        limits: Limits,
        stderr_tail_bytes: usize,
    ) -> Result<AgentProcess, Error> {
        let mut env = match &self.base_env {
            Some(base) => base.clone(),
            None => ChildEnv::of_this_process(self.inherit_env),
        };
        for (name, value) in self.env.iter() {
            env.set(name, value);
        }
        let mut config_dirs = Vec::with_capacity(self.config_dirs.len());
        for (name, source) in &self.config_dirs {
            let dir = match source {
                ConfigDirSource::Fresh => IsolatedConfigDir::fresh("subagent-config-")?,
                ConfigDirSource::Pinned(path) => IsolatedConfigDir::pinned(path),
            };
            env.set(name, dir.path());
            config_dirs.push(dir);
        }
        let spec = ChildSpec {
            program: self.program.clone(),
            args: self.args.clone(),
            cwd,
            env,
        };
        Ok(AgentProcess::new(
            spawn_under(self.supervisor.as_ref(), &spec)?,
            limits,
            stderr_tail_bytes,
            config_dirs,
        ))
    }
}

/// Whether any path among the options has to be resolved.
fn has_relative_path(
    command: &OsStr,
    cwd: Option<&Path>,
    config_dirs: &[(OsString, ConfigDirSource)],
) -> bool {
    let pinned = config_dirs.iter().filter_map(|(_, source)| match source {
        ConfigDirSource::Pinned(path) => Some(path.as_path()),
        ConfigDirSource::Fresh => None,
    });
    let command = Some(Path::new(command)).filter(|command| command.components().count() > 1);
    pinned.chain(cwd).chain(command).any(Path::is_relative)
}

fn check_names<'a>(key: &'static str, mut names: impl Iterator<Item = &'a OsStr>) -> Result<(), OptionError> {
    let bad = |name: &OsStr| {
        name.is_empty()
            || name
                .as_encoded_bytes()
                .iter()
                .any(|byte| matches!(byte, b'=' | 0))
    };
    if names.any(bad) {
        Err(OptionError::VariableName { key })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> LaunchOptions {
        LaunchOptions {
            command: "agent".into(),
            args: Vec::new(),
            cwd: None,
            inherit_env: EnvPolicy::default(),
            env: EnvVars::default(),
            config_dirs: Vec::new(),
        }
    }

    fn refusal(options: LaunchOptions) -> (&'static str, String) {
        let error = LaunchPlan::new(options).unwrap_err();
        (error.key(), error.to_string())
    }

    #[test]
    fn only_what_is_relative_needs_the_launch_directory() {
        let pinned = |path: &str| vec![("HOME".into(), ConfigDirSource::Pinned(path.into()))];
        let needs = |command: &str, cwd: Option<&str>, dirs: &[(OsString, ConfigDirSource)]| {
            has_relative_path(command.as_ref(), cwd.map(Path::new), dirs)
        };
        let fresh = [("HOME".into(), ConfigDirSource::Fresh)];
        assert!(!needs("agent", None, &fresh));
        assert!(!needs("/bin/agent", Some("/srv"), &pinned("/etc")));
        assert!(needs("bin/agent", None, &[]));
        assert!(needs("./agent", None, &[]));
        assert!(needs("agent", Some("sub"), &[]));
        assert!(needs("agent", None, &pinned("etc")));
    }

    #[test]
    fn an_empty_command_is_refused() {
        let refused = refusal(LaunchOptions {
            command: "".into(),
            ..options()
        });
        assert_eq!(refused, ("command", "command must not be empty".to_owned()));
    }

    #[test]
    fn an_empty_cwd_says_to_omit_the_key() {
        let refused = refusal(LaunchOptions {
            cwd: Some("".into()),
            ..options()
        });
        let text = "config cwd must not be empty: omit the key to use the parent session's directory";
        assert_eq!(refused, ("cwd", text.to_owned()));
    }

    #[test]
    fn a_cwd_that_is_no_directory_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (key, text) = refusal(LaunchOptions {
            cwd: Some(file.path().into()),
            ..options()
        });
        let wanted = format!(
            "config cwd {:?} must be an existing directory that may be entered",
            file.path()
        );
        assert_eq!((key, text), ("cwd", wanted));
    }

    #[test]
    fn a_variable_stands_in_one_place_only() {
        let twice = LaunchOptions {
            env: EnvVars::from_iter([("HOME", "/x")]),
            config_dirs: vec![("HOME".into(), ConfigDirSource::Fresh)],
            ..options()
        };
        let text = "\"HOME\" must stand in env or in isolatedConfigDirs, not in both";
        assert_eq!(refusal(twice), ("isolatedConfigDirs", text.to_owned()));
    }

    #[test]
    fn names_that_no_environment_can_hold_are_refused() {
        for name in ["", "A=B", "A\0"] {
            let (key, _) = refusal(LaunchOptions {
                env: EnvVars::from_iter([(name, "x")]),
                ..options()
            });
            assert_eq!(key, "env");
        }
    }
}
