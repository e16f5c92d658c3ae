//! The entry `subagent-acp`. Owns its own keys and the way from all of its keys to the provider's options.

use subagent_acp::{AcpConfig, PermissionPolicy};
use subagent_seam::ClosedWord;

use super::child::{ChildKeys, WithChildKeys as _, judged};
use crate::keys::{Key, Shape};
use crate::provider::{Origin, ProviderConfig, ProviderEntry};
use crate::scope::{Fields, Scope};

/// The kind's name.
pub(crate) const NAME: &str = "subagent-acp";

/// The kind's keys.
pub(crate) fn table() -> Vec<Key> {
    let defaults = AcpConfig::new("");
    let mut table = ChildKeys::of(&defaults).table();
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
    let mut child = ChildKeys::of(&config);
    child.read(scope, &mut fields);
    if let Some(node) = fields.take("permission")
        && let Some(index) = scope.word("permission", node, PermissionPolicy::WORDS)
    {
        config.permission = PermissionPolicy::VALUES[index];
    }
    config.set(child);
    judged(scope, ProviderConfig::Acp(config), origin)
}
