//! The service that a host holds: providers by name, starts by name, and the proof at the end that no run is left.
//! Owns names, capability checks and observations; what a run does is its provider's.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{DisposeError, Provider, Run, RunId, StartError, StartRequest, StopReason, WeakRun};

/// What the registry tells its observers: each published run once when it starts and once when its result is there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Observation {
    /// A run was published.
    Started {
        /// The run.
        run: RunId,
        /// The provider's registered name.
        provider: String,
    },
    /// A run has its result.
    Ended {
        /// The run.
        run: RunId,
        /// The provider's registered name.
        provider: String,
        /// Why it ended.
        stop_reason: StopReason,
    },
}

/// Why a provider could not be registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is taken. Nothing was changed.
    #[error("a provider named {name} is already registered")]
    DuplicateName {
        /// The name.
        name: String,
    },
}

type Observer = Arc<dyn Fn(&Observation) + Send + Sync>;

/// Providers by unique name, and the runs that were started through them. Clones share one registry.
///
/// Dropping the last clone asks for the disposal of every live run and does not wait, since a drop cannot:
/// [`shutdown`](Self::shutdown) waits.
#[derive(Clone, Default)]
pub struct Registry {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    providers: Mutex<Vec<Entry>>,
    observers: Mutex<Vec<Observer>>,
    live: Mutex<HashMap<RunId, WeakRun>>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

struct Entry {
    name: String,
    provider: Arc<dyn Provider>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a provider under its name until the returned guard is dropped.
    ///
    /// # Errors
    ///
    /// The name is taken; the registry is unchanged.
    pub fn register(&self, provider: Arc<dyn Provider>) -> Result<Registration, RegistryError> {
        let name = provider.name().to_owned();
        let mut providers = lock(&self.inner.providers);
        if providers.iter().any(|entry| entry.name == name) {
            return Err(RegistryError::DuplicateName { name });
        }
        providers.push(Entry {
            name: name.clone(),
            provider,
        });
        Ok(Registration {
            registry: Arc::downgrade(&self.inner),
            name,
        })
    }

    /// The registered names, in the order of registration.
    pub fn names(&self) -> Vec<String> {
        lock(&self.inner.providers)
            .iter()
            .map(|entry| entry.name.clone())
            .collect()
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<Arc<dyn Provider>> {
        lock(&self.inner.providers)
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| Arc::clone(&entry.provider))
    }

    /// Adds an observer, called in the tasks of the runs it observes. A panic in it is contained and logged.
    pub fn observe(&self, observer: impl Fn(&Observation) + Send + Sync + 'static) {
        lock(&self.inner.observers).push(Arc::new(observer));
    }

    /// Starts a run of the provider called `name`. Must be called within a Tokio runtime.
    ///
    /// Dropping the future is safe: what had been spawned is killed.
    ///
    /// # Errors
    ///
    /// No provider has the name, the provider lacks a requested feature (it never sees such a request), the registry is
    /// shut down, or the provider's own start failed.
    pub async fn start(&self, name: &str, mut request: StartRequest) -> Result<Run, StartError> {
        let _starting = self.inner.tasks.token();
        if self.inner.stop.is_cancelled() {
            return Err(StartError::ShutDown);
        }
        let provider = self.provider(name).ok_or_else(|| StartError::UnknownProvider {
            provider: name.to_owned(),
        })?;
        if let Some(feature) = provider.capabilities().missing(&request.features) {
            return Err(StartError::Unsupported {
                provider: name.to_owned(),
                feature,
            });
        }
        // A token below the caller's: a shutdown cancels this start and nothing else that the caller does.
        let cancel = request.cancel.child_token();
        request.cancel = cancel.clone();
        let mut start = provider.start(request);
        let run = tokio::select! {
            started = &mut start => started?,
            () = self.inner.stop.cancelled() => {
                cancel.cancel();
                start.await?
            }
        };
        self.adopt(&run, name);
        Ok(run)
    }

    /// Disposes every live run, waits until each is gone, and starts no more. Idempotent. Cancel-safe in that every
    /// teardown goes on when the caller stops waiting. Bounded by the longest teardown.
    ///
    /// # Errors
    ///
    /// One for each run whose child's process tree is not proven to be gone.
    pub async fn shutdown(&self) -> Result<(), Vec<DisposeError>> {
        self.inner.stop.cancel();
        self.inner.tasks.close();
        let runs: Vec<_> = lock(&self.inner.live).values().cloned().collect();
        let mut errors = Vec::new();
        let teardowns: Vec<_> = runs
            .into_iter()
            .map(|run| tokio::spawn(async move { run.dispose().await }))
            .collect();
        for teardown in teardowns {
            if let Err(error) = teardown.await.unwrap_or(Err(DisposeError::Abandoned)) {
                errors.push(error);
            }
        }
        self.inner.tasks.wait().await;
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    /// Watches a run until it is gone, and tells the observers. The watching task holds the run weakly: it must not
    /// keep alive what its owner dropped.
    fn adopt(&self, run: &Run, provider: &str) {
        let watched = run.downgrade();
        lock(&self.inner.live).insert(run.id(), watched.clone());
        let observers: Vec<_> = lock(&self.inner.observers).clone();
        let provider = provider.to_owned();
        tell(
            &observers,
            &Observation::Started {
                run: run.id(),
                provider: provider.clone(),
            },
        );
        let registry = Arc::downgrade(&self.inner);
        let stop = self.inner.stop.clone();
        self.inner.tasks.spawn(async move {
            let ended = async {
                let stop_reason = watched.result().await.stop_reason;
                tell(
                    &observers,
                    &Observation::Ended {
                        run: watched.id(),
                        provider,
                        stop_reason,
                    },
                );
            };
            let gone = async {
                tokio::select! {
                    _ = watched.disposed() => {}
                    () = stop.cancelled() => { let _ = watched.dispose().await; }
                }
                if let Some(registry) = registry.upgrade() {
                    lock(&registry.live).remove(&watched.id());
                }
            };
            tokio::join!(ended, gone);
        });
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("providers", &self.names())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Keeps a provider registered; dropping it unregisters the provider. Runs that go on are not touched.
#[must_use = "the provider is unregistered when this guard is dropped"]
pub struct Registration {
    registry: Weak<Inner>,
    name: String,
}

impl Registration {
    /// The registered name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(registry) = self.registry.upgrade() {
            lock(&registry.providers).retain(|entry| entry.name != self.name);
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registration").field(&self.name).finish()
    }
}

fn tell(observers: &[Observer], observation: &Observation) {
    for observer in observers {
        if catch_unwind(AssertUnwindSafe(|| observer(observation))).is_err() {
            tracing::error!("a run observer panicked");
        }
    }
}

/// No lock is held across foreign code, so a poisoned one still guards a consistent value.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
