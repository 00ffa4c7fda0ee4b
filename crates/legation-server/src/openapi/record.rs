//! The record and its proofs.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, within};
use axum::http::Method;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "record",
        about: "Where the record stands, the key that says so, and proofs: for everybody. Its entries: for operators and auditors.",
        operations: vec![head(), checkpoints(), entries(), proof(), consistency(), keys(), revocations()],
    }
}

fn head() -> Operation {
    Operation::new(Method::GET, "/v1/audit/head", "getHead", "How far the record goes, signed").answers(
        200,
        "Where it stands",
        "Head",
    )
}

fn checkpoints() -> Operation {
    Operation::new(
        Method::GET,
        "/v1/audit/checkpoints",
        "listCheckpoints",
        "Checkpoints signed since the exchange started",
    )
    .about("The last ones all, of those before fewer the older they are.")
    .answers(200, "The newest first", "Checkpoints")
}

fn entries() -> Operation {
    Operation::new(Method::GET, "/v1/audit/entries", "listEntries", "The record's entries, as they come")
        .by(Proof::Token)
        .query("after", number("Only what lies beyond this position"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .query("wait", within("Seconds to wait for something where there is nothing", 0, 60, 0))
        .query("include", one_of("The bodies too", &["body"]))
        .answers(200, "The entries", "Entries")
}

fn proof() -> Operation {
    Operation::new(Method::GET, "/v1/audit/proof", "proveEntry", "That an entry is in the record")
        .must_query("position", number("Which entry"))
        .query("size", number("Among so many; the newest checkpoint's when left out"))
        .answers(200, "The proof (RFC 6962, section 2.1.1)", "Inclusion")
        .refuses(&[404])
}

fn consistency() -> Operation {
    Operation::new(Method::GET, "/v1/audit/consistency", "proveGrowth", "That the record only grew")
        .must_query("from", number("How long it was"))
        .query("to", number("How long it is; the newest checkpoint's size when left out"))
        .answers(200, "The proof (RFC 6962, section 2.1.2)", "Consistency")
        .refuses(&[404])
}

fn keys() -> Operation {
    Operation::new(Method::GET, "/.well-known/legation/keys", "getExchangeKeys", "The key the exchange signs with")
        .answers(200, "The keys", "ExchangeKeys")
}

fn revocations() -> Operation {
    Operation::new(Method::GET, "/.well-known/legation/revocations", "listRevocations", "Everything that was revoked")
        .about(
            "Keys of agents and identity tokens, by hash. The body is the statement as it was signed, in canonical \
             JSON, and the header `Legation-Signature` has the signature over it.",
        )
        .answers(200, "The list", "Revocations")
        .tells("Legation-Signature")
        .tells("ETag")
}
