//! From a configuration to providers that can be called. Owns the registry of one deployment and the guards that keep
//! its providers registered.

use subagent_seam::{HostReporter, Registration, Registry};
use subagent_tool::{SubagentTool, ToolError, ToolOptions};

use crate::config::{Config, JobsEntry, MaxDepth, ToolEntry};
use crate::error::{ConfigError, ConfigErrors};
use crate::problem::Problem;

/// The providers of a configuration, built and registered, and its tools.
///
/// The providers stay registered for as long as this value lives. Runs that were started go on after it; a host ends
/// them with [`Registry::shutdown`].
#[derive(Debug)]
pub struct Deployment {
    registry: Registry,
    tools: Vec<ToolEntry>,
    jobs: Option<JobsEntry>,
    _registrations: Vec<Registration>,
}

impl Config {
    /// Builds every provider and registers them in the order of the file. Raw failures of their runs go to `reporter`.
    ///
    /// # Errors
    ///
    /// One for each provider that refuses its options, at the place where the option was written.
    pub fn deploy(self, reporter: &HostReporter) -> Result<Deployment, ConfigErrors> {
        let registry = Registry::new();
        let mut registrations = Vec::new();
        let mut errors = Vec::new();
        for entry in &self.providers {
            let built = entry.build(reporter.clone()).and_then(|provider| {
                registry.register(provider).map_err(|error| {
                    Box::new(ConfigError {
                        place: entry.origin.place("providerName"),
                        problem: Problem::Refused {
                            message: error.to_string(),
                        },
                        hint: None,
                    })
                })
            });
            match built {
                Ok(registration) => registrations.push(registration),
                Err(error) => errors.push(*error),
            }
        }
        match ConfigErrors::of(errors) {
            Some(errors) => Err(errors),
            None => Ok(Deployment {
                registry,
                tools: self.tools,
                jobs: self.jobs,
                _registrations: registrations,
            }),
        }
    }
}

impl Deployment {
    /// The registry that holds the providers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The delegating tools, in the order of the file.
    pub fn tools(&self) -> &[ToolEntry] {
        &self.tools
    }

    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.iter().find(|tool| tool.tool_name == name)
    }

    /// The `tool-jobs` entry: how long the job tools wait. `None` if the file has none, or a disabled one; then the
    /// defaults hold.
    pub fn jobs(&self) -> Option<JobsEntry> {
        self.jobs
    }

    /// The tool that `entry` describes, over the providers of this deployment.
    ///
    /// # Errors
    ///
    /// The deployment holds no such provider, or the provider does not enforce the limit that the entry names. Neither
    /// happens with an entry of this deployment, since loading has checked both.
    pub fn subagent_tool(&self, entry: &ToolEntry) -> Result<SubagentTool, ToolError> {
        let mut options = ToolOptions::new(&entry.provider);
        options.tool_name.clone_from(&entry.tool_name);
        options.background = entry.enable_run_in_background;
        options.foreground_limit = entry.foreground_limit;
        options.max_depth = match entry.max_depth {
            MaxDepth::ProviderManaged => None,
            MaxDepth::Limit(depth) => Some(depth),
        };
        SubagentTool::new(self.registry().clone(), options)
    }
}
