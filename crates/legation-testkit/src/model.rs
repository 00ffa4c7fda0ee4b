//! What must be so by the rules, found out from what was said and ordered, and from the record: who may speak, what
//! waits, who holds which task with which tools, and when each clock runs out. It asks nothing of the rules
//! themselves; after each step the exchange must be where this is.

mod alarms;
mod calls;
mod counts;
mod halts;
mod held;
mod holds;
mod mail;
mod order;
mod table;
mod talks;
mod tasks;

pub use counts::Counts;

use crate::asked::Asked;
use crate::letter::{Letter, Says, To};
use legation_exchange::rules::{Change, vcp, vlp};
use legation_exchange::{Accepted, Agent, Effect, Moment, Policy, State};
use legation_protocol::Format;
use order::By;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type Check = Result<(), String>;

pub(crate) fn ensure(holds: bool, what: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(what()) }
}

/// A registered agent.
#[derive(Clone, Debug, Default)]
struct Member {
    since: u64,
    parent: Option<String>,
    /// Whom it may hand tasks to, with which tools, and whether somebody reviews its work.
    allowed: BTreeSet<String>,
    tools: BTreeSet<String>,
    overseen: bool,
}

/// Everything that must be so.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    policy: Policy,
    next: u64,
    now: Moment,
    members: BTreeMap<String, Member>,
    mail: mail::Mail,
    holds: BTreeMap<u64, holds::Held>,
    /// What overseers were shown: the work and the overseer, by the message of the exchange that shows it.
    shows: BTreeMap<u64, (u64, String)>,
    /// The same, as far as it was put into their mailboxes.
    shown: BTreeSet<(u64, String)>,
    /// Messages that were held when they came and are not released, with the time since which their sender is registered.
    hidden: BTreeMap<u64, Option<u64>>,
    /// Open tasks whose delegation reached nobody, and since when: they fail as soon as time passes.
    undelivered: BTreeMap<u64, Moment>,
    /// Entries that rejected a held message, and since when its sender is registered, until the sender is told.
    rejections: BTreeSet<(u64, u64)>,
    /// Who approved what last.
    approved: BTreeMap<u64, String>,
    /// Messages that were held and do not go on.
    ended: BTreeSet<u64>,
    alarms: BTreeMap<u64, alarms::Alarm>,
    stopped: BTreeMap<String, vcp::StopScope>,
    tasks: BTreeMap<u64, tasks::Task>,
    /// Results that wait, and their tasks.
    results: BTreeMap<u64, (u64, bool)>,
    talks: BTreeMap<u64, talks::Talk>,
    calls: calls::Calls,
    /// Those that are halted.
    sessions: BTreeSet<String>,
    talk: halts::Talk,
    /// What held messages change once they go on, and by which letter.
    later: BTreeMap<u64, (Option<usize>, Vec<Change>)>,
    /// What reached nobody, and to whom it goes up.
    climbs: BTreeSet<(u64, String)>,
    /// The signed messages there are, by digest.
    signed: BTreeSet<String>,
    /// The machine's time at the last message.
    machine: Moment,
    pub(crate) counts: Counts,
}

impl Model {
    pub(crate) fn new(policy: &Policy) -> Model {
        Model {
            policy: policy.clone(),
            next: 0,
            now: Moment::default(),
            members: BTreeMap::new(),
            mail: mail::Mail::default(),
            holds: BTreeMap::new(),
            shows: BTreeMap::new(),
            shown: BTreeSet::new(),
            hidden: BTreeMap::new(),
            undelivered: BTreeMap::new(),
            rejections: BTreeSet::new(),
            approved: BTreeMap::new(),
            ended: BTreeSet::new(),
            alarms: BTreeMap::new(),
            stopped: BTreeMap::new(),
            tasks: BTreeMap::new(),
            results: BTreeMap::new(),
            talks: BTreeMap::new(),
            calls: calls::Calls::default(),
            sessions: BTreeSet::new(),
            talk: halts::Talk::default(),
            later: BTreeMap::new(),
            climbs: BTreeSet::new(),
            signed: BTreeSet::new(),
            machine: Moment::default(),
            counts: Counts::default(),
        }
    }

