//! The record, receipts and proofs. `docs/record.md` says how to check them.

use super::Shape;
use crate::openapi::schema::{
    Member, as_a, flag, form, list, may, micros, must, number, object, of, one_of, or_null, text, with,
};
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    vec![
        ("Receipt", receipt()),
        ("Checkpoint", checkpoint()),
        ("Head", head()),
        ("Checkpoints", object("Checkpoints.", [must("checkpoints", list("The newest first.", &of("Checkpoint")))])),
        ("Entry", entry()),
        ("Entries", entries()),
        ("Inclusion", inclusion()),
        ("Consistency", consistency()),
        ("ExchangeKeys", exchange_keys()),
    ]
}

fn salt() -> Value {
    form("The salt of the effect.", "^[0-9a-f]{32}$")
}

fn whose() -> [Member; 2] {
    [must("realm", text("Whose record.")), must("epoch", number("How often the record was restored from a copy."))]
}

fn receipt() -> Value {
    let opening = object(
        "What the leaf follows from, beside position and time.",
        [
            must("effect", text("What the entry does, to the byte.")),
            must("effect_salt", salt()),
            must("body", or_null(as_a("Hash", "What the leaf says of the message."))),
        ],
    );
    let batch = object(
        "The batch it was committed in, signed.",
        [
            must("first", number("Its first position.")),
            must("count", number("How many entries it has.")),
            must("root", of("Hash")),
            must("at", micros("When it was signed")),
            must("signature", of("Signature")),
        ],
    );
    let members = [
        must("kind", one_of("What this is.", &["legation-receipt-1"])),
        must(
            "verdict",
            one_of(
                "What was decided; what was `held` may have gone on since. `answered` is of what a tool answered.",
                &["accepted", "held", "answered", "released"],
            ),
        ),
        must("message_id", text("The message's id.")),
        must("digest", as_a("Hash", "SHA-256 of the message's canonical form without its signature.")),
        must("position", number("Where in the record it lies.")),
        must("at", micros("When it was taken")),
        must("leaf", of("Hash")),
        must("path", list("From the leaf to the root of the batch.", &of("Hash"))),
        must("entry", opening),
        must("batch", batch),
    ];
    object("That the exchange took a message, where and when, under its signature.", members.into_iter().chain(whose()))
}

fn checkpoint() -> Value {
    let members = [
        must("kind", one_of("What this is.", &["legation-checkpoint-1"])),
        must("size", number("How many entries it covers.")),
        must("root", as_a("Hash", "The root of the tree over them.")),
        must("chain", as_a("Hash", "The chain after the last of them.")),
        must("at", micros("When it was made")),
        may("restore", text("What was drawn for the restore that began the epoch; not in the first.")),
        must("signature", of("Signature")),
    ];
    object("How long the record is and what it hashes to, signed.", members.into_iter().chain(whose()))
}

fn newest(about: &str) -> Member {
    must("checkpoint", with(or_null(of("Checkpoint")), "description", about))
}

fn head() -> Value {
    let epoch = object(
        "An epoch: the record was restored from a copy where a later one than the first begins.",
        [
            must("epoch", number("Its number, from 1.")),
            must("first", number("Its first position.")),
            must("restore", or_null(text("What was drawn for the restore it began with."))),
        ],
    );
    object(
        "Where the record stands.",
        [
            must("size", number("How many entries it has.")),
            must("chain", as_a("Hash", "The chain after the last of them.")),
            must("epochs", list("All epochs, oldest first.", &epoch)),
            newest("The newest checkpoint; null where none is signed yet."),
        ],
    )
}

fn entry() -> Value {
    let effect = object("What it does. More members follow, by its kind.", [must("entry", text("Its kind."))]);
    object(
        "An entry of the record.",
        [
            must("position", number("Its place.")),
            must("at", micros("When it was decided")),
            must("leaf", of("Hash")),
            may("effect_salt", salt()),
            may(
                "effect_hash",
                as_a("Hash", "What the leaf says of the effect, where that is not shown, or not all of it."),
            ),
            may(
                "redacted",
                flag("Whether what its effect said is erased; an entry `erased` has the hash of what is shown."),
            ),
            must("body_hash", or_null(as_a("Hash", "What the leaf says of the body, where there is one."))),
            must("effect", with(effect, "additionalProperties", json!(true))),
            may("body", text("The message as received, where it was asked for.")),
        ],
    )
}

fn entries() -> Value {
    object(
        "Entries of the record.",
        [
            must("entries", list("In their order.", &of("Entry"))),
            must("next", or_null(number("What to ask for next, as `after`."))),
        ],
    )
}

fn inclusion() -> Value {
    object(
        "That an entry is among the first so many.",
        [
            must("position", number("Which entry.")),
            must("size", number("Among how many.")),
            must("leaf", of("Hash")),
            must("path", list("From the leaf to the root.", &of("Hash"))),
            must("root", of("Hash")),
            newest("The newest checkpoint, where the proof leads to its root."),
        ],
    )
}

fn consistency() -> Value {
    object(
        "That the record only grew.",
        [
            must("from", number("How long it was.")),
            must("to", number("How long it is.")),
            must("from_root", of("Hash")),
            must("to_root", of("Hash")),
            must("proof", list("What leads from one root to the other.", &of("Hash"))),
            newest("The newest checkpoint, where the proof leads to its root."),
        ],
    )
}

fn exchange_keys() -> Value {
    let key =
        object("A key.", [must("public", of("PublicKey")), must("state", one_of("Where it stands.", &["ACTIVE"]))]);
    object(
        "What the exchange signs with.",
        [must("realm", text("The realm, which proofs name.")), must("keys", list("Its keys.", &key))],
    )
}
