//! What happens to conversations by itself: the directory answers, an estimate passes, or nobody is left to
//! answer, which the exchange tells whoever asked, once.

use super::machine::{Stage, Step};
use super::talk::{Change, Due, Loss, Moved, Talk, What};
use super::words;
use crate::agent::Agent;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{Ruling, scan, translate};
use crate::state::State;
use legation_protocol::Format;

pub(crate) fn due(state: &State, policy: &Policy, now: Moment) -> Option<Ruling> {
    let (position, talk, what) = state.rules.acl.first_due(now)?;
    let late = Late { state, policy, now, position, talk };
    let mut ruling = Ruling::default();
    match what {
        What::Directory => late.answer_for(&mut ruling),
        What::Overdue => late.run_late(&mut ruling),
        What::Idle => late.give_up("abandoned", "nothing was heard of it for too long", &mut ruling),
        What::Lost(Loss::RequesterRemoved) => late.go(Step::GiveUp, Some(Loss::RequesterRemoved.as_str()), &mut ruling),
        What::Lost(loss) => late.give_up(loss.as_str(), loss.says(), &mut ruling),
    }
    if matches!(what, What::Idle | What::Lost(_)) {
        translate::call_off(state, policy, position, &mut ruling);
    }
    if let Some(session) = translate::halted(state, position) {
        ruling.wait_from(0, session);
    }
    Some(ruling)
}

/// Nothing comes of what this entry asked, as the exchange knows.
pub(crate) fn breaks_off(
    state: &State,
    policy: &Policy,
    now: Moment,
    position: u64,
    code: &str,
    text: &str,
    ruling: &mut Ruling,
) {
    if let Some(talk) = state.rules.acl.get(position).filter(|talk| talk.stage.is_open()) {
        Late { state, policy, now, position, talk }.give_up(code, text, ruling);
    }
}

/// The answer of an agent in this entry, which ended a conversation, never comes.
pub(crate) fn answer_lost(state: &State, agent: &Agent, message: u64, ruling: &mut Ruling) {
    let own = state.rules.acl.after(Some(&agent.id), None);
    let ended = own.filter(|(_, talk)| talk.moved_in == message && talk.opening.requester != agent.id);
    ended.for_each(|(position, _)| was_unheard(state, position, ruling));
}

/// Whoever asked this has not heard how it ended, and never will. What goes on tells of a loss itself.
pub(crate) fn was_unheard(state: &State, position: u64, ruling: &mut Ruling) {
    let Some(talk) = state.rules.acl.get(position).filter(|talk| !talk.stage.is_open()) else { return };
    let Some(requester) = state.registry.agent(&talk.opening.requester) else { return };
    if requester.since < position {
        let failure = words::failure(Loss::Removed.as_str(), Loss::UNHEARD.to_owned());
        ruling.reply(requester, &talk.opening.id, failure);
    }
}

/// A conversation for which something is due.
struct Late<'s> {
    state: &'s State,
    policy: &'s Policy,
    now: Moment,
    position: u64,
    talk: &'s Talk,
}

impl Late<'_> {
    fn answer_for(&self, ruling: &mut Ruling) {
        let registry = &self.state.registry;
        let agent = self.talk.awaited().next().and_then(|agent| registry.agent(agent));
        let (Some(agent), Some(asked)) = (agent, &self.talk.opening.asked) else { return self.wait(ruling) };
        // Nobody is answered for a question that was never asked of them.
        if self.state.rules.holds.never_went(self.position) {
            return self.wait(ruling);
        }
        let Some(capabilities) = &agent.capabilities else { return self.wait(ruling) };
        if let Some(requester) = registry.agent(&self.talk.opening.requester) {
            let id = &self.talk.opening.id;
            if let Some(answer) = asked.answer_for(capabilities) {
                ruling.reply(requester, id, words::for_agent(agent, answer));
                let own = agent.scanned.iter().filter(|found| found.at.starts_with("/capabilities"));
                ruling.mark_last(scan::quoted(own));
            } else {
                let text = "the agent told the directory of no such action".to_owned();
                ruling.reply(requester, id, words::failure("unknown_action", text));
            }
        }
        self.go(Step::AnswerFor, None, ruling);
    }

    fn run_late(&self, ruling: &mut Ruling) {
        let requester = self.state.registry.agent(&self.talk.opening.requester);
        if let (Some(requester), Some(accept)) = (requester, &self.talk.answer) {
            ruling.reply(requester, accept, words::late(&self.talk.opening.id));
        }
        self.go(Step::RunLate, None, ruling);
    }

    fn give_up(&self, code: &str, text: &str, ruling: &mut Ruling) {
        let requester = self.state.registry.agent(&self.talk.opening.requester);
        // Whoever speaks the language was told of the rejection of its request, and of the reason, by a FAILURE in reply
        // to it. The rejection of a translated answer has told its author alone.
        let request_rejected = code == Loss::Refused.as_str() && self.state.rules.holds.never_went(self.position);
        let was_told =
            |agent: &&Agent| request_rejected && (agent.dialects.is_empty() || agent.dialects.contains(&Format::Acl));
        if let Some(requester) = requester.filter(|requester| !was_told(requester)) {
            ruling.reply(requester, &self.talk.opening.id, words::failure(code, text.to_owned()));
        }
        self.go(Step::GiveUp, Some(code), ruling);
    }

    fn go(&self, step: Step, outcome: Option<&str>, ruling: &mut Ruling) {
        let Some(to) = self.talk.stage.after(self.talk.opening.act, step) else { return self.wait(ruling) };
        let moved = Moved {
            talk: self.position,
            to,
            by: None,
            answer: if to == Stage::Overdue { self.talk.answer.clone() } else { None },
            outcome: outcome.map(str::to_owned),
            estimate: None,
            due: to.is_open().then(|| self.idle()),
            until: (!to.is_open()).then(|| self.now.plus(self.policy.talks.remembered)),
        };
        ruling.change(Change::Moved(Box::new(moved)).into());
    }

    fn wait(&self, ruling: &mut Ruling) {
        ruling.change(Change::Waits { talk: self.position, due: self.idle() }.into());
    }

    fn idle(&self) -> Due {
        Due { at: self.now.plus(self.policy.talks.idle), what: What::Idle }
    }
}
