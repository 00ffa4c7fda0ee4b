//! What is done about a task that failed, or takes too long (Observability): it is handed over again, handed to
//! somebody else, or taken to somebody with more rights. Never by itself.

use super::change::{Change, Escalation};
use super::delegate::{latest, may_hand_to, no_cycle};
use super::judge::{Opinion, Question, may_pass};
use super::task::{Stage, Task};
use super::words;
use crate::erased::covers;
use crate::mailbox::NOBODY;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{Again, Ruling, vcp};
use crate::state::State;
use crate::who::{PRINCIPALS, Role, Who};
use legation_protocol::cap::ErrorCode;
use legation_protocol::{Code, Rejection};

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
    order: &Order,
    who: &Who,
) -> Result<Ruling, Rejection> {
    let task = state.rules.cap.task(order.task).filter(|task| may_see(state, who, order.task, task));
    let task = task.ok_or_else(|| Rejection::because(Code::UnknownTask, "there is no such task"))?;
    may_order(task, who)?;
    match &order.step {
        Step::Retry => retry(state, policy, now, (order.task, task), who),
        Step::Reassign(to) => reassign(state, policy, now, (order.task, task), (to, order.opinion.as_ref()), who),
        Step::Escalate => Ok(escalate(state, order.task, task, who)),
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
    let overseer = || kept.overseer_in(&state.registry, task).and_then(|name| state.registry.resolve(&name));
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

/// Whether a task can be handed over again.
fn can_go_on(state: &State, policy: &Policy, (number, task): (u64, &Task)) -> Result<(), Rejection> {
    let refuse = |text: String| Err(Rejection::because(Code::TaskState, text).by("CAP Observability"));
    let kept = &state.rules.cap;
    let above = task.parent.and_then(|parent| kept.task(parent));
    // Of one key only the newest counts: whoever worked on an older one could not even finish it.
    let is_awaited = policy.is_exchange(&task.delegator) || is_here(state, &task.delegator);
    let is_newest = kept.keyed(&task.opener, &task.id).is_none_or(|(newest, _)| newest == number);
    match task.stage {
        _ if !is_awaited => {
            refuse(format!("{:?}, who wanted {} done, is not registered any more", task.delegator, task.id))
        }
        _ if !is_newest => refuse(format!("there is a newer task {} of {:?}", task.id, task.opener)),
        _ if task.waits => refuse(format!("the delegation of {} is held, or was refused: nobody has got it", task.id)),
        _ if task.is_in_review() => refuse(format!("the result of {} waits for a review", task.id)),
        _ if task.tries >= MOST_TRIES => {
            refuse(format!("{} was handed over {} times: hand over another", task.id, task.tries))
        }
        Stage::Done | Stage::Closed => refuse(format!("{} is {}", task.id, task.stage.as_str())),
        Stage::Open | Stage::Failed | Stage::Expired => match above.filter(|above| !above.is_open()) {
            Some(above) => refuse(format!("{}, which it is a part of, is {}", above.id, above.state())),
            None => Ok(()),
        },
    }
}

/// The delegation goes to somebody as it was sent, if its text is still there and nothing holds it.
fn words_again(state: &State, task: &Task, to: &str, ruling: &mut Ruling) {
    let dropped = &state.dropped;
    let is_kept = task.notice >= dropped.before || covers(&dropped.kept, task.notice);
    let delegator = state.registry.agent(&task.delegator);
    let is_heard = delegator.is_none_or(|delegator| vcp::may_be_heard(state, delegator).is_ok());
    // What is held goes nowhere until it is released, and what was refused never does.
    if is_kept && is_heard && state.rules.holds.went_on(task.notice) && state.erasures.of(task.notice).is_none() {
        let from = delegator.map_or(NOBODY, |delegator| delegator.since);
        ruling.again.push(Again { message: task.notice, to: to.to_owned(), from });
    }
}

fn retry(
    state: &State,
    policy: &Policy,
    now: Moment,
    (number, task): (u64, &Task),
    who: &Who,
) -> Result<Ruling, Rejection> {
    can_go_on(state, policy, (number, task))?;
    if !is_here(state, &task.assignee) {
        let text = format!("{:?} is not registered any more: hand the task to somebody else", task.assignee);
        return Err(Rejection::because(Code::TaskState, text));
    }
    // Its delegator's manifest may have changed since, and so may what it may do in the task above.
    may_hand_to(state, &task.delegator, task.parent, &task.assignee)?;
    let mut ruling = Ruling::default();
    // Never sooner than it was: what is below it may be due as late as that.
    let deadline = latest(policy, state, now, task.parent, None).max(task.deadline);
    ruling.change(Change::Retried { task: number, deadline }.into());
    words_again(state, task, &task.assignee, &mut ruling);
    let text = format!(
        "{} is to be tried again, by {deadline}. {who} asks for it; entry {} says what to do.",
        task.id, task.notice
    );
    words::hand_over(state, task, &task.assignee, text, &mut ruling);
    Ok(ruling)
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

fn reassign(
    state: &State,
    policy: &Policy,
    now: Moment,
    (number, task): (u64, &Task),
    (to, opinion): (&str, Option<&Opinion>),
    who: &Who,
) -> Result<Ruling, Rejection> {
    can_go_on(state, policy, (number, task))?;
    let to = named(state, to);
    let to = to.ok_or_else(|| Rejection::because(Code::UnknownRecipient, "there is no such agent").at("/to"))?;
    let rule = may_hand_to(state, &task.delegator, task.parent, to).map_err(|rejection| rejection.at("/to"))?;
    no_cycle(state, task.parent, to).map_err(|rejection| rejection.at("/to"))?;
    if to == task.assignee || state.registry.are_one(to, &task.delegator) {
        let text = format!("{to:?} has {} already, or handed it over", task.id);
        return Err(Rejection::because(Code::DelegationCycle, text).at("/to"));
    }
    let judged = match (who, rule) {
        (Who::Agent(_), Some(rule)) => may_pass(policy.judge, opinion, to, &rule)?,
        // A person who says so knows what the rule means.
        (Who::Agent(_) | Who::Person { .. } | Who::Nobody, _) => None,
    };
    let mut ruling = Ruling::default();
    let deadline = latest(policy, state, now, task.parent, None);
    ruling.change(Change::Reassigned { task: number, to: to.to_owned(), deadline, judged }.into());
    words_again(state, task, to, &mut ruling);
    let text = format!(
        "{} is yours from now on, by {deadline}. {who} decided so; entry {} says what to do.",
        task.id, task.notice
    );
    words::hand_over(state, task, to, text, &mut ruling);
    if is_here(state, &task.assignee) {
        let text = format!("{} has gone to {to:?}. {who} decided so.", task.id);
        words::tell(state, task, &task.assignee, text, &mut ruling);
    }
    Ok(ruling)
}

/// Takes a task to whom its delegator works for, else to its overseer, else to the operators.
fn escalate(state: &State, number: u64, task: &Task, who: &Who) -> Ruling {
    let kept = &state.rules.cap;
    let above = task.parent.and_then(|parent| kept.task(parent)).map(|above| above.delegator.clone());
    let overseer = || kept.overseer_in(&state.registry, task).and_then(|name| state.registry.resolve(&name));
    let to = above.filter(|above| is_here(state, above)).or_else(|| overseer().map(|overseer| overseer.id.clone()));
    let mut ruling = Ruling::default();
    let to = to.map_or(Escalation::Operator, Escalation::Party);
    ruling.change(Change::Escalated { task: number, to: to.clone() }.into());
    if let Escalation::Party(to) = to {
        let code = task.errors.back().map_or(ErrorCode::Internal, |failure| ErrorCode::from(failure.code));
        let text = format!("{who} asks for help with {}, which is {}.", task.id, task.state());
        words::error(state, task, &to, code, text, &mut ruling);
    }
    ruling
}

impl State {
    /// Whether somebody may see a task.
    pub fn may_see_task(&self, who: &Who, number: u64) -> bool {
        self.rules.cap.task(number).is_some_and(|task| may_see(self, who, number, task))
    }
}
