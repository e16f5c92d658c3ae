//! What a call of each tool does. Owns the way from arguments to a reply; runs and jobs are [`subagent_tool`]'s.

use std::path::PathBuf;

use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde::de::DeserializeOwned;
use subagent_seam::{Parent, Progress, Word, text_of};
use subagent_tool::jobs::{JobError, Wait};
use subagent_tool::{Call, Context, Limited, Outcome, Refusal, Started, SubagentTool};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::catalogue::Offer;
use crate::connection::Inner;
use crate::directory::{self, DirectoryError};
use crate::input::{Delegate, KillJob, ListJobs, ReadJob};
use crate::output::{Delegated, Job, JobKilled, JobRead, JobsListed, Reply};
use crate::progress;

/// The most characters of a name that is given back to the one who wrote it.
const MAX_NAME_CHARS: usize = 64;

/// What every tool's work ends with: the reply that it is, or the one that it failed with.
type Answer = Result<Reply, Reply>;

impl Inner {
    /// Does what a call asks for. Ends early, with whatever reply, once `cancel` is cancelled and all is torn down.
    pub(crate) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
        cancel: CancellationToken,
    ) -> Reply {
        let Some((schema, offer)) = self.shared.catalogue.find(&request.name) else {
            let name: String = request.name.chars().take(MAX_NAME_CHARS).collect();
            return Reply::failed(&format_args!("unknown tool {name}"));
        };
        let arguments = request.arguments;
        let answer = match offer {
            Offer::Delegate(tool) => match parsed(&schema, arguments) {
                Ok(asked) => self.delegate(&tool, asked, &context, cancel).await,
                Err(refused) => Err(refused),
            },
            Offer::ReadJob => match parsed(&schema, arguments) {
                Ok(asked) => self.read_job(asked, &context, &cancel).await,
                Err(refused) => Err(refused),
            },
            Offer::ListJobs => parsed(&schema, arguments).map(|ListJobs {}| self.list_jobs()),
            Offer::KillJob => parsed(&schema, arguments).and_then(|asked| self.kill_job(&asked)),
        };
        answer.unwrap_or_else(|failure| failure)
    }

    async fn delegate(
        &self,
        tool: &SubagentTool,
        asked: Delegate,
        request: &RequestContext<RoleServer>,
        cancel: CancellationToken,
    ) -> Answer {
        let limit = tool.options().foreground_limit;
        let limit = limit.and_then(|limit| Instant::now().checked_add(limit));
        let seen = Progress::default();
        let delegated = self.delegated(tool, asked, &request.peer, cancel, seen.clone(), limit);
        let token = request.meta.get_progress_token();
        progress::told(&request.peer, token, || stage_and_bytes(&seen), delegated).await
    }

    async fn delegated(
        &self,
        tool: &SubagentTool,
        asked: Delegate,
        peer: &Peer<RoleServer>,
        cancel: CancellationToken,
        progress: Progress,
        limit: Option<Instant>,
    ) -> Answer {
        let depth = self.shared.options.depth;
        if let Some(limit) = self.shared.options.max_depth.filter(|limit| depth >= *limit) {
            let text = format!("delegation depth {limit} is the limit");
            return Err(Reply::Failed { text });
        }
        if asked.prompt.trim().is_empty() {
            return Err(refused(&Refusal::EmptyPrompt));
        }
        let cwd = tokio::select! {
            cwd = self.cwd(peer, asked.cwd) => cwd?,
            // Nothing was started yet, and nobody waits for the answer.
            () = cancel.cancelled() => return Err(refused(&Refusal::Cancelled)),
        };
        let context = Context {
            parent: Parent {
                session_id: self.session_id.clone(),
                cwd,
                depth,
            },
            cancel,
            progress: progress.clone(),
            urgency: self.shared.options.urgency.clone(),
        };
        let call = Call::new(asked.description, asked.prompt);
        if asked.run_in_background {
            let started = tool
                .start_background(call, context, &self.jobs)
                .map_err(|refusal| refused(&refusal))?;
            return Ok(self.goes_on(started, progress));
        }
        let Some(limit) = limit else {
            return of_outcome(tool.call(call, context).await);
        };
        match tool.call_until(call, context, &self.jobs, limit).await {
            Limited::Ended(outcome) => of_outcome(*outcome),
            Limited::Continues(started) => Ok(self.goes_on(started, progress)),
        }
    }

    /// The answer to a call whose run goes on as a job.
    fn goes_on(&self, started: Started, progress: Progress) -> Reply {
        let id = started.job.id();
        self.watched.add(id, progress, &self.jobs);
        let job_id = id.to_string();
        Reply::done(started.text, &Delegated::Background { job_id })
    }

    async fn read_job(
        &self,
        asked: ReadJob,
        request: &RequestContext<RoleServer>,
        cancel: &CancellationToken,
    ) -> Answer {
        let wait = Wait::from_arguments(asked.wait, asked.timeout_ms);
        let token = request.meta.get_progress_token();
        let message = || stage_and_bytes(&self.watched.progress_of(&asked.job_id));
        let reading = progress::told(
            &request.peer,
            token,
            message,
            self.jobs.output(&asked.job_id, wait),
        );
        let read = tokio::select! {
            read = reading => read.map_err(|error| of_job_error(&error))?,
            // The output stays new for a later call.
            () = cancel.cancelled() => return Err(Reply::failed(&"the call was cancelled")),
        };
        let job = Job::from(&read.job);
        let structured = JobRead {
            text: read.text.clone(),
            job,
        };
        Ok(Reply::done(read.text, &structured))
    }

    fn list_jobs(&self) -> Reply {
        let listed = self.jobs.list();
        let jobs = listed.jobs.iter().map(Job::from).collect();
        Reply::done(listed.text, &JobsListed { jobs })
    }

    fn kill_job(&self, asked: &KillJob) -> Answer {
        let killed = self
            .jobs
            .kill(&asked.job_id, asked.reason.as_deref())
            .map_err(|error| of_job_error(&error))?;
        let outcome = killed.outcome.as_str();
        let job = Job::from(&killed.job);
        Ok(Reply::done(killed.text, &JobKilled { outcome, job }))
    }

    /// The directory of a run: the session's, or the one inside it that was asked for.
    async fn cwd(&self, peer: &Peer<RoleServer>, asked: Option<String>) -> Result<Option<PathBuf>, Reply> {
        let session = self.roots.directory(peer).await;
        let Some(asked) = asked else {
            return Ok(session);
        };
        // A file system may take its time, and all connections share this thread.
        tokio::task::spawn_blocking(move || directory::inside(session.as_deref(), &asked))
            .await
            .unwrap_or(Err(DirectoryError::NotADirectory))
            .map(Some)
            .map_err(|error| Reply::failed(&error))
    }
}

fn parsed<T: DeserializeOwned>(schema: &JsonObject, arguments: Option<JsonObject>) -> Result<T, Reply> {
    arguments::parse(schema, arguments).map_err(|error| Reply::failed(&error))
}

fn refused(refusal: &Refusal) -> Reply {
    Reply::Failed { text: refusal.text() }
}

fn of_job_error(error: &JobError) -> Reply {
    Reply::Failed {
        text: error.to_string(),
    }
}

fn of_outcome(outcome: Outcome) -> Answer {
    match (outcome.run, outcome.result) {
        (Some(run), Some(result)) if !outcome.is_error => {
            let structured = Delegated::Foreground {
                run_id: run.to_string(),
                // Not the text: that has words of its own for an answer that is empty.
                output: text_of(&result.output),
            };
            Ok(Reply::done(outcome.text, &structured))
        }
        _ => Err(Reply::Failed { text: outcome.text }),
    }
}

/// Where a run is and how much its child has said.
fn stage_and_bytes(progress: &Progress) -> String {
    let stage = progress.stage().map_or("start", Word::as_str);
    format!("{stage}, {} bytes received", progress.received_bytes())
}
