//! The entry `tool-subagent`. Owns its keys; whether its provider is there is checked when all entries are read.

use crate::config::{MaxDepth, ToolEntry, tool_name_fault};
use crate::keys::{Key, Shape, nearest};
use crate::problem::Problem;
use crate::scope::{Fields, Scope};
use crate::tree::{Node, Value};

/// The kind's name.
pub(crate) const NAME: &str = "tool-subagent";

const PROVIDER_MANAGED: &str = "provider-managed";

/// The kind's keys.
pub(crate) fn table() -> Vec<Key> {
    let defaults = ToolEntry::default_for("");
    vec![
        Key::required(
            "provider",
            Shape::Text,
            "the providerName of the provider that it delegates to",
        ),
        Key::with_default(
            "toolName",
            Shape::ToolName,
            defaults.tool_name,
            "the name that models know it by, unique",
        ),
        Key::with_default(
            "enableRunInBackground",
            Shape::Flag,
            defaults.enable_run_in_background,
            "whether a model may run the task as a background job",
        ),
        Key::time(
            "foregroundLimitMs",
            defaults.foreground_limit,
            "over MCP, how long a call may last before it goes on as a background job; `subagent run` does not heed it",
        ),
        Key::with_default(
            "maxDepth",
            Shape::MaxDepth,
            PROVIDER_MANAGED,
            "how deep the child may delegate further; a number needs a provider that can limit it",
        ),
    ]
}

/// Reads an entry. `None` if it names no provider; a tool name that cannot be read is empty, and what else cannot be
/// read keeps its default. All of it is reported.
pub(super) fn read(scope: &mut Scope<'_>, mut fields: Fields) -> Option<ToolEntry> {
    let provider = fields
        .take("provider")
        .and_then(|node| scope.text("provider", node));
    let mut tool = ToolEntry::default_for(provider.as_deref().unwrap_or_default());
    tool.id.clone_from(&scope.entry);
    if let Some(node) = fields.take("toolName") {
        let at = node.at;
        tool.tool_name = scope.text("toolName", node).unwrap_or_default();
        if !tool.tool_name.is_empty()
            && let Some(problem) = tool_name_fault(&tool.tool_name)
        {
            scope.fail(at, "toolName", problem, None);
            tool.tool_name.clear();
        }
    }
    let flag = fields.take("enableRunInBackground");
    if let Some(flag) = flag.and_then(|node| scope.flag("enableRunInBackground", node)) {
        tool.enable_run_in_background = flag;
    }
    let limit = fields.take("foregroundLimitMs");
    tool.foreground_limit = limit.and_then(|node| scope.time("foregroundLimitMs", node));
    if let Some(depth) = fields.take("maxDepth").and_then(|node| max_depth(scope, node)) {
        tool.max_depth = depth;
    }
    provider.map(|_| tool)
}

fn max_depth(scope: &mut Scope<'_>, node: Node) -> Option<MaxDepth> {
    const KEY: &str = "maxDepth";
    let Value::Text(text) = &node.value else {
        let limit = scope.count(KEY, node, u64::from(u32::MAX))?;
        return u32::try_from(limit).ok().map(MaxDepth::Limit);
    };
    if text == PROVIDER_MANAGED {
        return Some(MaxDepth::ProviderManaged);
    }
    let hint = match nearest(text, [PROVIDER_MANAGED]) {
        Some(near) => format!("did you mean {near}?"),
        None => "write a number without quotes, or provider-managed".to_owned(),
    };
    let problem = Problem::UnknownWord {
        expected: &["a positive integer", PROVIDER_MANAGED],
    };
    scope.fail(node.at, KEY, problem, Some(hint));
    None
}
