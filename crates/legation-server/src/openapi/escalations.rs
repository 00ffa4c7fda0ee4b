//! Escalations, and whether agents may go on.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, text, within};
use axum::http::Method;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "escalations",
        about: "Alarms that agents raise to whoever stands above them, and agents that are stopped by them.",
        operations: vec![
            list(),
            acknowledge(),
            ordered("/v1/agents/{id}/suspend", "suspendAgent", "Let an agent say nothing any more")
                .about(
                    "For operators. It goes for the agent's instances too, and with `subtree` for all below it, in one commit.",
                )
                .takes("Ordered")
                .refuses(&[404, 507]),
            ordered("/v1/agents/{id}/resume", "resumeAgent", "Let a stopped agent go on")
                .about(
                    "For operators, whatever stopped it; for the agent above, with its own token, from an escalation of its own \
                     child, and from no operator's order. It goes for the agent's instances too. With `subtree`, for operators, \
                     those below it are resumed from orders for a subtree or for all; escalations of their own, and orders \
                     that name them, still stop them.",
                )
                .takes("Resumed")
                .refuses(&[404, 409, 507]),
            all("/v1/suspend-all", "suspendAll", "Let no agent say anything any more").about(
                "For operators. Suspends every agent, in one commit; until all are resumed only operators register agents. \
                 A reason may follow by the same request.",
            ),
            all("/v1/resume-all", "resumeAll", "Undo that all agents are suspended")
                .about(
                    "For operators. Agents that are stopped by an escalation, by an order that names them or by one for a \
                     subtree stay so.",
                )
                .refuses(&[404]),
        ],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/escalations", "listEscalations", "List escalations")
        .about("Operators and auditors see all, agents those they raised or were told of.")
        .by(Proof::Token)
        .query("agent", text("Only those this agent raised"))
        .query(
            "state",
            one_of("Those that are open, or the last that are closed too; `open` when left out", &["open", "all"]),
        )
        .query("order", one_of("The oldest first, or the newest; `oldest` when left out", &["oldest", "newest"]))
        .query("after", number("Only what lies beyond this position: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The escalations, in the order asked for", "Escalations")
}

fn acknowledge() -> Operation {
    Operation::new(Method::POST, "/v1/escalations/{id}/ack", "acknowledgeEscalation", "Acknowledge an escalation")
        .about(
            "For operators, and for an agent that was told of it, with its own token. Who speaks VCP may as well send the \
             acknowledgement to whom it was told by.",
        )
        .by(Proof::Token)
        .in_path("id", "The escalation's message id, or the position of the entry that holds it")
        .answers(200, "Acknowledged, and in the record", "Done")
        .refuses(&[404, 409, 507])
}

fn all(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::POST, path, id, summary)
        .by(Proof::Token)
        .may_take("StopAll")
        .answers(200, "Done, and in the record", "Done")
        .refuses(&[507])
}

fn ordered(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation::new(Method::POST, path, id, summary)
        .by(Proof::Token)
        .in_path("id", "The agent's id, percent-encoded")
        .answers(200, "Done, and in the record", "Done")
}
