//! A torch, and what it says of a relation.

use crate::extensions::relational::{Model, Relation, Standing, Trust};
use crate::moment::Moment;
use legation_scan::Found;
use serde::{Deserialize, Serialize};

/// Most norms that go along.
const PRIMES: usize = 3;
/// More than so much is a change for the better, or for the worse.
const NOTABLE: f64 = 0.5;

/// What one session leaves to the next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Torch {
    /// How the relation stands, in words.
    pub quality_description: String,
    /// When it was handed over.
    pub handed_at: Moment,
    /// Which way the valence went.
    pub trajectory: Option<Trajectory>,
    /// What to begin with: norms that count.
    pub primes: Vec<String>,
    /// What was given along.
    pub gift: Option<String>,
    /// How many sessions there were, this one with them.
    pub session_count: u64,
    /// How the self was, in a line.
    pub gestalt_token: Option<String>,
    /// Whether nothing of the relation went along, for VCP-X-Relational was not active.
    pub degraded: bool,
    /// What was found in its texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
}

/// Which way the valence went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trajectory {
    /// Up.
    Improving,
    /// Down.
    Declining,
    /// Neither.
    Stable,
}

impl Torch {
    /// The torch of a relation, after so many sessions before this one.
    pub(super) fn lit(
        relation: Option<&Relation>,
        relates: bool,
        depth: u64,
        gift: Option<String>,
        handed_at: Moment,
    ) -> Torch {
        let primes = relation.into_iter().flat_map(Relation::active_norms).take(PRIMES);
        Torch {
            quality_description: if relates { quality(relation) } else { "No relational context.".to_owned() },
            handed_at,
            trajectory: relation.and_then(|relation| trajectory(relation.valences.iter().copied())),
            primes: primes.map(|norm| norm.description.clone()).collect(),
            gift,
            session_count: depth.saturating_add(1),
            gestalt_token: relation.and_then(|relation| relation.model.as_ref()).and_then(gestalt),
            degraded: !relates,
            scanned: relation.map(found).unwrap_or_default(),
        }
    }
}

impl Torch {
    /// The same without what it tells of anybody: how many sessions there were stays, since whoever takes it goes
    /// on from there.
    #[must_use]
    pub(in crate::extensions) fn redacted(&self) -> Torch {
        Torch {
            quality_description: String::new(),
            handed_at: self.handed_at,
            trajectory: None,
            primes: Vec::new(),
            gift: None,
            session_count: self.session_count,
            gestalt_token: None,
            degraded: self.degraded,
            scanned: Vec::new(),
        }
    }
}

/// What was found in the norms that go along.
fn found(relation: &Relation) -> Vec<Found> {
    let primes = relation.active_norms().take(PRIMES).enumerate();
    let found = primes.flat_map(|(number, norm)| norm.scanned.iter().map(move |found| (number, found)));
    let described = found.filter(|(_, found)| found.at == "/description");
    described.map(|(number, found)| Found { at: format!("/primes/{number}"), ..found.clone() }).collect()
}

fn quality(relation: Option<&Relation>) -> String {
    let trust = relation.map_or(Trust::Initial, Relation::trust);
    let standing = relation.map_or(Standing::None, |relation| relation.standing);
    let said = format!("Trust: {}. Standing: {}.", trust.lower(), standing.lower());
    match relation.into_iter().flat_map(Relation::active_norms).count() {
        0 => said,
        1 => format!("{said} 1 established norm"),
        norms => format!("{said} {norms} established norms"),
    }
}

