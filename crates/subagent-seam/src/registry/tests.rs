//! Unit tests of the registry against a provider that runs nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{
    BoxFuture, Capabilities, CheckError, NO_START_CAPABILITIES, Parent, RunDriver, RunResult, closed_words,
};

closed_words! { enum Words { Acp = "ACP" } }

/// Publishes runs whose drivers the test holds; waits for its own cancellation first when `stuck`.
struct Scripted {
    name: &'static str,
    stuck: bool,
    starts: AtomicUsize,
    drivers: Arc<Mutex<Vec<RunDriver>>>,
}

impl Scripted {
    fn named(name: &'static str) -> Self {
        Self {
            name,
            stuck: false,
            starts: AtomicUsize::new(0),
            drivers: Arc::default(),
        }
    }
}

impl Provider for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn capabilities(&self) -> Capabilities {
        NO_START_CAPABILITIES
    }

    fn inherits_parent_context(&self) -> bool {
        false
    }

    fn start(&self, request: StartRequest) -> BoxFuture<'_, Result<Run, StartError>> {
        self.starts.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            if self.stuck {
                request.cancel.cancelled().await;
                return Err(StartError::aborted(Words::Acp));
            }
            let (run, driver) = Run::publish(RunId::fresh());
            self.drivers.lock().unwrap().push(driver);
            Ok(run)
        })
    }

    fn check(&self, _: StartRequest) -> BoxFuture<'_, Result<(), CheckError>> {
        Box::pin(async { Ok(()) })
    }
}

fn request() -> StartRequest {
    StartRequest::text("task", Parent::default())
}

/// Settles and ends a run the moment somebody asks for its teardown.
fn obey(driver: RunDriver) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        driver.dispose_requested().await;
        driver.settle(RunResult::new(StopReason::Aborted, Vec::new()));
        driver.finish(Ok(()));
    })
}

#[tokio::test]
async fn names_are_unique_ordered_and_free_again_after_their_guard() {
    let registry = Registry::new();
    let zeta = registry.register(Arc::new(Scripted::named("zeta"))).unwrap();
    let _alpha = registry.register(Arc::new(Scripted::named("alpha"))).unwrap();
    let refused = registry.register(Arc::new(Scripted::named("zeta"))).unwrap_err();
    assert_eq!(refused.to_string(), "a provider named zeta is already registered");
    assert_eq!(registry.names(), ["zeta", "alpha"]);
    drop(zeta);
    assert_eq!(registry.names(), ["alpha"]);
    let unknown = registry.start("zeta", request()).await.unwrap_err();
    assert_eq!(unknown.to_string(), "no provider is named zeta");
}

#[tokio::test]
async fn a_request_for_a_missing_feature_never_reaches_the_provider() {
    let registry = Registry::new();
    let provider = Arc::new(Scripted::named("acp"));
    let _guard = registry
        .register(Arc::clone(&provider) as Arc<dyn Provider>)
        .unwrap();
    let mut asking = request();
    asking.features.max_depth = Some(2);
    let error = registry.start("acp", asking).await.unwrap_err();
    assert_eq!(error.to_string(), "provider acp does not support max_depth");
    assert_eq!(provider.starts.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn observations_come_in_pairs_and_a_panicking_observer_is_contained() {
    let registry = Registry::new();
    let provider = Scripted::named("acp");
    let drivers = Arc::clone(&provider.drivers);
    let _guard = registry.register(Arc::new(provider)).unwrap();
    let (seen, mut observations) = tokio::sync::mpsc::unbounded_channel();
    registry.observe(|_| panic!("an observer that panics on purpose"));
    registry.observe(move |observation| seen.send(observation.clone()).unwrap());
    let run = registry.start("acp", request()).await.unwrap();
    let task = obey(drivers.lock().unwrap().pop().unwrap());
    run.dispose().await.unwrap();
    task.await.unwrap();
    let (id, provider) = (run.id(), "acp".to_owned());
    assert_eq!(
        observations.recv().await,
        Some(Observation::Started {
            run: id,
            provider: provider.clone()
        })
    );
    let stop_reason = StopReason::Aborted;
    assert_eq!(
        observations.recv().await,
        Some(Observation::Ended {
            run: id,
            provider,
            stop_reason
        })
    );
    registry.shutdown().await.unwrap();
    drop(registry);
}

#[tokio::test]
async fn shutdown_disposes_live_runs_and_refuses_new_ones() {
    let registry = Registry::new();
    let provider = Scripted::named("acp");
    let drivers = Arc::clone(&provider.drivers);
    let _guard = registry.register(Arc::new(provider)).unwrap();
    let kept = registry.start("acp", request()).await.unwrap();
    let dropped = registry.start("acp", request()).await.unwrap();
    drop(dropped);
    let tasks: Vec<_> = drivers.lock().unwrap().drain(..).map(obey).collect();
    registry.shutdown().await.unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(kept.result().await.stop_reason, StopReason::Aborted);
    assert!(matches!(
        registry.start("acp", request()).await,
        Err(StartError::ShutDown)
    ));
}

#[tokio::test]
async fn shutdown_cancels_a_start_and_leaves_the_callers_token_alone() {
    let registry = Registry::new();
    let provider = Arc::new(Scripted {
        stuck: true,
        ..Scripted::named("acp")
    });
    let _guard = registry
        .register(Arc::clone(&provider) as Arc<dyn Provider>)
        .unwrap();
    let asking = request();
    let cancel = asking.cancel.clone();
    let starting = tokio::spawn({
        let registry = registry.clone();
        async move { registry.start("acp", asking).await }
    });
    while provider.starts.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    registry.shutdown().await.unwrap();
    assert!(starting.await.unwrap().unwrap_err().is_clean_abort());
    assert!(!cancel.is_cancelled());
}

#[tokio::test]
async fn dropping_the_registry_disposes_what_still_runs() {
    let registry = Registry::new();
    let provider = Scripted::named("acp");
    let drivers = Arc::clone(&provider.drivers);
    let guard = registry.register(Arc::new(provider)).unwrap();
    let run = registry.start("acp", request()).await.unwrap();
    let task = obey(drivers.lock().unwrap().pop().unwrap());
    drop((guard, registry));
    task.await.unwrap();
    assert_eq!(run.result().await.stop_reason, StopReason::Aborted);
}
