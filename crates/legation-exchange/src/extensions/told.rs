//! What a change tells others, and whom: an agent is held there to the constraints it is under.

use super::consensus::{Candidate, Change as Deliberated, Deliberation, Drafted, Kept as Deliberations};
use super::relational::{Change as Related, Field, Norm, Privacy, Relation};
use super::torch::Change as Handed;
use super::{Change, Kept, Subject, What};
use crate::rules::vcp::constraints::Words;

/// An audience that no list of names takes in.
const EVERYBODY: &str = "everybody who asks";

/// Nothing where nobody else is told anything.
pub(super) fn words<'c>(kept: &'c Kept, change: &'c Change) -> Option<Words<'c>> {
    let Change { subject, what } = change;
    match what {
        What::Consensus(Deliberated::Proposed(draft) | Deliberated::Amended { draft, .. }) => {
            Some(drafted(draft, subject))
        }
        What::Consensus(Deliberated::Said { deliberation, text, .. }) => {
            kept.consensus.named(&Deliberations::id(*deliberation)).map(|(_, one)| said(one, text, subject))
        }
        What::Torch(Handed::HandedOff { torch, to, .. }) => {
            let texts = torch.gift.iter().chain(&torch.primes).map(String::as_str).collect();
            Some(Words { to: others([to], subject), texts, topics: Vec::new() })
        }
        What::Relational(change) => public(kept.relational.of(subject), change),
        // The rest says nothing, or shows others no more than that something is there.
        What::Consensus(Deliberated::Advanced { .. } | Deliberated::Voted { .. } | Deliberated::Withdrawn { .. })
        | What::Torch(Handed::Received { .. })
        | What::Personal(_)
        | What::Intent(_)
        | What::Erased(_) => None,
    }
}

/// Norms that everybody is shown.
fn public<'c>(relation: Option<&'c Relation>, change: &'c Related) -> Option<Words<'c>> {
    let is_public = relation.is_some_and(|relation| relation.privacy(Field::Norms) == Privacy::Public);
    let norms: Vec<&Norm> = match change {
        Related::Agreed(norm) if is_public => vec![norm],
        Related::Told { field: Field::Norms, privacy: Privacy::Public } => {
            relation.into_iter().flat_map(|relation| &relation.norms).collect()
        }
        Related::Agreed(_)
        | Related::Told { .. }
        | Related::Began(_)
        | Related::Stands(_)
        | Related::Reported(_)
        | Related::Dropped(_) => return None,
    };
    let texts = norms.into_iter().map(|norm| &*norm.description).collect();
    Some(Words { to: vec![EVERYBODY.to_owned()], texts, topics: Vec::new() })
}

fn drafted<'c>(draft: &'c Drafted, subject: &Subject) -> Words<'c> {
    let Drafted { title, text, candidates, stakeholders, .. } = draft;
    // A label that is the id is said once.
    let label = |one: &'c Candidate| Some(&*one.label).filter(|label| *label != one.id);
    let candidates = candidates.iter().flat_map(|one| std::iter::once(&*one.id).chain(label(one)));
    let texts = [title.as_str(), text.as_str()].into_iter().chain(candidates).collect();
    Words { to: others(stakeholders.keys(), subject), texts, topics: vec![title] }
}

/// What is said in a deliberation is about what that is about, and whoever proposed it hears it too.
fn said<'c>(one: &'c Deliberation, text: &'c str, subject: &Subject) -> Words<'c> {
    let present = one.stakeholders.iter().filter(|(_, stakeholder)| !stakeholder.left).map(|(who, _)| who);
    Words { to: others(present.chain(&one.convener), subject), texts: vec![text], topics: vec![&one.title] }
}

/// Everybody beside the one who speaks: agents by id, people and identities as what they are.
fn others<'s>(all: impl IntoIterator<Item = &'s Subject>, subject: &Subject) -> Vec<String> {
    let named = |one: &Subject| if one.is_agent() { one.bare().to_owned() } else { one.to_string() };
    all.into_iter().filter(|one| *one != subject).map(named).collect()
}
