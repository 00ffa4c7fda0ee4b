//! Whose correction counts (VLP IV): the author's own, or that of the overseer its manifest names. Another's is
//! a dispute, and shown as one.

use super::reference::Named;
use super::weighed::Weighed;
use crate::decide::Earlier;
use crate::rules::{Case, Speaker};
use legation_protocol::vlp::{Kind, Layer, Message};

/// The messages that this one takes the place of.
pub(super) fn look(case: &Case<'_>, message: &Message, named: &[Named<'_>], weighed: &mut Weighed) -> Vec<u64> {
    if message.kind != Kind::Correction {
        return Vec::new();
    }
    let found = named.iter().filter_map(|named| named.found);
    let (amends, disputed): (Vec<&Earlier>, Vec<_>) = found.partition(|found| may_amend(case, found));
    for found in disputed {
        let Earlier { accepted, .. } = found;
        let text =
            format!("{:?} is {}'s: this disputes it, and does not take its place.", accepted.id, accepted.sender);
        weighed.mark("VLP IV correction", "dispute", text);
        weighed.layers.remove(&Layer::Capability);
        weighed.refuted(format!("the right to {}", accepted.digest));
    }
    for found in &amends {
        weighed.verified(format!("the right to {}", found.accepted.digest));
    }
    amends.into_iter().map(|found| found.position).collect()
}

fn may_amend(case: &Case<'_>, found: &Earlier) -> bool {
    let Speaker::Agent(speaker) = case.speaker else { return false };
    let author = &found.accepted.sender;
    // What was said before under an agent's name is another's.
    if *author == speaker.id {
        return found.position > speaker.since;
    }
    let author = case.state.registry.agent(author).filter(|author| found.position > author.since);
    let manifest = author.and_then(|author| author.manifest.as_ref());
    let overseer = manifest.and_then(|manifest| manifest.get("overseer")?.as_str());
    overseer.and_then(|name| case.state.registry.referent(name)).is_some_and(|overseer| overseer.id == speaker.id)
}
