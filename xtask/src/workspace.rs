//! What cargo knows about this workspace: its root, its members, and what each member depends on. It judges nothing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::tool::Tool;

/// The workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// The directory of the root manifest.
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target: PathBuf,
    /// In the order of their names.
    pub(crate) members: Vec<Member>,
}

/// A crate of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Its directory, relative to the root, with `/` between the parts.
    pub(crate) directory: String,
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of its benchmarks.
    pub(crate) benches: Vec<String>,
}

/// One entry of a member's dependencies, on any platform.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The name of the package, whatever it is called inside the crate.
    pub(crate) name: String,
    /// Only for tests, examples and benchmarks.
    pub(crate) dev: bool,
    /// Given as a path.
    pub(crate) local: bool,
}

impl Workspace {
    /// Asks cargo about the workspace of the current directory.
    pub(crate) fn load() -> Result<Self> {
        let here = std::env::current_dir().context("cannot find the current directory")?;
        let json = Tool::cargo(&here)
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .capture()?;
        let metadata = MetadataCommand::parse(json).context("cannot read what `cargo metadata` wrote")?;
        let root = metadata.workspace_root.into_std_path_buf();
        let mut members = metadata
            .packages
            .iter()
            .map(|package| Member::new(package, &root))
            .collect::<Result<Vec<_>>>()?;
        members.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self {
            root,
            target: metadata.target_directory.into_std_path_buf(),
            members,
        })
    }
}

impl Member {
    fn new(package: &Package, root: &Path) -> Result<Self> {
        let directory = package.manifest_path.as_std_path().parent().unwrap_or(root);
        let directory = directory
            .strip_prefix(root)
            .with_context(|| format!("member `{}` lies outside the workspace", package.name))?;
        let parts: Vec<_> = directory.iter().map(|part| part.to_string_lossy()).collect();
        let dependencies = package.dependencies.iter().map(|dependency| Dependency {
            name: dependency.name.clone(),
            dev: dependency.kind == DependencyKind::Development,
            local: dependency.path.is_some(),
        });
        let benches = package.targets.iter().filter(|target| target.is_bench());
        Ok(Self {
            name: package.name.to_string(),
            directory: parts.join("/"),
            dependencies: dependencies.collect(),
            benches: benches.map(|target| target.name.clone()).collect(),
        })
    }

    /// Whether it depends on the package of that name, for whatever purpose.
    pub(crate) fn uses(&self, name: &str) -> bool {
        self.dependencies.iter().any(|dependency| dependency.name == name)
    }
}
