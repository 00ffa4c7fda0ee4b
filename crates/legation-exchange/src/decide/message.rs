//! Whether a message is taken, and for whom. The order of the questions is the product: is it a copy,
//! is it fresh, may its sender speak, whom does it reach.

use super::freshness::Fresh;
use super::{AnswerDetails, Asked, Decided, Decision, Desk, Earlier, Proof, SpareId, Verdict, Verified};
use crate::effect::{Accepted, Effect};
use crate::key::Custody;
use crate::quota::{Resource, check_family};
use crate::rules::hold::{Lifter, Reason};
use crate::rules::vcp::AlarmChange;
use crate::rules::vlp::Keys;
use crate::rules::{Case, Change, Ruled, Ruling, Speaker, is_alarm, judge, passes_quotas, vcp};
use crate::who::{PRINCIPALS, Who};
use legation_protocol::vcp::Severity;
use legation_protocol::{Code, Format, Message, Recipients, Rejection};
use std::borrow::Cow;

impl Desk<'_> {
    /// Takes a message or refuses it.
    pub(super) fn take(&self, verified: Verified) -> Decision {
        match self.message(&verified) {
            Ok(mut decision) => {
                // The first entry is the message's own; a copy has none.
                if let Some(first) = decision.entries.first_mut() {
                    first.body = Some(verified.received.into_bytes());
                }
                decision
            }
            Err(why) => {
                let (notice, judged_time) = (self.stale_notice(&verified, &why), self.judged_time(&why));
                let mut decision = self.refused(self.brought(verified, &why), why);
                self.mark_untimely(notice, judged_time, &mut decision.entries);
                decision
            }
        }
    }

    /// Nothing if nobody proved to be somebody.
    fn brought(&self, verified: Verified, why: &Rejection) -> Option<Asked> {
        let by = self.proven_name(&verified)?;
        let Verified { received, spare_id, opinion, .. } = verified;
        let id = received.message().id().or_else(|| spare_id.given());
        let judged = opinion.map(|opinion| opinion.judged);
        let is_cut = why.code() == Code::RateLimited;
        let cut = is_cut.then(|| vcp::cut_of(self.state, self.now, received.message())).flatten();
        Some(Asked { by, digest: Some(received.digest().to_string()), id, cut, judged })
    }

    fn message(&self, verified: &Verified) -> Decided {
        let Verified { received, proof, spare_id, trace, found, opinion, scanned, .. } = verified;
        let message = received.message();
        let sender = self.proven_sender(message, proof)?;
        let (id, kept) = match (message.id(), spare_id) {
            (Some(id), _) => (id, true),
            (None, SpareId::Keyed(id)) => (id.clone(), true),
            (None, SpareId::Fresh(id)) => (id.clone(), false),
        };
        if let Some(copy) = self.copy_of(sender.id(), &id, verified)? {
            return Ok(copy);
        }
        let Fresh { remembered, finding: late } = self.freshness(verified)?;
        let proves = self.first_proof(sender, proof)?;
        // A broadcast goes to everybody; reading it has found what is not for everybody.
        if let Some(found) = received.warnings().find(|found| found.code == Code::PersonalStateBroadcast) {
            return Err(Rejection::because(found.code, found.message.clone()).at("/payload/personal_state"));
        }
        let addressed = self.addressees(sender, message)?;
        self.check_fan_out(addressed.len(), message)?;
        let (state, policy, now) = (self.state, self.policy, self.now);
        let earlier = self.known_earlier(sender, found);
        let case = Case {
            state,
            policy,
            now,
            machine: self.machine,
            received,
            speaker: sender,
            id: &id,
            to: &addressed,
            earlier: &earlier,
            opinion: opinion.as_deref(),
            scanned,
        };
        let Ruling { changes, later, reasons, mut findings, level, metrics, instead, heard, judged, released, .. } =
            judge(&case)?;
        findings.extend(late);
        let is_alarm = is_alarm(message);
        let reasons = if is_alarm { Vec::new() } else { reasons };
        if !passes_quotas(message) {
            self.has_room_to_wait(sender, &reasons)?;
        }
        let is_held = !reasons.is_empty();
        let to = instead.unwrap_or(addressed);
        self.check_fan_out(to.len(), message)?;
        let routes = self.routes(to, message)?;
        // What is held reaches nobody yet, and is no dead letter either: those can be read and sent again.
        let Routes { to, missed } = if is_held { routes.waiting() } else { routes };
        if !is_held && !passes_quotas(message) {
            self.has_room_unread(sender, to.len())?;
        }
        let until = reasons.iter().any(|reason| reason.lifts == Lifter::Person).then(|| now.plus(policy.review_time));
        let emergency = changes.iter().any(raises_emergency);
        let ruled = Ruled { level, metrics, findings, held: reasons, until, changes, later, judged, because: None };
        let effect = Effect::Accepted(Accepted {
            dialect: message.dialect(),
            kind: message.kind().to_owned(),
            id: id.clone(),
            sender: sender.id().to_owned(),
            to,
            missed,
            thread: message.thread().map(str::to_owned),
            digest: received.digest().to_string(),
            proof: name_of(proof).to_owned(),
            custody: custody_of(sender, proof),
            by: sender.person(),
            expires: self.now.plus(self.policy.time_to_live),
            remembered: kept.then_some(remembered),
            machine: self.clocks().differing_machine(),
            trace: trace.clone(),
            emergency,
            is_alarm,
            ruled: Box::new(ruled),
            proves,
            keys: Keys::default(),
        });
        let details = match &effect {
            Effect::Accepted(accepted) => AnswerDetails::of(state, state.next, accepted, received),
            _ => None,
        };
        let mut decision = self.accepted(id, true, effect, None);
        decision.verdict = decision.verdict.with_details(details);
        if is_held {
            decision.verdict = decision.verdict.held();
        }
        self.consequences(state.next, released, heard, &mut decision.entries);
        Ok(decision)
    }

    /// Earlier messages that a sender may know of. What is held and hidden from it counts as unknown, so that no answer
    /// tells the two apart.
    fn known_earlier<'e>(&'e self, sender: Speaker<'_>, found: &[Earlier]) -> Cow<'e, [Earlier]> {
        let is_known =
            |one: &Earlier| one.accepted.sender == sender.id() || !self.state.is_hidden_from(one.position, sender.id());
        if found.is_empty() && self.earlier.iter().all(is_known) {
            return self.earlier.into();
        }
        self.earlier.iter().chain(found).filter(|one| is_known(one)).cloned().collect()
    }

    /// Who sent a message, as far as that was proven.
    pub(super) fn proven_name(&self, verified: &Verified) -> Option<String> {
        match &verified.proof {
            Proof::Bearer(Who::Nobody) => None,
            Proof::Bearer(who) => Some(who.to_string()),
            Proof::InProcess => Some("in process".to_owned()),
            Proof::Signature(key) => {
                let sender = self.state.registry.resolve(verified.received.message().sender())?;
                sender.key(key).map(|_| format!("agent {}", sender.id))
            }
        }
    }

    /// Whoever the message names as its sender, if that is the one proven.
    fn proven_sender<'d>(&'d self, message: &Message, proof: &'d Proof) -> Result<Speaker<'d>, Rejection> {
        if let Some(name) = PRINCIPALS.into_iter().find(|name| *name == message.sender()) {
            return principal(name, proof);
        }
        let Some(sender) = self.state.registry.resolve(message.sender()) else {
            return Err(Rejection::because(Code::UnknownSender, "the sender is not registered here").at("/sender"));
        };
        match proof {
            Proof::Signature(key) if sender.has_live_key(key, self.clocks().latest()) => Ok(Speaker::Agent(sender)),
            Proof::Signature(_) => {
                Err(Rejection::because(Code::KeyRevoked, "this key is not one of the sender's keys in use"))
            }
            Proof::Bearer(_) | Proof::InProcess if self.needs_signature(message, proof) => {
                Err(Rejection::because(Code::SignatureRequired, "a VCP message is signed by its sender")
                    .at("/signature")
                    .by("VCP 7.1"))
            }
            Proof::Bearer(Who::Agent(id)) if *id == sender.id => Ok(Speaker::Agent(sender)),
            Proof::Bearer(Who::Nobody) => {
                Err(Rejection::because(Code::Unauthenticated, "say who sends: a token or a signature is missing"))
            }
            Proof::Bearer(Who::Agent(_) | Who::Person { .. }) => {
                Err(Rejection::because(Code::SenderMismatch, "the sender named is not the one who is connected"))
            }
            Proof::InProcess => Ok(Speaker::Agent(sender)),
        }
    }

    fn needs_signature(&self, message: &Message, proof: &Proof) -> bool {
        self.policy.signed_vcp && message.dialect() == Format::Vcp && *proof != Proof::InProcess
    }

    /// The verdict on a message that was taken before.
    fn copy_of(&self, sender: &str, id: &str, verified: &Verified) -> Result<Option<Decision>, Rejection> {
        let Verified { received, found, searched, .. } = verified;
        let message = received.message();
        // What was found elsewhere is a copy only where it was searched for as one.
        let searched_for = found.iter().filter(|_| searched.is_some());
        let is_it = |Earlier { accepted, .. }: &&Earlier| {
            let same_session = message.dialect() != Format::Vlp || accepted.thread.as_deref() == message.thread();
            accepted.sender == sender && accepted.id == id && same_session
        };
        let Some(taken) = self.earlier.iter().chain(searched_for).find(is_it) else { return Ok(None) };
        if taken.accepted.digest != received.digest().to_string() {
            let message = "this sender has used the id for another message";
            return Err(Rejection::because(Code::MessageIdConflict, message).at("/message_id"));
        }
        let verdict = Verdict::Duplicate { position: taken.position, id: id.to_owned() };
        Ok(Some(Decision { verdict, entries: Vec::new() }))
    }

    /// Whom the message is addressed to, by canonical id: one more than a message may go to, where there are more.
    fn addressees(&self, sender: Speaker<'_>, message: &Message) -> Result<Vec<String>, Rejection> {
        let most = self.policy.quotas.fan_out.saturating_add(1);
        match (message.recipients(), sender) {
            (Recipients::One(name), _) if self.policy.is_exchange(name) => Ok(Vec::new()),
            (Recipients::One(name), _) if self.is_group(name, message) => {
                let members = self.state.registry.members(name).filter(|agent| agent.id != sender.id());
                Ok(members.take(most).map(|agent| agent.id.clone()).collect())
            }
            (Recipients::One(name), _) => Ok(vec![self.addressed(name)?]),
            (Recipients::Peers, Speaker::Agent(sender)) => {
                Ok(self.state.registry.peers(sender).take(most).map(|agent| agent.id.clone()).collect())
            }
            (Recipients::Peers, Speaker::Principal { .. }) | (Recipients::Thread, _) => Ok(Vec::new()),
        }
    }

    /// Only the ElizaOS agent language speaks to groups (section 6).
    fn is_group(&self, name: &str, message: &Message) -> bool {
        message.dialect() == Format::Acl && !PRINCIPALS.contains(&name) && self.state.registry.is_group(name)
    }

    /// The mailboxes the message goes to. An alarm, an acknowledgement and a resume always find room.
    fn routes(&self, to: Vec<String>, message: &Message) -> Result<Routes, Rejection> {
        let full = |agent: &String| {
            self.state.mailbox(agent).is_some_and(|mailbox| mailbox.len() >= self.policy.mailbox_limit)
        };
        if passes_quotas(message) {
            return Ok(Routes { to, missed: Vec::new() });
        }
        let (missed, to): (Vec<_>, Vec<_>) = to.into_iter().partition(full);
        match (message.recipients(), missed.first()) {
            (Recipients::One(_), Some(agent)) if to.is_empty() => {
                let message = format!("{} messages wait for {agent:?} already", self.policy.mailbox_limit);
                Err(Rejection::because(Code::MailboxFull, message))
            }
            (Recipients::One(_) | Recipients::Peers | Recipients::Thread, _) => Ok(Routes { to, missed }),
        }
    }

    /// Refuses what would take the unread items of all mailboxes beyond their limit, to those who have their share of it.
    fn has_room_unread(&self, sender: Speaker<'_>, recipients: usize) -> Result<(), Rejection> {
        let Some(agent) = sender.agent() else { return Ok(()) };
        let (unread, limit) = (self.state.mailboxes.unread(), self.policy.unread_limit);
        if unread.admits(&self.state.registry, agent.since, recipients as u64, limit) {
            return Ok(());
        }
        let message = format!(
            "{} messages are unread in all mailboxes, and the family of {:?} has its share of the {limit} there may be",
            unread.total(),
            agent.id
        );
        Err(Rejection::because(Code::MailboxFull, message))
    }

    /// Nobody fills the desks of those who look at what is held.
    fn has_room_to_wait(&self, sender: Speaker<'_>, reasons: &[Reason]) -> Result<(), Rejection> {
        let Some(agent) = sender.agent().filter(|_| !reasons.is_empty()) else { return Ok(()) };
        let most = self.policy.shares.held.min(self.policy.mailbox_limit);
        if self.state.rules.holds.queued_of(agent.since) < most {
            return check_family(self.state, self.policy, &agent.id, Resource::HeldMessages);
        }
        let message = format!("{most} messages of {:?} wait for somebody's word already, and so would this", agent.id);
        Err(Rejection::because(Code::RateLimited, message))
    }

    fn addressed(&self, name: &str) -> Result<String, Rejection> {
        if PRINCIPALS.contains(&name) {
            return Ok(name.to_owned());
        }
        let agent = self.state.registry.resolve(name);
        let agent = agent.map(|agent| agent.id.clone());
        agent.ok_or_else(|| Rejection::because(Code::UnknownRecipient, "the recipient is not registered here"))
    }
}

