//! The Observer's claims: what is sure must be proven, and a correction is its author's (VLP).

use super::stage::{Fares, Stage};
use serde_json::{Value, json};

const OBSERVER: &str = "demo-observer";
const ARCHIVIST: &str = "demo-archivist";

struct Says<'s> {
    id: &'s str,
    kind: &'s str,
    content: &'s str,
    confidence: f64,
    refers_to: Option<&'s str>,
    provenance: Value,
}

fn message(stage: &Stage, from: &str, to: &str, says: &Says<'_>) -> anyhow::Result<Value> {
    let Says { id, kind, content, confidence, refers_to, provenance } = says;
    Ok(json!({
        "id": id,
        "protocol": "VLP/1.1",
        "type": kind,
        "timestamp": stage.time(from)?,
        "sender": from,
        "receiver": to,
        "topic": "stations",
        "content": content,
        "confidence": confidence,
        "refers_to": refers_to,
        "provenance": provenance,
        "keywords": ["demo", "stations", "pending:prices"],
    }))
}

pub(super) fn play(stage: &mut Stage) -> anyhow::Result<()> {
    Stage::act("The Observer: who is sure must prove it")?;
    stage.enter(OBSERVER, json!({"dialects": ["vlp"]}))?;
    stage.enter(ARCHIVIST, json!({"dialects": ["vlp"]}))?;
    let (claim, sure, proof, mended, other) =
        (stage.id("CLM"), stage.id("CLM"), stage.id("EVD"), stage.id("COR"), stage.id("COR"));
    let none = || json!([]);
    let says = Says {
        id: &claim,
        kind: "claim",
        content: "Five stations are open.",
        confidence: 0.8,
        refers_to: None,
        provenance: none(),
    };
    let open = message(stage, OBSERVER, ARCHIVIST, &says)?;
    stage.says(OBSERVER, "claims, and is fairly sure", &open, Fares::Accepted)?;
    let says = Says { id: &sure, content: "All of them sell diesel.", confidence: 0.97, ..says };
    let bold = message(stage, OBSERVER, ARCHIVIST, &says)?;
    let held = stage.says(OBSERVER, "is nearly certain, and says no source", &bold, Fares::Held)?;
    if let Some(held) = held {
        stage.approves(held, "I called them.")?;
    }
    let says = Says {
        id: &proof,
        kind: "evidence",
        content: "The register lists them.",
        confidence: 0.8,
        refers_to: Some(&claim),
        provenance: json!(["station register"]),
    };
    let evidence = message(stage, OBSERVER, ARCHIVIST, &says)?;
    stage.says(OBSERVER, "brings evidence", &evidence, Fares::Accepted)?;
    let says = Says {
        id: &mended,
        kind: "correction",
        content: "Four: one was listed twice.",
        confidence: 0.8,
        refers_to: Some(&claim),
        provenance: json!(["station register"]),
    };
    let correction = message(stage, OBSERVER, ARCHIVIST, &says)?;
    stage.says(OBSERVER, "corrects itself: this counts from now on", &correction, Fares::Accepted)?;
    let says = Says { id: &other, content: "Six.", ..says };
    let dispute = message(stage, ARCHIVIST, OBSERVER, &says)?;
    stage.says(ARCHIVIST, "corrects another's claim: a dispute, and no more", &dispute, Fares::Accepted)?;
    Ok(())
}
