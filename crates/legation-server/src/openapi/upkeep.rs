//! What those need who run the exchange, and this description.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, within};
use axum::http::Method;
use serde_json::json;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "upkeep",
        about: "What those need who run the exchange.",
        operations: vec![
            feed(),
            demo(),
            play(),
            alerts(),
            alive(),
            ready(),
            metrics(),
            storage(),
            rotate(),
            description(),
        ],
    }
}

fn feed() -> Operation {
    let events = json!({
        "type": "string",
        "description": "Events `entries` with the last position as `id` and `FeedEntries` as `data`, `counts` with \
            `FeedCounts` every second, `alerts` with `FeedAlerts`; at the end `refused` with why, or `ended`.",
    });
    Operation::new(Method::GET, "/v1/feed", "streamFeed", "Stream what happens, in short")
        .about(
            "For operators and auditors. Told four times a second; of more entries than fit, the newest and how many \
            were left out. It begins with the last entries, or behind a position.",
        )
        .by(Proof::Token)
        .query("after", number("Only what lies beyond this position"))
        .header("LastEventId")
        .answers_any(
            200,
            "What happens, until the client or the exchange ends it",
            json!({"text/event-stream": {"schema": events}}),
        )
        .refuses(&[409])
}

fn demo() -> Operation {
    Operation::new(Method::GET, "/v1/demo", "getDemo", "Whether the demo is played, and may be")
        .by(Proof::Token)
        .answers(200, "How it stands", "Demo")
}

fn play() -> Operation {
    Operation::new(Method::POST, "/v1/demo", "playDemo", "Play the demo on this exchange")
        .about(
            "For operators, on the machine the exchange runs on, while there are no agents or those of the demo are \
            among them.",
        )
        .by(Proof::Token)
        .answers(202, "It is being played", "Demo")
}

fn alerts() -> Operation {
    Operation::new(Method::GET, "/v1/alerts", "listAlerts", "What people are to be told, since the exchange started")
        .about("For operators and auditors.")
        .by(Proof::Token)
        .query("after", number("Only those beyond this, which was `next` before"))
        .query("wait", within("Seconds to wait for something where there is nothing", 0, 60, 0))
        .answers(200, "The alerts", "Alerts")
}

fn alive() -> Operation {
    Operation::new(Method::GET, "/healthz", "isAlive", "Whether the process answers and its decider runs")
        .answers(200, "It does", "Alive")
        .answers(503, "It does not", "Alive")
}

fn ready() -> Operation {
    Operation::new(Method::GET, "/readyz", "isReady", "Whether what is sent now would be decided and committed")
        .answers(200, "It would", "Ready")
        .answers(503, "It would not, and why", "Ready")
}

fn metrics() -> Operation {
    Operation::new(Method::GET, "/metrics", "getMetrics", "What the exchange counts, as Prometheus reads it")
        .about("For this machine without a token; from elsewhere for operators and auditors.")
        .by(Proof::Optional)
        .answers_any(200, "The counts", json!({"text/plain": {"schema": {"type": "string"}}}))
}

fn storage() -> Operation {
    Operation::new(Method::GET, "/v1/storage", "getStorage", "How the record is stored, and with which keys")
        .about("For operators and auditors.")
        .by(Proof::Token)
        .answers(200, "How it is stored", "Storage")
}

fn rotate() -> Operation {
    Operation::new(Method::POST, "/v1/storage/rotate", "rotateKey", "Make a new key, and seal everything with it")
        .about("For operators. New entries are sealed with it at once, older ones in the background.")
        .by(Proof::Token)
        .answers(202, "It has a new key", "Rotated")
        .refuses(&[503])
}

fn description() -> Operation {
    Operation::new(Method::GET, "/openapi.json", "getOpenApi", "This description").answers_any(
        200,
        "OpenAPI 3.1",
        json!({"application/json": {"schema": {"type": "object", "required": ["openapi", "info", "paths"]}}}),
    )
}
