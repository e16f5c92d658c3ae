//! Writing the result in the presence of signals. Owns that a reader who does not read cannot hold the command for ever:
//! a signal that arrives meanwhile ends the attempt.

use std::sync::Arc;

use crate::error::CliError;
use crate::signals::Signals;
use crate::terminal::Terminal;

/// Prints a text to standard output. Signals that arrived before do not matter: their result is printed too.
pub(crate) async fn print(text: String, terminal: &Arc<Terminal>, signals: &Signals) -> Result<(), CliError> {
    let terminal = Arc::clone(terminal);
    let printing = tokio::task::spawn_blocking(move || terminal.print(&text));
    tokio::select! {
        biased;
        printed = printing => printed.map_err(std::io::Error::from).flatten().map_err(CliError::Output),
        () = signals.another() => Ok(()),
    }
}

/// The same to standard error, where a text that cannot be written is dropped.
pub(crate) async fn tell(text: String, terminal: &Arc<Terminal>, signals: &Signals) {
    let terminal = Arc::clone(terminal);
    let telling = tokio::task::spawn_blocking(move || terminal.tell(&text));
    tokio::select! {
        biased;
        _ = telling => {}
        () = signals.another() => {}
    }
}
