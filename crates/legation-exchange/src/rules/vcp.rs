//! The rules of VCP (messaging 1.2).

mod ack;
mod alarm;
mod alarms;
mod clock;
mod cut;
mod escalation;
mod late;
mod pause;
mod resume;
mod standing;
mod stop_many;

pub(crate) use alarm::Alerting;
pub use alarm::{Alarm, Change as AlarmChange, Ours, Stage, Telling};
pub use alarms::Alarms;
pub use pause::{Does, table as pause_table};
pub use standing::{Change as StandingChange, Ordered, Standing, Standings, Stop, StopScope};
pub use stop_many::{StopMany, reach};

pub use late::{StaleEmergencies, StaleEmergencyTold};

pub(crate) use cut::cut_of;
pub(crate) use escalation::{own_emergency, repeatable};
pub(crate) use late::{emergency_of, tell_stale, was_told_lately};
pub(crate) use standing::{check_newcomer, family, leave, may_act, may_be_heard, may_order};
pub(crate) use stop_many::{agents_below, suspend_below};
pub mod constitution;
pub mod constraints;
pub mod context;
mod letters;
mod place;

pub use letters::{Climbing, Letters};
pub use place::Place;

use super::{At, Case, Ruling};
use crate::effect::Refused;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::vcp::{Envelope, Payload};
use legation_protocol::{Message, Rejection};
use serde::{Deserialize, Serialize};

/// What these rules keep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// Escalations.
    pub alarms: Alarms,
    /// Who may not go on.
    pub standing: Standings,
    /// The constraints agents are under.
    pub constraints: constraints::Constraints,
    /// The constitutions agents announced.
    pub constitutions: constitution::Constitutions,
    /// The situations agents are in.
    pub contexts: context::Contexts,
    /// Escalations and constraints on their way.
    pub letters: Letters,
    /// Stale emergencies that people were told of lately.
    pub late: StaleEmergencies,
}

/// What changes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// An escalation.
    Alarm(AlarmChange),
    /// Whether an agent may go on.
    Standing(StandingChange),
    /// Constraints were laid on an agent.
    ConstraintsLaid(constraints::Laying),
    /// Constraints were lifted from an agent.
    ConstraintsLifted(constraints::Lifting),
    /// An agent announced its constitution.
    ConstitutionAnnounced(constitution::Announcing),
    /// What an agent announced clashes with another's.
    ConstitutionsClash(constitution::Clashing),
    /// An agent shared its context.
    ContextShared(context::Sharing),
    /// An escalation or a constraint reached nobody, and goes up.
    LetterClimbed(Climbing),
    /// People are told of an emergency that came too late.
    StaleEmergency(StaleEmergencyTold),
}

impl Change {
    /// Whom it stops, or lets go on.
    pub(crate) fn stops(&self) -> Option<&str> {
        match self {
            Change::Alarm(AlarmChange::Raised { stops, .. } | AlarmChange::Closed { frees: stops, .. }) => {
                stops.as_deref()
            }
            Change::Standing(StandingChange::Suspended { agent, .. } | StandingChange::Resumed { agent, .. }) => {
                Some(agent)
            }
            Change::Standing(StandingChange::ExchangeSuspended { .. } | StandingChange::ExchangeResumed { .. })
            | Change::Alarm(_)
            | Change::ConstraintsLaid(_)
            | Change::ConstraintsLifted(_)
            | Change::ConstitutionAnnounced(_)
            | Change::ConstitutionsClash(_)
            | Change::ContextShared(_)
            | Change::StaleEmergency(_)
            | Change::LetterClimbed(_) => None,
        }
    }

    /// What people are to be told of it: of whom, and what.
    pub(crate) fn alert(&self) -> Option<Alerting<'_>> {
        match self {
            Change::Alarm(change) => change.alert(),
            Change::Standing(_)
            | Change::ConstraintsLaid(_)
            | Change::ConstraintsLifted(_)
            | Change::ConstitutionAnnounced(_)
            | Change::ConstitutionsClash(_)
            | Change::ContextShared(_)
            | Change::StaleEmergency(_)
            | Change::LetterClimbed(_) => None,
        }
    }
}

/// What can be ordered by people and agents beside messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// To acknowledge an escalation.
    Acknowledge {
        /// Its message id, or the entry that holds it.
        escalation: String,
    },
    /// To let an agent say nothing any more.
    Suspend {
        /// Which.
        agent: String,
        /// Why.
        why: String,
    },
    /// To let it go on.
    Resume {
        /// Which.
        agent: String,
        /// From which escalation, by message id or entry. An operator who names none means all that stops it.
        escalation: Option<String>,
        /// Why.
        why: String,
    },
    /// To stop many agents at once, or let them go on.
    Many(StopMany),
    /// To lay constraints on an agent, or lift some.
    Constrain(constraints::Wish),
}

