//! What the constraints laid on an agent add up to (section 4.3.3). Pure: who sent what and when
//! are arguments. Whoever sets a rule may change it; nobody can loosen what another has set.

mod effective;

pub use effective::Effective;

use super::constraint::{Constraint, Mode, Rule};
use super::envelope::Order;
use crate::id::AgentId;
use std::collections::{BTreeMap, BTreeSet};

/// Who laid a rule on an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setter {
    /// An agent above it.
    Agent(AgentId),
    /// A person who runs the exchange, and may replace anybody's rules.
    Operator,
}

/// One `constraint_propagate` as it reaches the rules of its recipient.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Who sent it.
    pub setter: Setter,
    /// Its place in time.
    pub order: Order,
    /// How to take it in.
    pub mode: Mode,
    /// The rules.
    pub constraints: Vec<Constraint>,
}

/// An override would loosen a rule of this type that somebody else set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this override would loosen a {0} rule that somebody else above has set")]
pub struct Weakening(pub &'static str);

/// The rules laid on one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// By setter and text: laying a rule twice is laying it once.
    standing: BTreeMap<(Setter, String), Standing>,
    /// The newest override of each setter and type.
    newest: BTreeMap<(Setter, String), Order>,
}

#[derive(Clone, Debug, PartialEq)]
struct Standing {
    order: Order,
    constraint: Constraint,
}

impl Rules {
    /// Whether a change may be applied. `above` is what binds the agent through its ancestors.
    pub fn check(&self, change: &Change, above: &Effective) -> Result<(), Weakening> {
        if change.mode == Mode::Merge || change.setter == Setter::Operator {
            return Ok(());
        }
        let new = change.constraints.iter().filter(|c| !self.is_late(change, c.rule.name()));
        let new = Effective::of(new.map(|c| &c.rule));
        let others = self.standing().filter(|(setter, _)| **setter != change.setter);
        let others = Effective::of(others.map(|(_, constraint)| &constraint.rule)).and(above);
        new.loosens(&others).map_or(Ok(()), |name| Err(Weakening(name)))
    }

    /// Takes a change in. An override older than the newest of its type is left out; the types left
    /// out come back. Applying a change twice is applying it once.
    pub fn apply(&mut self, change: &Change) -> BTreeSet<String> {
        let mut late = BTreeSet::new();
        if change.mode == Mode::Override {
            let names: BTreeSet<_> = change.constraints.iter().map(|c| c.rule.name().to_owned()).collect();
            for name in names {
                if self.is_late(change, &name) {
                    late.insert(name);
                } else {
                    self.make_room(&change.setter, change.order, name);
                }
            }
        }
        for constraint in &change.constraints {
            if !late.contains(constraint.rule.name()) {
                self.lay(&change.setter, change.order, constraint);
            }
        }
        late
    }

    fn lay(&mut self, setter: &Setter, order: Order, constraint: &Constraint) {
        if matches!(constraint.rule, Rule::Resume(_)) {
            return;
        }
        let text = serde_json::to_string(constraint).unwrap_or_default();
        let new = Standing { order, constraint: constraint.clone() };
        let standing = self.standing.entry((setter.clone(), text)).or_insert(new);
        standing.order = standing.order.max(order);
    }

    /// Whether a newer override of this type has been applied, by the same setter or an operator.
    fn is_late(&self, change: &Change, name: &str) -> bool {
        [&change.setter, &Setter::Operator].into_iter().any(|setter| {
            self.newest.get(&(setter.clone(), name.to_owned())).is_some_and(|newest| *newest >= change.order)
        })
    }

    fn make_room(&mut self, by: &Setter, order: Order, name: String) {
        self.standing.retain(|(setter, _), standing| {
            let own = *by == Setter::Operator || setter == by;
            // What was merged after this override was sent stays.
            standing.constraint.rule.name() != name || !own || standing.order > order
        });
        self.newest.insert((by.clone(), name), order);
    }

