//! The handshake over plain HTTP, and identity tokens.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{of, text};
use axum::http::Method;
use serde_json::{Value, json};

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "handshake",
        about: "VCP capability negotiation: which version a client speaks and which extensions it uses, and the tokens \
                that say who it is for. On WebSockets the same hello is the first frame.",
        operations: vec![hello(), again(), leave(), extension(), list(), issue(), revoke(), staple()],
    }
}

/// Either kind of refusal.
fn either() -> Value {
    json!({"application/json": {"schema": {"anyOf": [of("Refusal"), of("VcpHandshakeError")]}}})
}

fn hello() -> Operation {
    let hello = json!({"application/json": {"schema": of("VcpHandshakeHello")}});
    let operation = Operation::new(Method::POST, "/v1/hello", "sayHello", "Begin a session")
        .about(
            "The session works with the token that opened it, and ends after an hour. Its id goes into the header \
             `Legation-Session` of every later request. What cannot be agreed on is answered with a `vcp-error`.",
        )
        .by(Proof::Optional)
        .takes_any(hello)
        .answers(200, "What was agreed on", "VcpHandshakeAck")
        .tells("Legation-Session");
    let refusals = [
        (400, "Not JSON that is read here"),
        (401, "The identity token is missing or not accepted, or the bearer token is not known"),
        (409, "Two extensions exclude each other, or the session is negotiated already"),
        (413, "Larger than a hello may be"),
        (422, "No hello, or none of its versions is spoken here"),
        (429, "Too many hellos: `retry_after` says when the next may come"),
        (503, "The exchange cannot agree on anything now"),
    ];
    refusals.into_iter().fold(operation, |operation, (status, about)| operation.answers_any(status, about, either()))
}

fn again() -> Operation {
    Operation::new(Method::GET, "/v1/hello", "getAgreement", "What was agreed on when the session began")
        .by(Proof::Optional)
        .header("Session")
        .answers(200, "The ack again", "VcpHandshakeAck")
        .refuses(&[404, 428])
}

fn leave() -> Operation {
    Operation::new(Method::DELETE, "/v1/hello", "endSession", "End a session")
        .by(Proof::Optional)
        .header("Session")
        .answers(200, "It has ended", "SessionEnded")
        .refuses(&[404, 428])
}

fn extension() -> Operation {
    Operation::new(Method::GET, "/v1/extensions/{name}", "getExtension", "What an active extension can do")
        .about("As the ack of the session said it.")
        .by(Proof::Optional)
        .header("Session")
        .in_path("name", "The extension, such as `VCP-X-Consensus`")
        .answers_any(200, "Its capabilities", json!({"application/json": {"schema": {"type": "object"}}}))
        .refuses(&[404, 428])
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/identities", "listIdentities", "List identity tokens that have not ended")
        .about("Operators and auditors see all, agents their own. Of a token only its hash is told.")
        .by(Proof::Token)
        .query("subject", text("Only those of this subject, with or without its kind"))
        .answers(200, "The tokens", "Identities")
}

fn issue() -> Operation {
    Operation::new(Method::POST, "/v1/identities", "issueIdentity", "Issue an identity token")
        .about("Operators for anybody, agents for themselves.")
        .by(Proof::Token)
        .takes("IdentityWanted")
        .answers(201, "The token, told once", "IdentityMade")
        .refuses(&[423, 507])
}

fn revoke() -> Operation {
    Operation::new(Method::POST, "/v1/identities/revoke", "revokeIdentity", "Revoke identity tokens")
        .about("Operators anybody's, agents their own. From the answer on they count nowhere.")
        .by(Proof::Token)
        .takes("IdentityRevoked")
        .answers(200, "Revoked, and in the record", "Done")
        .refuses(&[404, 507])
}

fn staple() -> Operation {
    Operation::new(
        Method::GET,
        "/v1/identities/{hash}/staple",
        "stapleIdentity",
        "That an identity token counts, signed",
    )
    .about("For whoever knows the hash. Of one that does not count nothing is told, whatever the reason.")
    .in_path("hash", "The hash of the token, `sha256:…`")
    .answers(200, "The statement as it was signed", "Staple")
    .tells("Legation-Signature")
    .refuses(&[404])
}
