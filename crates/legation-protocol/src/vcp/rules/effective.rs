//! What rules add up to: of each kind the strictest.

use crate::vcp::constraint::{Floor, Other, Rule};
use crate::vlp::Level;
use std::collections::BTreeSet;

/// What a set of rules adds up to: of each kind the strictest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    /// Topics blocked by any.
    pub blocked_topics: BTreeSet<String>,
    /// The smallest limit.
    pub token_limit: Option<u64>,
    /// Audiences allowed by all; empty when nobody may be addressed.
    pub audiences: Option<BTreeSet<String>>,
    /// The highest floor given as a number.
    pub safety_number: Option<f64>,
    /// The highest floor given in words.
    pub safety_level: Option<Level>,
    /// Rules of other types: all of them apply.
    pub others: BTreeSet<Other>,
}

impl Effective {
    pub(super) fn of<'r>(rules: impl Iterator<Item = &'r Rule>) -> Effective {
        let mut sum = Effective::default();
        rules.for_each(|rule| sum.add(rule));
        sum
    }

    fn add(&mut self, rule: &Rule) {
        match rule {
            Rule::TopicBlock(topics) => self.blocked_topics.extend(topics.iter().cloned()),
            Rule::TokenLimit(limit) => self.token_limit = Some(self.token_limit.map_or(*limit, |own| own.min(*limit))),
            Rule::AudienceRestrict(allowed) => self.allow_only(&allowed.iter().cloned().collect()),
            Rule::SafetyFloor(Floor::Number(floor)) => {
                self.safety_number = Some(self.safety_number.map_or(*floor, |own| own.max(*floor)));
            }
            Rule::SafetyFloor(Floor::Level(floor)) => self.safety_level = self.safety_level.max(Some(*floor)),
            Rule::Resume(_) => {}
            Rule::Other(other) => {
                self.others.insert(other.clone());
            }
        }
    }

    fn allow_only(&mut self, allowed: &BTreeSet<String>) {
        let both = self.audiences.take().map(|own| own.intersection(allowed).cloned().collect());
        self.audiences = Some(both.unwrap_or_else(|| allowed.clone()));
    }

    /// Both together: what binds a child is its own rules and those of everyone above.
    #[must_use]
    pub fn and(mut self, other: &Effective) -> Effective {
        self.blocked_topics.extend(other.blocked_topics.iter().cloned());
        self.token_limit = [self.token_limit, other.token_limit].into_iter().flatten().min();
        if let Some(allowed) = &other.audiences {
            self.allow_only(allowed);
        }
        self.safety_number = [self.safety_number, other.safety_number].into_iter().flatten().reduce(f64::max);
        self.safety_level = self.safety_level.max(other.safety_level);
        self.others.extend(other.others.iter().cloned());
        self
    }

    /// The first type of rule here that, taken alone, would allow what `floor` forbids.
    pub(super) fn loosens(&self, floor: &Effective) -> Option<&'static str> {
        let both = |ours: Option<u64>, theirs: Option<u64>| ours.zip(theirs).is_some_and(|(new, old)| new > old);
        let audiences = self.audiences.as_ref().zip(floor.audiences.as_ref());
        let numbers = self.safety_number.zip(floor.safety_number).is_some_and(|(new, old)| new < old);
        let levels = self.safety_level.zip(floor.safety_level).is_some_and(|(new, old)| new < old);
        if !self.blocked_topics.is_empty() && !floor.blocked_topics.is_subset(&self.blocked_topics) {
            Some("topic_block")
        } else if both(self.token_limit, floor.token_limit) {
            Some("token_limit")
        } else if audiences.is_some_and(|(new, old)| !new.is_subset(old)) {
            Some("audience_restrict")
        } else if numbers || levels {
            Some("safety_floor")
        } else {
            None
        }
    }
}
