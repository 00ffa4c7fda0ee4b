//! The shapes of what is sent and answered, by name.

mod audit;
mod charters;
mod conversations;
mod escalations;
mod evidence;
mod extensions;
mod feed;
mod handshake;
mod keep;
mod mailbox;
mod memory;
mod messages;
mod parties;
mod reviews;
mod revocation;
mod storage;
mod tasks;
mod tools;
mod truth;

use super::dialects;
use super::refusals;
use super::schema::{flag, form, list, may, must, number, object, of, one_of, or_null, text, time};
use legation_exchange::Kind;
use serde_json::{Map, Value};

/// A name and its shape.
type Shape = (&'static str, Value);

/// Every shape, those of the dialects with them.
pub(super) fn all() -> Value {
    let ours = [
        common(),
        messages::shapes(),
        mailbox::shapes(),
        memory::shapes(),
        conversations::shapes(),
        reviews::shapes(),
        revocation::shapes(),
        evidence::shapes(),
        parties::shapes(),
        handshake::shapes(),
        extensions::shapes(),
        charters::shapes(),
        tasks::shapes(),
        tools::shapes(),
        escalations::shapes(),
        audit::shapes(),
        keep::shapes(),
        storage::shapes(),
        truth::shapes(),
        feed::shapes(),
        upkeep(),
    ];
    let ours = ours.into_iter().flatten().map(|(name, shape)| (name.to_owned(), shape));
    ours.chain(dialects::all()).collect::<Map<_, _>>().into()
}

fn common() -> Vec<Shape> {
    vec![
        ("Code", refusals::code()),
        ("Refusal", refusals::refusal()),
        ("Dialect", one_of("A dialect that agents speak.", &["vcp", "acl", "cap", "vlp"])),
        ("Hash", form("SHA-256.", "^sha256:[0-9a-f]{64}$")),
        ("PublicKey", form("The 32 bytes of an Ed25519 public key, in base64.", "^ed25519:[A-Za-z0-9+/]{43}=$")),
        ("Signature", form("The 64 bytes of an Ed25519 signature, in base64.", "^base64:[A-Za-z0-9+/]{86}==$")),
    ]
}

fn alert() -> Value {
    let kinds = Kind::ALL.map(Kind::as_str);
    object(
        "Something people are to be told.",
        [
            must("about", or_null(text("Whom it is about, where that is one."))),
            may("again", flag("Whether it was raised before a start, and may have been told then.")),
            must("at", time("When it was raised.")),
            must("count", number("How many alerts this one stands for.")),
            must("id", text("Its id. One that is told again has the same.")),
            must("kind", one_of("What it is about.", &kinds)),
            must("position", or_null(number("The first entry of the record that raised it."))),
            must("realm", text("Whose record it is.")),
            must("text", text("What happened, in words of the exchange.")),
        ],
    )
}

fn upkeep() -> Vec<Shape> {
    let clock = object(
        "Where the record's clock and the machine's differ by more than a minute: work is taken all the same.",
        [
            must("agrees", flag("False.")),
            must(
                "record_ahead_seconds",
                serde_json::json!({"type": "integer", "description": "Seconds that the record's clock is ahead; less than zero where it is behind."}),
            ),
        ],
    );
    let lack = object(
        "What keeps the exchange from taking work.",
        [must("part", text("Which part of it.")), must("reason", text("Why."))],
    );
    vec![
        ("Alert", alert()),
        (
            "Alerts",
            object(
                "What people are to be told.",
                [
                    must("alerts", list("At most 1,000, oldest first.", &of("Alert"))),
                    must("next", number("What to ask for next, as `after`.")),
                ],
            ),
        ),
        (
            "Demo",
            object(
                "The demo.",
                [
                    must("offered", flag("Whether the one who asks may let it be played.")),
                    must("playing", flag("Whether it is being played.")),
                    must("failed", flag("Whether it broke off the last time.")),
                ],
            ),
        ),
        ("Alive", object("Whether it lives.", [must("alive", flag("Whether it lives."))])),
        (
            "Ready",
            object(
                "Whether it takes work.",
                [
                    must("ready", flag("Whether it does.")),
                    may("not_ready", list("What keeps it from that.", &lack)),
                    may("clock", clock),
                ],
            ),
        ),
    ]
}
