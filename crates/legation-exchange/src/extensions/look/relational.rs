//! How a relation stands. Others see what is public; of what is attestable, whether it is there; of the rest
//! nothing.

use crate::extensions::relational::{Field, Model, Privacy, Relation};
use crate::extensions::{Asker, Subject};
use crate::state::State;
use legation_protocol::{Code, Rejection};
use serde_json::{Map, Value, json};

pub(super) fn shown(state: &State, asker: &Asker, of: Option<&str>) -> Result<Value, Rejection> {
    let unknown = || Rejection::because(Code::UnknownAgent, "there is nobody of this name").at("/of");
    let subject = match of {
        Some(name) => Subject::meant(state, name).ok_or_else(unknown)?,
        None => asker.subject.clone(),
    };
    let relation = state.rules.extensions.relational.of(&subject).cloned().unwrap_or_default();
    Ok(if subject == asker.subject { own(&subject, &relation) } else { outside(&subject, &relation) })
}

fn own(subject: &Subject, relation: &Relation) -> Value {
    let privacy: Map<_, _> =
        Field::ALL.into_iter().map(|field| (field.as_str().to_owned(), json!(relation.privacy(field)))).collect();
    json!({
        "subject": subject,
        "session_count": relation.sessions,
        "trust": relation.trust(),
        "standing": relation.standing,
        "self_model": relation.model.as_ref().map(model),
        "norms": relation.norms,
        "privacy": privacy,
    })
}

fn model(model: &Model) -> Value {
    let marked = model.has_uncertainty_markers();
    let told = json!({
        "scaffold": model.scaffold,
        "dimensions": model.dimensions,
        "has_uncertainty_markers": marked,
        "performance_bias": !marked,
    });
    super::marked(told, &model.scanned)
}

fn outside(subject: &Subject, relation: &Relation) -> Value {
    let mut told = Map::from_iter([("subject".to_owned(), json!(subject))]);
    for field in Field::ALL {
        let value = match relation.privacy(field) {
            Privacy::Private => continue,
            Privacy::Attestable => json!({"attested": is_there(field, relation)}),
            Privacy::Public => match field {
                Field::Trust => json!(relation.trust()),
                Field::Standing => json!(relation.standing),
                Field::SelfModel => json!(relation.model.as_ref().map(model)),
                Field::Norms => json!(relation.norms),
            },
        };
        told.insert(field.as_str().to_owned(), value);
    }
    Value::Object(told)
}

fn is_there(field: Field, relation: &Relation) -> bool {
    match field {
        Field::Trust => relation.sessions > 0,
        Field::Standing => relation.standing > crate::extensions::relational::Standing::None,
        Field::SelfModel => relation.model.is_some(),
        Field::Norms => relation.active_norms().next().is_some(),
    }
}
