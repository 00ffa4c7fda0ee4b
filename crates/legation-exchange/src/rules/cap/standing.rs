//! How the results stand that a message shows: what the gateway was answered, what rests on the sender's word, and what was
//! passed on. Each standing is said once, with the attachments it is about.

use crate::rules::{About, Finding, Ruling};
use std::collections::BTreeMap;

/// The rule these findings are by.
const RULE: &str = "cap.tools";
/// How many attachments a finding names.
const NAMED: usize = 64;

/// How a result stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The tool answered it through the gateway: the entry of the answer.
    Verified(u64),
    /// Nothing but its sender's word says so.
    SelfReported,
    /// It was shown in the task before; the entry of the answer, if it came through the gateway.
    Forwarded(Option<u64>),
}

impl Standing {
    const fn code(self) -> &'static str {
        match self {
            Standing::Verified(_) => "verified",
            Standing::SelfReported => "self_reported",
            Standing::Forwarded(_) => "forwarded",
        }
    }

    const fn entry(self) -> Option<u64> {
        match self {
            Standing::Verified(answer) => Some(answer),
            Standing::Forwarded(answer) => answer,
            Standing::SelfReported => None,
        }
    }

    /// What is said of one attachment.
    fn says(self, index: usize) -> String {
        match self {
            Standing::Verified(answer) => format!("attachment {index} (entry {answer})"),
            Standing::SelfReported => format!("attachment {index}"),
            Standing::Forwarded(Some(answer)) => {
                format!("attachment {index}, which the exchange's own gateway was answered (entry {answer})")
            }
            Standing::Forwarded(None) => format!("attachment {index}, for which there is its first sender's word"),
        }
    }
}

/// The results a message shows.
#[derive(Default)]
pub(super) struct Shown(Vec<(usize, String, Standing)>);

impl Shown {
    pub(super) fn add(&mut self, index: usize, digest: String, standing: Standing) {
        self.0.push((index, digest, standing));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a finding beside the message for each standing there is.
    pub(super) fn mark(&self, ruling: &mut Ruling) {
        let all = [
            ("verified", "a tool answered this, and the exchange's own gateway asked it"),
            ("forwarded", "a result that was shown in the task before, passed on unchanged"),
            ("self_reported", "nothing but its sender's word says that a tool answered this"),
        ];
        ruling.findings.extend(all.into_iter().filter_map(|(code, says)| self.finding(code, says)));
    }

    fn finding(&self, code: &str, says: &str) -> Option<Finding> {
        let these = || self.0.iter().filter(|(_, _, standing)| standing.code() == code);
        let count = these().count();
        let about = these().take(NAMED);
        let about: Vec<_> = about
            .map(|(index, _, standing)| About { at: format!("/attachments/{index}"), entry: standing.entry() })
            .collect();
        let mut named: Vec<_> = these().take(NAMED).map(|(index, _, standing)| standing.says(*index)).collect();
        if let Some(more) = count.checked_sub(NAMED).filter(|more| *more > 0) {
            named.push(format!("and {more} more"));
        }
        let says = format!("{says}: {}", named.join("; "));
        let (rule, code) = (RULE.to_owned(), code.to_owned());
        (count > 0).then(|| Finding { rule, code, says, about, ..Finding::default() })
    }

    /// All digests, and the entries that bear some of them out.
    pub(super) fn told(self) -> (Vec<String>, BTreeMap<String, u64>) {
        let verified = self.0.iter().filter_map(|(_, digest, standing)| Some((digest.clone(), standing.entry()?)));
        let verified = verified.collect();
        (self.0.into_iter().map(|(_, digest, _)| digest).collect(), verified)
    }
}
