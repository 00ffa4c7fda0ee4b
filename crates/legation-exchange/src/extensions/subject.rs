//! The subject that state belongs to. Agents, people and external subjects of identity tokens are told apart by kind: an
//! agent that takes the name of an external subject gets nothing of that subject's.

use crate::state::State;
use crate::who::{OPERATOR, Who};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;

/// A subject that has state: `agent:ID`, `person:NAME` or `external:NAME`.
#[derive(Clone, Debug)]
pub struct Subject {
    text: String,
    /// Written as `identity:NAME`, as entries did before subjects had kinds. Such an entry is written the same way again.
    is_old_spelling: bool,
}

const AGENT: &str = "agent:";
const PERSON: &str = "person:";
const EXTERNAL: &str = "external:";
/// The older spelling of external subjects.
const IDENTITY: &str = "identity:";
/// The longest name of an external subject.
const LONGEST: usize = 256;

impl Subject {
    fn new(kind: &str, name: &str) -> Subject {
        Subject { text: format!("{kind}{name}"), is_old_spelling: false }
    }

    /// An agent, by canonical id.
    pub fn agent(id: &str) -> Subject {
        Subject::new(AGENT, id)
    }

    /// A person with a token, by name.
    pub fn person(name: &str) -> Subject {
        Subject::new(PERSON, name)
    }

    /// An external subject: one that identity tokens name and that is neither an agent nor a person here.
    pub fn identity(name: &str) -> Subject {
        Subject::new(EXTERNAL, name)
    }

    /// The subject of an identity token: a text with its kind, or without one in entries written before subjects had kinds.
    /// An agent had tokens for itself alone, so its are its own; all others are external.
    pub(crate) fn of_token(text: &str, issued_by: &str) -> Subject {
        let bare = || match issued_by.strip_prefix("agent ") {
            Some(_) => Subject::agent(text),
            None => Subject::identity(text),
        };
        Subject::written_out(text).unwrap_or_else(bare)
    }

    /// The subject that a text with a kind names. An id like `agent://host/name` has no kind.
    pub(crate) fn written_out(text: &str) -> Option<Subject> {
        let name = |kind: &str| text.strip_prefix(kind).filter(|name| !name.is_empty() && !name.starts_with("//"));
        let kinds = [(AGENT, AGENT), (PERSON, PERSON), (EXTERNAL, EXTERNAL), (IDENTITY, EXTERNAL)];
        kinds.into_iter().find_map(|(spelling, kind)| name(spelling).map(|name| Subject::new(kind, name)))
    }

    /// The subject whose state somebody opens: that of the identity token they showed, else their own.
    pub fn of(who: &Who, identity: Option<&Subject>) -> Option<Subject> {
        match (identity, who) {
            (Some(subject), _) => Some(subject.clone()),
            (None, Who::Agent(id)) => Some(Subject::agent(id)),
            (None, Who::Person { name, .. }) => Some(Subject::person(name)),
            (None, Who::Nobody) => None,
        }
    }

    /// Whether somebody may open this subject's state. An external subject was proven by its token, whoever showed that;
    /// the state of an agent or a person is opened by them alone.
    pub fn is_of(&self, who: &Who) -> bool {
        match who {
            _ if self.text.starts_with(EXTERNAL) => true,
            Who::Agent(id) => self.text.strip_prefix(AGENT) == Some(id),
            Who::Person { name, .. } => self.text.strip_prefix(PERSON) == Some(name),
            Who::Nobody => false,
        }
    }

    /// The subject that a name means: written out, or that of an agent, or that of a person. A bare name that is both an
    /// agent's and a person's means neither.
    pub(crate) fn meant(state: &State, name: &str) -> Option<Subject> {
        let mut meant = Subject::all_meant(state, name);
        meant.next().filter(|_| meant.next().is_none())
    }

    /// The message for a name that means no subject.
    pub(crate) fn unknown(state: &State, name: &str) -> String {
        match Subject::all_meant(state, name).next() {
            None => format!("there is nobody called {name:?}"),
            Some(_) => {
                format!("both an agent and a person are called {name:?}: write `agent:{name}` or `person:{name}`")
            }
        }
    }

    /// Every subject that a name may mean.
    pub(crate) fn all_meant(state: &State, name: &str) -> impl Iterator<Item = Subject> {
        let agent = |name: &str| state.registry.resolve(name).map(|agent| Subject::agent(&agent.id));
        let person = |name: &str| {
            let is_known = name == OPERATOR || state.people.named(name).is_some();
            is_known.then(|| Subject::person(name))
        };
        let both = match Subject::written_out(name) {
            Some(subject) if subject.is_agent() => [agent(subject.bare()), None],
            Some(subject) if subject.text.starts_with(PERSON) => [None, person(subject.bare())],
            Some(subject) => [Some(subject).filter(|subject| subject.bare().len() <= LONGEST), None],
            None => [agent(name), person(name)],
        };
        both.into_iter().flatten()
    }