/// Where a message goes, and where there was no room for it.
#[derive(Default)]
struct Routes {
    to: Vec<String>,
    missed: Vec<String>,
}

impl Routes {
    /// The same for what goes later, when there may be room.
    fn waiting(mut self) -> Routes {
        self.to.append(&mut self.missed);
        self
    }
}

/// A principal speaks through a person whose role it is.
fn principal<'d>(name: &'static str, proof: &'d Proof) -> Result<Speaker<'d>, Rejection> {
    match proof {
        Proof::Bearer(person @ Who::Person { role, .. }) if role.speaks_as(name) => {
            Ok(Speaker::Principal { name, person })
        }
        Proof::Bearer(Who::Nobody) => {
            Err(Rejection::because(Code::Unauthenticated, "a person speaks here: their token is missing"))
        }
        Proof::Bearer(_) | Proof::Signature(_) | Proof::InProcess => {
            Err(Rejection::because(Code::ReservedId, format!("only a person with that role speaks as {name}")))
        }
    }
}

const fn name_of(proof: &Proof) -> &'static str {
    match proof {
        Proof::Signature(_) => "signature",
        Proof::Bearer(_) => "token",
        Proof::InProcess => "in process",
    }
}

/// Who keeps the key that a message is signed with.
fn custody_of(sender: Speaker<'_>, proof: &Proof) -> Custody {
    match proof {
        Proof::Signature(key) => {
            sender.agent().and_then(|agent| agent.key(key)).map(|key| key.custody).unwrap_or_default()
        }
        Proof::Bearer(_) | Proof::InProcess => Custody::Own,
    }
}

/// Whether this is an emergency that begins: one that is acknowledged or passed on does not.
fn raises_emergency(change: &Change) -> bool {
    let Change::Vcp(vcp::Change::Alarm(AlarmChange::Raised { severity, .. })) = change else { return false };
    *severity == Severity::Emergency
}
