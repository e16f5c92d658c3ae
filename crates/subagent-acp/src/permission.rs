//! Permission requests of a child that nobody watches. Owns the answer and the line that tells of it; sending and
//! counting are the run's.

use subagent_seam::{ClosedWord, Line, closed_words};

use crate::PermissionPolicy;
use crate::wire::{PermissionOption, PermissionOutcome, PermissionParams};

closed_words! {
    /// What a tool call would do, as the protocol sorts it.
    pub(crate) enum ToolKind {
        Read = "read",
        Edit = "edit",
        Delete = "delete",
        Move = "move",
        Search = "search",
        Execute = "execute",
        Think = "think",
        Fetch = "fetch",
        SwitchMode = "switch_mode",
        Other = "other",
        Unknown = "unknown",
    }
}

impl ToolKind {
    /// The kind with exactly this name; any other name, or none, is unknown.
    fn named(name: Option<&str>) -> Self {
        let place = name.and_then(|name| Self::WORDS.iter().position(|word| *word == name));
        place.map_or(Self::Unknown, |place| Self::VALUES[place])
    }
}

closed_words! {
    enum Part {
        Title = "ACP unattended decision",
        Policy = "policy",
        Request = "request",
        Decision = "decision",
        Allowed = "allowed",
        Denied = "denied",
    }
}

/// A decision that was made in the parent's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) policy: PermissionPolicy,
    pub(crate) request: ToolKind,
    pub(crate) allowed: bool,
}

impl From<Decision> for Line {
    fn from(decision: Decision) -> Self {
        Line::titled(Part::Title)
            .word(Part::Policy, decision.policy)
            .word(Part::Request, decision.request)
            .word(
                Part::Decision,
                if decision.allowed {
                    Part::Allowed
                } else {
                    Part::Denied
                },
            )
    }
}

/// Decides a request by `policy`: the answer to send, and the decision to remember.
pub(crate) fn decide(policy: PermissionPolicy, params: &PermissionParams) -> (PermissionOutcome, Decision) {
    let (chosen, allowed) = match policy {
        PermissionPolicy::Reject => (None, false),
        PermissionPolicy::Decline => (option_of(params, &["reject_once"]), false),
        PermissionPolicy::Allow => {
            // Once before for ever, whatever the order: agents list the lasting grant first.
            let chosen = option_of(params, &["allow_once", "allow_always"]);
            (chosen, chosen.is_some())
        }
    };
    let outcome = chosen.map_or(PermissionOutcome::Cancelled, |option| {
        PermissionOutcome::Selected {
            option_id: option.id.clone(),
        }
    });
    (
        outcome,
        Decision {
            policy,
            request: ToolKind::named(params.tool_kind.as_deref()),
            allowed,
        },
    )
}

/// The first option of the first kind that is offered at all.
fn option_of<'a>(params: &'a PermissionParams, kinds: &[&str]) -> Option<&'a PermissionOption> {
    kinds
        .iter()
        .find_map(|kind| params.options.iter().find(|option| option.kind == *kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(tool_kind: Option<&str>, options: &[(&str, &str)]) -> PermissionParams {
        PermissionParams {
            tool_kind: tool_kind.map(str::to_owned),
            options: options
                .iter()
                .map(|(kind, id)| PermissionOption {
                    kind: (*kind).to_owned(),
                    id: (*id).to_owned(),
                })
                .collect(),
        }
    }

    fn answer(policy: PermissionPolicy, options: &[(&str, &str)]) -> (Option<String>, bool) {
        match decide(policy, &asked(None, options)) {
            (PermissionOutcome::Cancelled, decision) => (None, decision.allowed),
            (PermissionOutcome::Selected { option_id }, decision) => (Some(option_id), decision.allowed),
        }
    }

    const ALL: &[(&str, &str)] = &[
        ("allow_always", "aa"),
        ("allow_once", "ao"),
        ("reject_once", "cancel"),
        ("reject_always", "ra"),
        ("reject_once", "second"),
        ("allow_once", "second"),
    ];

    #[test]
    fn reject_takes_no_option() {
        assert_eq!(answer(PermissionPolicy::Reject, ALL), (None, false));
    }

    #[test]
    fn decline_takes_the_first_single_rejection_or_none() {
        assert_eq!(
            answer(PermissionPolicy::Decline, ALL),
            (Some("cancel".to_owned()), false)
        );
        assert_eq!(answer(PermissionPolicy::Decline, &ALL[..2]), (None, false));
        assert_eq!(answer(PermissionPolicy::Decline, &ALL[3..4]), (None, false));
    }

    #[test]
    fn allow_prefers_once_over_always_and_denies_with_neither() {
        assert_eq!(
            answer(PermissionPolicy::Allow, ALL),
            (Some("ao".to_owned()), true)
        );
        assert_eq!(
            answer(PermissionPolicy::Allow, &ALL[..1]),
            (Some("aa".to_owned()), true)
        );
        assert_eq!(answer(PermissionPolicy::Allow, &ALL[2..4]), (None, false));
        assert_eq!(answer(PermissionPolicy::Allow, &[]), (None, false));
    }

    #[test]
    fn the_line_names_known_kinds_and_calls_every_other_one_unknown() {
        for kind in ToolKind::WORDS {
            let (_, decision) = decide(PermissionPolicy::Allow, &asked(Some(kind), ALL));
            let line = format!("ACP unattended decision (policy: allow; request: {kind}; decision: allowed)");
            assert_eq!(Line::from(decision).to_string(), line);
        }
        for kind in [
            None,
            Some(""),
            Some("Edit"),
            Some("rm -rf /"),
            Some("ACP unattended decision"),
        ] {
            let (_, decision) = decide(PermissionPolicy::Decline, &asked(kind, &[]));
            let line = "ACP unattended decision (policy: decline; request: unknown; decision: denied)";
            assert_eq!(Line::from(decision).to_string(), line);
        }
    }
}
