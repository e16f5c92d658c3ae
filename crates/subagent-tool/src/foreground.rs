//! The tool itself: one call, one run, to its very end. Owns the order start, result, teardown and the measuring of
//! each; the words are `presentation`'s, the run is its provider's.

use std::sync::Arc;
use std::time::{Duration, Instant};

use subagent_seam::{Parent, Progress, Registry, StartRequest, TeardownUrgency};
use tokio_util::sync::CancellationToken;

use crate::{Outcome, Timings, ToolDescription, ToolError, presentation};

/// The tool's name unless another is given.
pub const DEFAULT_TOOL_NAME: &str = "subagent";

/// What a deployment decides about one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolOptions {
    /// The registered name of the provider that the tool delegates to.
    pub provider: String,
    /// The name that the model calls. Default [`DEFAULT_TOOL_NAME`].
    pub tool_name: String,
    /// Whether the deployment lets the model run tasks in the background. Default true. Without it the description has
    /// no such argument and [`SubagentTool::start_background`] refuses every call. It changes nothing about
    /// [`SubagentTool::call`], which always waits.
    pub background: bool,
    /// How long [`SubagentTool::call_until`] lets a call wait by the deployment's will; whoever calls it counts the time.
    /// With it the description says that a call may go on as a background job. Default `None`: it may not. It changes
    /// nothing about [`SubagentTool::call`].
    pub foreground_limit: Option<Duration>,
    /// How deep the child may delegate further, for a provider that enforces such a limit. Default `None`: that is the
    /// provider's affair.
    pub max_depth: Option<u32>,
}

impl ToolOptions {
    /// The defaults over the provider of this name.
    pub fn new(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            tool_name: DEFAULT_TOOL_NAME.to_owned(),
            background: true,
            foreground_limit: None,
            max_depth: None,
        }
    }
}

/// What the model passes to the tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// Three to five words about the task, for display. Empty for none.
    pub description: String,
    /// The task, complete and standalone where the provider does not inherit the parent's context.
    pub prompt: String,
}

impl Call {
    /// A call with both of its texts.
    pub fn new(description: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            prompt: prompt.into(),
        }
    }

    /// What a job that does this is called: the description, else the beginning of the prompt.
    pub(crate) fn label(&self) -> &str {
        if self.description.trim().is_empty() {
            &self.prompt
        } else {
            &self.description
        }
    }
}

/// What the host adds to a call. The model sees none of it.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The session on whose behalf the task is delegated.
    pub parent: Parent,
    /// Asks the run to stop; the call still waits for its teardown.
    pub cancel: CancellationToken,
    /// Where the run tells how far it is.
    pub progress: Progress,
    /// How patiently the run's teardown waits for the child.
    pub urgency: TeardownUrgency,
}

/// A tool that delegates a task to one provider. Clones share the registry.
#[derive(Clone, Debug)]
pub struct SubagentTool {
    registry: Registry,
    options: ToolOptions,
    description: ToolDescription,
}

impl SubagentTool {
    /// A tool over a provider that `registry` holds.
    ///
    /// # Errors
    ///
    /// The registry holds no such provider, or the tool limits the depth and the provider does not enforce a limit.
    pub fn new(registry: Registry, options: ToolOptions) -> Result<Self, ToolError> {
        let Some(provider) = registry.provider(&options.provider) else {
            return Err(ToolError::UnknownProvider {
                tool: options.tool_name,
                provider: options.provider,
            });
        };
        if options.max_depth.is_some() && !provider.capabilities().depth_limit {
            return Err(ToolError::DepthLimitUnsupported {
                tool: options.tool_name,
                provider: options.provider,
            });
        }
        let mut description = ToolDescription::new(&options.tool_name, provider.inherits_parent_context());
        if options.background {
            description = description.with_background();
        }
        if options.foreground_limit.is_some() {
            description = description.with_foreground_limit();
        }
        Ok(Self {
            registry,
            options,
            description,
        })
    }

    /// The name that the model calls.
    pub fn name(&self) -> &str {
        &self.options.tool_name
    }

    /// The registered name of the provider that the tool delegates to.
    pub fn provider(&self) -> &str {
        &self.options.provider
    }

    /// What the deployment decided about the tool.
    pub fn options(&self) -> &ToolOptions {
        &self.options
    }

    /// What the model is told about the tool.
    pub fn description(&self) -> &ToolDescription {
        &self.description
    }

    /// Runs one task: starts it, waits for its result and disposes of it, whatever the result is. Must be called within
    /// a Tokio runtime.
    ///
    /// It has no bound of its own: a run ends by its provider's deadlines or by [`Context::cancel`], a teardown within
    /// the provider's windows. Dropping the future is safe and impatient: the child's process group is killed at once.
    pub async fn call(&self, call: Call, context: Context) -> Outcome {
        self.perform(self.request(call, context)).await
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// One run, from its start to the end of its teardown.
    pub(crate) async fn perform(&self, request: StartRequest) -> Outcome {
        let began = Instant::now();
        let started = self.registry.start(&self.options.provider, request).await;
        let start = began.elapsed();
        let run = match started {
            Ok(run) => run,
            Err(error) => {
                return Outcome {
                    text: presentation::of_start_error(&error),
                    is_error: true,
                    run: None,
                    result: None,
                    start_error: Some(error),
                    dispose_error: None,
                    timings: Timings {
                        start,
                        ..Timings::default()
                    },
                };
            }
        };

        let published = Instant::now();
        let result = run.result().await;
        let settled = Instant::now();
        let disposed = run.dispose().await;
        let gone = Instant::now();

        let (text, is_error) = match presentation::of_run(&result, disposed.as_ref().map(|&()| ())) {
            Ok(answer) => (answer, false),
            Err(failure) => (failure, true),
        };
        Outcome {
            text,
            is_error,
            run: Some(run.id()),
            result: Some(Arc::clone(&result)),
            start_error: None,
            dispose_error: disposed.err(),
            timings: Timings {
                start,
                run: Some(settled - published),
                dispose: Some(gone - settled),
            },
        }
    }

    /// What the provider is asked for.
    pub(crate) fn request(&self, call: Call, context: Context) -> StartRequest {
        let mut request = StartRequest::text(call.prompt, context.parent);
        request.label = (!call.description.is_empty()).then_some(call.description);
        request.cancel = context.cancel;
        request.progress = context.progress;
        request.urgency = context.urgency;
        request.features.max_depth = self.options.max_depth;
        request
    }
}
