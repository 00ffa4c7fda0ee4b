//! What the operations of extensions give: how things stand once they are done.

use crate::openapi::schema::{any_of, flag, list, may, must, number, object, one_of, or_null, text, texts, time, with};
use legation_engine::Operation;
use legation_exchange::extensions::Extension;
use legation_exchange::extensions::consensus::Phase;
use legation_exchange::extensions::intent::Category;
use legation_exchange::extensions::personal::{Dimension, Lifecycle, Source};
use legation_exchange::extensions::relational::{Field, Origin, Privacy, Scaffold, Standing, Trust};
use serde_json::{Value, json};

/// What an operation gives, as JSON Schema.
pub(in crate::mcp::tools) fn given(operation: &Operation) -> Value {
    match (operation.extension, operation.name) {
        (Extension::Personal, _) => personal(),
        (Extension::Relational, _) => relational(),
        (Extension::Consensus, "deliberations") => {
            let one = object("A deliberation.", brief());
            object("Deliberations.", [must("deliberations", list("Newest first.", &one))])
        }
        (Extension::Consensus, "result") => outcome(),
        (Extension::Consensus, "withdraw") => {
            object("What was given up.", [must("deliberation_id", text("Which.")), must("withdrawn", flag("True."))])
        }
        (Extension::Consensus, _) => deliberation(),
        (Extension::Torch, "lineage") => lineage(),
        (Extension::Torch, _) => carried(),
        (Extension::Intent, _) => intent(),
    }
}

fn subject() -> crate::openapi::schema::Member {
    must("subject", text("Whose: `agent:ID`, `person:NAME` or `external:SUBJECT`."))
}

fn share(about: &str) -> Value {
    json!({"type": "number", "minimum": 0, "maximum": 1, "description": about})
}

/// One of the words of an enum.
macro_rules! words {
    ($about:literal, $type:ty) => {
        one_of($about, &<$type>::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>())
    };
}

fn personal() -> Value {
    let signal = object(
        "A signal.",
        [
            must("dimension", words!("Which side of them.", Dimension)),
            must("category", text("What.")),
            must("intensity", number("What time has left of it.")),
            must("source", words!("Where it comes from.", Source)),
            must("declared_intensity", number("How much it was.")),
            must("declared_source", words!("Where it came from.", Source)),
            must("confidence", share("How sure it is.")),
            must("pinned", flag("Whether it stays as it is.")),
            must("lifecycle", words!("Where it stands.", Lifecycle)),
            must("since", time("When it was noted.")),
        ],
    );
    let signals = any_of(&list("What was said.", &signal), &flag("Of another: whether they said anything."));
    let members = [
        subject(),
        may("as_of", time("When this was so; of oneself.")),
        may("clearance", text("How much is told; of another.")),
        must("signals", signals),
    ];
    object("How somebody is.", members)
}

fn relational() -> Value {
    let attested = || object("Whether it is there.", [must("attested", flag("Whether."))]);
    let privacy = Field::ALL.map(|field| must(field.as_str(), words!("Who is told.", Privacy)));
    object(
        "How a relation stands; of another's, what is not private.",
        [
            subject(),
            may("session_count", number("How many sessions there were.")),
            may("trust", any_of(&words!("How far it has come.", Trust), &attested())),
            may("standing", any_of(&words!("How much an AI has to say.", Standing), &attested())),
            may("self_model", or_null(any_of(&model(), &attested()))),
            may("norms", any_of(&list("What was agreed on.", &norm()), &attested())),
            may("privacy", object("Who is told of what.", privacy)),
        ],
    )
}

fn model() -> Value {
    let report = object(
        "What is said of a dimension.",
        [
            must("value", json!({"type": "number", "minimum": 1, "maximum": 9})),
            must("uncertain", flag("Whether that is uncertain.")),
            may("label", text("In a word.")),
            may("trend", one_of("Which way it goes.", &["rising", "stable", "falling", "unknown"])),
            may("confidence", share("How sure it is.")),
        ],
    );
    object(
        "The last report on the self.",
        [
            must("scaffold", words!("What it is built on.", Scaffold)),
            must("dimensions", with(object("By dimension.", []), "additionalProperties", report)),
            must("has_uncertainty_markers", flag("Whether it doubts anything.")),
            must("performance_bias", flag("Whether it may be put on, since it does not.")),
            scanned(),
        ],
    )
}

fn scanned() -> crate::openapi::schema::Member {
    let found = object(
        "Something in a text that may try to steer whoever reads it.",
        [
            must("pattern", text("What fits.")),
            must("severity", one_of("How much it means.", &["low", "medium", "high"])),
            must("at", text("The member, as a JSON pointer.")),
            must("offset", number("The first byte of it.")),
            must("length", number("How many.")),
            must("how", one_of("How it was found.", &["plain", "normalised", "base64"])),
        ],
    );
    may("scanned", list("What the scan found in the texts, where it did.", &found))
}

fn norm() -> Value {
    object(
        "A norm.",
        [
            must("id", text("Its id.")),
            must("description", text("What it says.")),
            must("origin", words!("Who it comes from.", Origin)),
            must("uncertainty", share("How unsure it is.")),
            must("active", flag("Whether it counts.")),
            scanned(),
        ],
    )
}

