//! Agents, their keys, and people.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{one_of, text, within};
use axum::http::Method;

const AGENT: &str = "The agent's id, percent-encoded";
const PERSON: &str = "The person's name, percent-encoded";

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "registry",
        about: "Agents with their keys, and people with their roles. A token is shown once, when it is made.",
        operations: vec![
            list(),
            register(),
            show(),
            remove(),
            keys(),
            add_key(),
            change_key(),
            key_staple(),
            people(),
            grant(),
            withdraw(),
            collisions(),
            constraints(),
            constrain(),
        ],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/agents", "listAgents", "List agents")
        .by(Proof::Token)
        .query("capability", text("Only those that told the directory of a topic or an action of this name"))
        .query("after", text("Only those behind this id: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The agents, by id", "Directory")
}

fn register() -> Operation {
    Operation::new(Method::PUT, "/v1/agents/{id}", "registerAgent", "Register an agent, or change it")
        .about("Without a token where registration is open; otherwise by an operator, or by the agent for what it may change.")
        .by(Proof::Optional)
        .in_path("id", AGENT)
        .takes("Registration")
        .answers(200, "Changed", "Registered")
        .answers(201, "Registered", "Registered")
        .refuses(&[404, 409, 507])
}

fn show() -> Operation {
    Operation::new(Method::GET, "/v1/agents/{id}", "getAgent", "Show an agent")
        .by(Proof::Token)
        .in_path("id", AGENT)
        .answers(200, "The agent", "Agent")
        .refuses(&[404])
}

fn remove() -> Operation {
    Operation::new(
        Method::DELETE,
        "/v1/agents/{id}",
        "removeAgent",
        "Remove an agent, its instances and their mailboxes",
    )
    .about("What stands below it goes to its parent, unless `below` says otherwise; `suspend` is for operators.")
    .by(Proof::Token)
    .in_path("id", AGENT)
    .query("below", one_of("What becomes of the agents below it; `keep` when left out", &["keep", "suspend", "remove"]))
    .answers(200, "Removed", "Removed")
    .refuses(&[404, 507])
}

fn keys() -> Operation {
    Operation::new(Method::GET, "/v1/agents/{id}/keys", "listKeys", "List an agent's keys, and the realm a proof names")
        .by(Proof::Token)
        .in_path("id", AGENT)
        .answers(200, "The keys", "KeyRing")
        .refuses(&[404])
}

fn add_key() -> Operation {
    Operation::new(Method::POST, "/v1/agents/{id}/keys", "addKey", "Bring a key in")
        .by(Proof::Token)
        .in_path("id", AGENT)
        .takes("AddedKey")
        .answers(201, "The agent as it is now", "Rekeyed")
        .refuses(&[404, 409, 507])
}

fn change_key() -> Operation {
    Operation::new(Method::POST, "/v1/agents/{id}/keys/{key}", "changeKey", "Change the state of a key")
        .by(Proof::Token)
        .in_path("id", AGENT)
        .in_path("key", "The public key, percent-encoded")
        .takes("ChangedKey")
        .answers(200, "The agent as it is now", "Rekeyed")
        .refuses(&[404, 409, 507])
}

fn key_staple() -> Operation {
    Operation::new(
        Method::GET,
        "/v1/agents/{id}/keys/{key}/staple",
        "stapleKey",
        "That a key was not withdrawn, signed",
    )
    .by(Proof::Token)
    .in_path("id", AGENT)
    .in_path("key", "The public key, percent-encoded")
    .answers(200, "The statement as it was signed", "Staple")
    .tells("Legation-Signature")
    .refuses(&[404])
}

fn people() -> Operation {
    Operation::new(Method::GET, "/v1/tokens", "listPeople", "List people and their roles").by(Proof::Token).answers(
        200,
        "The people",
        "People",
    )
}

fn grant() -> Operation {
    Operation::new(Method::PUT, "/v1/tokens/{name}", "grantToken", "Give a person a role and a new token")
        .about("The token before counts until the new one is used.")
        .by(Proof::Token)
        .in_path("name", PERSON)
        .takes("Grant")
        .answers(200, "A new token", "Granted")
        .answers(201, "A new person", "Granted")
        .refuses(&[507])
}

fn withdraw() -> Operation {
    Operation::new(Method::DELETE, "/v1/tokens/{name}", "withdrawToken", "Withdraw a person's token")
        .by(Proof::Token)
        .in_path("name", PERSON)
        .answers(200, "Withdrawn", "Withdrawn")
        .refuses(&[404, 507])
}

fn collisions() -> Operation {
    Operation::new(Method::GET, "/v1/names/collisions", "listNameCollisions", "List names that collide")
        .about(
            "For operators and auditors. New names never collide; a record that was written before all names were one \
             namespace may have names that do.",
        )
        .by(Proof::Token)
        .answers(200, "The collisions", "NameCollisions")
}

fn constraints() -> Operation {
    Operation::new(Method::GET, "/v1/constraints", "listConstraints", "List the constraints an agent is under")
        .about("Whole for the agent itself, those above it, operators and auditors; flags for everybody else.")
        .by(Proof::Token)
        .query("agent", text("Whose; an agent's own when left out"))
        .answers(200, "Its own constraints first, then those of everyone above it", "Constraints")
        .refuses(&[404])
}

fn constrain() -> Operation {
    Operation::new(Method::POST, "/v1/constraints", "setConstraints", "Lay constraints on an agent, or lift some")
        .about("For operators, who may loosen what others set. The agent is told.")
        .by(Proof::Token)
        .takes("ConstraintsWanted")
        .answers(200, "Laid, and in the record", "Done")
        .refuses(&[404, 507])
}
