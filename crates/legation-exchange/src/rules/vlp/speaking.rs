//! Who may speak in a session, in which order, and whom a message without a receiver reaches (VLP III, VIII).

use super::Change;
use super::session::{MOST_PARTIES, Session, Spoke};
use super::weighed::Weighed;
use crate::quota::{Resource, check_family};
use crate::rules::{Case, Ruling, Speaker};
use crate::state::State;
use legation_protocol::vlp::{Kind, Layer, Message};
use legation_protocol::{Code, Rejection};

pub(super) fn look(
    case: &Case<'_>,
    message: &Message,
    weighed: &mut Weighed,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let Some(id) = message.thread() else {
        if message.receiver.is_none() {
            weighed.mark("VLP III", "record_only", "It names no receiver and no session: it is in the record alone.");
        }
        return Ok(());
    };
    let session = case.state.rules.vlp.sessions.get(id);
    if let Some(session) = session {
        may_speak(case, id, session)?;
        weighed.in_session();
    }
    in_sequence(case, message, session, weighed)?;
    let joins = joins(case, session)?;
    let is_owner = session.is_none_or(|session| session.owner == case.speaker.id());
    let ends = message.kind == Kind::SessionContext;
    if ends && !is_owner {
        weighed.denied("VLP IV session_context", "only its owner closes a session: it goes on");
    }
    if message.receiver.is_none() {
        let to = session.map(|session| others(case.state, session, case.speaker)).unwrap_or_default();
        tell_where(to.len(), weighed);
        ruling.instead = Some(to);
    }
    if session.is_none() {
        make_room(case, ruling)?;
    }
    let by = case.speaker.id().to_owned();
    let spoke = Spoke { session: id.to_owned(), by, seq: message.seq, joins, closes: ends && is_owner, held: false };
    ruling.change(Change::Spoke(spoke).into());
    Ok(())
}

/// Whoever begins one too many loses the one of theirs in which nothing was said for longest. Whoever has none where
/// their family has as many as it may is rejected: nobody loses a session to another agent's.
fn make_room(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    let (sessions, owner) = (&case.state.rules.vlp.sessions, case.speaker.id());
    let full = check_family(case.state, case.policy, owner, Resource::Sessions).err();
    let most = if full.is_some() { 1 } else { case.policy.shares.sessions };
    match (sessions.crowded_out(owner, most), full) {
        (Some(gone), _) => ruling.change(Change::Forgotten { session: gone.to_owned() }.into()),
        (None, Some(full)) => return Err(full),
        (None, None) => {}
    }
    Ok(())
}

/// The entry that registered somebody; a principal was never registered.
pub(super) fn since(state: &State, id: &str) -> u64 {
    state.registry.agent(id).map_or(0, |agent| agent.since)
}

/// Whether somebody has a part in a session.
pub(super) fn is_party(state: &State, session: &Session, id: &str) -> bool {
    session.parties.get(id).is_some_and(|party| party.since == since(state, id))
}

/// The parties beside the speaker, as far as they are still there.
pub(super) fn others(state: &State, session: &Session, speaker: Speaker<'_>) -> Vec<String> {
    let parties = session.parties.keys().filter(|id| *id != speaker.id() && is_party(state, session, id));
    parties.filter(|id| state.mailbox(id).is_some()).cloned().collect()
}

fn may_speak(case: &Case<'_>, id: &str, session: &Session) -> Result<(), Rejection> {
    let refuse = |code, text: String| Err(Rejection::because(code, text).at("/session_id").by("VLP VIII"));
    if !is_party(case.state, session, case.speaker.id()) {
        return refuse(Code::NotAParty, format!("{:?} has no part in the session {id:?}", case.speaker.id()));
    }
    if session.closed.is_some() {
        return refuse(Code::SessionClosed, format!("the session {id:?} is closed: begin another"));
    }
    match &session.halted {
        Some(halt) => {
            let text = format!(
                "the session {id:?} is halted by the message in entry {} until a person lets it go on",
                halt.by
            );
            Err(Rejection::because(Code::Halted, text).at("/session_id").by("VLP VI.4"))
        }
        None => Ok(()),
    }
}

/// Numbers rise, each sender's by itself. The spec has them within the session and not by whom, so that who counts alone and
/// who counts with the others are both in order.
fn in_sequence(
    case: &Case<'_>,
    message: &Message,
    session: Option<&Session>,
    weighed: &mut Weighed,
) -> Result<(), Rejection> {
    let own = session.and_then(|session| session.parties.get(case.speaker.id())).and_then(|party| party.seq);
    let heard = session.and_then(|session| session.heard_of(case.speaker.id()));
    let Some(seq) = message.seq else {
        weighed.layers.insert(Layer::State);
        return Ok(());
    };
    if let Some(last) = own.filter(|last| seq <= *last) {
        let text = format!("this sender has come to number {last} in the session, and numbers only rise");
        return Err(Rejection::because(Code::SequenceRepeated, text).at("/seq").by("VLP VIII"));
    }
    let follows_own = seq <= heard.unwrap_or(0).saturating_add(1);
    if follows_own || session.is_some_and(|session| session.follows_somebody(seq, case.speaker.id())) {
        weighed.layers.insert(Layer::State);
    } else {
        let last =
            heard.map_or_else(|| "its sender has none yet".to_owned(), |last| format!("its sender's last was {last}"));
        weighed.mark("VLP VIII", "sequence_gap", format!("Number {seq} does not follow: {last}."));
    }
    Ok(())
}

/// Who has a part in the session from now on.
fn joins(case: &Case<'_>, session: Option<&Session>) -> Result<Vec<(String, u64)>, Rejection> {
    let speaker = session.is_none().then(|| case.speaker.id().to_owned());
    let addressed = case.to.iter().cloned();
    let is_new = |id: &String| session.is_none_or(|session| !is_party(case.state, session, id));
    let joins: Vec<_> = speaker.into_iter().chain(addressed).filter(is_new).collect();
    if session.map_or(0, |session| session.parties.len()) + joins.len() > MOST_PARTIES {
        let text = format!("a session has at most {MOST_PARTIES} parties");
        return Err(Rejection::because(Code::OutOfRange, text).at("/receiver"));
    }
    Ok(joins.into_iter().map(|id| (id.clone(), since(case.state, &id))).collect())
}

fn tell_where(parties: usize, weighed: &mut Weighed) {
    match parties {
        0 => weighed.mark("VLP III", "record_only", "It names no receiver, and its session has no other party yet."),
        1 => weighed.mark("VLP III", "to_session", "It names no receiver: it went to the other party of its session."),
        n => weighed.mark(
            "VLP III",
            "to_session",
            format!("It names no receiver: it went to {n} parties of its session."),
        ),
    }
}
