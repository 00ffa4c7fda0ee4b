//! Agents, their keys, and people.

use super::Shape;
use crate::openapi::schema::{
    Member, as_a, closed, flag, list, may, must, number, object, of, one_of, or_flag, or_null, text, texts, time, with,
};
use serde_json::{Value, json};

const STATES: [&str; 6] = ["PENDING", "ACTIVE", "ROTATING", "RETIRED", "COMPROMISED", "REVOKED"];

pub(super) fn shapes() -> Vec<Shape> {
    let position = || must("position", number("Where in the record that lies."));
    vec![
        ("Agent", agent()),
        ("Stopped", stopped()),
        (
            "Directory",
            object(
                "Agents.",
                [
                    must("agents", list("The agents.", &of("Agent"))),
                    must("next", or_null(text("What to ask for next, as `after`; null at the end."))),
                ],
            ),
        ),
        ("Registration", registration()),
        (
            "Registered",
            object("An agent.", [must("agent", of("Agent")), may("token", text("Its token, when it is new."))]),
        ),
        ("Removed", object("An agent that is gone.", [must("removed", text("Its id.")), position()])),
        ("SignIn", sign_in()),
        (
            "LinkWanted",
            closed("Whom a link is for.", [may("name", text("Their name; the one who asks when left out."))]),
        ),
        ("Link", link()),
        ("Session", session()),
        ("Push", push()),
        ("Capabilities", capabilities()),
        ("Aliases", aliases()),
        ("Key", key()),
        ("NewKey", new_key()),
        ("KeyRing", key_ring()),
        ("AddedKey", closed("A key to bring in.", more_of_key().into_iter().chain([proof(), key_proof("key_proof")]))),
        ("ChangedKey", changed_key()),
        ("Rekeyed", object("An agent whose keys changed.", [must("agent", of("Agent")), position()])),
        ("Role", one_of("What a person may do.", &["operator", "reviewer", "auditor", "orchestrator"])),
        ("Person", object("A person.", [must("name", text("Their name.")), must("role", of("Role"))])),
        ("NameCollision", name_collision()),
        (
            "NameCollisions",
            object(
                "Names that collide.",
                [
                    must("collisions", list("The first thousand.", &of("NameCollision"))),
                    must("total", number("All of them.")),
                ],
            ),
        ),
        ("People", object("People.", [must("people", list("The people.", &of("Person")))])),
        ("Grant", closed("What a person is to be.", [must("role", of("Role"))])),
        ("Granted", object("A person.", [must("person", of("Person")), must("token", text("Their new token."))])),
        (
            "Withdrawn",
            object("A person who has no token any more.", [must("withdrawn", text("Their name.")), position()]),
        ),
    ]
}

fn agent() -> Value {
    let manifest = json!({
        "type": ["object", "null"],
        "additionalProperties": true,
        "description": "Its CAP manifest; `system_prompt` only for itself and operators.",
    });
    object(
        "An agent as others may see it.",
        [
            must("id", text("Its one canonical id.")),
            must("dialects", list("The dialects it speaks.", &of("Dialect"))),
            must("aliases", of("Aliases")),
            must("keys", list("Its keys, also those out of use.", &of("Key"))),
            must("parent", or_null(text("The agent above it."))),
            must("instance_of", or_null(text("The agent it is a running copy of."))),
            must("groups", texts("Groups it belongs to.")),
            must("capabilities", or_null(of("Capabilities"))),
            must("ontologies", texts("Ontologies it understands, as prefixes of their terms.")),
            must("languages", texts("Content languages it understands.")),
            must("model", or_null(text("The model it runs on."))),
            must("purposes", texts("What it is for.")),
            must("environment", or_null(text("Where it runs: `production`, `staging` …"))),
            must("manifest", manifest),
            must("manifest_version", number("How often a manifest was written for it.")),
            may("own_aliases", texts("Aliases that the agent gave itself, and that no manifest or constraint means.")),
            may("scanned", list("What the scan found in its manifest and capabilities.", &of("ScanFinding"))),
            may(
                "registered_from",
                text("The source address it was registered from without a token; only for operators and auditors."),
            ),
            may("push", as_a("Push", "Only for itself, operators and auditors.")),
            must(
                "since",
                number("The position of the entry that registered it. What was said before under its id is another's."),
            ),
            must("state", one_of("Whether it may go on.", &["running", "paused", "suspended"])),
            may("stopped", of("Stopped")),
            may("waiting", number("How much waits for it, for those who may read its mailbox.")),
            may(
                "escalations",
                texts(
                    "Ids of what it has escalated and is open, where one agent is asked for; for parties to it and those who see all.",
                ),
            ),
            may("connected", flag("Whether it has a WebSocket open, where one agent is asked for.")),
            may("context_shared", flag("Whether it began one of those that are open by sharing its context.")),
            may("clearance", as_a("Clearance", "How much of the following is told, where one agent is asked for.")),
            may("constraints", or_flag(&list("What it is under.", &of("Constraint")))),
            may("constitution", or_flag(&or_null(of("Constitution")))),
            may("context", or_flag(&or_null(of("Situation")))),
        ],
    )
}

fn stopped() -> Value {
    object(
        "Why an agent stands still, for itself, operators and auditors.",
        [
            must("by", text("Who stopped it: an operator, or the agent that escalated.")),
            must("since", time("Since when.")),
            must("reason", or_null(text("What they gave as their reason, if it is still here."))),
            must("escalation", or_null(number("The entry that holds the escalation, where one stops it."))),
        ],
    )
}