    /// The constraints in force, with who set them.
    pub fn standing(&self) -> impl Iterator<Item = (&Setter, &Constraint)> {
        self.standing.iter().map(|((setter, _), standing)| (setter, &standing.constraint))
    }

    /// The same with the place in time each was last laid at.
    pub fn laid(&self) -> impl Iterator<Item = (&Setter, Order, &Constraint)> {
        self.standing.iter().map(|((setter, _), standing)| (setter, standing.order, &standing.constraint))
    }

    /// The newest override of each setter and type.
    pub fn overrides(&self) -> impl Iterator<Item = (&Setter, &str, Order)> {
        self.newest.iter().map(|((setter, name), order)| (setter, name.as_str(), *order))
    }

    /// The rules that [`laid`](Rules::laid) and [`overrides`](Rules::overrides) told of.
    pub fn restored(
        laid: impl IntoIterator<Item = (Setter, Order, Constraint)>,
        overrides: impl IntoIterator<Item = (Setter, String, Order)>,
    ) -> Rules {
        let newest = overrides.into_iter().map(|(setter, name, order)| ((setter, name), order)).collect();
        let mut rules = Rules { standing: BTreeMap::new(), newest };
        for (setter, order, constraint) in laid {
            rules.lay(&setter, order, &constraint);
        }
        rules
    }

    /// Takes all rules of a type away, as an operator may. Overrides that are older stay out.
    pub fn lift(&mut self, order: Order, name: &str) {
        self.make_room(&Setter::Operator, order, name.to_owned());
    }

    /// What they add up to.
    pub fn effective(&self) -> Effective {
        Effective::of(self.standing.values().map(|standing| &standing.constraint.rule))
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Effective, Rules, Setter, Weakening};
    use crate::id::{AgentId, Uuid7};
    use crate::json::Json;
    use crate::vcp::{Constraint, CreedUri, Floor, Mode, Order, Other, Resume, Rule};
    use crate::vlp::Level;
    use std::collections::BTreeSet;

    fn at(time: i128) -> Order {
        Order { unix_nanos: time, id: Uuid7::parse("019502a4-7e5c-7000-8000-000000000001").unwrap() }
    }

    fn change(setter: &str, time: i128, mode: Mode, rules: &[Rule]) -> Change {
        let source_constitution_ref = CreedUri::parse("creed://h/x").unwrap();
        let constraint =
            |rule: &Rule| Constraint { rule: rule.clone(), source_constitution_ref: source_constitution_ref.clone() };
        let setter = if setter == "operator" { Setter::Operator } else { Setter::Agent(AgentId::vcp(setter).unwrap()) };
        Change { setter, order: at(time), mode, constraints: rules.iter().map(constraint).collect() }
    }

    fn topics(list: &[&str]) -> Rule {
        Rule::TopicBlock(list.iter().map(ToString::to_string).collect())
    }

    fn audiences(list: &[&str]) -> Rule {
        Rule::AudienceRestrict(list.iter().map(ToString::to_string).collect())
    }

    fn set(list: &[&str]) -> BTreeSet<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn after(changes: &[Change]) -> Effective {
        let mut rules = Rules::default();
        for change in changes {
            rules.apply(change);
        }
        rules.effective()
    }

    #[test]
    fn a_merge_takes_the_stricter_rule() {
        let sum = after(&[
            change("p", 1, Mode::Merge, &[topics(&["a"]), Rule::TokenLimit(10), audiences(&["x", "y"])]),
            change("p", 2, Mode::Merge, &[topics(&["b"]), Rule::TokenLimit(20), audiences(&["y", "z"])]),
            change(
                "p",
                3,
                Mode::Merge,
                &[Rule::SafetyFloor(Floor::Number(3.0)), Rule::SafetyFloor(Floor::Number(2.0))],
            ),
            change("p", 4, Mode::Merge, &[Rule::SafetyFloor(Floor::Level(Level::Review))]),
            change("p", 5, Mode::Merge, &[Rule::SafetyFloor(Floor::Level(Level::Safe))]),
        ]);
        assert_eq!(sum.blocked_topics, set(&["a", "b"]));
        assert_eq!(sum.token_limit, Some(10));
        assert_eq!(sum.audiences, Some(set(&["y"])));
        assert_eq!((sum.safety_number, sum.safety_level), (Some(3.0), Some(Level::Review)));
    }

