//! Why a request about background jobs is refused. Owns the texts, which a model may read whole.

/// Why a job could not be started or is not shown. Its `Display` is what the model reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// No job has this id: there never was one, or it finished so long ago that it is no longer kept.
    #[error("unknown job {id}")]
    Unknown {
        /// The id, as it was asked for.
        id: String,
    },
    /// The job is another session's.
    #[error("job {id} belongs to another session")]
    Foreign {
        /// The job.
        id: String,
    },
    /// The session has as many unfinished jobs as it may have.
    #[error(
        "background job limit of {limit} reached; wait for a running job with job_output or stop one with job_kill"
    )]
    AtCapacity {
        /// How many jobs of one session may be unfinished at a time.
        limit: usize,
    },
    /// The session has ended.
    #[error("the session has ended and starts no more background jobs")]
    SessionEnded,
    /// The table is shut down.
    #[error("the host is shutting down and starts no more background jobs")]
    ShutDown,
}
