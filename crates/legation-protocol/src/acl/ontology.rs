//! Ontology terms (section 5): what field of knowledge a payload belongs to.

use crate::id::{MAX_ID, is_invisible};
use crate::names::names;
use serde::Serialize;
use std::fmt;

/// A term, as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Ontology(Box<str>);

/// Why a text is no term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOntology {
    /// Nothing there.
    #[error("an ontology term must not be empty")]
    Empty,
    /// Too long.
    #[error("an ontology term has at most 256 characters")]
    Length,
    /// White space, or a character nobody can see.
    #[error("an ontology term has no white space and no invisible characters")]
    Character,
}

/// The terms the spec itself defines (sections 4 and 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// Asks for Python code to be debugged.
    DebugRequest,
    /// Python code, debugged.
    SolutionProvided,
    /// Python code, looked into.
    DebugAnalysis,
    /// Asks for code to be refactored.
    RefactorRequest,
    /// How code could be refactored.
    RefactorSuggestion,
    /// A task is taken on.
    TaskAcceptance,
    /// A task is refused.
    TaskRejection,
    /// An agreed action broke down.
    ActionExecutionFailure,
    /// A message made no sense.
    MessageNotUnderstood,
    /// Asks what an agent can do.
    CapabilityQuery,
    /// What an agent can do.
    CapabilityInformation,
    /// A question about anything (section 3; 4.4 gives its performatives no term).
    GeneralQuery,
}

names!(Term {
    DebugRequest = "elizaos:ontology:code/python/debug_request",
    SolutionProvided = "elizaos:ontology:code/python/solution_provided",
    DebugAnalysis = "elizaos:ontology:code/python/debug_analysis",
    RefactorRequest = "elizaos:ontology:code/general/refactor_request",
    RefactorSuggestion = "elizaos:ontology:code/general/refactor_suggestion",
    TaskAcceptance = "elizaos:ontology:general/task_acceptance",
    TaskRejection = "elizaos:ontology:general/task_rejection",
    ActionExecutionFailure = "elizaos:ontology:general/action_execution_failure",
    MessageNotUnderstood = "elizaos:ontology:general/message_not_understood",
    CapabilityQuery = "elizaos:ontology:agent/capability_query",
    CapabilityInformation = "elizaos:ontology:agent/capability_information",
    GeneralQuery = "elizaos:general_query",
});

/// What a term on the proposed structure says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts<'t> {
    /// `elizaos:ontology:<domain>/<concept>`, or with a subdomain between the two.
    Full {
        /// The field of knowledge.
        domain: &'t str,
        /// A part of it.
        subdomain: Option<&'t str>,
        /// The thing meant.
        concept: &'t str,
    },
    /// `elizaos:<term>`
    Short(&'t str),
}

impl Ontology {
    /// Reads any legal term, on the proposed structure or off it.
    pub fn parse(text: &str) -> Result<Ontology, BadOntology> {
        if text.is_empty() {
            return Err(BadOntology::Empty);
        }
        // Only a text of more bytes can have more characters.
        if text.len() > MAX_ID && text.chars().nth(MAX_ID).is_some() {
            return Err(BadOntology::Length);
        }
        if text.chars().any(|c| c.is_whitespace() || is_invisible(c)) {
            return Err(BadOntology::Character);
        }
        Ok(Ontology(text.into()))
    }

    /// What the term says, if it is on the proposed structure.
    pub fn parts(&self) -> Option<Parts<'_>> {
        let rest = self.0.strip_prefix("elizaos:")?;
        let Some(path) = rest.strip_prefix("ontology:") else {
            return is_part(rest).then_some(Parts::Short(rest));
        };
        if !path.split('/').all(is_part) {
            return None;
        }
        let mut parts = path.split('/');
        match (parts.next()?, parts.next()?, parts.next(), parts.next()) {
            (domain, concept, None, None) => Some(Parts::Full { domain, subdomain: None, concept }),
            (domain, subdomain, Some(concept), None) => {
                Some(Parts::Full { domain, subdomain: Some(subdomain), concept })
            }
            _ => None,
        }
    }

    /// Whether the term is a prefix, or begins with it at the end of a segment. Segments end at `/`, `#`, `:`, `.`, `?` and
    /// `&`, or where the prefix itself ends in one of these.
    pub fn is_below(&self, prefix: &str) -> bool {
        const ENDS: [char; 6] = ['/', '#', ':', '.', '?', '&'];
        let rest = self.0.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.is_empty() || prefix.ends_with(ENDS) || rest.starts_with(ENDS))
    }

    /// The term of the spec that this is.
    pub fn term(&self) -> Option<Term> {
        Term::named(&self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_part(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

impl From<Term> for Ontology {
    fn from(term: Term) -> Self {
        Ontology(term.as_str().into())
    }
}

impl fmt::Display for Ontology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadOntology, Ontology, Parts, Term};

    #[track_caller]
    fn check(text: &str, want: Option<Parts<'_>>) {
        assert_eq!(Ontology::parse(text).unwrap().parts(), want, "{text}");
    }

    #[test]
    fn the_spec_and_its_short_forms_are_on_structure() {
        for term in Term::ALL {
            let ontology = Ontology::from(*term);
            assert!(ontology.parts().is_some(), "{term}");
            assert_eq!(ontology.term(), Some(*term));
        }
        check("elizaos:coding", Some(Parts::Short("coding")));
        check("elizaos:ontology:a/b", Some(Parts::Full { domain: "a", subdomain: None, concept: "b" }));
        check("elizaos:ontology:a/b/c", Some(Parts::Full { domain: "a", subdomain: Some("b"), concept: "c" }));
    }

    #[test]
    fn other_terms_are_legal_and_off_structure() {
        for text in [
            "elizaos:",
            "elizaos:ontology:",
            "elizaos:ontology:a",
            "elizaos:ontology:a/",
            "elizaos:ontology:a//b",
            "elizaos:ontology:a/b/c/d",
            "elizaos:a/b",
            "elizaos:a:b",
            "ELIZAOS:a",
            "acme:billing",
            "https://onto.example/a#b",
        ] {
            check(text, None);
        }
        assert_eq!(Ontology::parse(""), Err(BadOntology::Empty));
        assert!(Ontology::parse(&"é".repeat(256)).is_ok());
        assert_eq!(Ontology::parse(&"e".repeat(257)), Err(BadOntology::Length));
        for text in [" ", "a b", "a\n", "a\u{a0}b", "a\u{200b}b", "a\u{202e}"] {
            assert_eq!(Ontology::parse(text), Err(BadOntology::Character), "{text:?}");
        }
    }
}