fn registration() -> Value {
    closed(
        "What to register or change. What is left out stays as it is; null takes it away where null may stand.",
        [
            may("dialects", list("The dialects it speaks.", &of("Dialect"))),
            may("keys", list("Keys that are in use from now on; all others are retired.", &of("NewKey"))),
            may(
                "custody",
                custody(
                    "With `exchange` a key that the exchange makes and keeps is in use from now on in place of all others; with `own` no such key is any more.",
                ),
            ),
            may("aliases", of("Aliases")),
            may("parent", or_null(text("The agent above it. Only an operator changes it, or takes it away."))),
            may("instance_of", text("The agent it is a running copy of.")),
            may("groups", texts("Groups it belongs to.")),
            may("capabilities", or_null(of("Capabilities"))),
            may("ontologies", texts("Ontologies it understands, as prefixes of their terms.")),
            may("languages", texts("Content languages it understands.")),
            may("model", or_null(text("The model it runs on."))),
            may("purposes", texts("What it is for.")),
            may("environment", or_null(text("Where it runs."))),
            may("manifest", of("CapManifest")),
            may("push", or_null(of("Push"))),
            may("rotate_token", flag("Whether to make a new token. The old one counts until the new one is used.")),
            may("only_new", flag("Whether to change nothing where there is such an agent already.")),
        ],
    )
}

fn push() -> Value {
    closed(
        "Where an agent's messages are brought to.",
        [must("url", text("Each message is posted here, as it was sent."))],
    )
}

fn capabilities() -> Value {
    let named = json!({"anyOf": [
        {"type": "string"},
        {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}, "additionalProperties": true},
    ]});
    let lists = [may("topics", list("What it knows about.", &named)), may("actions", list("What it can do.", &named))];
    closed("What an agent can do, as it told the directory.", lists)
}

fn aliases() -> Value {
    let names = json!({"type": "object", "description": "Other names it goes by, one a dialect."});
    let names = with(names, "propertyNames", of("Dialect"));
    with(names, "additionalProperties", json!({"type": "string"}))
}

fn key() -> Value {
    object(
        "A key of an agent.",
        [
            must("public", of("PublicKey")),
            must("state", one_of("Where it stands in its life.", &STATES)),
            may("not_after", time("From when on it no longer counts.")),
            may("custody", custody("Who keeps its secret half, where it is not the agent.")),
            may("proven", flag("Whether the agent has shown that it holds the secret half: the key is bound to it.")),
        ],
    )
}

pub(super) fn custody(about: &str) -> Value {
    one_of(about, &["own", "exchange"])
}

fn more_of_key() -> [Member; 3] {
    [
        must("key", of("PublicKey")),
        may("not_after", time("From when on it no longer counts.")),
        may("pending", flag("Whether it waits to be taken into use.")),
    ]
}

fn proof() -> Member {
    may(
        "proof",
        as_a(
            "Signature",
            "Made with a key in use, over the words that docs/guides/identity.md gives. An operator needs none.",
        ),
    )
}

/// The signature by which an agent shows that it holds a key.
fn key_proof(name: &'static str) -> Member {
    may(
        name,
        as_a(
            "Signature",
            "Made with this very key, over the words that docs/guides/identity.md gives: it binds the key to the agent.",
        ),
    )
}

fn new_key() -> Value {
    let more = closed("A key, and more on it.", more_of_key().into_iter().chain([key_proof("proof")]));
    json!({"description": "A key that is to be an agent's.", "anyOf": [of("PublicKey"), more]})
}

fn key_ring() -> Value {
    object(
        "The keys of an agent.",
        [
            must("realm", text("The realm a proof names.")),
            must("agent", text("Whose.")),
            must("keys", list("All of them, also those out of use.", &of("Key"))),
        ],
    )
}

fn changed_key() -> Value {
    let states = STATES.into_iter().filter(|state| *state != "PENDING").collect::<Vec<_>>();
    closed(
        "What a key is to become.",
        [
            must("state", one_of("Its new state.", &states)),
            proof(),
            may("reason", or_null(text("Why it is withdrawn. Everybody can read it."))),
        ],
    )
}

fn sign_in() -> Value {
    let either = [may("code", text("The code of a link.")), may("token", text("A person's token."))];
    let shape = closed("What signs a person in: one of the two.", either);
    with(shape, "oneOf", json!([{"required": ["code"]}, {"required": ["token"]}]))
}

fn link() -> Value {
    object(
        "A link that signs in once.",
        [must("url", text("The link.")), must("expires_at", time("From when on it no longer works."))],
    )
}

fn session() -> Value {
    object(
        "The person who asks.",
        [
            must("name", text("Their name.")),
            must("role", of("Role")),
            may("csrf", text("What to send as `Legation-CSRF`, where a cookie proved them.")),
        ],
    )
}

fn name_collision() -> Value {
    let kinds = ["agent_id", "alias", "group", "person", "external_subject", "reference"];
    object(
        "Two names that are, or look, the same.",
        [
            must("kind", one_of("The kind of the first name.", &kinds)),
            must("name", text("The first name.")),
            may("agent", text("The agent that has it, for ids and aliases.")),
            must("other_kind", one_of("The kind of the other name.", &kinds)),
            must("other", text("The other name.")),
            must("remedy", text("A way to end the collision.")),
        ],
    )
}
