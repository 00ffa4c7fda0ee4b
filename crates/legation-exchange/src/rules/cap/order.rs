//! What is done about a task that failed, or takes too long (Observability): it is handed over again, handed to
//! somebody else, or taken to somebody with more rights. Never by itself.

use super::change::{Change, Escalation};
use super::delegate::{latest, may_hand_to, no_cycle};
use super::judge::{Opinion, Question, may_pass};
use super::task::{Stage, Task};
use super::words;
use crate::decide::Earlier;
use crate::effect::Accepted;
use crate::erased::covers;
use crate::mailbox::NOBODY;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{Again, Ruling, translate, vcp, vlp};
use crate::state::State;
use crate::who::{PRINCIPALS, Role, Who};
use legation_protocol::cap::ErrorCode;
use legation_protocol::{Code, Format, Rejection};

/// How often a task is handed over.
const MOST_TRIES: u32 = 32;

/// What is asked about a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The task, by its number.
    pub task: u64,
    /// What to do.
    pub step: Step,
    /// What a judge said of it, if one was asked.
    pub opinion: Option<Opinion>,
}

/// What to do about a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Hand it to its assignee again.
    Retry,
    /// Hand it to somebody else, by any name.
    Reassign(String),
    /// Take it to somebody with more rights.
    Escalate,
}

pub(crate) fn order(
    state: &State,
    policy: &Policy,
    now: Moment,
    (order, earlier): (&Order, &[Earlier]),
    who: &Who,
) -> Result<Ruling, Rejection> {
    let task = state.rules.cap.task(order.task).filter(|task| may_see(state, who, order.task, task));
    let task = task.ok_or_else(|| Rejection::because(Code::UnknownTask, "there is no such task"))?;
    may_order(task, who)?;
    let words = earlier.iter().find(|one| one.position == task.notice);
    let again = Handing { state, policy, now, number: order.task, task, words, who };
    match &order.step {
        Step::Retry => again.retry(),
        Step::Reassign(to) => again.reassign(to, order.opinion.as_ref()),
        Step::Escalate => Ok(escalate(state, order.task, task, who)),
    }
}

/// Where the message lies whose words are needed to hand a task over again.
pub(crate) fn words_of_order(state: &State, order: &Order) -> Option<u64> {
    match order.step {
        Step::Retry | Step::Reassign(_) => state.rules.cap.task(order.task).map(|task| task.notice),
        Step::Escalate => None,
    }
}

/// Whether somebody may see a task: its parties, those above it, and those who see everything.
pub(super) fn may_see(state: &State, who: &Who, number: u64, task: &Task) -> bool {
    match who {
        Who::Person { role, .. } => match role {
            Role::Operator | Role::Auditor | Role::Orchestrator => true,
            Role::Reviewer => is_party(state, "user", number, task),
        },
        Who::Agent(id) => {
            let since = state.registry.agent(id).map_or(u64::MAX, |agent| agent.since);
            since <= task.handed && is_party(state, id, number, task)
        }
        Who::Nobody => false,
    }
}

fn is_party(state: &State, id: &str, number: u64, task: &Task) -> bool {
    let kept = &state.rules.cap;
    let in_line = kept.line(number).any(|(_, task)| task.delegator == id || (task.assignee == id && !task.waits));
    let overseer = || kept.overseer_in(&state.registry, task).and_then(|name| state.registry.referent(&name));
    in_line || overseer().is_some_and(|overseer| overseer.id == id)
}

/// Whoever handed a task over, the orchestrator and operators say what becomes of it.
fn may_order(task: &Task, who: &Who) -> Result<(), Rejection> {
    let may = match who {
        Who::Person { role, .. } => {
            matches!(role, Role::Operator | Role::Orchestrator) || role.speaks_as(&task.delegator)
        }
        Who::Agent(id) => *id == task.delegator,
        Who::Nobody => false,
    };
    if may {
        return Ok(());
    }
    let text =
        format!("{:?} handed {} over: that agent, the orchestrator or an operator decides", task.delegator, task.id);
    Err(Rejection::because(Code::NotAParty, text).by("CAP Observability"))
}

