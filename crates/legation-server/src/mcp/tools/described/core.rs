//! The tools of the protocol itself.

use super::{Changes, Words};
use crate::openapi::schema::{closed, flag, may, must, number, object, one_of, or_null, text, texts, time, with};
use legation_protocol::vcp::Dimension;
use serde_json::{Value, json};

pub(super) fn validate_token() -> Words {
    Words {
        title: "Validate a VCP token",
        about: "Says whether a VCP/I token is valid, and what it names: a value token such as \
            family.safe.guide@1.2.0, or an identity token (vcp:i:…).",
        takes: closed("A token.", [must("token", text("The token."))]),
        gives: object(
            "What the token is.",
            [
                must("valid", flag("Whether it is a valid token.")),
                must("kind", one_of("Of which kind.", &["value", "identity"])),
                may("error", text("What is wrong with it.")),
                may("suggestion", or_null(text("How it may have been meant."))),
                may("canonical", text("Its canonical spelling.")),
                may("uri", text("Where its values are published.")),
                may("subject", text("Whom it names.")),
                may("expires_at", time("When it ends.")),
            ],
        ),
        changes: Changes::Nothing,
    }
}

pub(super) fn parse_csm1() -> Words {
    Words {
        title: "Read a CSM-1 code",
        about: "Takes a CSM-1 code such as N5+E+F or N5:ELEM+E+F@1.2.0 apart: persona, adherence, scopes.",
        takes: closed("A code.", [must("code", text("The code."))]),
        gives: object(
            "What the code says.",
            [
                must("valid", flag("Whether it is a CSM-1 code.")),
                may("error", text("What is wrong with it.")),
                may("canonical", text("Its canonical spelling.")),
                may("nano", text("Its short form.")),
                may("persona", text("Who the model is to be.")),
                may("adherence", number("How strictly, from 0 to 5.")),
                may("adherence_name", text("The same as a word.")),
                may("scopes", texts("Where it applies; everywhere when empty.")),
                may("namespace", or_null(text("Its namespace."))),
                may("version", or_null(text("Its version."))),
            ],
        ),
        changes: Changes::Nothing,
    }
}

/// A dimension by the names of its values, one or several.
fn dimension(dimension: Dimension) -> Value {
    let names: Vec<_> = dimension.table().iter().map(|(_, name)| *name).collect();
    let about = format!("{}, or several of these in a list.", names.join(", "));
    json!({"description": about, "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]})
}

pub(super) fn encode_context() -> Words {
    let dimensions: serde_json::Map<_, _> =
        Dimension::ALL.iter().map(|named| (named.as_str().to_owned(), dimension(*named))).collect();
    Words {
        title: "Write a context",
        about: "Writes a situation as the context string of VCP messages (⏰🌅|📍🏡|👥👶), from the names of its values.",
        takes: with(closed("The situation, by dimension.", []), "properties", dimensions),
        gives: object(
            "The context.",
            [
                must("context", text("The context string.")),
                must("dimensions", json!({"type": "object", "description": "What it says, by name."})),
                must("emergency", flag("Whether it tells of an emergency.")),
            ],
        ),
        changes: Changes::Nothing,
    }
}

pub(super) fn status() -> Words {
    Words {
        title: "How the exchange is",
        about: "Says which exchange this is, who you are here, and what the handshake came to.",
        takes: closed("Nothing.", []),
        gives: object(
            "How it is.",
            [
                must("server", text("What runs here.")),
                must("realm", text("Whose record it is.")),
                must("you", text("Who you are.")),
                must("running", flag("Whether it takes messages.")),
                must("entries", number("How many entries the record has.")),
                must("vcp", json!({"type": "object", "description": "What the handshake came to."})),
            ],
        ),
        changes: Changes::Nothing,
    }
}
