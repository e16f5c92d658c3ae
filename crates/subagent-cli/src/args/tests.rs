//! What the grammar takes and what it refuses.

use clap::CommandFactory as _;
use clap::error::ErrorKind;

use super::*;

fn run(args: &[&str]) -> Result<RunArgs, ErrorKind> {
    let args = Args::try_parse_from(["subagent", "run"].iter().chain(args)).map_err(|error| error.kind())?;
    match args.command {
        Command::Run(run) => Ok(run),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_grammar_is_consistent() {
    Args::command().debug_assert();
}

#[test]
fn one_source_excludes_the_others() {
    assert_eq!(
        run(&["--config", "f", "--demo", "p"]).unwrap_err(),
        ErrorKind::ArgumentConflict
    );
    assert_eq!(
        run(&["--config", "f", "--acp", "a", "p"]).unwrap_err(),
        ErrorKind::ArgumentConflict
    );
    assert_eq!(
        run(&["--acp", "a", "--demo", "p"]).unwrap_err(),
        ErrorKind::ArgumentConflict
    );
    for other in [
        &["--config", "f"][..],
        &["--acp", "a"],
        &["--demo"],
        &["--acp", "a", "--permission", "allow"],
    ] {
        let args = [&["--dsh-sdk", "r", "p"], other].concat();
        assert_eq!(run(&args).unwrap_err(), ErrorKind::ArgumentConflict, "{other:?}");
    }
    assert!(run(&["p"]).is_ok());
}

#[test]
fn a_permission_needs_an_agent_of_the_command_line() {
    let alone = run(&["--permission", "allow", "p"]).unwrap_err();
    assert_eq!(alone, ErrorKind::MissingRequiredArgument);
    let with_demo = run(&["--permission", "allow", "--demo", "p"]).unwrap_err();
    assert_eq!(with_demo, ErrorKind::ArgumentConflict);
    let with_runtime = run(&["--permission", "allow", "--dsh-sdk", "r", "p"]).unwrap_err();
    assert_eq!(with_runtime, ErrorKind::ArgumentConflict);
    let args = run(&["--acp", "a", "--permission", "decline", "p"]).unwrap();
    assert_eq!(
        args.permission.map(PermissionPolicy::from),
        Some(PermissionPolicy::Decline)
    );
    assert_eq!(
        run(&["--acp", "a", "--permission", "ask", "p"]).unwrap_err(),
        ErrorKind::InvalidValue
    );
}

#[test]
fn a_dash_is_a_prompt_and_no_prompt_is_an_error() {
    assert_eq!(run(&["-"]).unwrap().prompt.as_deref(), Some("-"));
    assert_eq!(run(&["--", "--demo"]).unwrap().prompt.as_deref(), Some("--demo"));
    assert_eq!(run(&["--demo"]).unwrap_err(), ErrorKind::MissingRequiredArgument);
}

#[test]
fn what_is_not_given_has_its_default() {
    let args = run(&["p"]).unwrap();
    assert_eq!((args.format, args.timeout, args.permission), (None, None, None));
    let args = run(&["--timeout", "2m", "--format", "json", "p"]).unwrap();
    assert_eq!(
        (args.format, args.timeout),
        (Some(Format::Json), Some(Duration::from_mins(2)))
    );
    assert_eq!(
        run(&["--timeout", "soon", "p"]).unwrap_err(),
        ErrorKind::ValueValidation
    );
}

#[test]
fn logging_options_stand_anywhere() {
    for args in [["--log", "info", "schema"], ["schema", "--log", "info"]] {
        let args = Args::try_parse_from(std::iter::once("subagent").chain(args)).unwrap();
        assert_eq!(args.log.as_deref(), Some("info"));
    }
}

#[test]
fn many_tasks_need_no_prompt_and_have_a_number() {
    let args = run(&["--jobs", "8"]).unwrap();
    assert_eq!((args.jobs, args.prompt), (Some(8), None));
    let args = run(&["--jobs", "1", "prompts.txt"]).unwrap();
    assert_eq!(
        (args.jobs, args.prompt.as_deref()),
        (Some(1), Some("prompts.txt"))
    );
    for number in ["0", "-1", "many", "65536"] {
        assert!(run(&["--jobs", number]).is_err(), "{number}");
    }
    let both = run(&["--jobs", "8", "--background"]).unwrap_err();
    assert_eq!(both, ErrorKind::ArgumentConflict);
}

#[test]
fn the_limit_of_delegations_has_a_default() {
    assert_eq!(run(&["p"]).unwrap().recursion.max_depth, 3);
    let args = run(&["--max-depth", "0", "p"]).unwrap();
    assert_eq!(args.recursion.max_depth, 0);
    assert!(run(&["--max-depth", "-1", "p"]).is_err());
}
