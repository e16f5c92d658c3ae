//! A call that is waited for only so long, and then goes on as a background job. Owns how a run that has begun for a
//! caller is handed over to a job; how a job lives and ends is [`jobs`](crate::jobs)'.

use std::convert::Infallible;
use std::pin::{Pin, pin};

use subagent_seam::TeardownUrgency;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::jobs::{JobKind, Session, Settlement, follow};
use crate::{Call, Context, Outcome, Started, SubagentTool, presentation, settlement};

/// What a call came to that was waited for only so long.
#[derive(Debug)]
pub enum Limited {
    /// Its run has ended, as that of any other call.
    Ended(Box<Outcome>),
    /// Its run goes on as a background job.
    Continues(Started),
}

/// A run from its start to the end of its teardown.
type Performance = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// What reaches a run that changes its owner: what its caller asks for until the limit, and what its job asks for then.
#[derive(Clone, Debug, Default)]
struct Reins {
    cancel: CancellationToken,
    urgency: TeardownUrgency,
}

impl Reins {
    /// Passes on what an owner asks for, for as long as this is awaited.
    async fn held_by(&self, cancel: &CancellationToken, urgency: &TeardownUrgency) -> Infallible {
        let cancelling = async {
            cancel.cancelled().await;
            self.cancel.cancel();
        };
        let hurrying = follow(urgency.clone(), self.urgency.clone());
        let ((), never) = tokio::join!(cancelling, hurrying);
        match never {}
    }
}

impl SubagentTool {
    /// As [`call`](Self::call), except that a run that still goes on at `limit` becomes a background job of `session`, in
    /// whatever phase it is, and the call returns. From then on the job has its own cancellation and its own
    /// [urgency](crate::jobs::JobTable::urgency): those of `context` no longer reach it. Whether the deployment lets the
    /// model start background jobs does not matter, and neither does [`foreground_limit`](crate::ToolOptions): who calls
    /// this has decided.
    ///
    /// A call that was cancelled by then, or whose session starts no more jobs or has as many running as it may, is waited
    /// for to the end of its run. Bounded as [`call`](Self::call). Dropping the future before the limit is safe and
    /// impatient: the child's process group is killed at once. Must be called within a Tokio runtime that has its timer
    /// enabled.
    pub async fn call_until(
        &self,
        call: Call,
        context: Context,
        session: &Session,
        limit: Instant,
    ) -> Limited {
        let label = call.label().to_owned();
        let reins = Reins::default();
        let caller = (context.cancel.clone(), context.urgency.clone());
        let context = Context {
            cancel: reins.cancel.clone(),
            urgency: reins.urgency.clone(),
            ..context
        };
        let (tool, request) = (self.clone(), self.request(call, context));
        let mut run: Performance = Box::pin(async move { tool.perform(request).await });
        let mut held = pin!(reins.held_by(&caller.0, &caller.1));
        tokio::select! {
            biased;
            never = &mut held => match never {},
            outcome = &mut run => return Limited::Ended(Box::new(outcome)),
            () = sleep_until(limit) => {}
        }
        if !reins.cancel.is_cancelled() {
            match handed_over(run, session, label, reins.clone()) {
                Ok(started) => return Limited::Continues(started),
                Err(back) => run = back,
            }
        }
        tokio::select! {
            biased;
            never = held => match never {},
            outcome = run => Limited::Ended(Box::new(outcome)),
        }
    }
}

/// Makes a run a job. Gives it back if there can be no job now.
fn handed_over(
    run: Performance,
    session: &Session,
    label: String,
    reins: Reins,
) -> Result<Started, Performance> {
    // Handed in only when the job is there: a run that is dropped is killed.
    let (hand_in, handed) = oneshot::channel::<Performance>();
    let (tell, outcome) = oneshot::channel();
    let job = session.start(JobKind::SUBAGENT, label, |control| async move {
        let Ok(run) = handed.await else {
            return Settlement::Killed;
        };
        let outcome = tokio::select! {
            biased;
            never = reins.held_by(&control.cancel, &control.urgency) => match never {},
            outcome = run => outcome,
        };
        let settlement = settlement::of_outcome(&outcome);
        // Nobody may be there to hear it.
        let _ = tell.send(outcome);
        settlement
    });
    match job {
        Ok(job) => hand_in
            .send(run)
            .map(|()| Started::new(presentation::of_continuation(job.id()), job, outcome)),
        Err(refused) => {
            tracing::debug!(reason = %refused, "a call that reached its limit stays in the foreground");
            Err(run)
        }
    }
}
