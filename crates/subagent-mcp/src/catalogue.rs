//! The tools that a server offers, as the protocol describes them. Owns which there are, their schemas and hints; what a
//! call of one does is `call`'s.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde_json::Value;
use subagent_tool::jobs::{JOB_KILL, JOB_LIST, JobOptions, descriptions};
use subagent_tool::{SubagentTool, ToolDescription};

use crate::input::{Delegate, KillJob, ListJobs, ReadJob};
use crate::output::{Delegated, JobKilled, JobRead, JobsListed};
use crate::schema;

/// What stands behind a tool's name.
#[derive(Clone, Debug)]
pub(crate) enum Offer {
    /// A delegating tool.
    Delegate(SubagentTool),
    /// `job_output`.
    ReadJob,
    /// `job_list`.
    ListJobs,
    /// `job_kill`.
    KillJob,
}

/// All tools of a server, in the order in which they are listed.
#[derive(Debug)]
pub(crate) struct Catalogue {
    offers: Vec<(Tool, Offer)>,
}

impl Catalogue {
    /// The delegating tools in their order, and behind them the job tools if there are `jobs`.
    pub(crate) fn new(tools: &[SubagentTool], jobs: Option<&JobOptions>) -> Self {
        let mut offers: Vec<_> = tools
            .iter()
            .map(|tool| (delegating(tool), Offer::Delegate(tool.clone())))
            .collect();
        if let Some(options) = jobs {
            let [read, list, kill] = descriptions(options);
            offers.push((described::<ReadJob, JobRead>(&read), Offer::ReadJob));
            offers.push((described::<ListJobs, JobsListed>(&list), Offer::ListJobs));
            offers.push((described::<KillJob, JobKilled>(&kill), Offer::KillJob));
        }
        Self { offers }
    }

    /// Every tool.
    pub(crate) fn tools(&self) -> Vec<Tool> {
        self.offers.iter().map(|(tool, _)| tool.clone()).collect()
    }

    /// The tool of this name: what it takes, and what stands behind it.
    pub(crate) fn find(&self, name: &str) -> Option<(Arc<JsonObject>, Offer)> {
        let (tool, offer) = self.offers.iter().find(|(tool, _)| tool.name == name)?;
        Some((Arc::clone(&tool.input_schema), offer.clone()))
    }
}

fn delegating(tool: &SubagentTool) -> Tool {
    let options = tool.options();
    let hidden: &[_] = if options.background {
        &[]
    } else {
        &["run_in_background"]
    };
    let mut output = schema::of::<Delegated>();
    let may_be_job = options.background || options.foreground_limit.is_some();
    if !may_be_job && let Some(Value::Array(kinds)) = output.get_mut("oneOf") {
        kinds.retain(|kind| kind["properties"]["kind"]["const"] == "foreground");
    }
    let input = schema::input::<Delegate>(tool.description(), hidden);
    Tool::new(tool.name().to_owned(), tool.description().text.clone(), input)
        .with_raw_output_schema(Arc::new(output))
        // What a subagent may do is its own permissions' affair; the worst is assumed.
        .with_annotations(ToolAnnotations::new().read_only(false).open_world(true))
}

fn described<I: JsonSchema, O: JsonSchema>(description: &ToolDescription) -> Tool {
    let kills = description.name == JOB_KILL;
    let mut hints = ToolAnnotations::new().read_only(!kills).open_world(false);
    if kills {
        hints = hints.destructive(true).idempotent(true);
    }
    // Reading a job's output changes what the next call returns; a list can be had again and again.
    if description.name == JOB_LIST {
        hints = hints.idempotent(true);
    }
    Tool::new(
        description.name.clone(),
        description.text.clone(),
        schema::input::<I>(description, &[]),
    )
    .with_raw_output_schema(Arc::new(schema::of::<O>()))
    .with_annotations(hints)
}
