//! The entry `subagent-dsh-sdk`. Owns its own keys and the way from all of its keys to the provider's options.

use subagent_dsh_sdk::{DshSdkConfig, MAX_SAFE_INTEGER};

use super::child::{ChildKeys, WithChildKeys as _, judged};
use crate::keys::{Key, Shape};
use crate::provider::{Origin, ProviderConfig, ProviderEntry};
use crate::scope::{Fields, Scope};

/// The kind's name.
pub(crate) const NAME: &str = "subagent-dsh-sdk";

/// The kind's keys.
pub(crate) fn table() -> Vec<Key> {
    let defaults = DshSdkConfig::new("");
    let mut table = ChildKeys::of(&defaults).table();
    table.extend([
        Key::with_default(
            "provider",
            Shape::Text,
            defaults.provider,
            "the model provider that the runtime is told to use",
        ),
        Key::with_default(
            "model",
            Shape::Text,
            defaults.model,
            "the model that the runtime is told to use",
        ),
        Key::optional(
            "maxTokens",
            Shape::Integer,
            "the cap of output tokens that the runtime is told to keep",
        ),
        Key::time(
            "shutdownTimeoutMs",
            Some(defaults.shutdown_timeout),
            "how long a teardown waits for the runtime to answer that it shuts down",
        ),
    ]);
    table
}

/// Reads an entry and tries its options on the provider's constructor. What cannot be read keeps its default and is
/// reported; only the name is then empty.
pub(super) fn read(scope: &mut Scope<'_>, mut fields: Fields, origin: Origin) -> ProviderEntry {
    // Stands in for a command that is missing or wrong, so that the constructor below can judge the rest.
    let mut config = DshSdkConfig::new("agent");
    let mut child = ChildKeys::of(&config);
    child.read(scope, &mut fields);
    config.set(child);
    let mut key = |name: &'static str| fields.take(name).map(|node| (name, node));
    if let Some(provider) = key("provider").and_then(|(key, node)| scope.text(key, node)) {
        config.provider = provider;
    }
    if let Some(model) = key("model").and_then(|(key, node)| scope.text(key, node)) {
        config.model = model;
    }
    if let Some((key, node)) = key("maxTokens") {
        config.max_tokens = scope.count(key, node, MAX_SAFE_INTEGER);
    }
    if let Some(timeout) = key("shutdownTimeoutMs").and_then(|(key, node)| scope.time(key, node)) {
        config.shutdown_timeout = timeout;
    }
    judged(scope, ProviderConfig::DshSdk(config), origin)
}
