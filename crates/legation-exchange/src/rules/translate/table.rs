//! What has a counterpart, as it is published in `docs/guides/translation.md`.

/// What is said, in each dialect that has words for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What is said.
    pub says: &'static str,
    /// In the ElizaOS agent language.
    pub acl: &'static str,
    /// In CAP.
    pub cap: &'static str,
    /// In VLP.
    pub vlp: &'static str,
    /// In VCP.
    pub vcp: &'static str,
    /// What no counterpart has.
    pub lost: &'static str,
}

const NONE: &str = "–";

/// Everything the exchange says in another dialect. `→` is only said, `←` only understood, neither is both.
pub const TABLE: [Row; 13] = [
    Row {
        says: "asks for work",
        acl: "`TASK_REQUEST`",
        cap: "`delegation_notice`",
        vlp: "`query`",
        vcp: NONE,
        lost: "priority, ontology and deadline bind nobody: they come as data",
    },
    Row {
        says: "asks a question",
        acl: "← `QUERY_IF`, `QUERY_REF`",
        cap: "→ `message`",
        vlp: "→ `query`",
        vcp: NONE,
        lost: "the form of the question: it is put into words",
    },
    Row {
        says: "asks about work",
        acl: NONE,
        cap: "`oversight_inquiry`",
        vlp: "← `query` of its overseer, → `query`",
        vcp: NONE,
        lost: "in VLP, that it is an overseer who asks",
    },
    Row {
        says: "takes it on",
        acl: "`TASK_ACCEPT`",
        cap: "→ `message`",
        vlp: "`notice`, topic `task_accepted`",
        vcp: NONE,
        lost: "the estimate binds nobody",
    },
    Row {
        says: "refuses it",
        acl: "`TASK_REJECT`",
        cap: "→ `error_response` 503 busy, 403 unauthorized, 404 otherwise",
        vlp: "`notice`, topic `task_rejected`",
        vcp: NONE,
        lost: "in CAP, that it was never begun",
    },
    Row {
        says: "tells the result",
        acl: "`INFORM_RESULT`",
        cap: "`message` with `final`",
        vlp: "`response`",
        vcp: NONE,
        lost: "to ACL always `success`; to VLP a confidence of 0.5, since nobody gave one; to others confidence and sources are data",
    },
    Row {
        says: "tells a failure",
        acl: "`FAILURE`",
        cap: "`error_response`, → 500",
        vlp: "`notice`, topic `task_failed`",
        vcp: NONE,
        lost: "codes of one dialect mean nothing in another: they come as data",
    },
    Row {
        says: "did not understand",
        acl: "`NOT_UNDERSTOOD`",
        cap: "→ `error_response` 400",
        vlp: "`notice`, topic `not_understood`",
        vcp: NONE,
        lost: "the reason code comes as data",
    },
    Row {
        says: "takes it back",
        acl: "← `CANCEL`",
        cap: "→ `message`",
        vlp: "→ `notice`, topic `task_cancelled`",
        vcp: NONE,
        lost: "the reason: the exchange says it in words of its own",
    },
    Row {
        says: "says something",
        acl: NONE,
        cap: "`message`",
        vlp: "`notice`",
        vcp: NONE,
        lost: "whether it asks, states or comments",
    },
    Row {
        says: "raises an alarm",
        acl: NONE,
        cap: "→ `error_response` 423 if critical or emergency, else `message`",
        vlp: "→ `notice`, level `block` if emergency, `review` if critical, else `safe`, with the issue `escalation_…`",
        vcp: "← `escalation`",
        lost: "the acknowledgement: only VCP has one; `POST /v1/escalations/{id}/ack` is for all",
    },
    Row {
        says: "blocks what follows",
        acl: NONE,
        cap: "→ `error_response` 423",
        vlp: "← any kind, level `block`",
        vcp: "→ `constraint_propagate` with a `notice`, code `blocked`",
        lost: "what kind of message it is; its sources come as data",
    },
    Row {
        says: "lays down rules",
        acl: NONE,
        cap: NONE,
        vlp: "→ `notice` with `constraints`",
        vcp: "← `constraint_propagate`",
        lost: "the signature of whoever stands above; the exchange enforces the rules all the same",
    },
];

#[cfg(test)]
mod tests {
    use super::{Row, TABLE};

    #[test]
    fn the_guide_has_the_table() {
        let guide = include_str!("../../../../../docs/guides/translation.md");
        for Row { says, acl, cap, vlp, vcp, lost } in TABLE {
            let line = format!("| {says} | {acl} | {cap} | {vlp} | {vcp} | {lost} |");
            assert!(guide.contains(&line), "docs/guides/translation.md lacks this line:\n{line}");
        }
        let lines = guide.lines().filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 5);
        assert_eq!(lines.count(), TABLE.len() + 1, "and nothing else");
    }
}
