//! The end of a turn, hundreds of times: what was written before the answer counts, what comes after it does not.

/// Hundreds of processes: these run alone where the runner knows how.
mod heavy {
    use jsonrpc_fake_runtime::Script;
    use jsonrpc_fake_runtime::acp::AcpSteps as _;
    use subagent_seam::StopReason;
    use tokio::task::JoinSet;

    use crate::custody::{both_ways, kept};
    use crate::support::FakeAgent;

    both_ways! {
        threads:
            a_last_chunk_in_one_write_with_the_answer_is_always_complete,
            a_last_chunk_right_before_the_exit_is_always_complete,
            a_chunk_after_the_answer_is_always_dropped_without_harm;
    }

    const RUNS: usize = 200;
    const AT_ONCE: usize = 20;

    /// `run` so many times, some of them at once.
    async fn again_and_again<F: Future<Output = ()> + Send + 'static>(run: impl Fn() -> F) {
        let mut runs = JoinSet::new();
        for _ in 0..RUNS {
            if runs.len() == AT_ONCE {
                runs.join_next().await.unwrap().unwrap();
            }
            runs.spawn(kept(run()));
        }
        while let Some(ended) = runs.join_next().await {
            ended.unwrap();
        }
    }

    async fn a_last_chunk_in_one_write_with_the_answer_is_always_complete() {
        again_and_again(|| async {
            let script = Script::acp()
                .prompted()
                .chunk("first, ")
                .together(|s| s.chunk("last").end_turn());
            let outcome = FakeAgent::running(&script).delegate("do it").await;
            assert_eq!((outcome.text.as_str(), outcome.is_error), ("first, last", false));
        })
        .await;
    }

    async fn a_last_chunk_right_before_the_exit_is_always_complete() {
        again_and_again(|| async {
            let script = Script::acp()
                .prompted()
                .together(|s| s.chunk("last").end_turn())
                .exit(0);
            let outcome = FakeAgent::running(&script).delegate("do it").await;
            assert_eq!((outcome.text.as_str(), outcome.is_error), ("last", false));
        })
        .await;
    }

    async fn a_chunk_after_the_answer_is_always_dropped_without_harm() {
        again_and_again(|| async {
            let script = Script::acp()
                .prompted()
                .chunk("mine")
                .end_turn()
                .sleep_ms(50)
                .chunk(" too late")
                .touch("late");
            let agent = FakeAgent::running(&script);
            let run = agent.start("do it").await.unwrap();
            let result = run.result().await;
            agent.reached("late").await;
            run.dispose().await.unwrap();
            assert_eq!(result.stop_reason, StopReason::Completed);
            assert_eq!(result.output, ["mine".into()]);
            assert_eq!(*run.result().await, *result);
        })
        .await;
    }
}
