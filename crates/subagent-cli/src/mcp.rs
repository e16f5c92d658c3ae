//! `subagent mcp`: the tools for a client on stdin and stdout. Owns what the process adds to the server: its streams, its
//! signals and its exit code.

use subagent_mcp::{Server, ServerOptions};
use subagent_seam::HostReporter;

use crate::args::McpArgs;
use crate::depth::Depth;
use crate::error::CliError;
use crate::exit::Exit;
use crate::signals::Signals;
use crate::{deployment, reader, run, thread};

/// For stdin, for stdout, and one that is not taken by either.
const POOL_THREADS: usize = 3;

/// Serves one client until it closes its side, it is gone, or a signal arrives.
pub(crate) async fn mcp(args: McpArgs) -> Result<Exit, CliError> {
    // Not refused here: a client learns more from the answer to a call than from a server that does not start.
    let depth = Depth::of_process()?;
    let config = deployment::from_file(args.config.as_deref())?;
    let deployment = deployment::deploy(config, None, &HostReporter::default())?;
    if deployment.tools().is_empty() {
        return Err(CliError::NoTool);
    }
    // Not earlier: reading a file may block, in a pipe for ever, and a signal ends the process there and then.
    let signals = Signals::listen()?;
    let mut options = ServerOptions::default();
    options.cwd = run::session_cwd(args.cwd.as_deref());
    options.urgency = signals.urgency();
    options.depth = depth.get();
    options.max_depth = Some(args.recursion.max_depth);
    let server = Server::of(&deployment, options)?;

    thread::reserve(POOL_THREADS).map_err(|source| CliError::System {
        what: "the threads for stdin and stdout could not be started",
        source,
    })?;
    let stop = reader::gone_or(&signals.cancel());
    let outcome = server.serve(tokio::io::stdin(), tokio::io::stdout(), stop).await;
    server.shutdown().await;
    match signals.first() {
        Some(signal) => Ok(Exit::Stopped(signal)),
        None => Ok(outcome.map(|()| Exit::Success)?),
    }
}