/// Whether there is an agent or a principal with this id.
pub(super) fn is_here(state: &State, id: &str) -> bool {
    PRINCIPALS.contains(&id) || state.registry.agent(id).is_some()
}

/// Whether whoever had this id when a task was opened is here. Another may have it since.
pub(super) fn is_still_here(state: &State, id: &str, number: u64) -> bool {
    PRINCIPALS.contains(&id) || state.registry.agent(id).is_some_and(|agent| agent.since < number)
}

/// A task that is to be handed over again.
struct Handing<'s> {
    state: &'s State,
    policy: &'s Policy,
    now: Moment,
    number: u64,
    task: &'s Task,
    /// The message that asked for it.
    words: Option<&'s Earlier>,
    who: &'s Who,
}

impl Handing<'_> {
    /// Whether it can be.
    fn can_go_on(&self) -> Result<(), Rejection> {
        let Handing { state, policy, number, task, .. } = *self;
        let refuse = |text: String| Err(Rejection::because(Code::TaskState, text).by("CAP Observability"));
        let kept = &state.rules.cap;
        let above = task.parent.and_then(|parent| kept.task(parent));
        // Of one key only the newest counts: whoever worked on an older one could not even finish it.
        let is_awaited = policy.is_exchange(&task.delegator) || is_still_here(state, &task.delegator, number);
        let is_newest = kept.keyed(&task.opener, &task.id).is_none_or(|(newest, _)| newest == number);
        match task.stage {
            _ if !is_awaited => {
                refuse(format!("{:?}, who wanted {} done, is not registered any more", task.delegator, task.id))
            }
            _ if !is_newest => refuse(format!("there is a newer task {} of {:?}", task.id, task.opener)),
            _ if task.waits => {
                refuse(format!("the delegation of {} is held, or was refused: nobody has got it", task.id))
            }
            _ if task.is_in_review() && self.who.is_operator() => {
                refuse(format!("the result of {} waits for a review", task.id))
            }
            _ if task.tries >= MOST_TRIES => {
                refuse(format!("{} was handed over {} times: hand over another", task.id, task.tries))
            }
            Stage::Done | Stage::Closed => refuse(format!("{} is {}", task.id, task.stage.as_str())),
            Stage::Open | Stage::Failed | Stage::Expired => match above.filter(|above| !above.is_open()) {
                Some(above) => refuse(format!("{}, which it is a part of, is {}", above.id, above.state())),
                None if self.who.is_operator() && translate::waits_for_word(state, number) => {
                    refuse(format!("an answer to {} waits for somebody's word", task.id))
                }
                None => self.is_not_halted(),
            },
        }
    }

    /// Nothing goes round a halt (VLP VI.4).
    fn is_not_halted(&self) -> Result<(), Rejection> {
        match vlp::halted_with(self.state, [self.task.notice; 2], []) {
            Some(_) => {
                let text =
                    format!("the delegation of {} is halted, by itself or with what it goes on from", self.task.id);
                Err(Rejection::because(Code::Halted, text).by("VLP VI.4"))
            }
            None => Ok(()),
        }
    }

    fn deadline(&self) -> Moment {
        latest(self.policy, self.state, self.now, self.task.parent, None)
    }

    fn retry(&self) -> Result<Ruling, Rejection> {
        let Handing { state, number, task, who, .. } = *self;
        self.can_go_on()?;
        if !is_here(state, &task.assignee) {
            let text = format!("{:?} is not registered any more: hand the task to somebody else", task.assignee);
            return Err(Rejection::because(Code::TaskState, text));
        }
        // A manifest may have changed since, and so may what is granted in the task above.
        self.may_be_given(&task.assignee)?;
        // Never sooner than it was: what is below it may be due as late as that.
        let (mut ruling, deadline) = (Ruling::default(), self.deadline().max(task.deadline));
        ruling.change(Change::Retried { task: number, deadline }.into());
        let says = format!("{} is to be tried again, by {deadline}. {who} asks for it", task.id);
        self.hand_over(&task.assignee, deadline, says, &mut ruling)?;
        translate::break_off(state, number, &mut ruling);
        Ok(ruling)
    }

    fn reassign(&self, to: &str, opinion: Option<&Opinion>) -> Result<Ruling, Rejection> {
        let Handing { state, policy, number, task, who, .. } = *self;
        self.can_go_on()?;
        let to = named(state, to);
        let to = to.ok_or_else(|| Rejection::because(Code::UnknownRecipient, "there is no such agent").at("/to"))?;
        let rule = self.may_go_to(to).map_err(|rejection| rejection.at("/to"))?;
        let judged = match (who, rule) {
            (Who::Agent(_), Some(rule)) => may_pass(policy.judge, opinion, to, &rule)?,
            // A person who says so knows what the rule means.
            (Who::Agent(_) | Who::Person { .. } | Who::Nobody, _) => None,
        };
        let (mut ruling, deadline) = (Ruling::default(), self.deadline());
        ruling.change(Change::Reassigned { task: number, to: to.to_owned(), deadline, judged }.into());
        let says = format!("{} is yours from now on, by {deadline}. {who} decided so", task.id);
        self.hand_over(to, deadline, says, &mut ruling).map_err(|rejection| rejection.at("/to"))?;
        let text = format!("{} has gone to {to:?}. {who} decided so.", task.id);
        if PRINCIPALS.contains(&task.assignee.as_str()) {
            words::tell(state, task, &task.assignee, text.clone(), &mut ruling);
        }
        translate::pass_on(state, policy, (number, task), text, &mut ruling);
        Ok(ruling)
    }

    /// Whether those it is for may give it to somebody; and the rule that says when.
    fn may_be_given(&self, to: &str) -> Result<Option<String>, Rejection> {
        let Handing { state, task, .. } = *self;
        // Whoever asked in another dialect is bound by its manifest too, if it has one.
        let asker = task.asker.as_ref().and_then(|asker| state.registry.agent(asker));
        if let Some(asker) = asker.filter(|asker| state.rules.cap.rights(asker).is_some()) {
            may_hand_to(state, &asker.id, task.parent, to)?;
        }
        may_hand_to(state, &task.delegator, task.parent, to)
    }

    /// Whether it may go to somebody else; and the rule that says when.
    fn may_go_to(&self, to: &str) -> Result<Option<String>, Rejection> {
        let Handing { state, task, .. } = *self;
        let rule = self.may_be_given(to)?;
        no_cycle(state, task.parent, to)?;
        let has_handed = [task.delegator.as_str(), task.counts_for()].iter().any(|by| state.registry.are_one(to, by));
        if to == task.assignee || has_handed {
            let text = format!("{to:?} has {} already, or handed it over", task.id);
            return Err(Rejection::because(Code::DelegationCycle, text));
        }
        Ok(rule)
    }

    /// Asks somebody for it, in a dialect they speak.
    fn hand_over(&self, to: &str, deadline: Moment, says: String, ruling: &mut Ruling) -> Result<(), Rejection> {
        let Handing { state, policy, now, number, task, words, .. } = *self;
        if task.asker.is_some() || !translate::speaks(state, to, Format::Cap) {
            let handover = translate::Handover { number, task, to, words, deadline, says };
            return translate::ask_again(state, policy, now, &handover, ruling);
        }
        self.words_again(to, ruling);
        let text = format!("{says}; entry {} says what to do.", task.notice);
        words::hand_over(state, task, to, text, ruling);
        Ok(())
    }

    /// The delegation goes to somebody as it was sent, if its text is still there and nothing holds it.
    fn words_again(&self, to: &str, ruling: &mut Ruling) {
        let (state, task, dropped) = (self.state, self.task, &self.state.dropped);
        let is_kept = task.notice >= dropped.before || covers(&dropped.kept, task.notice);
        let delegator = state.registry.agent(&task.delegator);
        let is_heard = delegator.is_none_or(|delegator| vcp::may_be_heard(state, delegator).is_ok());
        // What is held goes nowhere until it is released, and what was refused never does.
        if is_kept && is_heard && state.rules.holds.went_on(task.notice) && state.erasures.of(task.notice).is_none() {
            let from = delegator.map_or(NOBODY, |delegator| delegator.since);
            ruling.again.push(Again { message: task.notice, to: to.to_owned(), from });
        }
    }
}