    /// The subject that a name means, also if it is gone: written out, or that of an agent, or that of a person.
    pub fn named(state: &State, name: &str) -> Subject {
        let gone = || Subject::written_out(name).unwrap_or_else(|| Subject::agent(name));
        Subject::meant(state, name).unwrap_or_else(gone)
    }

    /// Whether it is an external subject of identity tokens.
    pub(crate) fn is_external(&self) -> bool {
        self.text.starts_with(EXTERNAL)
    }

    /// Whether it is an agent: an AI, as far as deliberations are concerned.
    pub fn is_agent(&self) -> bool {
        self.text.starts_with(AGENT)
    }

    /// The subject as entries write it: as it is written now, and as it was before subjects had kinds.
    pub fn spellings(&self) -> impl Iterator<Item = String> {
        let older = self.is_external().then(|| format!("{IDENTITY}{}", self.bare()));
        [self.text.clone()].into_iter().chain(older)
    }

    /// The name alone.
    pub fn bare(&self) -> &str {
        self.text.split_once(':').map_or(&self.text, |(_, name)| name)
    }

    /// The whole.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Subject {}

impl PartialOrd for Subject {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Subject {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_old_spelling {
            return serializer.collect_str(&format_args!("{IDENTITY}{}", self.bare()));
        }
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(match text.strip_prefix(IDENTITY) {
            Some(name) => Subject { is_old_spelling: true, ..Subject::identity(name) },
            None => Subject { text, is_old_spelling: false },
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Subject;
    use crate::who::{Role, Who};

    #[test]
    fn everybody_opens_their_own_state_and_that_of_the_external_subject_they_prove() {
        let (agent, person) = (Who::Agent("a".into()), Who::Person { name: "ann".into(), role: Role::Reviewer });
        let check = |who: &Who, identity: Option<&str>, want: Option<(&str, bool)>| {
            let identity = identity.map(|text| Subject::written_out(text).unwrap());
            let subject = Subject::of(who, identity.as_ref());
            let opened = subject.as_ref().map(|subject| (subject.as_str(), subject.is_of(who)));
            assert_eq!(opened, want);
        };
        check(&agent, None, Some(("agent:a", true)));
        check(&agent, Some("agent:a"), Some(("agent:a", true)));
        check(&agent, Some("external:a"), Some(("external:a", true)));
        check(&agent, Some("agent:b"), Some(("agent:b", false)));
        check(&person, None, Some(("person:ann", true)));
        check(&person, Some("external:ann"), Some(("external:ann", true)));
        check(&person, Some("agent:ann"), Some(("agent:ann", false)));
        check(&Who::Nobody, Some("external:user_42"), Some(("external:user_42", true)));
        check(&Who::Nobody, Some("agent:a"), Some(("agent:a", false)));
        check(&Who::Nobody, None, None);
    }

    #[test]
    fn a_subject_of_one_kind_is_none_of_another() {
        let agent = Who::Agent("ann".into());
        assert!(!Subject::person("ann").is_of(&agent) && !Subject::agent("bob").is_of(&agent));
        assert!(!Subject::agent("ann").is_of(&Who::Nobody));
    }

    #[test]
    fn subjects_of_entries_without_kinds_are_read_and_written_as_they_were() {
        let old: Subject = serde_json::from_str(r#""identity:user_42""#).unwrap();
        assert_eq!((&old, old.as_str()), (&Subject::identity("user_42"), "external:user_42"));
        assert_eq!(serde_json::to_string(&old).unwrap(), r#""identity:user_42""#);
        assert_eq!(serde_json::to_string(&Subject::identity("user_42")).unwrap(), r#""external:user_42""#);
        assert!(old.spellings().eq(["external:user_42", "identity:user_42"]), "where they are looked up");
        assert!(Subject::agent("ann").spellings().eq(["agent:ann"]));
        for (text, by, want) in [
            ("user_42", "operator", "external:user_42"),
            ("ann", "operator rita", "external:ann"),
            ("ann", "agent ann", "agent:ann"),
            ("agent://host/ann", "agent agent://host/ann", "agent:agent://host/ann"),
            ("agent:agent://host/ann", "operator", "agent:agent://host/ann"),
            ("person:rita", "operator", "person:rita"),
        ] {
            assert_eq!(Subject::of_token(text, by).as_str(), want, "{text} by {by}");
        }
    }
}
