//! What was revoked, and that something was not. `docs/guides/revocation.md` says how to check them.

use super::Shape;
use crate::openapi::schema::{Member, as_a, closed, list, may, must, number, of, one_of, text, time};
use serde_json::Value;

pub(super) fn shapes() -> Vec<Shape> {
    vec![("Revocations", revocations()), ("Revocation", revocation()), ("Staple", staple())]
}

fn whose(kind: &'static str) -> [Member; 4] {
    [
        must("kind", one_of("What this is.", &[kind])),
        must("realm", text("Whose word.")),
        must("epoch", number("How often the record was restored from a copy.")),
        must("sequence", number("Grows with everything that is revoked.")),
    ]
}

fn about() -> [Member; 2] {
    [
        must("of", one_of("An agent's key, or an identity token.", &["key", "identity"])),
        must(
            "hash",
            as_a(
                "Hash",
                "Of the token; or of `{\"agent\":\"…\",\"key\":\"ed25519:…\"}`, in canonical JSON, for a key.",
            ),
        ),
    ]
}

fn revocations() -> Value {
    let members = [
        must("issued_at", time("When it was made.")),
        must("next_update", time("When to ask again, at the latest.")),
        must("entries", list("What was revoked.", &of("Revocation"))),
    ];
    closed("Everything that was revoked.", whose("legation-revocations-1").into_iter().chain(members))
}

fn revocation() -> Value {
    let members = [
        must("at", time("When it ceased to count.")),
        may("reason", text("Why, if somebody said.")),
        must("state", one_of("Whether somebody else may have it.", &["COMPROMISED", "REVOKED"])),
    ];
    closed("One that was revoked.", about().into_iter().chain(members))
}

fn staple() -> Value {
    let members = [
        must("as_of", time("When this was so.")),
        may("not_after", time("When it ends by itself.")),
        must("state", one_of("How it stood.", &["PENDING", "ACTIVE", "ROTATING", "RETIRED"])),
    ];
    let all = whose("legation-staple-1").into_iter().chain(about()).chain(members);
    closed("That a key or a token was not revoked.", all)
}
