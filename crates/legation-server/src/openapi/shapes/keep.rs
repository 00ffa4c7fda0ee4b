//! The shapes of what keeps the record, and of what lets go of it.

use super::Shape;
use crate::openapi::schema::{as_a, closed, flag, list, may, must, number, object, one_of, or_null, text, time};
use serde_json::Value;

pub(super) fn shapes() -> Vec<Shape> {
    let keys = flag("Whether the secret keys are in it: the exchange's own, and those the record is sealed with.");
    vec![
        ("BackupWanted", closed("What the copy is to hold.", [may("keys", keys)])),
        ("EraseWanted", wanted()),
        ("Erased", erased()),
        ("Erasures", erasures()),
    ]
}

fn wanted() -> Value {
    let subject = closed(
        "Somebody, and which of their messages are meant; both kinds where neither is said. Where nothing narrows it, \
         also what extensions keep of them.",
        [
            must("agent", text("Who: an agent by id, or `person:NAME` or `external:SUBJECT`.")),
            may("sent", flag("What they sent.")),
            may("received", flag("What went to them.")),
            may("before", time("Only what was taken before this time.")),
            may("thread", text("Only what is in this task or session.")),
        ],
    );
    closed(
        "Which messages are to be erased: by one of `positions`, `message_id` and `subject`.",
        [
            may("positions", list("Where they lie.", &number("A position."))),
            may("message_id", text("The id of one, or its position.")),
            may("sender", text("Who sent the one with this id.")),
            may("subject", subject),
            may("reason", text("Why. It stays on the record.")),
            may("undelivered", flag("Also what has not reached its recipient, who then never gets it.")),
            may("dry_run", flag("Only tell what would go.")),
        ],
    )
}

fn erased() -> Value {
    let place = |about: &str| {
        or_null(object(about, [must("position", number("Where.")), must("received_at", time("When it was taken."))]))
    };
    object(
        "What was erased, or would be.",
        [
            must("status", one_of("What was done.", &["erased", "dry_run", "nothing_to_erase"])),
            must("messages", number("How many messages.")),
            must("refusals", number("How many refusals.")),
            must("calls", number("How many calls of tools, and entries that say what came of one.")),
            must(
                "echoes",
                number(
                    "How many entries in which the exchange said something because of them, or people said why they went on or not.",
                ),
            ),
            must("kept", number("How many entries of extensions.")),
            must("undelivered", number("How many of them have not reached everybody.")),
            must("already", number("How many were erased before.")),
            must("first", place("The first of them.")),
            must("last", place("The last of them.")),
            must("entries", list("The entries that say so.", &number("A position."))),
        ],
    )
}

fn erasures() -> Value {
    let span = object(
        "Messages and other entries that were erased by one.",
        [
            must("first", number("The first position.")),
            must("last", number("The last position.")),
            must("entry", number("The entry that erased them.")),
            must("realm", text("Whose record.")),
            must("epoch", number("The epoch the record is in.")),
            may("restore", text("What was drawn for the restore that began it; not in the first.")),
            must("first_leaf", as_a("Hash", "The leaf of the first.")),
            must("last_leaf", as_a("Hash", "The leaf of the last.")),
        ],
    );
    let clearing = object(
        "How far it is, in segments that are written anew.",
        [must("done", number("How many are done.")), must("of", number("How many there are to do."))],
    );
    object(
        "How far erasing is.",
        [
            must("erased", number("How many messages and other entries were ever erased.")),
            must("pending", number("How many of them may still be on the disk.")),
            must("clearing", clearing),
            may("list", list("All of them.", &span)),
        ],
    )
}