impl Kept {
    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        match change {
            Change::Alarm(change) => {
                if let Some(stopping) = self.alarms.apply(at, change) {
                    self.standing.stopping(stopping);
                }
            }
            Change::Standing(change) => self.standing.apply(at, change),
            Change::ConstraintsLaid(laying) => self.constraints.lay(at, laying),
            Change::ConstraintsLifted(lifting) => self.constraints.lift(lifting),
            Change::ConstitutionAnnounced(announcing) => self.constitutions.announce(at, announcing),
            Change::ConstitutionsClash(clashing) => self.constitutions.clash(clashing),
            Change::ContextShared(sharing) => self.contexts.share(at, sharing),
            Change::LetterClimbed(climbing) => self.letters.climb(climbing),
            Change::StaleEmergency(told) => self.late.tell(at, told),
        }
    }

    pub(crate) fn earliest(&self) -> Option<Moment> {
        if self.letters.is_due() {
            return Some(Moment::default());
        }
        let cut = self.alarms.first_cut().map(|(_, cut)| cut.due);
        self.alarms.first_due().map(|(due, _)| due).into_iter().chain(cut).min()
    }

    /// A message was refused.
    pub(crate) fn cut(&mut self, refused: &Refused, at: Moment) {
        if let Some(agent) = &refused.cut {
            self.alarms.cut(agent, at);
        }
    }

    /// An agent is gone.
    pub(crate) fn forget<'c>(&mut self, agent: &str, below: impl Iterator<Item = &'c str>, at: Moment) {
        self.alarms.forget(agent, at);
        self.standing.forget(agent);
        self.constraints.forget(agent, below);
        self.constitutions.forget(agent);
        self.contexts.forget(agent);
    }
}

impl From<Change> for super::Change {
    fn from(change: Change) -> Self {
        super::Change::Vcp(change)
    }
}

pub(crate) fn look(case: &Case<'_>, envelope: &Envelope, ruling: &mut Ruling) -> Result<(), Rejection> {
    match &envelope.payload {
        Payload::ContextShare(share) => context::look(case, envelope, share, ruling),
        Payload::ConstitutionAnnounce(announced) => constitution::look(case, envelope, announced, ruling),
        Payload::ConstraintPropagate(laid) => {
            resume::look(case, laid, ruling)?;
            constraints::look(case, envelope, laid, ruling)?;
        }
        Payload::Escalation(said) => escalation::look(case, envelope, said, ruling)?,
    }
    Ok(())
}

/// What comes of an order: rulings, each of which makes entries of its own.
pub(crate) fn order(
    state: &State,
    policy: &Policy,
    now: Moment,
    order: &Order,
    who: &Who,
) -> Result<Vec<Ruling>, Rejection> {
    let ruling = match order {
        Order::Acknowledge { escalation } => ack::order(state, now, escalation, who),
        Order::Suspend { agent, why } => resume::suspend(state, policy, agent, why, who),
        Order::Resume { agent, escalation, why } => {
            resume::order(state, policy, (agent, escalation.as_deref()), why, who)
        }
        Order::Many(many) => return stop_many::order(state, policy, many, who),
        Order::Constrain(wish) => constraints::order(state, policy, now, wish, who),
    }?;
    Ok(vec![ruling])
}

/// The entry whose message is to be quoted by what falls due first.
pub(crate) fn quotes(state: &State, now: Moment) -> Option<u64> {
    clock::quotes(state, now)
}

pub(crate) fn due(state: &State, policy: &Policy, now: Moment, quoted: Option<&[u8]>) -> Option<Ruling> {
    let climbs = letters::due(state, policy).or_else(|| clock::due(state, policy, now, quoted));
    climbs.or_else(|| cut::due(state, policy, now))
}

/// Whether the sender may speak at all now.
pub(crate) fn may_speak(case: &Case<'_>) -> Result<(), Rejection> {
    standing::may_speak(case)
}

/// Whether a message is never held up: an escalation, an acknowledgement or a resume.
pub(crate) fn is_free(message: &Message) -> bool {
    constraints::is_free(message)
}

/// Whether a message binds its recipient more than before, and does nothing else.
pub(crate) fn only_binds(message: &Message) -> bool {
    constraints::only_binds(message)
}

/// Refuses what lets an agent go on, if it is to wait for a person: by then something else may stop the agent.
pub(crate) fn must_not_wait(message: &Message) -> Result<(), Rejection> {
    resume::must_not_wait(message)
}

/// Holds a message against the constraints its sender is under, whatever its dialect.
pub(crate) fn constrain(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    constraints::enforce(case, ruling)
}

/// Raises a message that is said in VLP to the least level it may have.
pub(crate) fn hold_to_floor(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    constraints::hold_to_floor(case, ruling)
}

impl From<AlarmChange> for super::Change {
    fn from(change: AlarmChange) -> Self {
        super::Change::Vcp(Change::Alarm(change))
    }
}

impl From<StandingChange> for super::Change {
    fn from(change: StandingChange) -> Self {
        super::Change::Vcp(Change::Standing(change))
    }
}
