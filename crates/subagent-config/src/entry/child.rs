//! The keys that every provider with a child process has. Owns their reading and their descriptions; the defaults are
//! each provider's own. Also the
//! judgement of a provider's constructor, which belongs into the report of the reader.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use subagent_acp::{AcpConfig, ConfigDirSource, EnvPolicy, EnvVars};
use subagent_dsh_sdk::DshSdkConfig;
use subagent_seam::HostReporter;

use crate::keys::{Key, Shape};
use crate::problem::Problem;
use crate::provider::{Origin, ProviderConfig, ProviderEntry};
use crate::scope::{Fields, Scope};
use crate::tree::Node;

/// What those keys say. Begins as the defaults of a provider.
#[derive(Clone, Debug)]
pub(crate) struct ChildKeys {
    pub(crate) provider_name: String,
    pub(crate) command: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) inherit_env: EnvPolicy,
    pub(crate) env: EnvVars,
    pub(crate) isolated_config_dirs: Vec<(OsString, ConfigDirSource)>,
    pub(crate) dispose_eof_grace: Duration,
    pub(crate) dispose_grace: Duration,
    pub(crate) startup_timeout: Option<Duration>,
    pub(crate) run_timeout: Option<Duration>,
    pub(crate) idle_timeout: Option<Duration>,
    pub(crate) max_frame_bytes: usize,
    pub(crate) max_output_bytes: usize,
}

/// The options of a provider, as far as they are those of every child.
pub(crate) trait WithChildKeys {
    fn keys(&self) -> ChildKeys;
    fn set(&mut self, keys: ChildKeys);
}

macro_rules! with_child_keys {
    ($($config:ty),+: $fields:tt) => { $(with_child_keys!(@one $config $fields);)+ };
    (@one $config:ty { $($field:ident),+ }) => {
        impl WithChildKeys for $config {
            fn keys(&self) -> ChildKeys {
                ChildKeys { $($field: self.$field.clone()),+ }
            }

            fn set(&mut self, keys: ChildKeys) {
                $(self.$field = keys.$field;)+
            }
        }
    };
}

with_child_keys!(AcpConfig, DshSdkConfig: {
    provider_name, command, args, cwd, inherit_env, env, isolated_config_dirs, dispose_eof_grace, dispose_grace, startup_timeout,
    run_timeout, idle_timeout, max_frame_bytes, max_output_bytes
});

/// An entry whose options were tried on the provider's constructor: what only that can judge belongs into the same report
/// as everything else. A name that could not be read is empty.
pub(super) fn judged(scope: &mut Scope<'_>, config: ProviderConfig, origin: Origin) -> ProviderEntry {
    let mut entry = ProviderEntry {
        id: scope.entry.clone(),
        config,
        origin,
    };
    if let Err(error) = entry.build(HostReporter::default())
        && !error.place.key.as_deref().is_some_and(|key| scope.failed(key))
    {
        scope.errors.push(*error);
    }
    if scope.failed("providerName") {
        entry.config.provider_name_mut().clear();
    }
    entry
}

impl ChildKeys {
    /// What the options of a provider say.
    pub(crate) fn of(config: &impl WithChildKeys) -> Self {
        config.keys()
    }

    /// The table of these keys, with the defaults that `self` holds.
    pub(crate) fn table(&self) -> Vec<Key> {
        vec![
            Key::with_default(
                "providerName",
                Shape::Text,
                self.provider_name.as_str(),
                "the name that tools delegate to, unique",
            ),
            Key::required(
                "command",
                Shape::Text,
                "the executable that is spawned for each run; a bare name is searched in the child's PATH, a relative \
                 path starts from the directory that the host was launched in",
            ),
            Key::with_default("args", Shape::TextList, empty_list(), "its arguments"),
            Key::optional(
                "cwd",
                Shape::Text,
                "the child's working directory, if not that of the parent session; a relative path starts from the \
                 directory that the host was launched in",
            ),
            Key::with_default(
                "inheritEnv",
                Shape::Words(EnvPolicy::WORDS),
                EnvPolicy::WORDS[self.inherit_env.index()],
                "what the child inherits of the host's environment: 'scrubbed' is all but what looks like a secret by \
                 its name, 'minimal' is only what a command-line program needs, such as PATH, HOME and the proxies",
            ),
            Key::with_default(
                "env",
                Shape::Environment,
                empty_map(),
                "variables of the child, over those that it inherits; '!env NAME' takes a variable of the host, and \
                 leaves the entry out if that is not set",
            ),
            Key::with_default(
                "isolatedConfigDirs",
                Shape::ConfigDirs,
                empty_map(),
                "variables that point the child at a configuration directory: 'fresh' for a new private one for each \
                 run, or a path to use that one as it is",
            ),
            Key::time(
                "disposeEofGraceMs",
                Some(self.dispose_eof_grace),
                "how long a teardown waits for the child to end once its standard input is closed",
            ),
            Key::time(
                "disposeGraceMs",
                Some(self.dispose_grace),
                "how long a teardown waits after each signal",
            ),
            Key::time(
                "startupTimeoutMs",
                self.startup_timeout,
                "the deadline from the spawn until the child can take a prompt",
            ),
            Key::time(
                "runTimeoutMs",
                self.run_timeout,
                "the deadline from the moment that the child can take a prompt until its result",
            ),
            Key::time(
                "idleTimeoutMs",
                self.idle_timeout,
                "the longest silence of the child while a prompt is open",
            ),
            Key::with_default(
                "maxFrameBytes",
                Shape::Integer,
                self.max_frame_bytes,
                "the longest line that the child may send",
            ),
            Key::with_default(
                "maxOutputBytes",
                Shape::Integer,
                self.max_output_bytes,
                "the most text that a run collects; the rest is dropped",
            ),
        ]
    }

