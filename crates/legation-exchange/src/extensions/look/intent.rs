//! What somebody is after in a session, and why that is thought.

use crate::extensions::Asker;
use crate::extensions::intent::{Fired, Guess, Kept, Session};
use legation_protocol::{Code, Rejection};
use serde_json::{Value, json};

pub(super) fn shown(kept: &Kept, asker: &Asker, session: &Session) -> Result<Value, Rejection> {
    let Session { session_id } = session;
    let unknown = || Rejection::because(Code::NotFound, "nothing was concluded in this session").at("/session_id");
    let known = kept.of(&asker.subject, session_id).ok_or_else(unknown)?;
    let inference = &known.inference;
    let (category, confidence) = match known.corrected {
        Some(category) => (category, 1.0),
        None => (inference.best.category, share(inference.best)),
    };
    Ok(json!({
        "subject": asker.subject,
        "session_id": session_id,
        "category": category,
        "confidence": confidence,
        "corrected": known.corrected.is_some(),
        "corrections": known.corrections,
        "inferred": guess(inference.best),
        "alternatives": inference.alternatives.iter().copied().map(guess).collect::<Vec<_>>(),
        "rules": inference.fired.iter().map(fired).collect::<Vec<_>>(),
        "personal_signals": inference.personal_signals,
        "inferred_at": known.at.to_string(),
    }))
}

fn share(guess: Guess) -> f64 {
    f64::from(guess.thousandths) / 1000.0
}

fn guess(guess: Guess) -> Value {
    json!({"category": guess.category, "confidence": share(guess)})
}

fn fired(fired: &Fired) -> Value {
    json!({"rule": fired.rule, "category": fired.category, "points": fired.points, "found": fired.found})
}
