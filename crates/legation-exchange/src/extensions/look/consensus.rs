//! Deliberations, for those who have a part in them. Who has ranked is told, how they did only to themselves: what
//! the ballots come to is told when no more are taken, since what one changes in it is that ballot.

use crate::extensions::Asker;
use crate::extensions::consensus::{Ballot, Deliberation, Kept, Outcome, Phase, Which, unknown};
use crate::who::Who;
use legation_protocol::Rejection;
use serde_json::{Map, Value, json};

/// Most that are listed.
const MOST: usize = 1000;

pub(super) fn shown(kept: &Kept, asker: &Asker, who: &Who, which: &Which) -> Result<Value, Rejection> {
    let (number, one) = seen(kept, asker, who, which)?;
    let stakeholders = one.stakeholders.iter().map(|(subject, stakeholder)| {
        json!({
            "who": subject,
            "kind": if subject.is_agent() { "ai" } else { "human" },
            "standing": stakeholder.standing,
            "has_voted": stakeholder.ballot.is_some(),
        })
    });
    let stakeholders = stakeholders.collect::<Vec<_>>();
    let said = one.statements.iter();
    let said = said
        .map(|said| super::marked(json!({"by": said.by, "at": said.at.to_string(), "text": said.text}), &said.scanned));
    let mut told = brief(number, one);
    told.extend([
        ("text".to_owned(), json!(one.text)),
        ("candidates".to_owned(), json!(one.candidates)),
        ("stakeholders".to_owned(), json!(stakeholders)),
        ("about".to_owned(), json!(one.about)),
        ("self_referential".to_owned(), json!(one.outcome().self_referential)),
        ("statements".to_owned(), said.collect()),
        (
            "own_ballot".to_owned(),
            json!(one.stakeholder(&asker.subject).and_then(|own| own.ballot.as_ref()).map(|ballot| named(one, ballot))),
        ),
    ]);
    Ok(super::marked(Value::Object(told), &one.scanned))
}

pub(super) fn listed(kept: &Kept, asker: &Asker, who: &Who, limit: usize) -> Value {
    let own = kept.iter().rev().filter(|(_, one)| one.is_seen_by(&asker.subject, who));
    let own: Vec<_> = own.take(limit.min(MOST)).map(|(number, one)| brief(number, one)).collect();
    json!({"deliberations": own})
}

pub(super) fn outcome(kept: &Kept, asker: &Asker, who: &Who, which: &Which) -> Result<Value, Rejection> {
    let (number, one) = seen(kept, asker, who, which)?;
    let outcome = one.outcome();
    let mut told = counts(number, one, &outcome);
    if one.phase == Phase::Active {
        told.extend(decided(one, &outcome));
    }
    Ok(Value::Object(told))
}

fn counts(number: u64, one: &Deliberation, outcome: &Outcome) -> Map<String, Value> {
    Map::from_iter([
        ("deliberation_id".to_owned(), Kept::id(number).into()),
        ("phase".to_owned(), json!(one.phase)),
        ("final".to_owned(), (one.phase == Phase::Active).into()),
        ("method".to_owned(), "schulze".into()),
        ("candidates".to_owned(), one.candidates.iter().map(|candidate| candidate.id.as_str()).collect()),
        ("ballots".to_owned(), outcome.counted.into()),
        ("advisory_ballots".to_owned(), outcome.heard.into()),
        ("self_referential".to_owned(), json!(outcome.self_referential)),
    ])
}

fn decided(one: &Deliberation, outcome: &Outcome) -> [(String, Value); 6] {
    let Outcome { schulze, winners, .. } = outcome;
    let wins = one.candidates.iter().zip(&schulze.wins).map(|(candidate, wins)| (candidate.id.clone(), json!(wins)));
    let winner = if let [one] = winners.as_slice() { Some(one) } else { None };
    [
        ("d".to_owned(), json!(schulze.preferred.rows())),
        ("p".to_owned(), json!(schulze.strongest.rows())),
        ("wins".to_owned(), Value::Object(wins.collect())),
        ("ranking".to_owned(), json!(named(one, &schulze.ranking))),
        ("winner".to_owned(), json!(winner)),
        ("winners".to_owned(), json!(winners)),
    ]
}

/// Places, by the ids of the candidates.
fn named<'d>(one: &'d Deliberation, places: &Ballot) -> Vec<Vec<&'d str>> {
    let id = |place: &usize| one.candidates.get(*place).map(|candidate| candidate.id.as_str());
    places.iter().map(|group| group.iter().filter_map(id).collect()).collect()
}

fn seen<'k>(kept: &'k Kept, asker: &Asker, who: &Who, which: &Which) -> Result<(u64, &'k Deliberation), Rejection> {
    let found = kept.named(&which.deliberation_id).filter(|(_, one)| one.is_seen_by(&asker.subject, who));
    found.ok_or_else(|| unknown().at("/deliberation_id"))
}

fn brief(number: u64, one: &Deliberation) -> Map<String, Value> {
    let began = one.began.iter().map(|(phase, at)| (phase.to_string(), at.to_string().into()));
    Map::from_iter([
        ("deliberation_id".to_owned(), Kept::id(number).into()),
        ("title".to_owned(), json!(one.title)),
        ("convener".to_owned(), json!(one.convener)),
        ("phase".to_owned(), json!(one.phase)),
        ("began".to_owned(), Value::Object(began.collect())),
    ])
}
