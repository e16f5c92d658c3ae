//! What one run is to be: an agent, who ends its tree, and how the host treats it, drawn from a number. The same number
//! draws the same plan.

use std::time::Duration;

use fastrand::Rng;
use jsonrpc_fake_runtime::{Descendant, Holds, Place, Protocol, Scenario, Script, Step, scenarios};

/// Stands in everything that a child controls, where a scenario has a place for it.
pub(crate) const CANARY: &str = "SoakCanary-7d21";

/// Every ready-made scenario.
pub(crate) struct Catalogue(Vec<(Protocol, Scenario)>);

impl Catalogue {
    pub(crate) fn new() -> Self {
        let of = |&protocol: &Protocol| {
            scenarios(protocol)
                .into_iter()
                .map(move |scenario| (protocol, scenario))
        };
        Self(Protocol::ALL.iter().flat_map(of).collect())
    }
}

/// One run.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) protocol: Protocol,
    /// The name of the scenario that the script began as.
    pub(crate) scenario: String,
    pub(crate) script: Script,
    /// Whether a supervisor ends the tree; else the process group is ended.
    pub(crate) is_supervised: bool,
    pub(crate) treatment: Treatment,
    /// The windows of the teardown.
    pub(crate) grace: Duration,
    pub(crate) startup_timeout: Duration,
    pub(crate) run_timeout: Duration,
    pub(crate) idle_timeout: Option<Duration>,
}

/// What the host does with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It delegates through the tool, and may cancel.
    Foreground { cancel: Option<Duration> },
    /// It delegates through the tool as a job, and may kill it.
    Background { kill: Option<Duration> },
    /// It starts a run and awaits result and teardown, both from two tasks.
    Run { cancel: Option<Duration> },
    /// It disposes of the run in its middle.
    DisposedEarly { after: Duration },
    /// It drops the start or the run.
    Dropped { after: Duration },
    /// It shuts the registry down.
    ShutDown { after: Duration },
}

impl Treatment {
    /// For the table at the end.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Foreground { cancel: None } => "foreground",
            Self::Foreground { .. } => "foreground, cancelled",
            Self::Background { kill: None } => "background",
            Self::Background { .. } => "background, killed",
            Self::Run { cancel: None } => "run",
            Self::Run { .. } => "run, cancelled",
            Self::DisposedEarly { .. } => "disposed in mid-run",
            Self::Dropped { .. } => "dropped",
            Self::ShutDown { .. } => "registry shut down",
        }
    }
}

impl Plan {
    pub(crate) fn draw(catalogue: &Catalogue, number: u64) -> Self {
        let mut rng = Rng::with_seed(number);
        let (protocol, scenario) = &catalogue.0[rng.usize(..catalogue.0.len())];
        let mut script = scenario.script().var("canary", CANARY);
        for _ in 0..rng.usize(..3) {
            let at = rng.usize(..=script.steps.len());
            script.steps.insert(at, Step::Spawn(descendant(&mut rng)));
        }
        // Nobody ends what has left the group without a supervisor.
        let may_flee = script.steps.iter().any(flees);
        Self {
            protocol: *protocol,
            scenario: scenario.name().to_owned(),
            script,
            is_supervised: may_flee || rng.bool(),
            treatment: treatment(&mut rng),
            grace: millis(&mut rng, 20, 300),
            startup_timeout: millis(&mut rng, 5, 3000),
            run_timeout: millis(&mut rng, 5, 3000),
            idle_timeout: rng.bool().then(|| millis(&mut rng, 50, 1500)),
        }
    }
}

fn treatment(rng: &mut Rng) -> Treatment {
    let after = millis(rng, 0, 600);
    let perhaps = rng.bool().then_some(after);
    match rng.u8(..10) {
        0..=2 => Treatment::Foreground { cancel: perhaps },
        3..=4 => Treatment::Background { kill: perhaps },
        5..=6 => Treatment::Run { cancel: perhaps },
        7 => Treatment::DisposedEarly { after },
        8 => Treatment::Dropped { after },
        _ => Treatment::ShutDown { after },
    }
}

fn descendant(rng: &mut Rng) -> Descendant {
    let mut descendant = Descendant::new(format!("descendant-{}", rng.u32(..)));
    descendant.place = [Place::SameGroup, Place::OwnGroup, Place::OwnSession][rng.usize(..3)];
    descendant.holds = [Holds::Nothing, Holds::Stdout, Holds::Stderr, Holds::Both][rng.usize(..4)];
    descendant.orphaned = rng.bool();
    descendant.ignores_sigterm = rng.bool();
    descendant.without_environment = rng.bool();
    descendant.multiplies = rng.u8(..8) == 0;
    descendant
}

fn flees(step: &Step) -> bool {
    matches!(step, Step::Spawn(descendant) if descendant.place != Place::SameGroup)
}

fn millis(rng: &mut Rng, least: u64, most: u64) -> Duration {
    Duration::from_millis(rng.u64(least..=most))
}
