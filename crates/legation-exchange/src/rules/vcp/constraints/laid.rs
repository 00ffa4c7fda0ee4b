//! What is laid on one agent, with what it takes to hold messages against it quickly.

use super::super::{At, Place};
use super::topics::plain;
use crate::moment::Moment;
use crate::names::{Reference, ReferenceSource};
use crate::quota::json_length;
use legation_protocol::id::AgentId;
use legation_protocol::vcp::{Change, Constraint, Floor, Order, Rule, Rules, Setter};
use legation_protocol::vlp::Level;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What is laid on one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WireLaid", into = "WireLaid")]
pub struct Laid {
    rules: Rules,
    /// The entries that laid what stands.
    entries: BTreeMap<Order, (u64, Moment)>,
    /// What the rules add up to; nothing but them.
    pub(super) bound: Bound,
}

/// What one agent's own rules add up to, as messages are held against it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bound {
    pub(super) tokens: Option<u64>,
    /// Blocked topics, without case and punctuation.
    pub(super) topics: BTreeSet<String>,
    /// Lists of which each must name a recipient.
    pub(super) audiences: Vec<BTreeSet<String>>,
    pub(super) floor: Option<Level>,
}

/// One constraint that stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing<'l> {
    pub(super) setter: &'l Setter,
    pub(super) constraint: &'l Constraint,
    pub(super) position: u64,
    pub(super) at: Moment,
}

impl Laid {
    /// The rules themselves.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The size of what stands here, as JSON.
    pub(super) fn size(&self) -> usize {
        self.rules.laid().map(|(_, _, constraint)| json_length(constraint)).sum()
    }

    pub(super) fn standing(&self) -> impl Iterator<Item = Standing<'_>> {
        self.rules.laid().map(|(setter, order, constraint)| {
            let (position, at) = self.entries.get(&order).copied().unwrap_or_default();
            Standing { setter, constraint, position, at }
        })
    }

    /// The names that audiences on `agent` refer to.
    pub(super) fn audience_references(&self, agent: &str) -> impl Iterator<Item = Reference> {
        let audiences = self.rules.laid().filter_map(|(setter, _, constraint)| match &constraint.rule {
            Rule::AudienceRestrict(names) => Some((setter, names)),
            _ => None,
        });
        audiences.flat_map(move |(setter, names)| {
            let source = ReferenceSource::Audience(agent.to_owned());
            let author = self::name(setter);
            names.iter().map(move |name| Reference {
                name: name.clone(),
                source: source.clone(),
                author: author.clone(),
            })
        })
    }

    /// The last place in time that anything here has.
    pub(super) fn last(&self) -> Option<Order> {
        let laid = self.rules.laid().map(|(_, order, _)| order);
        laid.chain(self.rules.overrides().map(|(_, _, order)| order)).max()
    }

    pub(super) fn lay(&mut self, at: At, change: &Change) {
        self.rules.apply(change);
        self.entries.insert(change.order, (at.position, at.at));
        self.settle();
    }

    pub(super) fn lift(&mut self, order: Order, types: &BTreeSet<String>) {
        for name in types {
            self.rules.lift(order, name);
        }
        self.settle();
    }

    /// Takes away what is of a type that only agents know. Overrides that are older stay out.
    pub(super) fn unbind(&mut self, kind: &str) {
        let stays = |rule: &Rule| !matches!(rule, Rule::Other(other) if other.name == kind);
        let laid = self.rules.laid().filter(|(_, _, constraint)| stays(&constraint.rule));
        let laid: Vec<_> =
            laid.map(|(setter, order, constraint)| (setter.clone(), order, constraint.clone())).collect();
        let overrides = self.rules.overrides().map(|(setter, name, order)| (setter.clone(), name.to_owned(), order));
        self.rules = Rules::restored(laid, overrides.collect::<Vec<_>>());
        self.settle();
    }

    /// What was laid on somebody else is laid here too.
    pub(super) fn take_over(&mut self, other: &Laid) {
        let both = self.rules.laid().chain(other.rules.laid());
        let laid: Vec<_> =
            both.map(|(setter, order, constraint)| (setter.clone(), order, constraint.clone())).collect();
        let overrides = self.rules.overrides().map(|(setter, name, order)| (setter.clone(), name.to_owned(), order));
        self.rules = Rules::restored(laid, overrides.collect::<Vec<_>>());
        self.entries.extend(&other.entries);
        self.settle();
    }

    fn settle(&mut self) {
        let standing: BTreeSet<_> = self.rules.laid().map(|(_, order, _)| order).collect();
        self.entries.retain(|order, _| standing.contains(order));
        self.bound = Bound::of(&self.rules);
    }
}

impl Bound {
    fn of(rules: &Rules) -> Bound {
        let mut bound = Bound::default();
        for (_, constraint) in rules.standing() {
            match &constraint.rule {
                Rule::TokenLimit(limit) => bound.tokens = Some(bound.tokens.map_or(*limit, |own| own.min(*limit))),
                Rule::TopicBlock(topics) => bound.topics.extend(topics.iter().map(|topic| plain(topic))),
                Rule::AudienceRestrict(names) => bound.audiences.push(names.iter().cloned().collect()),
                Rule::SafetyFloor(Floor::Level(level)) => bound.floor = bound.floor.max(Some(*level)),
                Rule::SafetyFloor(Floor::Number(_)) | Rule::Resume(_) | Rule::Other(_) => {}
            }
        }
        bound
    }
}

/// The form it is kept in.
#[derive(Serialize, Deserialize)]
struct WireLaid {
    standing: Vec<WireStanding>,
    overrides: Vec<(Option<String>, String, Place)>,
}

#[derive(Serialize, Deserialize)]
struct WireStanding {
    setter: Option<String>,
    made: Place,
    constraint: Value,
    position: u64,
    at: Moment,
}

impl From<Laid> for WireLaid {
    fn from(laid: Laid) -> WireLaid {
        let standing = laid.rules.laid().map(|(setter, order, constraint)| {
            let (position, at) = laid.entries.get(&order).copied().unwrap_or_default();
            let constraint = serde_json::to_value(constraint).unwrap_or_default();
            WireStanding { setter: name(setter), made: order.into(), constraint, position, at }
        });
        let overrides =
            laid.rules.overrides().map(|(setter, kind, order)| (name(setter), kind.to_owned(), order.into()));
        WireLaid { standing: standing.collect(), overrides: overrides.collect() }
    }
}

impl From<WireLaid> for Laid {
    fn from(wire: WireLaid) -> Laid {
        let mut entries = BTreeMap::new();
        let standing = wire.standing.into_iter().filter_map(|one| {
            let order = one.made.order()?;
            entries.insert(order, (one.position, one.at));
            Some((setter(one.setter.as_deref())?, order, Constraint::parse(&one.constraint.to_string()).ok()?))
        });
        let overrides = wire.overrides.into_iter();
        let overrides = overrides.filter_map(|(by, kind, made)| Some((setter(by.as_deref())?, kind, made.order()?)));
        let rules = Rules::restored(standing.collect::<Vec<_>>(), overrides);
        let bound = Bound::of(&rules);
        Laid { rules, entries, bound }
    }
}

/// Who laid something, by name; an operator has none.
pub(super) fn name(setter: &Setter) -> Option<String> {
    match setter {
        Setter::Agent(id) => Some(id.to_string()),
        Setter::Operator => None,
    }
}

pub(super) fn setter(name: Option<&str>) -> Option<Setter> {
    name.map_or(Some(Setter::Operator), |id| AgentId::named(id).ok().map(Setter::Agent))
}
