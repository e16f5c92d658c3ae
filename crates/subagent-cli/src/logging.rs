//! Logs on standard error. Owns the filter, its default and the two formats; what is logged is said where it happens.

use std::env::{self, VarError};
use std::io;
use std::sync::Arc;

use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;
use crate::terminal::Terminal;

/// The variable that stands in for `--log`.
const VARIABLE: &str = "SUBAGENT_LOG";

/// What is logged when nobody asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Defaults {
    /// Warnings on a terminal, nothing elsewhere.
    Usual,
    /// The same without the raw failures of children, for a command that reports them itself.
    WithoutFailures,
}

/// Why a filter was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilterError {
    /// It does not parse.
    #[error("{origin}: {filter:?} is not a log filter, expected for example warn or subagent_acp=debug")]
    Invalid {
        /// Where the filter stands.
        origin: &'static str,
        /// The filter.
        filter: String,
    },
    /// The variable is not text.
    #[error("{VARIABLE} is not valid UTF-8")]
    NotUtf8,
}

/// Starts logging, once for the process. A subscriber that the process already has stays.
pub(crate) fn start(
    option: Option<&str>,
    format: LogFormat,
    defaults: Defaults,
    terminal: &Arc<Terminal>,
) -> Result<(), FilterError> {
    let variable = match env::var(VARIABLE) {
        Ok(value) => Some(value),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(_)) if option.is_some() => None,
        Err(VarError::NotUnicode(_)) => return Err(FilterError::NotUtf8),
    };
    let Some(filter) = filter(
        option,
        variable.as_deref(),
        defaults,
        terminal.stderr_is_terminal(),
    )?
    else {
        return Ok(());
    };
    let terminal = Arc::clone(terminal);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // Colours would be escaped with the rest.
        .with_ansi(false)
        .with_writer(move || Lines(Arc::clone(&terminal)));
    // Failing means that the process has a subscriber already, which then takes the events.
    drop(match format {
        LogFormat::Text => tracing::subscriber::set_global_default(subscriber.finish()),
        LogFormat::Json => tracing::subscriber::set_global_default(subscriber.json().finish()),
    });
    Ok(())
}

/// The filter to log by, `None` for no log at all.
fn filter(
    option: Option<&str>,
    variable: Option<&str>,
    defaults: Defaults,
    on_terminal: bool,
) -> Result<Option<EnvFilter>, FilterError> {
    let asked = option
        .map(|filter| ("--log", filter))
        .or(variable.map(|filter| (VARIABLE, filter)))
        .filter(|(_, filter)| !filter.trim().is_empty());
    let (origin, filter) = match (asked, defaults) {
        (Some(asked), _) => asked,
        (None, _) if !on_terminal => return Ok(None),
        (None, Defaults::Usual) => ("default", "warn"),
        (None, Defaults::WithoutFailures) => ("default", "warn,subagent_seam::host=off"),
    };
    match EnvFilter::try_new(filter) {
        Ok(filter) => Ok(Some(filter)),
        // What the parser says repeats itself and names neither the place nor the part.
        Err(_) => Err(FilterError::Invalid {
            origin,
            filter: filter.to_owned(),
        }),
    }
}

/// Takes each event as one write, as the formatter makes them.
struct Lines(Arc<Terminal>);

impl io::Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        self.0.log(&String::from_utf8_lossy(event));
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(option: Option<&str>, variable: Option<&str>, on_terminal: bool) -> Option<String> {
        filter(option, variable, Defaults::Usual, on_terminal)
            .unwrap()
            .map(|filter| filter.to_string())
    }

    #[test]
    fn the_option_wins_over_the_variable_and_both_over_the_default() {
        assert_eq!(chosen(None, None, true).as_deref(), Some("warn"));
        assert_eq!(chosen(None, None, false), None);
        assert_eq!(chosen(None, Some("info"), false).as_deref(), Some("info"));
        assert_eq!(
            chosen(Some("debug"), Some("info"), true).as_deref(),
            Some("debug")
        );
        assert_eq!(chosen(None, Some(""), false), None);
    }

    #[test]
    fn a_bad_filter_names_where_it_stands() {
        let error = filter(Some("a=loud"), None, Defaults::Usual, false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--log: \"a=loud\" is not a log filter, expected for example warn or subagent_acp=debug"
        );
    }

    #[test]
    fn a_command_that_reports_failures_itself_does_not_log_them_too() {
        let filter = filter(None, None, Defaults::WithoutFailures, true)
            .unwrap()
            .unwrap();
        assert_eq!(filter.to_string(), "subagent_seam::host=off,warn");
    }
}
