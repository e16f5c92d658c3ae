//! The configuration loader. Owns the property that any text has an answer, and that an answer gives nothing away.
//!
//! Input: the text of a file. Nearly every variable of the host has a value, so that whatever the text refers to is there.

use std::ffi::OsString;

use subagent_config::{Config, ConfigErrors, HostContext, load_str};

/// The value of most variables of the host. It is no number and no path, and stands in no file.
const SECRET: &str = "sesame-7c0f-opens";

/// The keys whose values name something.
const SHOWN: &[&str] = &["id", "name", "providerName", "provider", "toolName", "cwd"];

/// What a text came to.
#[derive(Debug, PartialEq, Eq)]
pub enum Loaded {
    /// It is no text.
    NotUtf8,
    /// A configuration with so many providers.
    Providers(usize),
    /// So many errors.
    Errors(usize),
}

/// Checks what the loader makes of a text.
pub fn check(input: &[u8]) -> Loaded {
    let Ok(text) = std::str::from_utf8(input) else {
        return Loaded::NotUtf8;
    };
    let host = HostContext::new("/", variable);
    let loaded = load_str(text, "subagents.yml", &host);
    assert_eq!(
        format!("{loaded:?}"),
        format!("{:?}", load_str(text, "subagents.yml", &host)),
        "the same text has another answer"
    );
    match loaded {
        Ok(config) => Loaded::Providers(accepted(&config)),
        Err(errors) => Loaded::Errors(refused(text, &errors)),
    }
}

/// The host's environment: all that a text can name, with a few exceptions that keep it worth naming.
fn variable(name: &str) -> Option<OsString> {
    let value = match name {
        "UNSET" => return None,
        "IDLE_MS" => "250",
        _ => SECRET,
    };
    Some(value.into())
}

fn accepted(config: &Config) -> usize {
    let names: std::collections::BTreeSet<_> = config.tools().iter().map(|tool| &tool.tool_name).collect();
    assert_eq!(names.len(), config.tools().len(), "two tools have one name");
    config.providers().len()
}

fn refused(text: &str, errors: &ConfigErrors) -> usize {
    // YAML breaks a line at each of these.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<_> = text.split('\n').collect();
    let shown = errors.to_string();
    assert!(
        !shown.contains(|char: char| char.is_control() && char != '\n'),
        "a control character of the file is shown: {shown:?}"
    );
    for error in errors {
        assert_eq!(
            error.to_string().lines().count(),
            1,
            "an error of several lines: {error}"
        );
        // Names and directories are shown, wherever they came from: without them nobody could tell what is meant.
        let is_shown = |key: &str| SHOWN.contains(&key);
        let told = format!("{:?} {:?}", error.problem, error.hint);
        assert!(
            error.place.key.as_deref().is_some_and(is_shown)
                || text.contains("sesame")
                || !told.contains(SECRET),
            "the value of a variable is in an error: {error:?}"
        );
        let Some(at) = error.place.position else { continue };
        let line = lines.get(at.line.wrapping_sub(1));
        let most = line.map(|line| line.chars().count() + 1);
        assert!(
            most.is_some_and(|most| (1..=most).contains(&at.column)),
            "{at:?} is no place in the text: {error}"
        );
    }
    // Each value of a text can be wrong in a few ways at most.
    let count = errors.iter().count();
    assert!((1..=1000 + 4 * text.len()).contains(&count), "{count} errors");
    count
}