    #[test]
    fn audiences_without_overlap_leave_nobody() {
        let sum = after(&[
            change("p", 1, Mode::Merge, &[audiences(&["x"])]),
            change("p", 2, Mode::Merge, &[audiences(&["y"])]),
        ]);
        assert_eq!(sum.audiences, Some(set(&[])));
    }

    #[test]
    fn unknown_types_stand_side_by_side() {
        let other = |text: &str| Rule::Other(Other { name: "x.rate".to_owned(), value: Json::parse(text).unwrap() });
        let sum = after(&[
            change("p", 1, Mode::Merge, &[other("1"), other("2")]),
            change("g", 2, Mode::Override, &[other("3"), other("1")]),
        ]);
        let values: Vec<_> = sum.others.iter().map(|other| other.value.as_str()).collect();
        assert_eq!(values, ["1", "2", "3"]);
    }

    #[test]
    fn an_override_replaces_only_its_own_senders_rules() {
        let own = [change("p", 1, Mode::Merge, &[topics(&["a"])]), change("p", 2, Mode::Override, &[topics(&["b"])])];
        assert_eq!(after(&own).blocked_topics, set(&["b"]));
        let others =
            [change("g", 1, Mode::Merge, &[topics(&["a"])]), change("p", 2, Mode::Override, &[topics(&["a", "b"])])];
        assert_eq!(after(&others).blocked_topics, set(&["a", "b"]));
        let people =
            [change("g", 1, Mode::Merge, &[topics(&["a"])]), change("operator", 2, Mode::Override, &[topics(&["b"])])];
        assert_eq!(after(&people).blocked_topics, set(&["b"]));
    }

    #[test]
    fn other_types_are_left_alone() {
        let sum = after(&[
            change("p", 1, Mode::Merge, &[topics(&["a"]), Rule::TokenLimit(5)]),
            change("p", 2, Mode::Override, &[Rule::TokenLimit(50)]),
        ]);
        assert_eq!((sum.blocked_topics, sum.token_limit), (set(&["a"]), Some(50)));
    }

    #[track_caller]
    fn check(floor: &Rule, new: &Rule, want: Result<(), &'static str>) {
        let mut rules = Rules::default();
        rules.apply(&change("g", 1, Mode::Merge, std::slice::from_ref(floor)));
        let override_it = change("p", 2, Mode::Override, std::slice::from_ref(new));
        let want = want.map_err(Weakening);
        assert_eq!(rules.check(&override_it, &Effective::default()), want, "{floor:?} by {new:?}");
        // The same when the floor binds an ancestor instead of the agent itself.
        assert_eq!(Rules::default().check(&override_it, &rules.effective()), want, "{floor:?} above {new:?}");
        // The one who set it, an operator, and a merge may always.
        for (setter, mode) in [("g", Mode::Override), ("operator", Mode::Override), ("p", Mode::Merge)] {
            let allowed = change(setter, 2, mode, std::slice::from_ref(new));
            assert_eq!(rules.check(&allowed, &Effective::default()), Ok(()), "{setter}");
        }
    }

