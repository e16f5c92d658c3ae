//! Writing the result in the presence of signals. Owns that a reader who does not read cannot hold the command for ever:
//! a signal that arrives meanwhile ends the attempt.
//!
//! A system without a thread to spare gets the text all the same: it is then written on the one thread that is there,
//! where signals wait for the reader.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::error::CliError;
use crate::signals::Signals;
use crate::terminal::Terminal;
use crate::thread;

/// How long a reader may hold one of many results after a signal.
const PATIENCE: Duration = Duration::from_secs(2);

/// Prints a text to standard output. Signals that arrived before do not matter: their result is printed too.
pub(crate) async fn print(text: String, terminal: &Arc<Terminal>, signals: &Signals) -> Result<(), CliError> {
    let terminal = Arc::clone(terminal);
    let printing = match thread::start(move || terminal.print(&text)) {
        Ok(printing) => printing,
        Err((_, print)) => return print().map_err(CliError::Output),
    };
    tokio::select! {
        biased;
        printed = printing.done() => printed.flatten().map_err(CliError::Output),
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
    let printing = match thread::start(move || terminal.write(&text)) {
        Ok(printing) => printing,
        Err((_, print)) => return printed(print()),
    };
    let given_up = async {
        signals.cancel().cancelled().await;
        tokio::select! {
            () = signals.another() => {}
            () = tokio::time::sleep(PATIENCE) => {}
        }
    };
    tokio::select! {
        biased;
        done = printing.done() => printed(done.flatten()),
        () = given_up => Ok(Printed::GivenUp),
    }
}

fn printed(outcome: io::Result<()>) -> Result<Printed, CliError> {
    match outcome {
        Ok(()) => Ok(Printed::Whole),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Printed::ReaderGone),
        Err(error) => Err(CliError::Output(error)),
    }
}

/// Tells a text on standard error, as [`print`] does, where a text that cannot be written is dropped.
pub(crate) async fn tell(text: String, terminal: &Arc<Terminal>, signals: &Signals) {
    let terminal = Arc::clone(terminal);
    let telling = match thread::start(move || terminal.tell(&text)) {
        Ok(telling) => telling,
        Err((_, tell)) => return tell(),
    };
    tokio::select! {
        biased;
        _ = telling.done() => {}
        () = signals.another() => {}
    }
}
