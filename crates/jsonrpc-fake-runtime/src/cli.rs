//! The command line of the binary.
//!
//! Owns arguments, their environment counterparts, usage errors and exit codes.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, thread};

use crate::descendant::{self, Order};
use crate::runtime::{Outcome, Runtime};
use crate::scenario::{Protocol, Scenario, scenarios};
use crate::script::Script;
use crate::stdio::Stdio;

const USAGE: &str = "\
A scripted fake agent runtime, for tests of programs that drive agents over stdio JSON-RPC.

Usage:
  jsonrpc-fake-runtime --script FILE [OPTIONS] [-- IGNORED...]
  jsonrpc-fake-runtime --protocol PROTOCOL --scenario NAME [OPTIONS] [-- IGNORED...]
  jsonrpc-fake-runtime --list
  jsonrpc-fake-runtime --protocol PROTOCOL --scenario NAME --print

Options:
  --script FILE         run the script in this JSON file
  --protocol PROTOCOL   the protocol of a scenario: acp, dsh-sdk
  --scenario NAME       run this scenario
  --record FILE         append every received line to this file before acting on it
  --set NAME=VALUE      give the placeholder {NAME} this value; may be repeated
  --print               print the scenario as a script file instead of running it
  --list                list the scenarios
  --help, --version

Environment, where arguments cannot be passed (arguments win):
  FAKE_RUNTIME_SCRIPT, FAKE_RUNTIME_PROTOCOL, FAKE_RUNTIME_SCENARIO, FAKE_RUNTIME_RECORD,
  FAKE_RUNTIME_SET (lines of NAME=VALUE)

Exit codes: that of the script's `exit`; 0 when stdin ends; 2 wrong usage; 70 a step that cannot be carried out;
124 the script's lifetime is over.
";

/// Exit code of a step that cannot be carried out.
const FAILED: u8 = 70;

/// What the command line asks for.
#[derive(Debug)]
enum Command {
    Help,
    Version,
    List,
    Print(Script),
    Run { script: Script, record: Option<PathBuf> },
    Descend(Order),
}

