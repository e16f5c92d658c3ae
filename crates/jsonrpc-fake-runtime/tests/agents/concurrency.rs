//! Many runs at once: each gets its own text, diagnostic, decision and raw cause, and nothing of any other.

mod heavy {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use jsonrpc_fake_runtime::acp::AcpSteps as _;
    use jsonrpc_fake_runtime::{Prepared, Script, Step};
    use serde_json::json;
    use subagent_acp::{AcpConfig, AcpProvider, PermissionPolicy};
    use subagent_seam::{Chain, HostReport, HostReporter, Parent, Registry};
    use subagent_tool::{Call, Context, SubagentTool, ToolOptions};

    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;

    use crate::support::{FakeAgent, SOON, eventually, fake_program};

    const RUNS: usize = 50;

    const KINDS: [&str; 7] = ["read", "edit", "delete", "move", "search", "execute", "fetch"];

    /// Raw causes by run, as the host hears of them.
    type Causes = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

    /// What run `index` does once all of them are under way.
    fn finish(script: Script, index: usize) -> Script {
        match index % 7 {
            0 => script.end_turn(),
            1 => script.stop("max_tokens"),
            2 => script.stop("refusal"),
            3 => script.stop("max_turn_requests"),
            4 => script.exit(100 + u8::try_from(index).unwrap()),
            5 => script.frame(json!({"jsonrpc": "2.0", "id": "{session/prompt#/id}",
                "error": {"code": -32603, "message": format!("cause {index}")}})),
            _ => script.stop(&format!("cause {index}")),
        }
    }

    /// What its parent must read.
    fn expected(index: usize, policy: PermissionPolicy) -> String {
        let failure = |rest: &str| format!("Subagent failure (provider: ACP; {rest})\n");
        let (headline, failure) = match index % 7 {
            0 => return format!("this is run {index}"),
            1 => ("subagent run hit its token limit before finishing", String::new()),
            2 => ("subagent declined the task", String::new()),
            3 => (
                FAILED,
                failure("stage: prompt; category: remote-limit; stop reason: max_turn_requests"),
            ),
            4 => (
                FAILED,
                failure(&format!(
                    "stage: process; category: process-exit; exit code: {}",
                    100 + index
                )),
            ),
            5 => (FAILED, failure("stage: prompt; category: transport")),
            _ => (
                FAILED,
                failure("stage: prompt; category: unknown; stop reason: unknown"),
            ),
        };
        let (policy, decision) = match policy {
            PermissionPolicy::Reject => ("reject", "denied"),
            PermissionPolicy::Decline => ("decline", "denied"),
            PermissionPolicy::Allow => ("allow", "allowed"),
        };
        let kind = KINDS[index % KINDS.len()];
        format!(
            "Error: {headline}\nDiagnostic: {failure}ACP unattended decision (policy: {policy}; request: {kind}; decision: \
             {decision})\nPartial output before the run ended:\nthis is run {index}"
        )
    }

    const FAILED: &str = "subagent run failed";

