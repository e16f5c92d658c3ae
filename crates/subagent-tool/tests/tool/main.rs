//! The tool and its jobs from outside, against providers and work that run no process.

mod background;
mod continuation;
mod foreground;
mod job_races;
mod job_tools;
mod jobs;
mod support;
