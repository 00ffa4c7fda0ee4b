//! The answer (section 4.9). Its shape is described outside the spec (section 9), where a specific
//! question is answered without `capabilities`; both forms are read, the spec's is written.

use crate::code::Code;
use crate::json::{Json, Kind};
use crate::names::names;
use crate::read::{At, Extra, Object, any_text, boolean, json_object, text};
use serde::Serialize;

/// The one status of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Success {
    /// `success`
    #[default]
    Success,
}

names!(Success { Success = "success" });

/// Tells what the sender can do (section 4.9).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InformCapabilities {
    /// Always `success`.
    pub status: Success,
    /// The answer. Absent only when the two members below are there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// Whether the agent has what was asked for, in the form outside the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_result: Option<bool>,
    /// What of it, in the form outside the spec.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_capabilities: Option<Vec<String>>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The members an answer may have. Which are there depends on the question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// Subjects the agent knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topics: Option<Vec<String>>,
    /// What it can be asked to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<Vec<Action>>,
    /// Whether it has what was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_result: Option<bool>,
    /// What of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_capabilities: Option<Vec<String>>,
    /// The action asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_name: Option<String>,
    /// What that action does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What that action takes: an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Json>,
    /// Members nobody defined, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something an agent can be asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Action {
    /// Its name alone.
    Name(String),
    /// Its name and more.
    Described {
        /// Its name.
        name: String,
        /// What it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Members nobody defined, kept as they came.
        #[serde(flatten)]
        extra: Extra,
    },
}

/// An answer, seen by the kind of question it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// What the agent can do.
    Summary {
        /// Subjects it knows.
        topics: &'a [String],
        /// What it can be asked to do.
        actions: &'a [Action],
    },
    /// Whether it can do what was asked for.
    Specific {
        /// Whether it can.
        matches: bool,
        /// What of it.
        matched: &'a [String],
    },
    /// How an action works.
    ActionDetails {
        /// Its name.
        name: &'a str,
        /// What it does.
        description: Option<&'a str>,
        /// What it takes.
        parameters: Option<&'a Json>,
    },
}

impl InformCapabilities {
    /// The answer, wherever it stands. Of a match inside `capabilities` and one outside, the one
    /// inside holds: that is its place in section 4.9.
    pub fn answer(&self) -> Answer<'_> {
        let inside = self.capabilities.as_ref().map(Capabilities::answer);
        match (inside, self.match_result) {
            (Some(inside @ Answer::Specific { .. }), _) | (Some(inside), None) => inside,
            (_, Some(matches)) => {
                Answer::Specific { matches, matched: self.matched_capabilities.as_deref().unwrap_or_default() }
            }
            (None, None) => Answer::Summary { topics: &[], actions: &[] },
        }
    }

    pub(in crate::acl) fn read(at: At<'_, '_>) -> Option<InformCapabilities> {
        let mut o = At { spec: "ACL 4.9", ..at }.object()?;
        let status = o.required("status", |at| at.named(Code::SchemaInvalid));
        let capabilities = if has_match(&o) {
            o.nullable("capabilities", Capabilities::read)
        } else {
            o.required("capabilities", Capabilities::read)
        };
        let (match_result, matched_capabilities) = read_match(&mut o);
        Some(InformCapabilities { status: status?, capabilities, match_result, matched_capabilities, extra: o.extra() })
    }
}

impl From<Capabilities> for InformCapabilities {
    fn from(capabilities: Capabilities) -> Self {
        InformCapabilities { capabilities: Some(capabilities), ..InformCapabilities::default() }
    }
}

impl Capabilities {
    /// Answers a `summary`.
    pub fn summary(topics: Vec<String>, actions: Vec<Action>) -> Self {
        Capabilities { topics: Some(topics), actions: Some(actions), ..Capabilities::default() }
    }

    /// Answers a `specific` question.
    pub fn matched(enough: bool, names: Vec<String>) -> Self {
        Capabilities { match_result: Some(enough), matched_capabilities: Some(names), ..Capabilities::default() }
    }

    /// Answers a question about this action.
    pub fn details(action: &Action) -> Self {
        let (description, mut extra) = match action {
            Action::Name(_) => (None, Extra::new()),
            Action::Described { description, extra, .. } => (description.clone(), extra.clone()),
        };
        Capabilities {
            action_name: Some(action.name().to_owned()),
            description,
            parameters: extra.remove("parameters"),
            extra,
            ..Capabilities::default()
        }
    }

    /// The answer, seen by the kind of question it fits.
    pub fn answer(&self) -> Answer<'_> {
        if let Some(matches) = self.match_result {
            return Answer::Specific { matches, matched: self.matched_capabilities.as_deref().unwrap_or_default() };
        }
        if let Some(name) = &self.action_name {
            let (description, parameters) = (self.description.as_deref(), self.parameters.as_ref());
            return Answer::ActionDetails { name, description, parameters };
        }
        let (topics, actions) = (self.topics.as_deref(), self.actions.as_deref());
        Answer::Summary { topics: topics.unwrap_or_default(), actions: actions.unwrap_or_default() }
    }

    fn read(at: At<'_, '_>) -> Option<Capabilities> {
        let mut o = at.object()?;
        let (match_result, matched_capabilities) = read_match(&mut o);
        Some(Capabilities {
            topics: o.nullable("topics", names_of),
            actions: o.nullable("actions", |at| at.list(Action::read)),
            match_result,
            matched_capabilities,
            action_name: o.nullable("action_name", text),
            description: o.nullable("description", any_text),
            parameters: o.nullable("parameters", json_object),
            extra: o.extra(),
        })
    }
}

fn has_match(o: &Object<'_, '_>) -> bool {
    ["match_result", "matched_capabilities"].iter().any(|name| o.node.get(name).is_some_and(|node| !node.is_null()))
}

/// Whether there is a match, and of what. Neither says anything without the other, so that where one
/// is the other has to be, inside `capabilities` as well as outside.
fn read_match(o: &mut Object<'_, '_>) -> (Option<bool>, Option<Vec<String>>) {
    if has_match(o) {
        (o.required("match_result", boolean), o.required("matched_capabilities", names_of))
    } else {
        (o.nullable("match_result", boolean), o.nullable("matched_capabilities", names_of))
    }
}

fn names_of(at: At<'_, '_>) -> Option<Vec<String>> {
    at.list(text)
}

impl Action {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Action::Name(name) | Action::Described { name, .. } => name,
        }
    }

    fn read(at: At<'_, '_>) -> Option<Action> {
        match at.node.kind() {
            Kind::String => text(at).map(Action::Name),
            Kind::Object => {
                let mut o = at.object()?;
                let name = o.required("name", text);
                let description = o.nullable("description", any_text);
                Some(Action::Described { name: name?, description, extra: o.extra() })
            }
            found @ (Kind::Null | Kind::Bool | Kind::Number | Kind::Array) => {
                let message = format!("expected an action or its name, found {}", found.noun());
                at.fail_with(Code::SchemaInvalid, message, "write it like {\"name\": …, \"description\": …}")
            }
        }
    }
}
