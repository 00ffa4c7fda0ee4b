//! Escalations.

use super::Shape;
use crate::openapi::schema::{closed, flag, list, may, must, number, object, of, one_of, or_null, text, time};
use serde_json::Value;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Escalation", escalation()),
        ("Told", told()),
        (
            "Escalations",
            object(
                "Escalations.",
                [
                    must("escalations", list("The escalations, in the order asked for.", &of("Escalation"))),
                    must("next", number("What to ask for next, as `after`.")),
                ],
            ),
        ),
        (
            "Ordered",
            closed(
                "Why an agent is stopped, and whether with all below it.",
                [
                    may(
                        "reason",
                        or_null(text("Why. The agent is told. It may be left out, and follow, with `subtree`.")),
                    ),
                    may("subtree", flag("Whether all agents below it are stopped too.")),
                ],
            ),
        ),
        (
            "StopAll",
            closed(
                "Why all agents are stopped, or go on.",
                [may("reason", or_null(text("Why. The agents are told.")))],
            ),
        ),
        (
            "Resumed",
            closed(
                "Why an agent may go on, and whether with all below it.",
                [
                    may("reason", or_null(text("Why. The agent is told. It may be left out with `subtree`."))),
                    may(
                        "subtree",
                        flag("Whether all agents below it are resumed too. Not together with `escalation`."),
                    ),
                    may(
                        "escalation",
                        or_null(text(
                            "From which escalation, by message id or position. Left out: all that stops it, for an \
                             operator; the only one there is, for the agent above.",
                        )),
                    ),
                ],
            ),
        ),
    ]
}

fn escalation() -> Value {
    let severities = ["info", "warning", "critical", "emergency"];
    let states = ["unanswered", "answered", "handled", "closed"];
    object(
        "An alarm that an agent raised.",
        [
            must("id", text("The id of the message.")),
            must("position", number("The entry that holds it.")),
            must("agent", text("Who raised it.")),
            must("severity", one_of("How serious it is.", &severities)),
            must("state", one_of("Where it stands.", &states)),
            must("reason", or_null(text("What it gives as its reason, if that is still here."))),
            must("requires_ack", flag("Whether an acknowledgement was asked for.")),
            must("raised_at", time("When it was taken.")),
            must("told", list("Who was told, the addressee first.", &of("Told"))),
            must("acknowledged_by", or_null(text("Who acknowledged it first."))),
            must("goes_on_at", or_null(time("When the next above is told."))),
            must("closed_by", or_null(text("Who closed it."))),
            must("closed_at", or_null(time("When it was closed."))),
        ],
    )
}

fn told() -> Value {
    object(
        "Somebody who was told of an escalation.",
        [
            must("agent", or_null(text("Who; null is the operator."))),
            must("message_id", or_null(text("The id of the message that told them."))),
            must("acknowledged", flag("Whether they acknowledged that.")),
        ],
    )
}
