//! What those see who are not cleared, and whether that works: it is tried on an agent of which everything private
//! has a mark.

use super::Charter;
use legation_exchange::rules::vcp::constraints::{Shown, Sum};
use legation_exchange::{Moment, Opacity};
use legation_protocol::negotiation::Feature;
use legation_protocol::vcp::Constraint;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What becomes a flag, with what trying it came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Covered {
    pub(crate) opacity: Opacity,
    works: bool,
}

/// What everything private is marked with in the trial.
const MARK: &str = "c4n4ry";

impl Covered {
    pub(crate) fn new(opacity: Opacity) -> Covered {
        let works = marked().is_some_and(|charter| opacity.hides(MARK, charter.told(), message()));
        Covered { opacity, works }
    }

    /// The same as a core feature.
    pub(crate) const fn observed(&self) -> Feature {
        if self.works { Feature::On } else { Feature::Lost }
    }
}

/// The charter of an agent, all of it private.
fn marked() -> Option<Charter> {
    let source = format!("creed://{MARK}.space/{MARK}.safe.guide");
    let constraint = json!({"type": "topic_block", "value": [MARK], "source_constitution_ref": source});
    let place = json!({"nanos": 1, "id": MARK});
    let announced =
        json!({"agent": MARK, "constitution_ref": source, "manifest_hash": MARK, "made": place, "clashes": [MARK]});
    let shared =
        json!({"agent": MARK, "context": MARK, "constitution_ref": source, "made": place, "transition": "major"});
    let at = json!(Moment::default());
    let names = || BTreeSet::from([MARK.to_owned()]);
    Some(Charter {
        constraints: vec![Shown {
            constraint: Constraint::parse(&constraint.to_string()).ok()?,
            setter: Some(MARK.to_owned()),
            position: 0,
            at: Moment::default(),
            inherited_from: Some(MARK.to_owned()),
            enforced: true,
        }],
        effective: Sum { blocked_topics: names(), audiences: Some(names()), ..Sum::default() },
        constitution: serde_json::from_value(json!({"announced": announced, "position": 0, "at": at})).ok(),
        context: serde_json::from_value(json!({"shared": shared, "position": 0, "at": at})).ok(),
    })
    .filter(|charter| charter.constitution.is_some() && charter.context.is_some())
}

/// A message that tells how somebody is, and what binds it.
fn message() -> Value {
    json!({"vcp_message": "1.2", "payload": {
        "context": MARK, "personal_state": {"cognitive": MARK}, "constraints": [{"value": [MARK]}],
        "constitution_ref": MARK, "manifest_hash": MARK, "scope": {"purposes": [MARK]},
    }})
}

#[cfg(test)]
mod tests {
    use super::{Covered, Feature, Opacity};

    #[test]
    fn what_is_built_in_hides_everything_private_and_a_hole_is_told() {
        let whole = Opacity::default();
        let check = |opacity, want| assert_eq!(Covered::new(opacity).observed(), want, "{opacity:?}");
        check(whole, Feature::On);
        for member in [&["constraints"], &["effective"], &["constitution"], &["context"]] {
            check(Opacity { stays: member, ..whole }, Feature::Lost);
        }
        for hole in 0..whole.private.len() {
            let all = whole.private.iter().enumerate().filter(|(place, _)| *place != hole);
            let private: &'static [_] = all.map(|(_, name)| *name).collect::<Vec<_>>().leak();
            check(Opacity { private, ..whole }, Feature::Lost);
        }
    }
}
