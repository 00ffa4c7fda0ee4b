//! A person's word on what is held: for exactly what was shown, and once.

use super::{Change, Decided, Lifter, reviewer_name};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::voice::Notice;
use crate::rules::{Ruling, translate, vlp};
use crate::state::State;
use crate::who::{Role, Who};
use legation_protocol::{Code, Format, Rejection};
use std::time::Duration;

/// A person's word on a held message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The entry that holds the message.
    pub message: u64,
    /// What they say.
    pub says: Says,
    /// SHA-256 of the canonical form of the message they were shown.
    pub digest: String,
    /// Why.
    pub why: String,
}

/// What a person says of a held message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It may go on.
    Approve,
    /// It does not go on.
    Refuse,
    /// I am looking at it.
    Claim,
}

/// How long a claim keeps others from deciding.
const CLAIM: Duration = Duration::from_mins(10);

/// Decides a review.
pub(crate) fn review(
    state: &State,
    policy: &Policy,
    now: Moment,
    review: &Review,
    who: &Who,
) -> Result<Ruling, Rejection> {
    let Who::Person { role: role @ (Role::Operator | Role::Reviewer), .. } = who else {
        return Err(Rejection::because(Code::NotAllowed, "only an operator or a reviewer decides on what is held"));
    };
    let (message, by) = (review.message, who.to_string());
    let hold = state.rules.holds.get(message).filter(|hold| hold.is_review()).ok_or_else(|| gone(state, message))?;
    if hold.digest.as_deref() != Some(review.digest.as_str()) {
        let text = "the digest is not that of the held message: look at it again";
        return Err(Rejection::because(Code::ReviewConflict, text).at("/digest"));
    }
    let others = hold.claimed.as_ref().filter(|(claimant, until)| *claimant != by && *until > now);
    if let Some((claimant, until)) = others.filter(|_| *role != Role::Operator) {
        let text = format!("{claimant} is looking at it until {until}");
        return Err(Rejection::because(Code::ReviewConflict, text));
    }
    let mut ruling = Ruling::default();
    match review.says {
        Says::Claim => ruling.change(Change::Claimed { message, by, until: now.plus(CLAIM) }.into()),
        Says::Approve => ruling.lift(state, message, Lifter::Person, by, Some(review.why.clone())),
        Says::Refuse if review.why.trim().is_empty() => {
            return Err(
                Rejection::because(Code::SchemaInvalid, "say why it is refused: its sender is told").at("/reason")
            );
        }
        Says::Refuse => refuse(state, policy, now, message, (by, review.why.clone()), &mut ruling),
    }
    Ok(ruling)
}

fn gone(state: &State, message: u64) -> Rejection {
    match state.rules.holds.decided(message) {
        Some(Decided { released, by }) => {
            let what = if *released { "approved" } else { "refused" };
            Rejection::because(Code::ReviewConflict, format!("it was {what} already, by {by}"))
        }
        None => Rejection::because(Code::UnknownReview, "nothing with this id waits for a person"),
    }
}

/// Refuses a held message, and tells its sender; and whoever waits for it in another dialect.
pub(crate) fn refuse(
    state: &State,
    policy: &Policy,
    now: Moment,
    message: u64,
    said: (String, String),
    ruling: &mut Ruling,
) {
    turn_back(state, policy, message, said, ruling);
    let told = translate::Why { code: "refused", text: "the answer was held and does not go on", failed: None };
    translate::answer_refused(state, policy, now, message, told, ruling);
}

/// Refuses a held message, and tells its sender alone.
pub(crate) fn turn_back(
    state: &State,
    policy: &Policy,
    message: u64,
    (by, why): (String, String),
    ruling: &mut Ruling,
) {
    let hold = state.rules.holds.get(message);
    if let Some((hold, sender)) = hold.and_then(|hold| Some((hold, state.registry.since(hold.from)?))) {
        let named = reviewer_name(policy, &by);
        let text = format!("Your message in entry {message} was held and does not go on. {named}: {why}");
        // Its sender knows at least the dialect in which it was sent.
        let (rather, thread) = (hold.dialect.unwrap_or(Format::Vcp), hold.task.as_deref());
        ruling.notify(policy, sender, Notice { code: "held_refused", text, rather, about: hold.id.as_deref(), thread });
    }
    if let Some((session, speaker, seq)) = state.rules.vlp.sessions.number_of(message) {
        let (session, by) = (session.to_owned(), speaker.to_owned());
        ruling.change(vlp::Change::Unheard { session, by, seq }.into());
    }
    ruling.change(Change::Refused { message, by, why }.into());
}
