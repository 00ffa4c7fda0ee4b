//! How the record is stored.

use super::Shape;
use crate::openapi::schema::{flag, list, must, number, object, or_null, text, time};

pub(super) fn shapes() -> Vec<Shape> {
    let key = object(
        "A key of the ring.",
        [
            must("id", number("Its number.")),
            must("created", time("When it was made.")),
            must("segments", number("How many segments it seals.")),
            must("newest", flag("Whether new things are sealed with it.")),
        ],
    );
    let rewriting = object(
        "How far segments have been written anew.",
        [must("done", number("Segments done.")), must("of", number("Segments to do."))],
    );
    let retention = object(
        "How long what messages say is kept.",
        [
            must("bodies_for_seconds", or_null(number("For so long; null: for ever."))),
            must("size", or_null(number("So many bytes of it; null: all."))),
            must("bytes", or_null(number("How many bytes complete segments have of it, where that is counted."))),
            must("dropped_before", number("Before this position it was dropped, but for what waits.")),
        ],
    );
    let storage = object(
        "How the record is stored.",
        [
            must("format", number("The record's format.")),
            must("bytes", number("Bytes of its segments.")),
            must("keys", list("The keys it is sealed with, newest first.", &key)),
            must("open_segments", number("Segments that are not sealed yet, from before it was.")),
            must("rewriting", or_null(rewriting)),
            must("retention", retention),
        ],
    );
    let rotated = object(
        "The record has a new key.",
        [must("key", text("Its number.")), must("position", number("The entry that says so."))],
    );
    vec![("Storage", storage), ("Rotated", rotated)]
}
