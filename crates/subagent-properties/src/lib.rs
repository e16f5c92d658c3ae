//! What must hold for every input: the properties that the fuzz targets and the property tests check, written once.
//!
//! A property is a function of bytes. It panics when it does not hold, and returns what it saw, so that a test can tell
//! that an input got as deep as it was meant to. None of them reads a clock, starts a process or touches a file that the
//! input does not name.
//!
//! ```
//! let seen = subagent_properties::frames::check(b"0000{\"method\":\"hello\"}\nnoise\n");
//! assert_eq!((seen.frames, seen.ignored), (1, 1));
//! ```

pub mod acp;
pub mod configuration;
pub mod diagnostic;
pub mod dsh_sdk;
pub mod frames;
pub mod run;
pub mod words;
