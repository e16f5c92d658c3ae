//! A host whose agents are supervised by its own executable: it delegates one task to an ACP agent and prints the answer.
//! Owns nothing but the order of the two lines that make it so.
//!
//! `supervised_host EOF_GRACE_MS GRACE_MS COMMAND ARG…`

use std::process::ExitCode;
use std::time::Duration;

use subagent_acp::{AcpConfig, AcpProvider, Supervision, supervisor};
use subagent_seam::{HostReporter, Parent, Provider as _, StartRequest, text_of};

fn main() -> ExitCode {
    // First of all: this process may be the supervisor of an agent of another one.
    supervisor::enter_if_started_as_one();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(delegate()))
    {
        Ok(answer) => {
            #[expect(clippy::print_stdout, reason = "the answer is what this program is for")]
            {
                println!("{answer}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "and this is why there is none")]
            {
                eprintln!("{error}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn delegate() -> Result<String, Box<dyn std::error::Error>> {
    let mut args = std::env::args_os().skip(1);
    let mut window = || -> Result<Duration, Box<dyn std::error::Error>> {
        let window = args.next().ok_or("expected EOF_GRACE_MS GRACE_MS COMMAND ARG…")?;
        let millis = window.to_str().ok_or("expected milliseconds")?.parse()?;
        Ok(Duration::from_millis(millis))
    };
    let (eof_grace, grace) = (window()?, window()?);
    let mut config = AcpConfig::new(args.next().ok_or("expected a command")?);
    config.args = args.collect();
    config.supervision = Supervision::OwnExecutable;
    config.dispose_eof_grace = eof_grace;
    config.dispose_grace = grace;
    let provider = AcpProvider::new(config, HostReporter::default())?;
    let parent = Parent {
        session_id: "example".to_owned(),
        cwd: Some(std::env::current_dir()?),
        depth: 0,
    };
    let run = provider.start(StartRequest::text("do it", parent)).await?;
    let result = run.result().await;
    run.dispose().await?;
    Ok(text_of(&result.output))
}
