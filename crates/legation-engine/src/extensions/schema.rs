//! What each operation takes, as JSON Schema.

use legation_exchange::extensions::Extension;
use legation_exchange::extensions::consensus::{Phase, STAKEHOLDERS};
use legation_exchange::extensions::intent::Category;
use legation_exchange::extensions::personal::{Dimension, Source};
use legation_exchange::extensions::relational::{Field, Origin, Privacy, Scaffold, Standing};
use serde_json::{Value, json};

pub(super) fn of(extension: Extension, name: &str) -> Value {
    match extension {
        Extension::Personal => personal(name),
        Extension::Relational => relational(name),
        Extension::Consensus => consensus(name),
        Extension::Torch => torch(name),
        Extension::Intent => intent(name),
    }
}

fn object(required: &[&str], properties: Value) -> Value {
    Value::from_iter([
        ("type", json!("object")),
        ("required", json!(required)),
        ("properties", properties),
        ("additionalProperties", json!(false)),
    ])
}

fn text(about: &str, most: u32) -> Value {
    json!({"type": "string", "description": about, "minLength": 1, "maxLength": most})
}

fn words<'w>(about: &str, words: impl IntoIterator<Item = &'w str>) -> Value {
    json!({"type": "string", "description": about, "enum": words.into_iter().collect::<Vec<_>>()})
}

fn share(about: &str) -> Value {
    json!({"type": "number", "description": about, "minimum": 0, "maximum": 1})
}

fn flag(about: &str) -> Value {
    json!({"type": "boolean", "description": about})
}

fn limit() -> Value {
    object(
        &[],
        json!({"limit": {"type": "integer", "description": "How many at most.", "minimum": 0, "maximum": 1000}}),
    )
}

fn session() -> Value {
    text("The session.", 128)
}

fn personal(name: &str) -> Value {
    let dimension = || words("Which side of how you are.", Dimension::ALL.map(Dimension::as_str));
    let categories: Vec<_> = Dimension::ALL.iter().flat_map(|dimension| dimension.categories()).collect();
    let signal = object(
        &["dimension", "category"],
        json!({
            "dimension": dimension(),
            "category": words("What; each dimension has its own.", categories.iter().map(|category| **category)),
            "intensity": {"type": "integer", "description": "How much; 3 when left out.", "minimum": 1, "maximum": 5},
            "confidence": share("How sure that is; 1 when left out."),
            "source": words("Where it comes from.", Source::ALL.iter().map(|source| source.as_str())),
            "pinned": flag("Whether it stays as it is."),
        }),
    );
    match name {
        "set" => {
            object(&["signals"], json!({"signals": {"type": "array", "items": signal, "minItems": 1, "maxItems": 5}}))
        }
        "clear" => object(&[], json!({"dimensions": {"type": "array", "items": dimension(), "maxItems": 5}})),
        "state" => object(&[], json!({"of": text("Another, by name; yourself when left out.", 300)})),
        _ => object(&[], json!({})),
    }
}

fn relational(name: &str) -> Value {
    let report = object(
        &["value", "uncertain"],
        json!({
            "value": {"type": "number", "minimum": 1, "maximum": 9},
            "uncertain": flag("Whether that is uncertain. It has to be said."),
            "label": text("In a word.", 128),
            "trend": words("Which way it goes.", ["rising", "stable", "falling", "unknown"]),
            "confidence": share("How sure it is."),
        }),
    );
    match name {
        "context" => object(&[], json!({"of": text("Another, by name; yourself when left out.", 300)})),
        "begin_session" => object(&["session_id"], json!({"session_id": session()})),
        "set_standing" => object(&["standing"], json!({"standing": standing()})),
        "report_self" => object(
            &["dimensions"],
            json!({
                "scaffold": words("What the report is built on.", Scaffold::ALL.iter().map(|one| one.as_str())),
                "dimensions": {
                    "type": "object", "description": "valence, groundedness, presence, task_fit, friction, uncertainty, or others.",
                    "additionalProperties": report, "minProperties": 1, "maxProperties": 32,
                },
            }),
        ),
        "put_norm" => object(
            &["id", "description", "origin"],
            json!({
                "id": text("Its id.", 128),
                "description": text("What it says.", 500),
                "origin": words("Who it comes from.", Origin::ALL.iter().map(|one| one.as_str())),
                "uncertainty": share("How unsure it is; 0 when left out."),
                "active": flag("Whether it counts; true when left out."),
            }),
        ),
        "remove_norm" => object(&["id"], json!({"id": text("Which.", 128)})),
        _ => object(
            &["field", "privacy"],
            json!({
                "field": words("Of which.", Field::ALL.map(Field::as_str)),
                "privacy": words("Who is told.", Privacy::ALL.iter().map(|one| one.as_str())),
            }),
        ),
    }
}

