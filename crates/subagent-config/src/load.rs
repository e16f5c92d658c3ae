//! From a file to a checked configuration. Owns the reading of the file and the list of entries.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::check;
use crate::config::Config;
use crate::entry;
use crate::error::{ConfigError, ConfigErrors, Place, Position};
use crate::host::HostContext;
use crate::problem::Problem;
use crate::tree::{self, MAX_BYTES, Node, Value};

/// Reads and checks a configuration file. A relative `path` starts from the host's launch directory.
///
/// # Errors
///
/// The file cannot be read, or something in it is wrong. Whatever can be found in one go is reported in one go; only
/// text that is not YAML at all ends the search at its first fault.
pub fn load_file(path: impl AsRef<Path>, host: &HostContext) -> Result<Config, ConfigErrors> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let bytes = match read(&host.launch_dir().join(path)) {
        Ok(bytes) if bytes.len() > MAX_BYTES => {
            return Err(whole(&name, None, Problem::TooLong { limit: MAX_BYTES }, None));
        }
        Ok(bytes) => bytes,
        Err(error) => {
            let reason = error.to_string();
            return Err(whole(&name, None, Problem::Unreadable { reason }, None));
        }
    };
    match std::str::from_utf8(&bytes) {
        Ok(text) => load_str(text, &name, host),
        Err(error) => {
            let at = end_of(&bytes[..error.valid_up_to()]);
            Err(whole(&name, Some(at), Problem::NotUtf8, None))
        }
    }
}

/// Reads and checks the text of a configuration file; errors call the file `name`.
///
/// # Errors
///
/// Something in it is wrong, as for [`load_file`].
pub fn load_str(text: &str, name: &str, host: &HostContext) -> Result<Config, ConfigErrors> {
    if text.len() > MAX_BYTES {
        return Err(whole(name, None, Problem::TooLong { limit: MAX_BYTES }, None));
    }
    let document =
        tree::parse(text).map_err(|fatal| whole(name, Some(fatal.at), fatal.problem, fatal.hint))?;
    let nodes = list(document).map_err(|(at, problem, hint)| whole(name, Some(at), problem, hint))?;
    let mut errors = Vec::new();
    let mut entries = Vec::new();
    for (index, node) in nodes.into_iter().enumerate() {
        let (entry, found) = entry::read(index, node, name, host);
        errors.extend(found);
        entries.push(entry);
    }
    let (config, found) = check::together(entries);
    errors.extend(found);
    match ConfigErrors::of(errors) {
        Some(errors) => Err(errors),
        None => Ok(config),
    }
}

/// The whole file, or one byte more than it may have.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

type Misfit = (Position, Problem, Option<&'static str>);

/// The entries of a document.
fn list(document: Node) -> Result<Vec<Node>, Misfit> {
    let hint = "begin each entry with a dash: - name: subagent-acp";
    match document.value {
        Value::List(nodes) => Ok(nodes),
        Value::Refused(problem, hint) => Err((document.at, problem, hint)),
        other => {
            let problem = Problem::WrongType {
                expected: "a list of entries".to_owned(),
                found: other.type_name(),
            };
            Err((document.at, problem, Some(hint)))
        }
    }
}

/// An error that is about no entry.
fn whole(name: &str, at: Option<Position>, problem: Problem, hint: Option<&str>) -> ConfigErrors {
    ConfigErrors::from(ConfigError {
        place: Place {
            file: Some(name.to_owned()),
            position: at,
            entry: None,
            key: None,
        },
        problem,
        hint: hint.map(str::to_owned),
    })
}

/// The position right after `bytes`, which are valid UTF-8.
fn end_of(bytes: &[u8]) -> Position {
    let text = String::from_utf8_lossy(bytes);
    let last = text.rsplit('\n').next().unwrap_or_default();
    Position {
        line: text.matches('\n').count() + 1,
        column: last.chars().count() + 1,
    }
}
