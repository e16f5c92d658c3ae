//! Writing the result in the presence of signals. Owns that a reader who does not read cannot hold the command for ever:
//! a signal that arrives meanwhile ends the attempt.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::error::CliError;
use crate::signals::Signals;
use crate::terminal::Terminal;

/// How long a reader may hold one of many results after a signal.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints a text to standard output. Signals that arrived before do not matter: their result is printed too.
pub(crate) async fn print(text: String, terminal: &Arc<Terminal>, signals: &Signals) -> Result<(), CliError> {
    let terminal = Arc::clone(terminal);
    let printing = tokio::task::spawn_blocking(move || terminal.print(&text));
    tokio::select! {
        biased;
        printed = printing => printed.map_err(io::Error::from).flatten().map_err(CliError::Output),
        () = signals.another() => Ok(()),
    }
}

/// What came of printing one of many results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printed {
    /// It is written.
    Whole,
    /// Nobody is left to read it.
    ReaderGone,
    /// The reader does not read, and a signal has come. Part of it may be written.
    GivenUp,
}

/// Prints one of many results. A reader may take its time, and a signal does not end the attempt at once, since there is
/// more to print after it; two seconds later, or with the next signal, it does.
pub(crate) async fn print_one_of_many(
    text: String,
    terminal: &Arc<Terminal>,
    signals: &Signals,
) -> Result<Printed, CliError> {
    let terminal = Arc::clone(terminal);
    let printing = tokio::task::spawn_blocking(move || terminal.write(&text));
    let given_up = async {
        signals.cancel().cancelled().await;
        tokio::select! {
            () = signals.another() => {}
            () = tokio::time::sleep(PATIENCE) => {}
        }
    };
    tokio::select! {
        biased;
        printed = printing => match printed.map_err(io::Error::from).flatten() {
            Ok(()) => Ok(Printed::Whole),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Printed::ReaderGone),
            Err(error) => Err(CliError::Output(error)),
        },
        () = given_up => Ok(Printed::GivenUp),
    }
}

/// Tells a text on standard error, as [`print`] does, where a text that cannot be written is dropped.
pub(crate) async fn tell(text: String, terminal: &Arc<Terminal>, signals: &Signals) {
    let terminal = Arc::clone(terminal);
    let telling = tokio::task::spawn_blocking(move || terminal.tell(&text));
    tokio::select! {
        biased;
        _ = telling => {}
        () = signals.another() => {}
    }
}
