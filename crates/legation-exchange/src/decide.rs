//! What should happen: pure, serial, one file a question. Every answer is a verdict and the entries
//! that make it so.

mod acknowledge;
mod answer;
mod call;
mod dead_letters;
mod erase;
mod freshness;
mod input;
mod key_binding;
mod keys;
mod message;
mod misunderstood;
mod names;
mod order;
mod people;
mod push;
mod quota;
mod register;
mod remove;
mod rotate;
mod upkeep;

use crate::clocks::Clocks;
use crate::effect::{Effect, Entry, Refused, TallyBatch};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{self, Ruling, acl, cap, vcp, vlp};
use crate::state::{State, remembered_as};
use crate::who::Who;
use legation_protocol::{Message, Rejection};

pub use answer::{AnswerDetails, AnswerFinding, AnswerHold, AnswerReason};
pub use call::{Answer, Call};
pub use erase::{ERASED_AT_ONCE, Erasure};
pub use freshness::{IdSearch, IdSearched, id_search};
pub use input::{Below, Decision, Directive, Earlier, Input, KeyChange, Proof, SpareId, Verdict, Verified};
pub use keys::key_statement;
pub use misunderstood::Misunderstood;
pub(crate) use names::alike;
pub use upkeep::Restore;

/// Decides what comes of an input. `earlier` are the messages at the positions that
/// [`earlier_than`] named. One time alone is that of both clocks.
pub fn decide(
    state: &State,
    policy: &Policy,
    input: Input,
    earlier: &[Earlier],
    clocks: impl Into<Clocks>,
) -> Decision {
    // The record's clock never goes back, whatever the machine's does.
    let Clocks { record: now, machine } = clocks.into().not_before(state.now);
    let desk = Desk { state, policy, earlier, now, machine };
    let asked = Desk::asked(&input);
    let decided = match input {
        Input::Message(verified) => return desk.take(*verified),
        Input::Misunderstood(misunderstood) => Ok(desk.misunderstood(*misunderstood)),
        Input::Register { id, registration, who, token } => desk.register(id, *registration, &who, token),
        Input::Remove { id, who } => desk.remove(id, Below::Keep, &who),
        Input::RemoveWith { id, below, who } => desk.remove(id, below, &who),
        Input::Key { agent, change, who } => desk.change_key(agent, *change, &who),
        Input::Grant { name, role, who, token } => desk.grant(name, role, &who, token),
        Input::Withdraw { name, who } => desk.withdraw(name, &who),
        Input::Rotate { key, who } => desk.rotate(key, &who),
        Input::Confirm(token) => Ok(desk.confirm(token)),
        Input::Acknowledge { agent, up_to, positions, who } => desk.acknowledge(agent, up_to, positions, &who),
        Input::Pushed(pushed) => Ok(desk.pushed(pushed)),
        Input::Resend { agent, positions, who } => desk.resend(agent, &positions, &who),
        Input::Purge { agent, up_to, who } => desk.purge(agent, up_to, &who),
        Input::Erase { erasure, who } => desk.erase(*erasure, &who),
        Input::Clear { up_to } => Ok(desk.cleared(up_to)),
        Input::Drop { before, kept } => Ok(desk.dropped(before, kept)),
        Input::Restore(restore) => Ok(desk.restore(*restore)),
        Input::Order { order, who } => desk.order(&order, &who),
        Input::Call { call, who } => desk.call(*call, &who),
        Input::Answer(answer) => desk.answer(*answer),
        Input::Refusal(refused) => Ok(desk.noted(Effect::Refused(refused))),
        Input::Tally(TallyBatch { refusals, batch, since }) => {
            Ok(desk.noted(Effect::Tallied { refusals, batch, since }))
        }
    };
    decided.unwrap_or_else(|why| desk.refused(asked, why))
}

/// Where messages lie that a decision about this input must know.
pub fn earlier_than(state: &State, input: &Input) -> Vec<u64> {
    if let Input::Order { .. } = input {
        return asked_in(state, input).into_iter().collect();
    }
    let Input::Message(verified) = input else { return Vec::new() };
    let message = verified.received.message();
    let mut earlier = match (message.id(), &verified.spare_id) {
        (Some(id), _) => {
            let id = remembered_as(message.dialect(), &id, message.thread());
            state.earlier(message.sender(), &id)
        }
        (None, SpareId::Keyed(id)) => state.earlier(message.sender(), id),
        (None, SpareId::Fresh(_)) => Vec::new(),
    };
    if let Message::Vlp(message) = message {
        earlier.extend(vlp::named_by(state, message));
    }
    if let Message::Acl(message) = message {
        earlier.extend(acl::puzzling(state, message));
    }
    earlier.extend(vcp::repeatable(state, message));
    earlier
}

/// Whether a decision about this input needs the bytes of what [`earlier_than`] names.
pub fn needs_words(input: &Input) -> bool {
    match input {
        Input::Order { order, .. } => matches!(**order, Directive::Cap(_)),
        Input::Message(verified) => vcp::own_emergency(verified.received.message()).is_some(),
        _ => false,
    }
}

/// Where the message lies that asked for what is to be done again.
fn asked_in(state: &State, input: &Input) -> Option<u64> {
    let Input::Order { order, .. } = input else { return None };
    let Directive::Cap(order) = &**order else { return None };
    cap::words_of_order(state, order)
}

