//! Tables of everything that a parent reads about one kind of child: every stage, every category, every way in which a
//! run ends, each against a real child that a configuration file names. Owns running a table and pinning what its rows
//! come to; the rows are the tables'.
//!
//! All texts of one provider and one way of delegating stand in one snapshot, so that they are reviewed side by side; the
//! documentation shows the same rows, by `reference`.

pub(crate) mod deployed;
mod over_mcp;
mod play;
mod reference;
pub(crate) mod row;
pub(crate) mod wedge;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use self::play::Texts;
use self::row::Row;

/// How many rows are played at once: most of them wait rather than compute.
const AT_ONCE: usize = 12;

/// All rows about one provider.
pub(crate) struct Table {
    /// The kind of the provider's entry in a configuration file.
    pub(crate) kind: &'static str,
    /// The beginning of the names of the snapshots.
    pub(crate) name: &'static str,
    /// Whom the texts are about.
    pub(crate) child: &'static str,
    pub(crate) sections: Vec<Section>,
}

/// The rows of one stage.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<Row>,
}

impl Section {
    pub(crate) fn new(title: &'static str, rows: Vec<Row>) -> Self {
        Self { title, rows }
    }
}

impl Table {
    /// Plays every row both ways and compares what a parent reads with what is pinned.
    pub(crate) async fn check(self) {
        self.assert_names();
        let turns = Arc::new(Semaphore::new(AT_ONCE));
        let kind = self.kind;
        let played: Vec<_> = self
            .sections
            .into_iter()
            .map(|section| {
                let rows = section.rows.into_iter().map(|row| spawned(row, kind, &turns));
                (section.title, rows.collect::<Vec<_>>())
            })
            .collect();

        let (mut foreground, mut background, mut failed) = (String::new(), String::new(), Vec::new());
        for (title, rows) in played {
            for text in [&mut foreground, &mut background] {
                write!(text, "# {title}\n\n").unwrap();
            }
            for (name, row) in rows {
                match row.await {
                    Ok(texts) => {
                        write!(foreground, "## {name}\n{}\n\n", texts.foreground).unwrap();
                        write!(background, "## {name}\n{}\n\n", texts.background).unwrap();
                    }
                    // Its message stands above, where it panicked; here is which row it was.
                    Err(_) => failed.push(name),
                }
            }
        }
        assert!(failed.is_empty(), "rows that failed, see above: {failed:#?}");
        let child = self.child;
        let what = format!("what a parent model reads about {child}, delegated in the foreground");
        pin(&format!("{}_foreground", self.name), &what, &foreground);
        let what = format!("what job_output answers about {child}, delegated in the background");
        pin(&format!("{}_background", self.name), &what, &background);
    }

    /// Every row has a name of its own.
    fn assert_names(&self) {
        let mut names = BTreeSet::new();
        for row in self.sections.iter().flat_map(|section| &section.rows) {
            assert!(names.insert(&row.name), "two rows are named {:?}", row.name);
        }
    }
}

fn spawned(row: Row, kind: &'static str, turns: &Arc<Semaphore>) -> (String, JoinHandle<Texts>) {
    let (name, turns) = (row.name.clone(), Arc::clone(turns));
    let played = tokio::spawn(async move {
        let _turn = turns.acquire().await.unwrap();
        row.play(kind).await
    });
    (name, played)
}

fn pin(name: &str, what: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(what);
    settings.bind(|| insta::assert_snapshot!(name, text.trim_end()));
}
