//! Headers of requests and answers, and what proves who asks.

use super::schema::{form, number, text};
use serde_json::{Value, json};

/// A header of an answer, by its name.
pub(super) fn header(name: &str) -> (String, Value) {
    (name.to_owned(), json!({"$ref": format!("#/components/headers/{name}")}))
}

const TRACEPARENT: &str = "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$";

/// Headers that requests may have.
pub(super) fn parameters() -> Value {
    json!({
        "Traceparent": {
            "name": "traceparent", "in": "header", "required": false,
            "description": "The trace this request belongs to (W3C Trace Context). A message carries it to its recipients.",
            "schema": {"type": "string"},
        },
        "IdempotencyKey": {
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "What stands for the id of a message that has none, so that it can be sent again.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 256},
        },
        "Session": {
            "name": "Legation-Session", "in": "header", "required": false,
            "description": "The id of the session that `POST /v1/hello` began. It works with the token that began it.",
            "schema": {"type": "string", "pattern": "^ses_[0-9a-f]{32}$"},
        },
        "LastEventId": {
            "name": "Last-Event-ID", "in": "header", "required": false,
            "description": "The position of the last item seen, in place of `after`: browsers send it by themselves.",
            "schema": {"type": "integer", "minimum": 0},
        },
    })
}

/// Headers that answers may have.
pub(super) fn headers() -> Value {
    let header = |required: bool, mut schema: Value| {
        let about = schema.as_object_mut().and_then(|members| members.remove("description"));
        json!({"required": required, "description": about, "schema": schema})
    };
    json!({
        "traceparent": header(true, form("The trace the request belongs to, its own or a new one.", TRACEPARENT)),
        "Retry-After": header(true, number("Seconds after which it may be tried again.")),
        "WWW-Authenticate": header(true, text("How to prove who asks.")),
        "Location": header(true, text("Where to go.")),
        "Set-Cookie": header(true, text("The session, or its end.")),
        "Legation-Signature": header(true, text("`base64:…`, the exchange's Ed25519 signature over the body as it is.")),
        "ETag": header(true, text("What stands for this answer, for `If-None-Match`.")),
        "Legation-Session": header(true, text("The id of the session, for later requests.")),
        "Legation-Position": header(true, number("Where in the record the message lies.")),
        "Legation-Receipt": header(false, text("The receipt as JSON, in base64. Left out where it is larger than 6 KiB: the mailbox has it.")),
    })
}

pub(super) fn security_schemes() -> Value {
    json!({
        "token": {
            "type": "http", "scheme": "bearer",
            "description": "The token of an agent, which registering it gives, or of a person: the operator's is in the data directory, others come from `/v1/tokens`.",
        },
        "signature": {
            "type": "apiKey", "in": "header", "name": "Legation-Signature",
            "description": "`base64:…`, an Ed25519 signature beside the message: over its canonical form (RFC 8785) without the member `signature`, under a key of the sender in use. A VCP message may have it as its member `signature` instead.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "legation",
            "description": "The session of a person who signed in with a browser. The cookie's name ends with the port, \
                `legation-7400`; over https it is `__Host-legation`.",
        },
        "csrf": {
            "type": "apiKey", "in": "header", "name": "Legation-CSRF",
            "description": "What `GET /v1/session` tells as `csrf`: with the cookie, for what changes something.",
        },
    })
}
