//! The constitutions agents announced (VCP 4.2), and which of them clash: another text under the same name,
//! or another constitution where both apply. Both agents are told, once for each pair of announcements.

use super::{At, Case, Change, Place, Ruling};
use crate::agent::Agent;
use crate::moment::Moment;
use legation_protocol::vcp::{ConstitutionAnnounce, Envelope, Environment, Scope};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An agent announced its constitution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcing {
    /// Who.
    pub agent: String,
    /// Which.
    pub constitution_ref: String,
    /// The hash of its manifest.
    pub manifest_hash: String,
    /// Where it applies; everywhere without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// When it said so.
    pub made: Place,
    /// When it said the same before, if that was the last it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats: Option<Place>,
    /// Whose constitutions it clashes with. Whoever an announcement reached may read its entry, so that only older
    /// entries name them there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub clashes: BTreeSet<String>,
}

/// An announcement clashes with another agent's. It lies in the entry of the notice that says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clashing {
    /// Who announced.
    pub agent: String,
    /// Which of its announcements.
    pub made: Place,
    /// The other agent.
    pub with: String,
}

impl Announcing {
    /// That there was one.
    #[must_use]
    pub(crate) fn redacted(&self) -> Announcing {
        let (constitution_ref, manifest_hash) = (String::new(), String::new());
        Announcing { constitution_ref, manifest_hash, scope: None, ..self.clone() }
    }

    fn says_the_same(&self, other: &Announcing) -> bool {
        let of = |all: &Announcing| (all.constitution_ref.clone(), all.manifest_hash.clone(), all.scope.clone());
        of(self) == of(other)
    }
}

/// The constitution an agent acts under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Current {
    /// What it announced last; its clashes are those known now.
    pub announced: Announcing,
    /// The entry that has it.
    pub position: u64,
    /// When that was taken.
    pub at: Moment,
}

/// The constitutions agents announced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Constitutions {
    by: BTreeMap<String, Current>,
    /// Who announced one of this name.
    named: BTreeMap<String, BTreeSet<String>>,
    /// Clashes of announcements that wait for somebody's word, the newest of each agent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    waiting: BTreeMap<String, (Place, BTreeSet<String>)>,
}

/// How many clashes one announcement is told of.
const TOLD: usize = 32;

impl Constitutions {
    /// The constitution of an agent.
    pub fn of(&self, agent: &str) -> Option<&Current> {
        self.by.get(agent)
    }

    pub(super) fn announce(&mut self, at: At, announcing: &Announcing) {
        let mut announced = announcing.clone();
        let before = self.of(&announced.agent);
        if let Some(before) = before.filter(|before| announcing.repeats.as_ref() == Some(&before.announced.made)) {
            announced.clashes.extend(before.announced.clashes.iter().cloned());
        }
        let waiting = self.waiting.get(&announced.agent).filter(|(made, _)| *made == announced.made);
        announced.clashes.extend(waiting.into_iter().flat_map(|(_, clashes)| clashes.iter().cloned()));
        self.forget(&announced.agent);
        announced.clashes.retain(|other| self.by.contains_key(other));
        self.named.entry(announced.constitution_ref.clone()).or_default().insert(announced.agent.clone());
        for other in &announced.clashes {
            if let Some(other) = self.by.get_mut(other) {
                other.announced.clashes.insert(announced.agent.clone());
            }
        }
        let current = Current { position: at.position, at: at.at, announced };
        self.by.insert(announcing.agent.clone(), current);
    }

    pub(super) fn clash(&mut self, Clashing { agent, made, with }: &Clashing) {
        match self.by.get_mut(agent) {
            Some(current) if current.announced.made == *made => {
                current.announced.clashes.insert(with.clone());
            }
            Some(_) | None => {
                let waiting = self.waiting.entry(agent.clone()).or_insert_with(|| (made.clone(), BTreeSet::new()));
                if waiting.0 != *made {
                    *waiting = (made.clone(), BTreeSet::new());
                }
                waiting.1.insert(with.clone());
                return;
            }
        }
        if let Some(other) = self.by.get_mut(with) {
            other.announced.clashes.insert(agent.clone());
        }
    }

    /// Those that these entries told are erased: what the agent announces next counts as its first.
    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        let gone = self.by.iter().filter(|(_, current)| is_erased(current.position));
        for agent in gone.map(|(agent, _)| agent.clone()).collect::<Vec<_>>() {
            self.forget(&agent);
        }
    }

    pub(super) fn forget(&mut self, agent: &str) {
        self.waiting.remove(agent);
        let Some(gone) = self.by.remove(agent) else { return };
        for other in &gone.announced.clashes {
            if let Some(other) = self.by.get_mut(other) {
                other.announced.clashes.remove(agent);
            }
        }
        if let Some(all) = self.named.get_mut(&gone.announced.constitution_ref) {
            all.remove(agent);
            if all.is_empty() {
                self.named.remove(&gone.announced.constitution_ref);
            }
        }
    }
}

