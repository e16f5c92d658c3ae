//! The entry `subagent-acp`. Owns its own keys and the way from all of its keys to the provider's options.

use subagent_acp::{AcpConfig, PermissionPolicy};
use subagent_seam::{ClosedWord, HostReporter};

use super::child::ChildKeys;
use crate::keys::{Key, Shape};
use crate::provider::{Origin, ProviderConfig, ProviderEntry};
use crate::scope::{Fields, Scope};

/// The kind's name.
pub(crate) const NAME: &str = "subagent-acp";

/// The kind's keys.
pub(crate) fn table() -> Vec<Key> {
    let defaults = AcpConfig::new("");
    let mut table = child_keys(&defaults).table();
    let permission = PermissionPolicy::WORDS[defaults.permission.index()];
    table.push(Key::with_default(
        "permission",
        Shape::Words(PermissionPolicy::WORDS),
        permission,
        "how the child's permission requests are answered: 'reject' cancels them, 'decline' rejects the one tool call \
         so that the child can go on without it, 'allow' allows it once",
    ));
    table
}

/// Reads an entry and tries its options on the provider's constructor. What cannot be read keeps its default and is
/// reported; only the name is then empty.
pub(super) fn read(scope: &mut Scope<'_>, mut fields: Fields, origin: Origin) -> ProviderEntry {
    // Stands in for a command that is missing or wrong, so that the constructor below can judge the rest.
    let mut config = AcpConfig::new("agent");
    let mut child = child_keys(&config);
    child.read(scope, &mut fields);
    if let Some(node) = fields.take("permission")
        && let Some(index) = scope.word("permission", node, PermissionPolicy::WORDS)
    {
        config.permission = PermissionPolicy::VALUES[index];
    }
    apply(child, &mut config);
    let mut entry = ProviderEntry {
        id: scope.entry.clone(),
        config: ProviderConfig::Acp(config),
        origin,
    };
    // What only the constructor can judge belongs into the same report as everything else.
    if let Err(error) = entry.build(HostReporter::default())
        && !error.place.key.as_deref().is_some_and(|key| scope.failed(key))
    {
        scope.errors.push(*error);
    }
    if scope.failed("providerName") {
        let ProviderConfig::Acp(config) = &mut entry.config;
        config.provider_name.clear();
    }
    entry
}

fn child_keys(config: &AcpConfig) -> ChildKeys {
    ChildKeys {
        provider_name: config.provider_name.clone(),
        command: config.command.clone(),
        args: config.args.clone(),
        cwd: config.cwd.clone(),
        env: config.env.clone(),
        isolated_config_dirs: config.isolated_config_dirs.clone(),
        dispose_eof_grace: config.dispose_eof_grace,
        dispose_grace: config.dispose_grace,
        startup_timeout: config.startup_timeout,
        run_timeout: config.run_timeout,
        idle_timeout: config.idle_timeout,
        max_frame_bytes: config.max_frame_bytes,
        max_output_bytes: config.max_output_bytes,
    }
}

fn apply(child: ChildKeys, config: &mut AcpConfig) {
    config.provider_name = child.provider_name;
    config.command = child.command;
    config.args = child.args;
    config.cwd = child.cwd;
    config.env = child.env;
    config.isolated_config_dirs = child.isolated_config_dirs;
    config.dispose_eof_grace = child.dispose_eof_grace;
    config.dispose_grace = child.dispose_grace;
    config.startup_timeout = child.startup_timeout;
    config.run_timeout = child.run_timeout;
    config.idle_timeout = child.idle_timeout;
    config.max_frame_bytes = child.max_frame_bytes;
    config.max_output_bytes = child.max_output_bytes;
}