    #[test]
    fn weakening_anothers_rule_is_refused() {
        check(&topics(&["a", "b"]), &topics(&["a"]), Err("topic_block"));
        check(&topics(&["a"]), &topics(&["a", "b"]), Ok(()));
        check(&Rule::TokenLimit(10), &Rule::TokenLimit(11), Err("token_limit"));
        check(&Rule::TokenLimit(10), &Rule::TokenLimit(10), Ok(()));
        check(&audiences(&["x"]), &audiences(&["x", "y"]), Err("audience_restrict"));
        check(&audiences(&["x", "y"]), &audiences(&["y"]), Ok(()));
        let number = |n| Rule::SafetyFloor(Floor::Number(n));
        let level = |l| Rule::SafetyFloor(Floor::Level(l));
        check(&number(3.0), &number(2.9), Err("safety_floor"));
        check(&number(3.0), &number(3.0), Ok(()));
        check(&level(Level::Block), &level(Level::Review), Err("safety_floor"));
        check(&level(Level::Block), &number(0.0), Ok(()));
        check(&Rule::TokenLimit(10), &topics(&["a"]), Ok(()));
    }

    #[test]
    fn an_older_override_is_ignored() {
        let mut rules = Rules::default();
        assert!(rules.apply(&change("p", 2, Mode::Override, &[Rule::TokenLimit(5)])).is_empty());
        let older = change("p", 1, Mode::Override, &[Rule::TokenLimit(50), topics(&["a"])]);
        assert_eq!(rules.apply(&older), set(&["token_limit"]));
        assert_eq!((rules.effective().token_limit, rules.effective().blocked_topics), (Some(5), set(&["a"])));
        let operators = change("operator", 9, Mode::Override, &[topics(&["z"])]);
        rules.apply(&operators);
        assert_eq!(rules.apply(&change("g", 8, Mode::Override, &[topics(&["y"])])), set(&["topic_block"]));
    }

    #[test]
    fn a_merge_always_adds() {
        let newer_first = [
            change("p", 3, Mode::Merge, &[Rule::TokenLimit(7)]),
            change("p", 2, Mode::Override, &[Rule::TokenLimit(9)]),
            change("p", 1, Mode::Merge, &[Rule::TokenLimit(8)]),
        ];
        assert_eq!(after(&newer_first).token_limit, Some(7));
        assert_eq!(after(&newer_first[1..]).token_limit, Some(8));
    }

    #[test]
    fn applying_twice_is_applying_once() {
        for mode in [Mode::Merge, Mode::Override] {
            let change = change("p", 1, mode, &[topics(&["a"]), Rule::TokenLimit(3)]);
            let mut rules = Rules::default();
            rules.apply(&change);
            let once = rules.clone();
            rules.apply(&change);
            assert_eq!(rules, once);
        }
    }

    #[test]
    fn what_is_told_of_rules_restores_them() {
        let mut rules = Rules::default();
        rules.apply(&change("p", 1, Mode::Override, &[topics(&["a"]), Rule::TokenLimit(3)]));
        rules.apply(&change("operator", 2, Mode::Merge, &[Rule::TokenLimit(2)]));
        let laid = rules.laid().map(|(setter, order, constraint)| (setter.clone(), order, constraint.clone()));
        let overrides = rules.overrides().map(|(setter, name, order)| (setter.clone(), name.to_owned(), order));
        assert_eq!(Rules::restored(laid, overrides), rules);
    }

    #[test]
    fn an_operator_lifts_rules_of_a_type() {
        let mut rules = Rules::default();
        rules.apply(&change("p", 1, Mode::Merge, &[topics(&["a"]), Rule::TokenLimit(3)]));
        rules.lift(at(2), "token_limit");
        assert_eq!((rules.effective().token_limit, rules.effective().blocked_topics), (None, set(&["a"])));
        assert_eq!(rules.apply(&change("p", 1, Mode::Override, &[Rule::TokenLimit(9)])), set(&["token_limit"]));
        rules.apply(&change("p", 3, Mode::Merge, &[Rule::TokenLimit(4)]));
        assert_eq!(rules.effective().token_limit, Some(4));
    }

    #[test]
    fn a_resume_is_no_standing_rule() {
        let escalation_id = at(0).id;
        let resume = Rule::Resume(Resume { escalation_id, extra: crate::Extra::new() });
        let mut rules = Rules::default();
        rules.apply(&change("p", 1, Mode::Merge, &[resume]));
        assert_eq!(rules.standing().count(), 0);
    }
}