    /// Reads the keys of the table. What cannot be read keeps its default and is reported.
    pub(crate) fn read(&mut self, scope: &mut Scope<'_>, fields: &mut Fields) {
        let mut key = |name: &'static str| fields.take(name).map(|node| (name, node));
        if let Some(name) = key("providerName").and_then(|(key, node)| scope.text(key, node)) {
            self.provider_name = name;
        }
        if let Some((key, node)) = key("command") {
            let at = node.at;
            match scope.os_text(key, node) {
                Some(command) if command.is_empty() => scope.fail(at, key, Problem::Empty, None),
                Some(command) => self.command = command,
                None => {}
            }
        }
        if let Some(args) = key("args").and_then(|(key, node)| scope.list(key, node)) {
            self.args = args;
        }
        if let Some(cwd) = key("cwd").and_then(|(key, node)| scope.os_text(key, node)) {
            self.cwd = Some(PathBuf::from(cwd));
        }
        if let Some(index) = key("inheritEnv").and_then(|(key, node)| scope.word(key, node, EnvPolicy::WORDS))
        {
            self.inherit_env = EnvPolicy::VALUES[index];
        }
        let env = key("env").map(|(_, node)| node);
        let directories = key("isolatedConfigDirs").map(|(_, node)| node);
        self.read_variables(scope, env, directories);
        let mut time = |name| key(name).and_then(|(key, node)| scope.time(key, node));
        self.dispose_eof_grace = time("disposeEofGraceMs").unwrap_or(self.dispose_eof_grace);
        self.dispose_grace = time("disposeGraceMs").unwrap_or(self.dispose_grace);
        self.startup_timeout = time("startupTimeoutMs").or(self.startup_timeout);
        self.run_timeout = time("runTimeoutMs").or(self.run_timeout);
        self.idle_timeout = time("idleTimeoutMs").or(self.idle_timeout);
        let mut bytes = |name| key(name).and_then(|(key, node)| scope.bytes(key, node));
        self.max_frame_bytes = bytes("maxFrameBytes").unwrap_or(self.max_frame_bytes);
        self.max_output_bytes = bytes("maxOutputBytes").unwrap_or(self.max_output_bytes);
    }

    fn read_variables(&mut self, scope: &mut Scope<'_>, env: Option<Node>, directories: Option<Node>) {
        let env = env.map_or_else(Vec::new, |node| scope.variables("env", node));
        // By name, whether or not the value turns out to be there: the file says two things about one variable.
        let names: Vec<_> = env.iter().map(|(variable, _)| variable.name.clone()).collect();
        for (variable, node) in env {
            if let Some(value) = scope.variable_value(&format!("env.{}", variable.name), node) {
                self.env.push(variable.name, value);
            }
        }
        for (variable, node) in
            directories.map_or_else(Vec::new, |node| scope.variables("isolatedConfigDirs", node))
        {
            let key = format!("isolatedConfigDirs.{}", variable.name);
            if names.iter().any(|name| same_variable(name, &variable.name)) {
                let hint = Some("keep one of the two".to_owned());
                scope.fail(variable.at, &key, Problem::SetTwice, hint);
            }
            let at = node.at;
            match scope.os_text(&key, node) {
                Some(path) if path.is_empty() => {
                    let hint = Some("write fresh, or a path".to_owned());
                    scope.fail(at, &key, Problem::Empty, hint);
                }
                Some(word) if word == "fresh" => {
                    self.isolated_config_dirs
                        .push((variable.name.into(), ConfigDirSource::Fresh));
                }
                Some(path) => {
                    let source = ConfigDirSource::Pinned(PathBuf::from(path));
                    self.isolated_config_dirs.push((variable.name.into(), source));
                }
                None => {}
            }
        }
    }
}

/// Whether two names are one variable to the operating system.
fn same_variable(a: &str, b: &str) -> bool {
    if cfg!(windows) {
        a.eq_ignore_ascii_case(b)
    } else {
        a == b
    }
}

fn empty_list() -> serde_json::Value {
    serde_json::Value::Array(Vec::new())
}

fn empty_map() -> serde_json::Value {
    serde_json::Value::Object(serde_json::Map::new())
}