/// An agent or a principal, by any name.
fn named<'s>(state: &'s State, name: &str) -> Option<&'s str> {
    let principal = PRINCIPALS.into_iter().find(|principal| *principal == name);
    principal.or_else(|| state.registry.resolve(name).map(|agent| agent.id.as_str()))
}

/// What a judge has to be asked before an agent hands a task to somebody else.
pub fn question_of_order(state: &State, order: &Order, who: &Who) -> Option<Question> {
    let (Step::Reassign(to), Who::Agent(me)) = (&order.step, who) else { return None };
    let task = state.rules.cap.task(order.task).filter(|task| task.delegator == *me)?;
    let delegate = named(state, to)?;
    let rule = may_hand_to(state, me, task.parent, delegate).ok()??;
    let rule = Some(rule).filter(|rule| !rule.trim().is_empty())?;
    let (task_id, summary) = (Some(task.id.clone()), format!("{} is to go to somebody else.", task.id));
    Some(Question { delegator: me.clone(), delegate: delegate.to_owned(), task_id, rule, summary })
}

/// Takes a task to whom its delegator works for, else to its overseer, else to the operators.
fn escalate(state: &State, number: u64, task: &Task, who: &Who) -> Ruling {
    let kept = &state.rules.cap;
    let above = task.parent.and_then(|parent| kept.task(parent)).map(|above| above.delegator.clone());
    let overseer = || kept.overseer_in(&state.registry, task).and_then(|name| state.registry.referent(&name));
    let to = above.filter(|above| is_here(state, above)).or_else(|| overseer().map(|overseer| overseer.id.clone()));
    let mut ruling = Ruling::default();
    let to = to.map_or(Escalation::Operator, Escalation::Party);
    ruling.change(Change::Escalated { task: number, to: to.clone() }.into());
    if let Escalation::Party(to) = to {
        let code = task.errors.back().map_or(ErrorCode::Internal, |failure| ErrorCode::from(failure.code));
        let text = format!("{who} asks for help with {}, which is {}.", task.id, task.public_state());
        words::error(state, task, &to, code, text, &mut ruling);
    }
    ruling
}

impl State {
    /// Whether somebody may know of a message in a task: it went on, they sent it, or they decide on it and were shown it.
    pub fn may_see_in_task(&self, who: &Who, task: &Task, position: u64, accepted: &Accepted) -> bool {
        let (sender, holds) = (&accepted.sender, &self.rules.holds);
        let is_known = || holds.went_on(position) || who.is_or_speaks_as(sender);
        match who {
            Who::Person { role: Role::Operator | Role::Auditor | Role::Reviewer, .. } => true,
            Who::Person { .. } | Who::Nobody => is_known(),
            Who::Agent(id) => {
                let has_got = || accepted.to.contains(id) && holds.went_to(position, id);
                is_known() || has_got() || task.shown.get(&position) == Some(id)
            }
        }
    }

    /// Whether somebody may see a task.
    pub fn may_see_task(&self, who: &Who, number: u64) -> bool {
        self.rules.cap.task(number).is_some_and(|task| may_see(self, who, number, task))
    }
}
