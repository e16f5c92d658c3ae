//! The task itself: from the command line or from standard input. Owns the rules for what counts as one.

use std::io::{self, Read as _};

use tokio_util::sync::CancellationToken;

use crate::error::CliError;
use crate::thread;

/// The longest prompt on standard input, in bytes: a stream without an end must not fill the memory.
pub(crate) const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The prompt that stands in the argument, or on standard input if that is `-`. It is passed on as it is.
///
/// `None` when `cancel` came first; nothing waits for standard input any longer then.
pub(crate) async fn read(argument: String, cancel: &CancellationToken) -> Result<Option<String>, CliError> {
    if argument != "-" {
        return judge(argument.into_bytes()).map(Some);
    }
    let reading = thread::start(|| {
        let mut bytes = Vec::new();
        let mut stdin = io::stdin().lock().take(MAX_BYTES as u64 + 1);
        stdin.read_to_end(&mut bytes).map(|_| bytes)
    })
    .map_err(|(error, _)| CliError::Stdin(error))?;
    tokio::select! {
        () = cancel.cancelled() => Ok(None),
        read = reading.done() => {
            let bytes = read.flatten().map_err(CliError::Stdin)?;
            if bytes.len() > MAX_BYTES {
                return Err(CliError::PromptTooLong { limit: MAX_BYTES });
            }
            judge(bytes).map(Some)
        }
    }
}

fn judge(bytes: Vec<u8>) -> Result<String, CliError> {
    let text = String::from_utf8(bytes).map_err(CliError::PromptNotUtf8)?;
    if text.trim().is_empty() {
        return Err(CliError::EmptyPrompt);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_text_that_is_not_blank_and_stays_as_it_is() {
        assert_eq!(judge(b" a task\n".to_vec()).unwrap(), " a task\n");
        for blank in ["", " \n\t"] {
            assert_eq!(
                judge(blank.into()).unwrap_err().to_string(),
                "the prompt is empty"
            );
        }
        assert_eq!(
            judge(vec![b'a', 0xff]).unwrap_err().to_string(),
            "the prompt on stdin is not valid UTF-8"
        );
    }
}