fn standing() -> Value {
    words("How much of a say.", Standing::ALL.iter().map(|one| one.as_str()))
}

fn consensus(name: &str) -> Value {
    let id = || text("The deliberation.", 32);
    match name {
        "deliberations" => limit(),
        "propose" => object(&["title", "candidates", "stakeholders"], draft()),
        "amend" => {
            let mut properties = draft();
            if let Some(properties) = properties.as_object_mut() {
                properties.insert("deliberation_id".to_owned(), id());
            }
            object(&["deliberation_id"], properties)
        }
        "advance" => {
            let phases = Phase::ALL.iter().map(|phase| phase.as_str());
            object(&["deliberation_id", "to"], json!({"deliberation_id": id(), "to": words("The next phase.", phases)}))
        }
        "say" => object(&["deliberation_id", "text"], json!({"deliberation_id": id(), "text": text("What.", 1000)})),
        "vote" => {
            let place =
                json!({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]});
            let about =
                "Ids of candidates, the best first; a list within is a tie. Those left out come last, together.";
            let ranking = json!({"type": "array", "description": about, "items": place, "minItems": 1, "maxItems": 32});
            object(&["deliberation_id", "ranking"], json!({"deliberation_id": id(), "ranking": ranking}))
        }
        _ => object(&["deliberation_id"], json!({"deliberation_id": id()})),
    }
}

fn draft() -> Value {
    let name = || text("By name: of an agent or a person, or `external:SUBJECT`.", 300);
    let labelled = object(&["id"], json!({"id": text("Its id.", 128), "label": text("What it is.", 500)}));
    let candidate = json!({"oneOf": [text("Its id.", 128), labelled]});
    let stakeholder =
        json!({"oneOf": [name(), object(&["who", "standing"], json!({"who": name(), "standing": standing()}))]});
    json!({
        "title": text("What it is called.", 200),
        "text": {"type": "string", "description": "What is proposed.", "maxLength": 8000},
        "candidates": {"type": "array", "items": candidate, "minItems": 2, "maxItems": 32},
        "stakeholders": {"type": "array", "items": stakeholder, "minItems": 1, "maxItems": STAKEHOLDERS},
        "about": {"type": "array", "description": "Whom it is about.", "items": name(), "maxItems": STAKEHOLDERS},
    })
}

fn torch(name: &str) -> Value {
    let other = |about: &str| text(about, 300);
    match name {
        "lineage" => limit(),
        "hand_off" => object(
            &["session_id"],
            json!({
                "session_id": text("The session that ends.", 128),
                "to": other("To whom, by name; your own next session when left out."),
                "gift": text("Something to give along.", 1000),
            }),
        ),
        "receive" => object(&[], json!({"from": other("From whom, by name; your own last session when left out.")})),
        _ => object(&[], json!({})),
    }
}

fn intent(name: &str) -> Value {
    match name {
        "infer" => object(
            &["session_id", "text"],
            json!({
                "session_id": session(),
                "text": text("What was said.", 16_384),
                "topic": text("What it is about.", 128),
                "ontology": text("The ontology it was said in.", 128),
            }),
        ),
        "correct" => {
            let categories = Category::ALL.iter().map(|category| category.as_str());
            object(
                &["session_id", "category"],
                json!({"session_id": session(), "category": words("What it is.", categories)}),
            )
        }
        _ => object(&["session_id"], json!({"session_id": session()})),
    }
}