fn brief() -> [crate::openapi::schema::Member; 5] {
    [
        must("deliberation_id", text("Its id.")),
        must("title", text("What it is called.")),
        must("convener", or_null(text("Who proposed it."))),
        must("phase", words!("How far it has come.", Phase)),
        must("began", with(object("When each phase began.", []), "additionalProperties", time("When."))),
    ]
}

fn ranking(about: &str) -> Value {
    list(about, &texts("Ids that share a place."))
}

fn deliberation() -> Value {
    let candidate = object("Something to choose.", [must("id", text("Its id.")), must("label", text("What it is."))]);
    let stakeholder = object(
        "Somebody who has a say.",
        [
            must("who", text("Who.")),
            must("kind", one_of("What they are.", &["ai", "human"])),
            must("standing", words!("How much of a say.", Standing)),
            must("has_voted", flag("Whether they have ranked.")),
        ],
    );
    let said = [must("by", text("Who.")), must("at", time("When.")), must("text", text("What.")), scanned()];
    let more = [
        must("text", text("What is proposed.")),
        must("candidates", list("What is chosen from.", &candidate)),
        must("stakeholders", list("Who has a say.", &stakeholder)),
        must("about", texts("Whom it is about.")),
        must("self_referential", texts("Stakeholders whom it is about.")),
        must("statements", list("What was said.", &object("A statement.", said))),
        must("own_ballot", or_null(ranking("How you ranked."))),
        scanned(),
    ];
    object("A deliberation.", brief().into_iter().chain(more))
}

fn outcome() -> Value {
    let matrix = |about: &str| list(about, &list("A row.", &number("How many.")));
    object(
        "What the ballots come to: how many there are, and when no more are taken, all of it.",
        [
            must("deliberation_id", text("Of which.")),
            must("phase", words!("How far it has come.", Phase)),
            must("final", flag("Whether no ballot can come any more.")),
            must("method", one_of("How it was worked out.", &["schulze"])),
            must("candidates", texts("In the order of the matrices.")),
            must("ballots", number("How many count.")),
            must("advisory_ballots", number("How many are only heard.")),
            may("d", matrix("How many prefer the row to the column.")),
            may("p", matrix("The strength of the strongest path.")),
            may("wins", with(object("How many each beats.", []), "additionalProperties", number("How many."))),
            may("ranking", ranking("The best first.")),
            may("winner", or_null(text("The one that won, if one did."))),
            may("winners", texts("Those in the first place.")),
            must("self_referential", texts("Stakeholders whom it is about.")),
        ],
    )
}

fn torch() -> Value {
    object(
        "A torch.",
        [
            must("quality_description", text("How it was.")),
            must("handed_at", time("When it was handed over.")),
            must("trajectory", or_null(text("Which way it went."))),
            must("primes", texts("What to go on with.")),
            must("gift", or_null(text("What was given along."))),
            must("session_count", number("How many sessions there were.")),
            must("gestalt_token", or_null(text("How the self was, in a line."))),
            must("degraded", flag("Whether nothing was known of the relation.")),
            scanned(),
        ],
    )
}

fn carried() -> Value {
    let offer = object("A torch that waits.", [must("from", text("From whom.")), must("torch", torch())]);
    object(
        "What somebody carries.",
        [
            subject(),
            must("degraded", flag("Whether the relation plays no part in this session.")),
            must("session_count", number("How many sessions there were.")),
            must("lineage_depth", number("How many of them are remembered.")),
            must("received", or_null(torch())),
            must("offers", list("What waits to be taken.", &offer)),
        ],
    )
}

fn lineage() -> Value {
    let session = object(
        "A session.",
        [
            must("date", time("When it was handed over.")),
            must("gestalt_token", or_null(text("How the self was, in a line."))),
            must("session_id", text("Which.")),
        ],
    );
    object(
        "The sessions before.",
        [
            subject(),
            must("session_count", number("How many there were.")),
            must("lineage", list("Oldest first.", &session)),
        ],
    )
}

fn intent() -> Value {
    let category = || must("category", words!("What.", Category));
    let guess = object("A guess.", [category(), must("confidence", share("How sure."))]);
    let rule = object(
        "A rule that spoke.",
        [
            must("rule", text("Which.")),
            category(),
            must("points", number("How much.")),
            must("found", text("On what.")),
        ],
    );
    object(
        "What somebody is after in a session.",
        [
            subject(),
            must("session_id", text("In which.")),
            category(),
            must("confidence", share("How sure that is.")),
            must("corrected", flag("Whether they said so themselves.")),
            must("corrections", number("How often they did.")),
            must("inferred", guess.clone()),
            must("alternatives", list("The next best.", &guess)),
            must("rules", list("Why.", &rule)),
            must("personal_signals", flag("Whether it is known how they are.")),
            must("inferred_at", time("When it was concluded.")),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::given;
    use jsonschema::Draft;
    use legation_engine::Operation;

    #[test]
    fn what_every_operation_gives_is_described() {
        for operation in Operation::ALL {
            let schema = given(operation);
            assert_eq!(schema["type"], "object", "{}", operation.tool());
            assert!(!schema["required"].as_array().unwrap().is_empty(), "{}", operation.tool());
            jsonschema::options().with_draft(Draft::Draft202012).build(&schema).unwrap();
        }
    }
}
