//! Background jobs: work that goes on after the call that started it. Owns the table, its sessions and the three tools
//! over them; what a job does is its producer's, and a delegated run is one producer among others.
//!
//! A host makes one [`JobTable`] and opens a [`Session`] for each party that may own jobs. Work is handed to
//! [`Session::start`] as a closure; it gets a [`JobControl`] and returns a [`Settlement`]. The owner follows its jobs
//! through the tools ([`Session::output`], [`Session::list`], [`Session::kill`]), whose texts are made here and nowhere
//! else, and through [`Notice`]s.
//!
//! A job outlives the call that started it. It does not outlive its session, nor the table: both kill what is left and
//! wait until it is gone. Nothing survives the process: after a restart every id is unknown.
//!
//! ```
//! use subagent_tool::jobs::{JobKind, JobOptions, JobTable, Settlement, Wait};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), subagent_tool::jobs::JobError> {
//! const INDEX: JobKind = JobKind::new("index");
//!
//! let table = JobTable::new(JobOptions::default());
//! let session = table.session();
//! let job = session.start(INDEX, "Index the docs", |control| async move {
//!     tokio::select! {
//!         () = control.cancel.cancelled() => Settlement::Killed,
//!         () = std::future::ready(()) => Settlement::Completed { output: "12 pages".into() },
//!     }
//! })?;
//! let reading = session.output(job.id().as_str(), Wait::Default).await?;
//! assert_eq!(reading.text, "12 pages\n[status: completed]");
//! session.end().await;
//! # Ok(()) }
//! ```

mod description;
mod error;
mod job;
mod ledger;
mod notice;
mod options;
mod outcome;
mod record;
mod retention;
mod session;
mod table;
mod tools;

pub use description::{JOB_KILL, JOB_LIST, JOB_OUTPUT, descriptions};
pub use error::JobError;
pub use job::{Job, JobControl, JobId, JobKind, JobSnapshot, MAX_LABEL_CHARS};
pub use notice::Notice;
pub use options::JobOptions;
pub use outcome::{JobStatus, MAX_DETAIL_BYTES, Settlement};
pub use session::Session;
pub use table::JobTable;
pub(crate) use table::follow;
pub use tools::{JobKill, JobList, JobOutput, KillOutcome, Wait};