    /// The position it has come to.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Takes in one entry of the record, unless it should not be there.
    pub(crate) fn step(&mut self, asked: &Asked, position: u64, at: Moment, effect: &Effect) -> Check {
        (self.now, self.next) = (at, position + 1);
        let before = self.suspended();
        match effect {
            Effect::Accepted(accepted) => {
                self.accept(asked, position, accepted, &before)?;
                self.note_shown(position, accepted);
            }
            Effect::Changed { changes, by } => {
                let by = By::of(by);
                self.may_order(position, &by)?;
                self.changes(asked, position, changes, &by)?;
            }
            Effect::Registered { agent, .. } => self.register(agent),
            Effect::Removed { agent, .. } => self.remove(position, agent),
            Effect::Released(released) => {
                self.release(position, released)?;
                self.come_to_pass(asked, released.message)?;
            }
            Effect::Resent(resent) => self.resend(position, resent)?,
            Effect::Acked(read) => {
                self.took_back(&read.agent, read.up_to, &read.positions);
                self.mail.acked(read);
            }
            Effect::Pushed(pushed) => {
                let delivered: Vec<_> = pushed.delivered.iter().map(|tried| tried.position).collect();
                self.took_back(&pushed.agent, None, &delivered);
                self.mail.pushed(position, pushed)?;
            }
            Effect::Died { agent, positions, tasks, .. } => {
                self.lose_delegations(tasks);
                self.bury(position, agent, positions)?;
            }
            Effect::Erased(erased) => {
                self.lose_delegations(&erased.tasks);
                self.erase(erased);
            }
            Effect::Called(called) => self.called(asked, position, called, &before)?,
            Effect::Answered(answered) => self.call_ended(asked, position, answered)?,
            Effect::Refused(_) | Effect::Cleared { .. } => {}
            Effect::Tallied { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Dropped { .. }
            | Effect::Rotated { .. }
            | Effect::Copied { .. } => return Err(format!("nobody asked for what is at {position}")),
        }
        if !matches!(effect, Effect::Accepted(_)) {
            self.turn(&before);
        }
        Ok(())
    }

    fn accept(&mut self, asked: &Asked, position: u64, accepted: &Accepted, before: &BTreeSet<String>) -> Check {
        if accepted.proof == "exchange" {
            let because = accepted.ruled.because.is_some_and(|because| because < position);
            ensure(because, || format!("the exchange spoke for no reason at {position}"))?;
            self.said(position, accepted)?;
            self.changes_nothing_else(position, None, accepted)?;
            self.changes(asked, position, &accepted.ruled.changes, &By::Exchange)?;
            self.turn(before);
            self.say_for(position, accepted);
            return self.route(position, accepted, None);
        }
        let number = asked.by_digest.get(&accepted.digest).copied();
        let letter = asked.letter(number.ok_or_else(|| format!("nobody wrote what is at {position}"))?)?;
        let is_new = accepted.dialect != Format::Vcp || self.signed.insert(accepted.digest.clone());
        ensure(is_new, || format!("a signed message was accepted again at {position}"))?;
        self.machine = accepted.machine.unwrap_or(self.now);
        self.may_speak(position, letter, before)?;
        self.goes_where_it_should(position, letter, accepted)?;
        self.changes_nothing_else(position, Some(letter), accepted)?;
        self.hear(position, letter, &accepted.ruled.changes)?;
        self.changes(asked, position, &accepted.ruled.changes, &By::Letter(letter))?;
        self.speak(position, letter);
        // An emergency freezes what its sender said before, not itself.
        self.turn(before);
        self.must_wait(position, letter, accepted)?;
        self.route(position, accepted, Some(letter))
    }

    /// No output from whoever is suspended, and only what finishes something from whoever is paused.
    fn may_speak(&self, position: u64, letter: &Letter, suspended: &BTreeSet<String>) -> Check {
        let (sender, message) = (letter.sender, letter.received.message());
        ensure(!suspended.contains(sender), || format!("{sender} is suspended, and was heard at {position}"))?;
        let finishes = letter.to != To::Peers && table::finishes(message.dialect(), message.kind());
        let paused = self.is_paused(sender);
        ensure(!paused || finishes, || format!("{sender} is paused, and began something at {position}"))
    }

    fn goes_where_it_should(&mut self, position: u64, letter: &Letter, accepted: &Accepted) -> Check {
        if accepted.ruled.findings.iter().any(|found| found.code == "translated") {
            self.counts.translated += 1;
            return ensure(accepted.to.is_empty(), || format!("{position} went as it is, and translated"));
        }
        match letter.to {
            To::One(one) => ensure(accepted.to == [one], || format!("{position} went to {:?}", accepted.to)),
            To::Exchange => ensure(accepted.to.is_empty(), || format!("{position} went to {:?}", accepted.to)),
            To::Peers | To::Session => {
                ensure(!accepted.to.iter().any(|to| to == letter.sender), || format!("{position} came back"))
            }
        }
    }

    /// What a letter does by what it says, whatever the record makes of it.
    fn hear(&mut self, position: u64, letter: &Letter, changes: &[Change]) -> Check {
        match &letter.says {
            Says::Alarm { severity, wants_ack } => self.alarm(position, letter, (*severity, *wants_ack), changes),
            Says::Resumes { of } => self.resume(position, letter, of),
            Says::Delegates { tools, deadline } => self.delegate(position, letter, tools.as_ref(), *deadline, changes),
            Says::Shows { tool } => self.show(position, letter, tool),
            Says::Final => self.may_finish(position, letter),
            Says::Blocks => self.block(position, letter, changes),
            Says::Claims { .. } => self.may_go_on(position, letter),
            Says::Ack
            | Says::Constrains
            | Says::Decides { .. }
            | Says::Fails
            | Says::Requests
            | Says::Answers { .. }
            | Says::Plain => Ok(()),
        }
    }

    fn changes(&mut self, asked: &Asked, position: u64, changes: &[Change], by: &By<'_>) -> Check {
        for change in changes {
            match change {
                Change::Hold(change) => self.hold_change(asked, position, change, changes, by)?,
                Change::Vcp(vcp::Change::Alarm(change)) => self.alarm_change(asked, position, change, by)?,
                Change::Vcp(vcp::Change::Standing(change)) => self.standing_change(asked, position, change, by)?,
                Change::Vcp(vcp::Change::LetterClimbed(climbing)) => self.climb(position, climbing)?,
                Change::Cap(change) => self.task_change(asked, position, change, by)?,
                Change::Acl(change) => self.talk_change(position, change, by)?,
                Change::Vlp(vlp::Change::Released { session, .. }) => {
                    by.asked(asked, &format!("release {session}"), position)?;
                    self.sessions.remove(session);
                }
                // Nobody here asks for these, and the exchange makes none by itself.
                Change::Extension(_) | Change::Identity(_) => {
                    return Err(format!("{position} changes an extension or identities, and nobody asked"));
                }
                Change::Vcp(_) | Change::Vlp(_) | Change::Translated(_) | Change::BrokenOff { .. } => {}
            }
        }
        Ok(())
    }

    fn register(&mut self, agent: &Agent) {
        let list = |at: &str| {
            let found = agent.manifest.as_ref().and_then(|manifest| manifest.pointer(at)).and_then(Value::as_array);
            found.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<BTreeSet<_>>()
        };
        let (allowed, tools) = (list("/allowed_agents"), list("/mcp_bindings/0/allowed_tools"));
        let overseen =
            agent.manifest.as_ref().is_some_and(|manifest| manifest.get("overseer").is_some_and(Value::is_string));
        self.rebind(&agent.id, &tools);
        let member = Member { since: agent.since, parent: agent.parent.clone(), allowed, tools, overseen };
        self.members.insert(agent.id.clone(), member);
        self.mail.open(&agent.id);
    }

    fn remove(&mut self, position: u64, agent: &str) {
        let Some(gone) = self.members.remove(agent) else { return };
        for child in self.members.values_mut().filter(|child| child.parent.as_deref() == Some(agent)) {
            child.parent.clone_from(&gone.parent);
        }
        self.mail.close(agent);
        self.forget_holds(agent, gone.since);
        self.alarms.retain(|_, alarm| alarm.from != agent);
        self.stopped.remove(agent);
        self.lose_parties(position, agent);
    }

    /// Everybody above an agent, the nearest first.
    fn line<'m>(&'m self, agent: &str) -> impl Iterator<Item = &'m String> + use<'m> {
        let above = |agent: &str| self.members.get(agent).and_then(|member| member.parent.as_ref());
        std::iter::successors(above(agent), move |next| above(next))
    }

