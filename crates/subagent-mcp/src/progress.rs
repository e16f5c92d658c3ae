//! How far a call is, told to a client that asked for it. Owns the rhythm; what is said comes from the call.

use std::pin::pin;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// When the first progress is told: early enough to be there within two seconds on a busy host.
const FIRST: Duration = Duration::from_secs(1);

/// How often it is told from then on.
const EVERY: Duration = Duration::from_secs(2);

/// Waits for `work`, and meanwhile tells the client how far it is, if it gave a token for that. Cancel-safe as `work` is.
///
/// A client that does not read delays what it is told and never the work; at most one message of a call waits for it.
pub(crate) async fn told<T>(
    peer: &Peer<RoleServer>,
    token: Option<ProgressToken>,
    message: impl Fn() -> String,
    work: impl Future<Output = T>,
) -> T {
    let Some(token) = token else { return work.await };
    let telling = async {
        let begun = Instant::now();
        let mut ticks = interval_at(begun + FIRST, EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let progress = ProgressNotificationParam::new(token.clone(), begun.elapsed().as_secs_f64())
                .with_message(message());
            if peer.notify_progress(progress).await.is_err() {
                break;
            }
        }
        // The connection is gone; the call ends with it.
        std::future::pending().await
    };
    let mut work = pin!(work);
    tokio::select! {
        biased;
        done = &mut work => done,
        never = telling => never,
    }
}
