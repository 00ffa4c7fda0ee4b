//! Sessions over plain HTTP, and identity tokens.

use super::Shape;
use crate::openapi::schema::{as_a, closed, flag, list, may, must, object, of, or_null, text, time, within};
use serde_json::Value;

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("SessionEnded", object("A session has ended.", [must("ended", flag("Always true."))])),
        ("Identity", identity()),
        ("Identities", object("Identity tokens.", [must("identities", list("The tokens.", &of("Identity")))])),
        (
            "IdentityWanted",
            closed(
                "A token to be issued.",
                [
                    may(
                        "subject",
                        or_null(text(
                            "The subject it names: `agent:ID`, `person:NAME` or `external:NAME`. A bare name is an agent's, \
                             else a person's, else an external subject's. An agent that leaves it out means itself.",
                        )),
                    ),
                    may("seconds", or_null(within("How long it lasts.", 1, 86_400, 3600))),
                ],
            ),
        ),
        (
            "IdentityMade",
            object(
                "A token that was issued.",
                [
                    must("token", text("The token. It is not shown again.")),
                    must("hash", as_a("Hash", "What is kept of it.")),
                    must("subject", text("The subject it names, with its kind: `agent:`, `person:` or `external:`.")),
                    must("expires_at", time("When it ends.")),
                ],
            ),
        ),
        ("IdentityRevoked", revoked()),
    ]
}

fn identity() -> Value {
    let revoked = object(
        "That it was revoked.",
        [must("at", time("When.")), must("by", text("By whom.")), must("reason", or_null(text("Why.")))],
    );
    object(
        "A token that was issued.",
        [
            must("hash", as_a("Hash", "What is kept of it.")),
            must("subject", text("The subject it names, with its kind: `agent:`, `person:` or `external:`.")),
            must("issued_at", time("Since when.")),
            must("expires_at", time("Until when.")),
            must("issued_by", text("Who asked for it.")),
            may("revoked", revoked),
        ],
    )
}

fn revoked() -> Value {
    closed(
        "Which tokens count no longer: one of `token`, `hash` and `subject`.",
        [
            may("token", text("The token itself.")),
            may("hash", as_a("Hash", "What is kept of it.")),
            may("subject", text("All tokens of this subject; without a kind, of every kind of it.")),
            may("reason", or_null(text("Why. Everybody can read it."))),
        ],
    )
}
