//! What is told of an agent that is registered or changed. What is left out stays as it is.

use legation_exchange::Custody;
use legation_protocol::Format;
use legation_protocol::sign::PublicKey;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What is told of an agent. What is left out stays as it is.
///
/// ```
/// use legation_client::Registration;
/// use legation_client::protocol::Format;
/// let analyst = Registration::new("analyst-1").dialect(Format::Cap).capability("sentiment").parent("pm-1");
/// assert_eq!(analyst.id(), "analyst-1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[must_use]
pub struct Registration {
    #[serde(skip)]
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custody: Option<Custody>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dialects: Vec<Format>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    aliases: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance_of: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    groups: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    capabilities: Option<Capabilities>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    purposes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    manifest: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    rotate_token: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Capabilities {
    topics: Vec<String>,
    actions: Vec<String>,
}

impl Registration {
    /// Of the agent with this id.
    pub fn new(id: impl Into<String>) -> Registration {
        Registration { id: id.into(), ..Registration::default() }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A key that is in use from now on; keys that are not named are retired.
    pub fn key(mut self, key: &PublicKey) -> Registration {
        self.keys.push(key.to_string());
        self
    }

    /// Who keeps its key: the exchange, which makes one and signs with it what the agent sends unsigned; or the agent
    /// itself, as it is where nothing is said.
    pub fn custody(mut self, custody: Custody) -> Registration {
        self.custody = Some(custody);
        self
    }

    /// A dialect it speaks.
    pub fn dialect(mut self, dialect: Format) -> Registration {
        self.dialects.push(dialect);
        self
    }

    /// A name it goes by in one dialect.
    pub fn alias(mut self, dialect: Format, name: impl Into<String>) -> Registration {
        self.aliases.insert(dialect.as_str(), name.into());
        self
    }

    /// The agent above it.
    pub fn parent(mut self, id: impl Into<String>) -> Registration {
        self.parent = Some(id.into());
        self
    }

    /// The agent it is one of several running copies of.
    pub fn instance_of(mut self, id: impl Into<String>) -> Registration {
        self.instance_of = Some(id.into());
        self
    }

    /// A group it belongs to.
    pub fn group(mut self, name: impl Into<String>) -> Registration {
        self.groups.push(name.into());
        self
    }

    /// An action it can do.
    pub fn capability(mut self, action: impl Into<String>) -> Registration {
        self.capabilities.get_or_insert_default().actions.push(action.into());
        self
    }

    /// A topic it knows.
    pub fn topic(mut self, topic: impl Into<String>) -> Registration {
        self.capabilities.get_or_insert_default().topics.push(topic.into());
        self
    }

    /// The model it runs on.
    pub fn model(mut self, name: impl Into<String>) -> Registration {
        self.model = Some(name.into());
        self
    }

    /// What it is for.
    pub fn purpose(mut self, name: impl Into<String>) -> Registration {
        self.purposes.push(name.into());
        self
    }

    /// Where it runs, such as `production`.
    pub fn environment(mut self, name: impl Into<String>) -> Registration {
        self.environment = Some(name.into());
        self
    }

    /// Its CAP manifest.
    pub fn manifest(mut self, manifest: Value) -> Registration {
        self.manifest = Some(manifest);
        self
    }

    /// A new token for it. The old one counts until the new one is used.
    pub fn rotate_token(mut self) -> Registration {
        self.rotate_token = true;
        self
    }
}
