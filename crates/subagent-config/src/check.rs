//! The entries of a file against each other: unique ids and names, and tools whose providers are there. Owns what a
//! disabled entry still counts for. A name that could not be read is empty here, and clashes with nothing.
//!
//! Ids are unique among all entries, since they are what errors call them. The names of disabled providers and tools
//! are free for others.

use crate::config::{Config, MaxDepth, ToolEntry};
use crate::entry::{Content, Entry};
use crate::error::ConfigError;
use crate::keys::nearest;
use crate::problem::Problem;
use crate::provider::{Origin, ProviderEntry};

/// The configuration that the entries make together, and what is wrong between them.
pub(crate) fn together(entries: Vec<Entry>) -> (Config, Vec<ConfigError>) {
    let mut errors = Vec::new();
    ids(&entries, &mut errors);
    provider_names(&entries, &mut errors);
    tools(&entries, &mut errors);
    jobs(&entries, &mut errors);
    (config(entries), errors)
}

fn ids(entries: &[Entry], errors: &mut Vec<ConfigError>) {
    for (index, entry) in entries.iter().enumerate() {
        if let Some(first) = entries[..index].iter().find(|first| first.id == entry.id) {
            let hint = "give the entry an id of its own";
            errors.push(taken(("id", "id"), &entry.id, &entry.origin, &first.origin, hint));
        }
    }
}

fn provider_names(entries: &[Entry], errors: &mut Vec<ConfigError>) {
    let mut seen: Vec<&ProviderEntry> = Vec::new();
    for provider in enabled(entries)
        .filter_map(as_provider)
        .filter(|provider| !provider.name().is_empty())
    {
        match seen.iter().find(|first| first.name() == provider.name()) {
            Some(first) => {
                let hint = "give each provider a providerName of its own";
                let what = ("providerName", "provider name");
                errors.push(taken(
                    what,
                    provider.name(),
                    &provider.origin,
                    &first.origin,
                    hint,
                ));
            }
            None => seen.push(provider),
        }
    }
}

fn tools(entries: &[Entry], errors: &mut Vec<ConfigError>) {
    let mut seen: Vec<(&ToolEntry, &Origin)> = Vec::new();
    for entry in entries {
        let Content::Tool(tool) = &entry.content else {
            continue;
        };
        provider_of(entry, tool, entries, errors);
        if entry.disabled || tool.tool_name.is_empty() {
            continue;
        }
        match seen.iter().find(|(first, _)| first.tool_name == tool.tool_name) {
            Some((_, first)) => {
                let hint = "give each tool a toolName of its own";
                errors.push(taken(
                    ("toolName", "tool name"),
                    &tool.tool_name,
                    &entry.origin,
                    first,
                    hint,
                ));
            }
            None => seen.push((tool, &entry.origin)),
        }
    }
}

/// Checks the provider that a tool delegates to.
fn provider_of(entry: &Entry, tool: &ToolEntry, entries: &[Entry], errors: &mut Vec<ConfigError>) {
    let named = |entry: &&Entry| as_provider(entry).is_some_and(|provider| provider.name() == tool.provider);
    let fail = |key: &str, problem, hint| ConfigError {
        place: entry.origin.place(key),
        problem,
        hint,
    };
    let provider = tool.provider.clone();
    let active = enabled(entries).find(named).and_then(as_provider);
    if let Some(active) = active {
        if matches!(tool.max_depth, MaxDepth::Limit(_)) && !active.capabilities().depth_limit {
            let hint = Some("set maxDepth: provider-managed".to_owned());
            errors.push(fail("maxDepth", Problem::DepthUnsupported { provider }, hint));
        }
    } else if entries.iter().any(|entry| named(&entry)) {
        if !entry.disabled {
            let hint = Some("disable the tool as well, or enable the provider".to_owned());
            errors.push(fail("provider", Problem::DisabledProvider { provider }, hint));
        }
    } else if !entries.iter().any(unnamed) {
        // Where a name is unknown it may be the one; what has none was reported.
        let known: Vec<_> = entries
            .iter()
            .filter_map(as_provider)
            .map(ProviderEntry::name)
            .collect();
        let hint = match (nearest(&provider, known.iter().copied()), &*known) {
            (Some(near), _) => format!("did you mean {near}?"),
            (None, []) => "add an entry for the provider".to_owned(),
            (None, known) => format!("the providers are {}", known.join(", ")),
        };
        errors.push(fail(
            "provider",
            Problem::UnknownProvider { provider },
            Some(hint),
        ));
    }
}

fn jobs(entries: &[Entry], errors: &mut Vec<ConfigError>) {
    let mut jobs = enabled(entries).filter(|entry| matches!(entry.content, Content::Jobs(_)));
    let Some(first) = jobs.next() else { return };
    errors.extend(jobs.map(|entry| ConfigError {
        place: entry.origin.place("name"),
        problem: Problem::SecondEntry { name: "tool-jobs" },
        hint: Some(match first.origin.at {
            Some(at) => format!("keep either this one or the one on line {}", at.line),
            None => "keep one of them".to_owned(),
        }),
    }));
}

fn config(entries: Vec<Entry>) -> Config {
    let mut config = Config {
        providers: Vec::new(),
        tools: Vec::new(),
        jobs: None,
    };
    // A disabled tool is a decision too: nothing is put in its place.
    let decided = entries
        .iter()
        .any(|entry| matches!(entry.content, Content::Tool(_)));
    for entry in entries.into_iter().filter(|entry| !entry.disabled) {
        match entry.content {
            Content::Provider(provider) => config.providers.push(*provider),
            Content::Tool(tool) => config.tools.push(tool),
            Content::Jobs(jobs) => config.jobs = Some(jobs),
            Content::Unreadable => {}
        }
    }
    if let ([only], false) = (&*config.providers, decided) {
        config.tools.push(ToolEntry::default_for(only.name()));
    }
    config
}

fn enabled(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    entries.iter().filter(|entry| !entry.disabled)
}

fn as_provider(entry: &Entry) -> Option<&ProviderEntry> {
    match &entry.content {
        Content::Provider(provider) => Some(provider),
        _ => None,
    }
}

/// Whether an entry may stand for a provider whose name could not be read.
fn unnamed(entry: &Entry) -> bool {
    match &entry.content {
        Content::Unreadable => true,
        Content::Provider(provider) => provider.name().is_empty(),
        Content::Tool(_) | Content::Jobs(_) => false,
    }
}

/// A name that is taken; `what` is its key and what to call it.
fn taken(what: (&str, &'static str), name: &str, here: &Origin, first: &Origin, hint: &str) -> ConfigError {
    let (key, what) = what;
    ConfigError {
        place: here.place(key),
        problem: Problem::Duplicate {
            what,
            name: name.to_owned(),
            first: first.place(key).position.map(|position| position.line),
        },
        hint: Some(hint.to_owned()),
    }
}
