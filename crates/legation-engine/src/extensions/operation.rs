//! Every operation there is: whose, under which name, whether it changes anything, and what it takes.

use super::schema;
use legation_exchange::extensions::Extension;
use legation_exchange::extensions::Extension::{Consensus, Intent, Personal, Relational, Torch};
use serde_json::Value;

/// Something that can be asked of an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Of which.
    pub extension: Extension,
    /// Its name there.
    pub name: &'static str,
    /// Whether it changes anything.
    pub writes: bool,
    /// What it does.
    pub about: &'static str,
}

const fn look(extension: Extension, name: &'static str, about: &'static str) -> Operation {
    Operation { extension, name, writes: false, about }
}

const fn act(extension: Extension, name: &'static str, about: &'static str) -> Operation {
    Operation { extension, name, writes: true, about }
}

impl Operation {
    /// All of them.
    pub const ALL: &'static [Operation] = &[
        look(
            Personal,
            "state",
            "How you are: every signal with what time has left of it, and where it stands; of another, whether they said so.",
        ),
        act(Personal, "set", "Note how you are, one signal a dimension. It fades unless it is pinned."),
        act(Personal, "clear", "Take signals back."),
        act(Personal, "engage", "Note that you engage: what that freshens is fresh again."),
        look(Relational, "context", "How your relation stands; of another, what they let others see."),
        act(
            Relational,
            "begin_session",
            "Count a session. Trust follows their number; one of the last 32 counts once.",
        ),
        act(Relational, "set_standing", "Say how much an AI has to say in the relation."),
        act(Relational, "report_self", "Report on the self. A report that doubts nothing is taken, and flagged."),
        act(Relational, "put_norm", "Agree on a norm, or change the one with this id."),
        act(Relational, "remove_norm", "Drop a norm."),
        act(Relational, "set_privacy", "Say whether others see a field, only that it is there, or nothing."),
        look(Consensus, "deliberations", "The deliberations you have a part in, newest first."),
        look(Consensus, "deliberation", "A deliberation: its phase, candidates, stakeholders and statements."),
        look(
            Consensus,
            "result",
            "What the ballots come to by the Schulze method, with both matrices once it is decided; how many before.",
        ),
        act(Consensus, "propose", "Propose something to choose between, as a draft."),
        act(Consensus, "amend", "Write a draft otherwise. What is left out stays."),
        act(Consensus, "advance", "Begin the next phase. Phases go forward only."),
        act(Consensus, "say", "Say something, as a stakeholder."),
        act(Consensus, "vote", "Rank the candidates, as a stakeholder. A second ballot replaces the first."),
        act(Consensus, "withdraw", "Give a deliberation up that is not decided."),
        look(Torch, "state", "What you carry, and which torches wait for you."),
        look(Torch, "lineage", "The sessions before, each in a line, oldest first."),
        act(Torch, "hand_off", "Hand a session over, to your own next one or to somebody else."),
        act(Torch, "receive", "Take a torch that waits for you."),
        look(Intent, "current", "What you are after in a session, and which rules say so."),
        act(Intent, "infer", "Conclude from words what you are after. The words are not kept."),
        act(Intent, "correct", "Say what you are after. It replaces what was concluded for the session."),
    ];

    /// The one of this name.
    pub fn named(extension: Extension, name: &str) -> Option<&'static Operation> {
        Operation::ALL.iter().find(|operation| operation.extension == extension && operation.name == name)
    }

    /// Its name as a tool.
    pub fn tool(&self) -> String {
        format!("vcp_{}_{}", self.extension.as_str(), self.name)
    }

    /// What it takes, as JSON Schema.
    pub fn input(&self) -> Value {
        schema::of(self.extension, self.name)
    }
}