    /// Whether the exchange is where it must be: what waits for whom, what is held, who is stopped, who may use
    /// what.
    pub(crate) fn agrees(&self, state: &State) -> Check {
        let there: Vec<_> = state.registry().agents().map(|agent| &agent.id).collect();
        ensure(there.iter().copied().eq(self.members.keys()), || format!("registered are {there:?}"))?;
        self.mail.agrees(state)?;
        self.calls_agree(state)?;
        let held: Vec<_> = state.rules().holds.iter().map(|(message, _)| message).collect();
        let own: Vec<_> = self.holds.keys().copied().collect();
        ensure(held == own, || format!("{held:?} are held, and {own:?} should be"))?;
        self.nothing_else_waits(state)?;
        self.standings_agree(state)?;
        self.rights_agree(state)
    }

    /// Whether a clock that has run out did nothing.
    pub(crate) fn nothing_is_late(&self, now: Moment) -> Check {
        let late = |what: &str, which: u64, at: Option<Moment>| {
            ensure(at.is_none_or(|at| at > now), || format!("the {what} of {which} did not fire at {at:?}"))
        };
        self.alarms.iter().try_for_each(|(position, alarm)| late("alarm", *position, alarm.due))?;
        self.holds.iter().try_for_each(|(position, held)| late("review", *position, held.until))?;
        self.talks.iter().try_for_each(|(position, talk)| late("conversation", *position, talk.due))?;
        self.undelivered.iter().try_for_each(|(task, since)| {
            ensure(*since >= now, || format!("the task of {task} did not fail, and nobody got it since {since:?}"))
        })?;
        self.tasks.iter().try_for_each(|(position, task)| late("task", *position, task.open.then_some(task.deadline)))
    }
}