    /// One provider for all runs of a policy: what its children do is decided by the session's directory.
    fn provider(policy: PermissionPolicy, causes: &Causes) -> AcpProvider {
        let mut config = AcpConfig::new(fake_program());
        config.provider_name = format!("{policy:?}");
        config.args = ["--script", "script.json", "--record", "record.jsonl"]
            .map(Into::into)
            .to_vec();
        config.permission = policy;
        let causes = Arc::clone(causes);
        let observer = move |report: &HostReport<'_>| {
            let run = report.run.map(|run| run.to_string()).unwrap_or_default();
            let cause = Chain(report.error).to_string();
            causes.lock().unwrap().entry(run).or_default().push(cause);
        };
        AcpProvider::new(config, HostReporter::observed_by(Arc::new(observer))).unwrap()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn fifty_runs_at_once_get_their_own_and_nothing_of_each_other() {
        let (registry, causes) = (Registry::new(), Causes::default());
        let policies = [
            PermissionPolicy::Reject,
            PermissionPolicy::Decline,
            PermissionPolicy::Allow,
        ];
        let _registered =
            policies.map(|policy| registry.register(Arc::new(provider(policy, &causes))).unwrap());

        // Nobody ends before everybody has begun.
        let gate = Prepared::in_temp_dir(&Script::new()).unwrap();
        let go = gate.dir().join("go");
        let mut running = Vec::new();
        for index in 0..RUNS {
            let policy = policies[index % policies.len()];
            let script = Script::acp()
                .var("sessionId", format!("session of run {index}"))
                .prompted()
                .chunk("this is ")
                .ask_permission(
                    "ask",
                    KINDS[index % KINDS.len()],
                    &[("yes", "allow_once"), ("no", "reject_once")],
                )
                .expect_answer("ask")
                .chunk(&format!("run {index}"))
                .touch("begun")
                .wait_for_file(go.to_str().unwrap())
                .then(|script| finish(script, index));
            let prepared = Prepared::in_temp_dir(&script).unwrap();
            let parent = Parent {
                session_id: "parent".to_owned(),
                cwd: Some(prepared.dir().to_owned()),
                depth: 0,
            };
            let tool = SubagentTool::new(registry.clone(), ToolOptions::new(format!("{policy:?}"))).unwrap();
            let call = Call::new("test task", format!("task {index}"));
            let context = Context {
                parent,
                ..Context::default()
            };
            let outcome = tokio::spawn(async move { tool.call(call, context).await });
            running.push((policy, prepared, outcome));
        }
        eventually("all runs have begun", || {
            running
                .iter()
                .all(|(_, prepared, _)| prepared.dir().join("begun").exists())
        })
        .await;
        std::fs::write(&go, "").unwrap();

        for (index, (policy, prepared, outcome)) in running.into_iter().enumerate() {
            let outcome = outcome.await.unwrap();
            assert_eq!(outcome.text, expected(index, policy), "run {index}");
            assert_eq!(outcome.is_error, index % 7 != 0, "run {index}");

            let received = prepared.recording().frames().unwrap();
            let of = |method: &str| {
                received.iter().find(|frame| frame["method"] == method).unwrap()["params"].clone()
            };
            assert_eq!(of("session/new")["cwd"], prepared.dir().to_str().unwrap());
            assert_eq!(
                of("session/prompt"),
                json!({"sessionId": format!("session of run {index}"),
                    "prompt": [{"type": "text", "text": format!("task {index}")}]})
            );

            let causes = causes
                .lock()
                .unwrap()
                .remove(&outcome.run.unwrap().to_string())
                .unwrap_or_default();
            match index % 7 {
                0..=2 => assert!(causes.is_empty(), "run {index}: {causes:?}"),
                3 => assert_eq!(causes, ["the agent reached its limit of turn requests"]),
                4 => assert_eq!(
                    causes,
                    [format!(
                        "the agent ended before it answered session/prompt: exit code {}",
                        100 + index
                    )]
                ),
                _ => assert!(
                    causes.len() == 1 && causes[0].contains(&format!("cause {index}")),
                    "run {index}: {causes:?}"
                ),
            }
        }
        assert!(causes.lock().unwrap().is_empty(), "causes of no run: {causes:?}");
    }

    /// While many children come to life beside each other, none may hold a pipe of another one open.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn an_input_that_a_child_has_closed_is_closed_however_many_others_are_spawned() {
        let turns = Arc::new(Semaphore::new(32));
        let script = Script::acp()
            .expect("initialize")
            .step(Step::CloseStdin)
            .respond(json!({"protocolVersion": 1}));
        let mut running = JoinSet::new();
        for _ in 0..320 {
            let agent = FakeAgent::running(&script.clone().hang()).with(|config| {
                config.startup_timeout = Some(SOON);
                config.dispose_eof_grace = Duration::from_millis(20);
                config.dispose_grace = Duration::from_millis(300);
            });
            let turns = Arc::clone(&turns);
            running.spawn(async move {
                let _turn = turns.acquire_owned().await.unwrap();
                agent.delegate("task").await.text
            });
        }
        while let Some(text) = running.join_next().await {
            assert_eq!(
                text.unwrap(),
                "Error: subagent-acp: Subagent failure (provider: ACP; stage: new-session; category: transport)"
            );
        }
    }
}
