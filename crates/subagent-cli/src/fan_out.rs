//! `run --jobs`: many tasks, some of them side by side. Owns when one is started, how much may be under way, and what ends
//! the whole early; each task is a call of its own.

mod prompts;
mod window;

use std::sync::Arc;

use subagent_seam::{Progress, Urgency};
use subagent_tool::{Call, Context, SubagentTool};
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use self::prompts::Prompts;
pub(crate) use self::prompts::PromptsError;
use self::window::Window;
use crate::error::CliError;
use crate::exit::Exit;
use crate::output::{self, Printed};
use crate::report::json;
use crate::signals::Signals;
use crate::terminal::Terminal;

/// Delegates every prompt of the file `source`, or of standard input, at most `limit` at once, and prints a JSON object
/// for each, in their order.
///
/// A signal cancels what runs and starts nothing more; what has been started is still printed. So it is with a prompt
/// that cannot be read, except that nothing is cancelled, and with a reader who has gone away, except that nothing is
/// printed.
pub(crate) async fn run(
    limit: u16,
    source: Option<String>,
    tool: &SubagentTool,
    context: &Context,
    terminal: &Arc<Terminal>,
    signals: &Signals,
) -> Result<Exit, CliError> {
    let mut fan_out = FanOut {
        tool,
        context,
        stop: signals.cancel().child_token(),
        running: JoinSet::new(),
        window: Window::of(limit.into()),
        started: 0,
        failed: false,
        error: None,
    };
    let mut prompts = Some(Prompts::open(source));
    loop {
        fan_out.print(terminal, signals).await;
        if fan_out.stop.is_cancelled() {
            prompts = None;
        }
        let more = prompts.is_some();
        let wanted = prompts
            .as_mut()
            .filter(|_| fan_out.window.has_room(fan_out.running.len()));
        tokio::select! {
            biased;
            Some(done) = fan_out.running.join_next() => fan_out.take(done),
            () = fan_out.stop.cancelled(), if more => prompts = None,
            Some(prompt) = next(wanted) => match prompt {
                Some(Ok(prompt)) => fan_out.start(prompt),
                Some(Err(error)) => {
                    fan_out.error = Some(error.into());
                    prompts = None;
                }
                None => prompts = None,
            },
            else => break,
        }
    }
    match (fan_out.error, signals.first()) {
        (Some(error), None) => Err(error),
        _ if fan_out.failed => Ok(Exit::Failure),
        _ => Ok(Exit::Success),
    }
}

/// The next prompt, `None` if none is wanted.
async fn next(prompts: Option<&mut Prompts>) -> Option<Option<Result<String, PromptsError>>> {
    Some(prompts?.next().await)
}

struct FanOut<'a> {
    tool: &'a SubagentTool,
    context: &'a Context,
    stop: CancellationToken,
    running: JoinSet<Done>,
    window: Window,
    started: u64,
    failed: bool,
    error: Option<CliError>,
}

/// A task that has ended.
struct Done {
    place: u64,
    is_error: bool,
    text: String,
}

impl FanOut<'_> {
    fn start(&mut self, prompt: String) {
        let tool = self.tool.clone();
        let context = Context {
            cancel: self.stop.clone(),
            progress: Progress::default(),
            ..self.context.clone()
        };
        let place = self.started;
        self.started += 1;
        self.running.spawn(async move {
            let outcome = tool.call(Call::new("", prompt), context).await;
            // The text is all that is kept while an earlier task goes on.
            let text = json::text(&json::Delegation::new(tool.name(), tool.provider(), &outcome));
            Done {
                place,
                is_error: outcome.is_error,
                text,
            }
        });
    }

    fn take(&mut self, done: Result<Done, JoinError>) {
        match done {
            Ok(done) => {
                self.failed |= done.is_error;
                self.window.insert(done.place, done.text);
            }
            Err(error) => self.fail(CliError::System {
                what: "a task ended without a word",
                source: error.into(),
            }),
        }
    }

    /// Prints every result whose turn it is.
    async fn print(&mut self, terminal: &Arc<Terminal>, signals: &Signals) {
        while let Some(text) = self.window.next() {
            match output::print_one_of_many(text, terminal, signals).await {
                Ok(Printed::Whole) => {}
                Ok(Printed::ReaderGone | Printed::GivenUp) => {
                    self.failed = true;
                    self.end();
                }
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: CliError) {
        // The first error is the one that explains the others.
        self.error.get_or_insert(error);
        self.end();
    }

    /// Cancels everything: there is nobody to work for.
    fn end(&mut self) {
        self.window.close();
        self.context.urgency.raise(Urgency::Hurried);
        self.stop.cancel();
    }
}