/// How the self was, in a line such as `V:7 G:8 P:6 TF:9`; nothing where none of these is reported.
pub fn gestalt(model: &Model) -> Option<String> {
    let parts = [("V", "valence"), ("G", "groundedness"), ("P", "presence"), ("TF", "task_fit")];
    let parts = parts.iter().filter_map(|(short, name)| Some(format!("{short}:{:.0}", model.value(name)?.round())));
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Which way the last two valences went.
pub fn trajectory(valences: impl DoubleEndedIterator<Item = f64>) -> Option<Trajectory> {
    let mut last = valences.rev();
    let (after, before) = (last.next()?, last.next()?);
    Some(match after - before {
        up if up > NOTABLE => Trajectory::Improving,
        down if down < -NOTABLE => Trajectory::Declining,
        _ => Trajectory::Stable,
    })
}

#[cfg(test)]
mod tests {
    use super::{Torch, Trajectory, gestalt, trajectory};
    use crate::extensions::relational::{Model, Norm, Origin, Relation, Report, Scaffold, Standing};
    use crate::moment::Moment;

    fn model(values: &[(&str, f64)]) -> Model {
        let report = |value: f64| Report { value, uncertain: true, label: None, trend: None, confidence: None };
        let dimensions = values.iter().map(|(name, value)| ((*name).to_owned(), report(*value))).collect();
        Model { scaffold: Scaffold::Standard, dimensions, scanned: Vec::new() }
    }

    fn norm(id: &str, active: bool) -> Norm {
        let (id, description) = (id.to_owned(), format!("norm {id}"));
        Norm { id, description, origin: Origin::Human, uncertainty: 0.0, active, scanned: Vec::new() }
    }

    #[test]
    fn a_gestalt_names_what_is_there_in_its_order_and_whole_numbers() {
        let check = |values: &[(&str, f64)], want: Option<&str>| {
            assert_eq!(gestalt(&model(values)).as_deref(), want, "{values:?}");
        };
        check(
            &[("task_fit", 9.0), ("presence", 6.0), ("valence", 7.0), ("groundedness", 8.0)],
            Some("V:7 G:8 P:6 TF:9"),
        );
        check(&[("valence", 6.5), ("task_fit", 8.4)], Some("V:7 TF:8"));
        check(&[("groundedness", 1.0), ("friction", 5.0)], Some("G:1"));
        check(&[("friction", 5.0)], None);
    }

    #[test]
    fn a_trajectory_takes_two_valences_and_more_than_a_half() {
        let check = |valences: &[f64], want| assert_eq!(trajectory(valences.iter().copied()), want, "{valences:?}");
        check(&[], None);
        check(&[5.0], None);
        check(&[5.0, 5.5], Some(Trajectory::Stable));
        check(&[5.0, 5.6], Some(Trajectory::Improving));
        check(&[5.0, 4.5], Some(Trajectory::Stable));
        check(&[5.0, 4.4], Some(Trajectory::Declining));
        check(&[1.0, 9.0, 9.0], Some(Trajectory::Stable));
    }

    #[test]
    fn a_torch_says_how_the_relation_stands() {
        let mut relation = Relation { sessions: 7, standing: Standing::Advisory, ..Relation::default() };
        relation.norms = vec![norm("a", true), norm("b", false), norm("c", true)];
        let lit = |relation: &Relation| Torch::lit(Some(relation), true, 4, None, Moment::default());
        let torch = lit(&relation);
        assert_eq!(torch.quality_description, "Trust: developing. Standing: advisory. 2 established norms");
        assert_eq!((torch.primes, torch.session_count), (vec!["norm a".to_owned(), "norm c".to_owned()], 5));
        assert_eq!((torch.gift, torch.gestalt_token, torch.trajectory, torch.degraded), (None, None, None, false));
        relation.norms = ["a", "b", "c", "d", "e"].map(|id| norm(id, true)).into();
        assert_eq!(lit(&relation).primes.len(), 3);
        relation.norms.truncate(1);
        assert_eq!(lit(&relation).quality_description, "Trust: developing. Standing: advisory. 1 established norm");
        let none = Torch::lit(None, true, 0, None, Moment::default());
        assert_eq!((none.quality_description.as_str(), none.session_count), ("Trust: initial. Standing: none.", 1));
    }

    #[test]
    fn without_relations_it_is_degraded_and_still_handed_over() {
        let torch = Torch::lit(None, false, 2, Some("a stone".to_owned()), Moment::default());
        assert!(torch.degraded && torch.primes.is_empty() && torch.gestalt_token.is_none());
        assert_eq!((torch.session_count, torch.gift.as_deref()), (3, Some("a stone")));
    }
}
