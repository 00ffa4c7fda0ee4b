//! The rules that bite: what each protocol only asks for, judged here. One directory a dialect, one file a
//! rule. A rule looks at a [`Case`] and adds to a [`Ruling`]; what it keeps changes by [`Change`]s alone, which
//! lie in the record.

pub mod acl;
pub mod cap;
mod case;
mod deferred;
pub mod hold;
pub mod identity;
mod moves;
mod outdated;
mod redacted;
pub mod revocation;
mod ruling;
pub mod scan;
pub mod translate;
mod unheard;
pub mod vcp;
pub mod vlp;
mod voice;
mod waits;

pub use case::Speaker;
pub use deferred::Deferred;
pub use ruling::{About, Finding, Ruled, Spot};
pub use voice::Voice;

pub(crate) use case::Case;
pub(crate) use outdated::look_at_released;
pub(crate) use ruling::{Again, Heard, Ruling};
pub(crate) use unheard::leave;
pub(crate) use voice::{notice_text, utter};

use crate::extensions;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::quota::Resource;
use crate::state::State;
use legation_protocol::acl::Performative;
use legation_protocol::vcp::{Payload, Role, Rule};
use legation_protocol::{Message, Rejection};
use serde::{Deserialize, Serialize};

/// What the rules keep, as a fold over the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// What is held.
    pub holds: hold::Holds,
    /// Escalations, standing, constraints, constitutions, contexts.
    pub vcp: vcp::Kept,
    /// Tasks.
    pub cap: cap::Kept,
    /// Conversations.
    pub acl: acl::Kept,
    /// Sessions.
    pub vlp: vlp::Kept,
    /// What the exchange said for whom.
    pub translations: translate::Links,
    /// What held messages would have moved.
    pub deferred: Deferred,
    /// What the extensions keep.
    pub extensions: extensions::Kept,
    /// Identity tokens.
    pub identities: identity::Identities,
    /// Keys that were withdrawn.
    pub revocations: revocation::Revocations,
}

/// Something the rules keep has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Change {
    /// A hold.
    Hold(hold::Change),
    /// What the rules of VCP keep.
    Vcp(vcp::Change),
    /// What the rules of CAP keep.
    Cap(cap::Change),
    /// What the rules of the ElizaOS agent language keep.
    Acl(acl::Change),
    /// What the rules of VLP keep.
    Vlp(vlp::Change),
    /// The exchange said a message in another dialect.
    Translated(Box<translate::Translation>),
    /// Nothing comes of what the exchange asked in another dialect.
    BrokenOff {
        /// The entry in which it asked.
        ask: u64,
    },
    /// What an extension keeps.
    Extension(Box<extensions::Change>),
    /// Identity tokens.
    Identity(identity::Change),
}