/// Where a message lies that is quoted in what falls due first.
pub fn quoted_by(state: &State, now: Moment) -> Option<u64> {
    vcp::quotes(state, now.max(state.now))
}

/// How many of a mailbox's messages expire by one entry. The rest are due again at once.
const EXPIRED: usize = 100_000;

/// What has fallen due first: messages that waited too long, or a deadline of the rules. Ask again once this
/// is applied, until nothing is due. `quoted` is the message at the position that [`quoted_by`] named.
pub fn tick(state: &State, policy: &Policy, now: Moment, quoted: Option<&[u8]>) -> Vec<Entry> {
    let now = now.max(state.now);
    let due = state.mailboxes.expiring(now);
    let died = due.filter_map(|(agent, mailbox)| {
        let expired: Vec<_> = mailbox.expired(now).take(EXPIRED).collect();
        let tasks = cap::undelivered_tasks(state, agent, expired.iter().copied());
        let positions: Vec<_> = expired.iter().map(|item| item.position).collect();
        let why = crate::dead::Why::Expired;
        (!positions.is_empty()).then(|| Effect::Died { agent: agent.to_owned(), positions, why, tasks })
    });
    let died = (state.next..).zip(died).map(|(position, effect)| Entry { position, at: now, effect, body: None });
    let died: Vec<_> = died.collect();
    if !died.is_empty() {
        return died;
    }
    // No deadline asks for the machine's time.
    let desk = Desk { state, policy, earlier: &[], now, machine: now };
    rules::due(state, policy, now, quoted).map(|ruling| desk.follow(ruling, "the exchange")).unwrap_or_default()
}

/// Where decisions are made: everything they may look at.
struct Desk<'s> {
    state: &'s State,
    policy: &'s Policy,
    earlier: &'s [Earlier],
    /// The record's time.
    now: Moment,
    /// The machine's time.
    machine: Moment,
}

/// Who asked what, for the record of a refusal.
struct Asked {
    by: String,
    digest: Option<String>,
    judged: Option<cap::Judged>,
    id: Option<String>,
    /// Whose mild escalation is cut.
    cut: Option<String>,
}

type Decided = Result<Decision, Rejection>;

impl Desk<'_> {
    fn clocks(&self) -> Clocks {
        Clocks { record: self.now, machine: self.machine }
    }

    /// Nothing if nobody proved to be somebody, or a message is brought: who sends it is worked out only if it is
    /// refused, and most are not.
    fn asked(input: &Input) -> Option<Asked> {
        let mut judged = None;
        let who = match input {
            Input::Order { order, who } => {
                judged = order.judged().cloned();
                who
            }
            Input::Register { who, .. }
            | Input::Remove { who, .. }
            | Input::RemoveWith { who, .. }
            | Input::Key { who, .. }
            | Input::Grant { who, .. }
            | Input::Withdraw { who, .. }
            | Input::Rotate { who, .. }
            | Input::Acknowledge { who, .. }
            | Input::Resend { who, .. }
            | Input::Purge { who, .. }
            | Input::Erase { who, .. }
            | Input::Call { who, .. } => who,
            Input::Message(_)
            | Input::Confirm(_)
            | Input::Misunderstood(_)
            | Input::Pushed(_)
            | Input::Refusal(_)
            | Input::Tally(_)
            | Input::Clear { .. }
            | Input::Drop { .. }
            | Input::Restore(_)
            | Input::Answer(_) => return None,
        };
        (*who != Who::Nobody).then(|| Asked { by: who.to_string(), digest: None, id: None, cut: None, judged })
    }

    /// A stranger's refusals are counted elsewhere: they are no reason to let the record grow.
    fn refused(&self, asked: Option<Asked>, rejection: Rejection) -> Decision {
        let digest = asked.as_ref().and_then(|asked| asked.digest.clone());
        let refused = asked.map(|Asked { by, digest, id, cut, judged }| {
            let refused = Refused::of(by, &rejection);
            Refused { digest, judged, id, cut, ..refused }
        });
        let entries = refused.map(|refused| self.entry(Effect::Refused(refused), None)).into_iter().collect();
        let rejection = match digest {
            Some(digest) => rejection.about(digest),
            None => rejection,
        };
        Decision { verdict: Verdict::Refused(rejection), entries }
    }

    fn entry(&self, effect: Effect, body: Option<Box<[u8]>>) -> Entry {
        Entry { position: self.state.next, at: self.now, effect, body }
    }

    fn accepted(&self, id: String, new: bool, effect: Effect, body: Option<Box<[u8]>>) -> Decision {
        let entry = self.entry(effect, body);
        let verdict = Verdict::Accepted { position: entry.position, id, new, details: None };
        Decision { verdict, entries: vec![entry] }
    }

    fn noted(&self, effect: Effect) -> Decision {
        self.accepted(String::new(), false, effect, None)
    }

    /// Several entries for one answer.
    fn all(&self, id: String, effects: Vec<Effect>) -> Decision {
        let position = self.state.next;
        let entries = (position..).zip(effects);
        let entries = entries.map(|(position, effect)| Entry { position, at: self.now, effect, body: None });
        Decision { verdict: Verdict::Accepted { position, id, new: false, details: None }, entries: entries.collect() }
    }
}