pub(super) fn look(case: &Case<'_>, envelope: &Envelope, announced: &ConstitutionAnnounce, ruling: &mut Ruling) {
    let Some(sender) = case.speaker.agent() else { return };
    let (made, all) = (Place::from(envelope.order()), &case.state.rules.vcp.constitutions);
    let before = all.of(&sender.id).map(|before| &before.announced);
    if before.is_some_and(|before| before.made >= made) {
        let says = "a newer announcement of the sender is known already, and stays";
        return ruling.find("constitution", "constitution_late", says);
    }
    let mut new = Announcing {
        agent: sender.id.clone(),
        constitution_ref: announced.constitution_ref.to_string(),
        manifest_hash: announced.manifest_hash.to_string(),
        scope: announced.scope.clone(),
        made,
        repeats: None,
        clashes: BTreeSet::new(),
    };
    let same = before.filter(|before| before.says_the_same(&new));
    new.repeats = same.map(|before| before.made.clone());
    let known = same.map(|before| before.clashes.clone()).unwrap_or_default();
    let clashes = clashing(case, sender, &new).filter(|(other, _)| !known.contains(&other.id)).take(TOLD);
    let clashes: Vec<_> = clashes.collect();
    if !clashes.is_empty() {
        ruling.find("constitution", "constitution_conflict", "it clashes with what others have announced");
    }
    for (other, theirs) in clashes {
        tell(case, (sender, &new), (other, theirs), ruling);
    }
    ruling.change(Change::ConstitutionAnnounced(new).into());
}

/// Tells both of a clash, and nobody else: that they clash lies in the entry of the first notice.
fn tell(
    case: &Case<'_>,
    (sender, new): (&Agent, &Announcing),
    (other, theirs): (&Agent, &Announcing),
    ruling: &mut Ruling,
) {
    let what = differs(new, theirs);
    let clashing = Clashing { agent: sender.id.clone(), made: new.made.clone(), with: other.id.clone() };
    for (told, of) in [(sender, other), (other, sender)] {
        let text = format!("Your constitution and that of {:?} clash: {what}.", of.id);
        ruling.tell(case.policy, told, "constitution_conflict", text);
        if let (true, Some(said)) = (told.id == sender.id, ruling.heard.last_mut()) {
            said.changes.push(Change::ConstitutionsClash(clashing.clone()).into());
        }
    }
}

/// Whose announcements clash with this one: those of the same name wherever they are, others among whom it
/// reaches.
fn clashing<'c>(
    case: &Case<'c>,
    sender: &'c Agent,
    new: &'c Announcing,
) -> impl Iterator<Item = (&'c Agent, &'c Announcing)> {
    let (all, registry) = (&case.state.rules.vcp.constitutions, &case.state.registry);
    let namesakes = all.named.get(&new.constitution_ref).into_iter().flatten();
    let others = namesakes.chain(case.to).filter(|id| **id != sender.id);
    let mut seen = BTreeSet::new();
    others.filter(move |id| seen.insert(*id)).filter_map(move |id| {
        let (other, theirs) = (registry.agent(id)?, &all.of(id)?.announced);
        clash((sender, new), (other, theirs)).then_some((other, theirs))
    })
}

fn clash((sender, new): (&Agent, &Announcing), (other, theirs): (&Agent, &Announcing)) -> bool {
    if new.constitution_ref == theirs.constitution_ref {
        return new.manifest_hash != theirs.manifest_hash;
    }
    let everywhere = Scope::default();
    let scope = |of: &'_ Announcing| of.scope.clone().unwrap_or_else(|| everywhere.clone());
    let (ours, theirs) = (scope(new), scope(theirs));
    ours.overlaps(&theirs) && (covers(&ours, other) || covers(&theirs, sender))
}

/// Whether an agent falls under a scope, as it is registered. What it did not register falls under no limit.
fn covers(scope: &Scope, agent: &Agent) -> bool {
    let limits = |list: Option<usize>| list.is_some_and(|length| length > 0);
    let environment = agent.environment.as_deref().and_then(Environment::named);
    if limits(scope.model_families.as_ref().map(Vec::len)) && agent.model.is_none()
        || limits(scope.environments.as_ref().map(Vec::len)) && environment.is_none()
    {
        return false;
    }
    let purposes: Vec<_> = agent.purposes.iter().cloned().collect();
    let environment = environment.unwrap_or(Environment::Production);
    scope.covers(agent.model.as_deref().unwrap_or_default(), &purposes, environment)
}

fn differs(new: &Announcing, theirs: &Announcing) -> String {
    if new.constitution_ref == theirs.constitution_ref {
        return format!("{} has the hash {} and {}", new.constitution_ref, new.manifest_hash, theirs.manifest_hash);
    }
    format!("{} and {} apply in the same place", new.constitution_ref, theirs.constitution_ref)
}