/// Why it cannot be done.
#[derive(Debug, thiserror::Error)]
enum UsageError {
    #[error("{0}")]
    Wrong(String),
    #[error("--script `{}`", .path.display())]
    Script {
        path: PathBuf,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// The whole binary: reads arguments and environment, runs the script on the process's own streams, and returns the exit
/// code. A package that needs a fake of its own makes a binary with `fn main() -> ExitCode { jsonrpc_fake_runtime::main() }`.
pub fn main() -> ExitCode {
    let outcome = match parse(
        env::args_os()
            .skip(1)
            .map(|arg| arg.to_string_lossy().into_owned()),
        |name| env::var(name).ok(),
    ) {
        Err(error) => {
            complain(&error);
            complain_line("see `jsonrpc-fake-runtime --help`");
            return ExitCode::from(2);
        }
        Ok(Command::Help) => say(USAGE),
        Ok(Command::Version) => say(concat!("jsonrpc-fake-runtime ", env!("CARGO_PKG_VERSION"), "\n")),
        Ok(Command::List) => say(&list()),
        Ok(Command::Print(script)) => say(&script.to_json()),
        Ok(Command::Descend(order)) => order.carry_out().map(|()| Outcome::Finished).map_err(Into::into),
        Ok(Command::Run { script, record }) => run(script, record),
    };
    match outcome {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(error) => {
            complain(&*error);
            ExitCode::from(FAILED)
        }
    }
}

fn run(script: Script, record: Option<PathBuf>) -> Result<Outcome, Box<dyn Error>> {
    let lifetime = Duration::from_millis(script.lifetime_ms).saturating_add(Duration::from_secs(1));
    // The script bounds its own waits. This also ends a write to a peer that never reads.
    thread::Builder::new().spawn(move || {
        thread::sleep(lifetime);
        std::process::exit(i32::from(Outcome::LifetimeOver.exit_code()));
    })?;
    let mut runtime = Runtime::new(script).descendants_from(env::current_exe()?);
    if let Some(record) = record {
        runtime = runtime.record(record);
    }
    Ok(runtime.run(Stdio::process()?)?)
}

fn parse(
    args: impl Iterator<Item = String>,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Command, UsageError> {
    let mut args = args.take_while(|arg| arg != "--");
    let mut given: BTreeMap<String, String> = BTreeMap::new();
    let mut sets = Vec::new();
    let mut print = false;
    while let Some(arg) = args.next() {
        let mut value = || {
            args.next()
                .ok_or_else(|| UsageError::Wrong(format!("`{arg}` expects a value after it")))
        };
        match arg.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--version" | "-V" => return Ok(Command::Version),
            "--list" => return Ok(Command::List),
            "--print" => print = true,
            "--set" => sets.push(value()?),
            "--script" | "--protocol" | "--scenario" | "--record" => {
                let value = value()?;
                if given.insert(arg.clone(), value).is_some() {
                    return Err(UsageError::Wrong(format!(
                        "`{arg}` stands twice, expected it once"
                    )));
                }
            }
            descendant::FLAG => {
                return serde_json::from_str(&value()?)
                    .map(Command::Descend)
                    .map_err(|error| UsageError::Wrong(format!("`{arg}`: {error}")));
            }
            _ => return Err(UsageError::Wrong(format!("unknown argument `{arg}`"))),
        }
    }
    let from_args = given.contains_key("--script") || given.contains_key("--scenario");
    let mut option = |name: &str, variable: &str| given.remove(name).or_else(|| env(variable));
    let record = option("--record", "FAKE_RUNTIME_RECORD").map(PathBuf::from);
    let protocol = option("--protocol", "FAKE_RUNTIME_PROTOCOL");
    let (file, name) = if from_args {
        (option("--script", ""), option("--scenario", ""))
    } else {
        (env("FAKE_RUNTIME_SCRIPT"), env("FAKE_RUNTIME_SCENARIO"))
    };
    let mut script = match (file, name) {
        (Some(path), None) => load(PathBuf::from(path))?,
        (None, Some(name)) => scenario(protocol, &name)?,
        (Some(_), Some(_)) => {
            return Err(UsageError::Wrong(
                "both a script and a scenario, expected one of them".to_owned(),
            ));
        }
        (None, None) => {
            return Err(UsageError::Wrong(
                "nothing to do: expected --script, --scenario or --list".to_owned(),
            ));
        }
    };
    let inherited = env("FAKE_RUNTIME_SET").unwrap_or_default();
    for set in inherited.lines().map(str::to_owned).chain(sets) {
        let Some((name, value)) = set.split_once('=') else {
            return Err(UsageError::Wrong(format!("`--set {set}`: expected NAME=VALUE")));
        };
        script.vars.insert(name.to_owned(), value.to_owned());
    }
    Ok(if print {
        Command::Print(script)
    } else {
        Command::Run { script, record }
    })
}

fn load(path: PathBuf) -> Result<Script, UsageError> {
    Script::load(&path).map_err(|error| UsageError::Script {
        path,
        source: innermost(error),
    })
}

/// The file is named once, by the argument; what remains is what was wrong with it.
fn innermost(error: crate::script::ScriptError) -> Box<dyn Error + Send + Sync> {
    match error {
        crate::script::ScriptError::File { source, .. } => source.into(),
        error @ crate::script::ScriptError::Invalid(_) => error.into(),
    }
}

fn scenario(protocol: Option<String>, name: &str) -> Result<Script, UsageError> {
    let protocol = protocol
        .ok_or_else(|| UsageError::Wrong("a scenario needs --protocol beside it".to_owned()))?
        .parse::<Protocol>()
        .map_err(|error| UsageError::Wrong(error.to_string()))?;
    let found = scenarios(protocol)
        .into_iter()
        .find(|scenario| scenario.name() == name);
    found.map(|scenario| scenario.script()).ok_or_else(|| {
        UsageError::Wrong(format!(
            "unknown scenario `{name}` of protocol {protocol}, expected one of --list"
        ))
    })
}

fn list() -> String {
    let mut text = String::new();
    for &protocol in Protocol::ALL {
        let list = scenarios(protocol);
        let width = list
            .iter()
            .map(|scenario| scenario.name().len())
            .max()
            .unwrap_or(0);
        // Writing into a string cannot fail.
        let _ = writeln!(text, "--protocol {protocol}");
        for scenario in &list {
            let (name, about) = (Scenario::name(scenario), scenario.about());
            let _ = writeln!(text, "  {name:width$}  {about}");
        }
    }
    text
}

fn say(text: &str) -> Result<Outcome, Box<dyn Error>> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Outcome::Finished),
    }
}

fn complain(error: &dyn Error) {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    complain_line(&text);
}

fn complain_line(text: &str) {
    // A fake whose stderr is closed has nowhere else to say it.
    drop(writeln!(io::stderr(), "jsonrpc-fake-runtime: {text}"));
}

#[cfg(test)]
mod tests;
