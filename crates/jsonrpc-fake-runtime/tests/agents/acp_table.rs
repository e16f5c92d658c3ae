//! The whole table of what a parent reads about an ACP agent: every stage, every category, every way in which a run
//! ends, each against a real child. Owns running the rows and pinning what they come to; the rows are data, by stage.
//!
//! All texts of one way of delegating stand in one snapshot, so that they are reviewed side by side.

mod permission;
mod prompt;
mod row;
mod start;
mod teardown;
pub(crate) mod wedge;

use self::row::Row;

/// The rows of one stage.
struct Section {
    title: &'static str,
    rows: Vec<Row>,
}

fn sections() -> Vec<Section> {
    vec![
        Section {
            title: "Before the conversation",
            rows: start::launches(),
        },
        Section {
            title: "The handshake",
            rows: start::handshakes(),
        },
        Section {
            title: "A start that is cancelled",
            rows: start::cancellations(),
        },
        Section {
            title: "The end of a turn",
            rows: prompt::turns(),
        },
        Section {
            title: "A prompt that fails",
            rows: prompt::failures(),
        },
        Section {
            title: "A prompt that is given up",
            rows: prompt::interruptions(),
        },
        Section {
            title: "Permission decisions",
            rows: permission::decisions(),
        },
        Section {
            title: "Teardown",
            rows: teardown::failures(),
        },
    ]
}

mod heavy {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::Semaphore;
    use tokio::task::JoinHandle;
    use tokio::time::timeout;

    use super::*;

    /// How many rows are played at once: most of them wait rather than compute.
    const AT_ONCE: usize = 12;

    /// The loud bound of a single row.
    const ROW: Duration = Duration::from_secs(40);

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_row_reads_as_pinned_in_the_foreground() {
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let played: Vec<_> = sections()
            .into_iter()
            .map(|section| {
                let rows = section.rows.into_iter().map(|row| spawned(row, &turns));
                (section.title, rows.collect::<Vec<_>>())
            })
            .collect();

        let (mut text, mut failed) = (String::new(), Vec::new());
        for (title, rows) in played {
            write!(text, "# {title}\n\n").unwrap();
            for (name, row) in rows {
                match row.await {
                    Ok(read) => write!(text, "## {name}\n{read}\n\n").unwrap(),
                    // Its message stands above, where it panicked; here is which row it was.
                    Err(_) => failed.push(name),
                }
            }
        }
        assert!(failed.is_empty(), "rows that failed, see above: {failed:#?}");
        pinned(
            "acp_foreground",
            "what a parent model reads about an ACP agent, delegated in the foreground",
            &text,
        );
    }

    fn spawned(row: Row, turns: &Arc<Semaphore>) -> (String, JoinHandle<String>) {
        let (name, turns) = (row.name.clone(), Arc::clone(turns));
        let played = tokio::spawn(async move {
            let _turn = turns.acquire().await.unwrap();
            let read = timeout(ROW, row.foreground()).await;
            read.unwrap_or_else(|_| panic!("row {:?}: still going on after {ROW:?}", row.name))
        });
        (name, played)
    }

    /// One snapshot for each way of delegating.
    fn pinned(name: &str, what: &str, text: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_description(what);
        settings.bind(|| insta::assert_snapshot!(name, text.trim_end()));
    }

    #[test]
    fn every_row_has_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for row in sections().into_iter().flat_map(|section| section.rows) {
            assert!(
                names.insert(row.name.clone()),
                "two rows are named {:?}",
                row.name
            );
        }
    }
}
