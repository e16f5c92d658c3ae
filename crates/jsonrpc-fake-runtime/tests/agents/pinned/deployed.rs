//! From the text of a configuration file to tools that can be called: the loader, the registry, the real providers. Owns
//! no expectation of its own.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use subagent_config::{Deployment, HostContext, MaxDepth, load_file};
use subagent_seam::HostReporter;
use subagent_tool::{SubagentTool, ToolOptions};

/// An entry of a configuration file: its kind, a command line, and further keys. JSON values are YAML.
pub(crate) fn entry(kind: &str, command: &[String], keys: &[(&str, Value)]) -> String {
    let (program, args) = command.split_first().unwrap();
    let mut entry = format!("- name: {kind}\n  config:\n");
    let known = [
        ("command", Value::from(program.as_str())),
        ("args", Value::from(args)),
    ];
    for (key, value) in known.iter().chain(keys) {
        writeln!(entry, "    {key}: {value}").unwrap();
    }
    entry
}

/// Writes a configuration file into `dir` and loads it from there.
pub(crate) fn deployed(dir: &Path, file: &str) -> Deployment {
    std::fs::write(dir.join("subagents.yml"), file).unwrap();
    // No variable of this process: the files of these tests need no key and no account.
    let host = HostContext::new(dir, |_| None);
    let config = load_file("subagents.yml", &host).unwrap_or_else(|errors| panic!("{errors}\nin\n{file}"));
    config.deploy(&HostReporter::default()).unwrap()
}

/// The tool of that name, as the file describes it.
pub(crate) fn tool(deployment: &Deployment, name: &str) -> SubagentTool {
    let entry = deployment.tool(name).unwrap();
    let mut options = ToolOptions::new(&entry.provider);
    options.tool_name.clone_from(&entry.tool_name);
    options.background = entry.enable_run_in_background;
    options.max_depth = match entry.max_depth {
        MaxDepth::ProviderManaged => None,
        MaxDepth::Limit(depth) => Some(depth),
    };
    SubagentTool::new(deployment.registry().clone(), options).unwrap()
}
