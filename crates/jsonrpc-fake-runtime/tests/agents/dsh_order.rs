//! The receipt and the activity in either order, hundreds of times.

/// Hundreds of processes: these run alone where the runner knows how.
mod heavy {
    use jsonrpc_fake_runtime::Script;
    use jsonrpc_fake_runtime::dsh_sdk::DshSdkSteps as _;
    use tokio::task::JoinSet;

    use crate::custody::both_ways;
    use crate::dsh_support::FakeRuntime;

    both_ways! {
        threads:
            a_receipt_before_the_activity_is_always_complete,
            a_receipt_after_the_activity_is_always_complete,
            an_answer_right_before_the_exit_is_always_complete;
    }

    const RUNS: usize = 200;
    const AT_ONCE: usize = 20;

    /// Two hundred runs of `script`, some of them at once, each of which says `hello, you` and completes.
    async fn always_complete(script: impl Fn(Script) -> Script) {
        let script = script(Script::dsh_sdk().initialize().prompt());
        let mut runs = JoinSet::new();
        for _ in 0..RUNS {
            if runs.len() == AT_ONCE {
                runs.join_next().await.unwrap().unwrap();
            }
            let runtime = FakeRuntime::running(&script);
            runs.spawn(async move {
                let outcome = runtime.delegate("do it").await;
                assert_eq!((outcome.text.as_str(), outcome.is_error), ("hello, you", false));
            });
        }
        while let Some(ended) = runs.join_next().await {
            ended.unwrap();
        }
    }

    async fn a_receipt_before_the_activity_is_always_complete() {
        always_complete(|s| {
            s.receipt()
                .mark()
                .running()
                .delta("hello, ")
                .together(|s| s.delta("you").completed())
                .shutdown()
        })
        .await;
    }

    async fn a_receipt_after_the_activity_is_always_complete() {
        always_complete(|s| {
            s.mark()
                .running()
                .delta("hello, ")
                .together(|s| s.delta("you").completed().receipt())
                .shutdown()
        })
        .await;
    }

    async fn an_answer_right_before_the_exit_is_always_complete() {
        always_complete(|s| {
            s.together(|s| s.mark().delta("hello, ").receipt().delta("you").completed())
                .exit(0)
        })
        .await;
    }
}