impl Change {
    /// The entry whose message it is about, where it is about one that is held, translated or quoted, or was judged.
    pub fn concerns(&self) -> Option<u64> {
        match self {
            Change::Hold(change) => change.message(),
            Change::Translated(translation) => Some(translation.original),
            Change::Vcp(vcp::Change::Alarm(vcp::AlarmChange::Said { alarm, .. })) => Some(*alarm),
            Change::Cap(cap::Change::Reassigned { task, judged: Some(_), .. }) => Some(*task),
            Change::Vcp(_)
            | Change::Cap(_)
            | Change::Acl(_)
            | Change::Vlp(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => None,
        }
    }

    /// What of an extension it changes, if it does.
    pub fn extension(&self) -> Option<&extensions::Change> {
        match self {
            Change::Extension(change) => Some(change),
            Change::Hold(_)
            | Change::Vcp(_)
            | Change::Cap(_)
            | Change::Acl(_)
            | Change::Vlp(_)
            | Change::Translated(_)
            | Change::BrokenOff { .. }
            | Change::Identity(_) => None,
        }
    }

    /// The held message it decides on.
    fn concerns_hold(&self) -> Option<u64> {
        if let Change::Hold(change) = self { change.message() } else { None }
    }

    fn of_vlp(&self) -> Option<&vlp::Change> {
        match self {
            Change::Vlp(change) => Some(change),
            Change::Hold(_)
            | Change::Vcp(_)
            | Change::Cap(_)
            | Change::Acl(_)
            | Change::Translated(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => None,
        }
    }

    /// The messages that were found by a name.
    pub(crate) fn named(&self) -> impl Iterator<Item = u64> {
        self.targets().iter().filter_map(vlp::Target::position)
    }

    fn targets(&self) -> &[vlp::Target] {
        self.of_vlp().map_or(&[], vlp::Change::targets)
    }

    /// The messages that it rests on, with their hashes.
    fn rests(&self) -> &[u64] {
        self.of_vlp().map_or(&[], vlp::Change::rests)
    }

    /// The session that somebody spoke in.
    pub(crate) fn spoken_in(&self) -> Option<&str> {
        self.of_vlp().and_then(vlp::Change::spoken_in)
    }

    /// The messages that another takes the place of.
    pub(crate) fn amended(&self) -> impl Iterator<Item = u64> {
        self.of_vlp().map_or(&[][..], vlp::Change::amends).iter().copied()
    }

    /// The message it is part of is held.
    fn hold(&mut self) {
        match self {
            Change::Vlp(change) => change.hold(),
            Change::Cap(change) => change.hold(),
            Change::Hold(_)
            | Change::Vcp(_)
            | Change::Acl(_)
            | Change::Translated(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => {}
        }
    }

    /// Fills in the id of the message of the exchange that it is part of.
    fn said_as(&mut self, id: &str) {
        match self {
            Change::Vcp(vcp::Change::Alarm(change)) => change.said_as(id),
            Change::Cap(change) => change.set_message_id(id),
            Change::Vcp(_)
            | Change::Hold(_)
            | Change::Acl(_)
            | Change::Vlp(_)
            | Change::Translated(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => {}
        }
    }

    /// The translation, if it is one.
    pub fn translation(&self) -> Option<&translate::Translation> {
        match self {
            Change::Translated(translation) => Some(translation),
            Change::Hold(_)
            | Change::Vcp(_)
            | Change::Cap(_)
            | Change::Acl(_)
            | Change::Vlp(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => None,
        }
    }
}

/// The entry a change lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Where.
    pub position: u64,
    /// When.
    pub at: Moment,
}

impl Kept {
    /// Reports how much each agent has of what is counted for quotas; of held messages, [`hold::Holds::usage`] does.
    pub(crate) fn usage(&self, report: &mut impl FnMut(&str, Resource, usize)) {
        self.cap.usage().for_each(|(who, tasks)| report(who, Resource::Tasks, tasks));
        self.acl.usage().for_each(|(who, talks)| report(who, Resource::Conversations, talks));
        self.vlp.sessions.open_usage().for_each(|(who, sessions)| report(who, Resource::Sessions, sessions));
        self.vlp.sessions.halt_usage().for_each(|(who, halts)| report(who, Resource::Halts, halts));
        self.extensions.consensus.usage().for_each(|who| report(who, Resource::Deliberations, 1));
        self.vcp.constraints.usage().for_each(|(who, bytes)| report(who, Resource::ConstraintBytes, bytes));
        self.identities.usage().for_each(|who| report(who, Resource::IdentityTokens, 1));
    }

    /// Takes the changes of that which were not counted yet.
    pub(crate) fn take_usage_changes(&mut self) -> impl Iterator<Item = (String, Resource, i64)> + use<> {
        let all = [
            self.cap.usage_changes().take(),
            self.acl.usage_changes().take(),
            self.vlp.sessions.usage_changes().take(),
            self.extensions.consensus.usage_changes().take(),
            self.identities.usage_changes().take(),
            self.vcp.constraints.usage_changes().take(),
        ];
        all.into_iter().flatten()
    }

    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        match change {
            Change::Hold(change) => {
                self.note_overseers_decision(change);
                for said in self.holds.apply(change) {
                    self.deferred.drop_one(said);
                }
                if let hold::Change::Refused { message, .. } = change {
                    self.deferred.drop_one(*message);
                    self.cap.refused(at, *message);
                    self.vlp.sessions.stays_held(*message);
                    self.acl.lose_all(*message, acl::Loss::Refused, at.at);
                    for said in self.translations.said_for(*message) {
                        self.holds.refuse(said).into_iter().chain([said]).for_each(|one| self.deferred.drop_one(one));
                    }
                    self.translations.refused(*message);
                }
            }
            Change::Vcp(change) => self.vcp.apply(at, change),
            Change::Cap(change) => self.cap.apply(at, change),
            Change::Acl(change) => self.acl.apply(at, change),
            Change::Vlp(change) => self.vlp.apply(at, change, &self.translations),
            Change::Translated(translation) => self.translations.apply(at, translation),
            Change::BrokenOff { ask } => self.translations.broke_off(*ask),
            Change::Extension(change) => self.extensions.apply(at, change),
            Change::Identity(change) => {
                self.identities.apply(at, change);
                if let identity::Change::Revoked { .. } = change {
                    self.revocations.revoked(at);
                }
            }
        }
    }

    /// An overseer's decision settles what it was shown in the task.
    fn note_overseers_decision(&mut self, change: &hold::Change) {
        match change {
            hold::Change::Lifted { message, lifts: hold::Lifter::Overseer(overseer), .. } => {
                self.cap.overseer_decided(*message, overseer);
            }
            hold::Change::Refused { message, by, .. } => {
                if let Some(agent) = by.strip_prefix("agent ") {
                    self.cap.overseer_decided(*message, agent);
                }
            }
            _ => {}
        }
    }

    /// A held message goes on, and what the exchange said for it.
    pub(crate) fn released(&mut self, at: At, message: u64) {
        let approved_by = self.holds.get(message).and_then(|hold| hold.approved_by.clone());
        self.holds.go_on(message);
        self.vlp.sessions.go_on(message, at.at);
        for change in self.deferred.take(message, at.at) {
            // A conversation may have moved on without it.
            if let Change::Acl(acl::Change::Moved(moved)) = &change
                && !self.acl.may_still_move(moved)
            {
                continue;
            }
            if let Change::Acl(acl::Change::Waits { talk, .. }) = &change
                && self.acl.get(*talk).is_none_or(|talk| !talk.stage.is_open())
            {
                continue;
            }
            // What it was to decide on may have gone on.
            if change.concerns_hold().is_some_and(|held| self.holds.get(held).is_none()) {
                continue;
            }
            self.apply(At { position: message, at: at.at }, &change);
        }
        self.cap.released(at, message);
        for said in self.translations.said_for(message) {
            self.holds.lift(said, &hold::Lifter::Original(message));
            if let Some(by) = &approved_by {
                self.holds.note_approval(said, by);
            }
        }
    }

    /// A message never comes to one of those it was for. What the exchange said for another loses that too.
    pub(crate) fn lose(&mut self, message: u64, agent: &str, loss: acl::Loss, at: Moment) {
        match self.translations.get(message).map(|link| (link.translation.original, link.stage)) {
            None => self.acl.lose(message, agent, loss, at),
            Some((original, translate::Stage::Asked)) => {
                self.acl.lose(original, agent, loss, at);
                self.translations.lose(message, loss);
            }
            // Its answer may still wait for somebody's word.
            Some((_, translate::Stage::Accepted | translate::Stage::Ended)) => {}
        }
    }

    /// When the next deadline falls due.
    pub(crate) fn earliest(&self) -> Option<Moment> {
        let all = [
            self.holds.earliest(),
            self.vcp.earliest(),
            self.cap.earliest(),
            self.acl.earliest(),
            self.translations.earliest(),
            self.vlp.earliest(),
        ];
        all.into_iter().flatten().min()
    }
}

/// Judges a message: may its sender say this now, and what follows from it. The order of the questions is
/// the product.
pub(crate) fn judge(case: &Case<'_>) -> Result<Ruling, Rejection> {
    let mut ruling = Ruling::default();
    vcp::may_speak(case)?;
    match case.received.message() {
        Message::Vcp(envelope) => vcp::look(case, envelope, &mut ruling)?,
        Message::Acl(message) if !acl::takes_back(message) && translate::goes_on(case) => {}
        Message::Acl(message) => {
            if !cap::decide_in_acl(case, message, &mut ruling)? {
                acl::look(case, message, &mut ruling)?;
            }
        }
        Message::Cap(message) => cap::look(case, message, &mut ruling)?,
        Message::Vlp(message) => {
            vlp::look(case, message, &mut ruling)?;
            cap::decide_in_vlp(case, message, &mut ruling)?;
        }
    }
    // An alarm is never held up or turned away by what a rule asks of ordinary messages.
    if !is_alarm(case.received.message()) {
        vcp::constrain(case, &mut ruling)?;
    }
    if matches!(case.received.message(), Message::Acl(message) if message.performative() == Performative::TaskRequest) {
        for to in case.to {
            cap::may_ask(case, to)?;
        }
    }
    scan::look(case, &mut ruling);
    translate::look(case, &mut ruling)?;
    cap::mark_changed_terms(&mut ruling);
    cap::mark_unreviewed(case, &mut ruling);
    if acl::withdraws(case) {
        ruling.reasons.clear();
    }
    if !ruling.reasons.is_empty() {
        waits::settle(case, &mut ruling)?;
    }
    outdated::look(case.state, case.policy, case.now, &mut ruling);
    Ok(ruling)
}

/// Whether a message is an escalation that nothing may hold up, or the acknowledgement of one (VCP 6.1).
pub fn is_alarm(message: &Message) -> bool {
    let Message::Vcp(envelope) = message else { return false };
    match &envelope.payload {
        Payload::Escalation(alarm) => alarm.severity.is_grave(),
        Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) | Payload::ConstraintPropagate(_) => false,
    }
}

/// Whether a message passes every quota and rate limit: alarms, acknowledgements of escalations, and resumes. Nobody
/// is left stopped, and no alarm unanswered, because somebody has used up what they may have.
pub fn passes_quotas(message: &Message) -> bool {
    let Message::Vcp(envelope) = message else { return false };
    match &envelope.payload {
        Payload::Escalation(said) => said.severity.is_grave() || matches!(said.role(), Ok(Role::Ack(_))),
        Payload::ConstraintPropagate(rules) => rules.constraints.iter().any(|one| matches!(one.rule, Rule::Resume(_))),
        Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) => false,
    }
}

/// The first deadline that has passed, and what follows from it. Applying that takes the deadline away.
pub(crate) fn due(state: &State, policy: &Policy, now: Moment, quoted: Option<&[u8]>) -> Option<Ruling> {
    if state.rules.earliest().is_none_or(|first| first > now) {
        return None;
    }
    None.or_else(|| hold::due(state, policy, now))
        .or_else(|| vcp::due(state, policy, now, quoted))
        .or_else(|| cap::due(state, policy, now))
        .or_else(|| acl::due(state, policy, now))
        .or_else(|| translate::due(state, policy, now))
        .or_else(|| vlp::due(state, policy, now))
}
