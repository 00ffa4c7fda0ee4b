//! What is left of what rules said and kept of a message once it is erased: codes, names and numbers that they go on from.
//! What folds from it is what folds from the whole, as soon as the entry is folded that erased it.

use super::cap::{self, Judged};
use super::hold::{self, Reason};
use super::translate::Translation;
use super::vcp::{self, AlarmChange};
use super::vlp::{self, Target};
use super::{Change, Finding, Kept, Ruled, Spot, acl};
use crate::erased::Unbound;

impl Ruled {
    pub(crate) fn redacted(&self) -> Ruled {
        Ruled {
            findings: self.findings.iter().map(Finding::redacted).collect(),
            held: self.held.iter().map(Reason::redacted).collect(),
            changes: self.changes.iter().map(Change::redacted).collect(),
            later: self.later.iter().map(Change::redacted).collect(),
            judged: self.judged.as_ref().map(Judged::redacted),
            ..self.clone()
        }
    }
}

impl Finding {
    /// Members of a message have names that its sender chose.
    pub(crate) fn redacted(&self) -> Finding {
        let spot = self.spot.clone().map(|spot| Spot { at: String::new(), ..spot });
        Finding { says: String::new(), spot, ..self.clone() }
    }
}

impl Reason {
    fn redacted(&self) -> Reason {
        Reason { says: String::new(), ..self.clone() }
    }
}

impl Judged {
    pub(crate) fn redacted(&self) -> Judged {
        Judged { reason: None, ..self.clone() }
    }
}

impl Change {
    pub(crate) fn redacted(&self) -> Change {
        match self {
            Change::Hold(change) => Change::Hold(of_hold(change)),
            Change::Vcp(change) => Change::Vcp(of_vcp(change)),
            Change::Cap(change) => Change::Cap(of_cap(change)),
            Change::Acl(change) => Change::Acl(of_acl(change)),
            Change::Vlp(change) => Change::Vlp(of_vlp(change)),
            Change::Translated(said) => {
                Change::Translated(Box::new(Translation { ontology: None, ..(**said).clone() }))
            }
            Change::Extension(change) => {
                change.redacted().map_or_else(|| self.clone(), |change| Change::Extension(Box::new(change)))
            }
            Change::BrokenOff { .. } | Change::Identity(_) => self.clone(),
        }
    }

    /// Constraints whose values go with it.
    pub(crate) fn unbinds(&self) -> Vec<Unbound> {
        if let Change::Vcp(vcp::Change::ConstraintsLaid(laying)) = self { laying.unbinds() } else { Vec::new() }
    }
}

fn of_hold(change: &hold::Change) -> hold::Change {
    use hold::Change::{Claimed, Frozen, Lifted, Refused, Thawed};
    match change.clone() {
        Lifted { message, lifts, by, why: _ } => Lifted { message, lifts, by, why: None },
        Refused { message, by, why: _ } => Refused { message, by, why: String::new() },
        // Which session or agent it waits for, in words of ours.
        same @ (Claimed { .. } | Frozen { .. } | Thawed { .. }) => same,
    }
}

fn of_vcp(change: &vcp::Change) -> vcp::Change {
    match change {
        vcp::Change::Alarm(alarm) => vcp::Change::Alarm(of_alarm(alarm)),
        vcp::Change::ConstraintsLaid(laying) => vcp::Change::ConstraintsLaid(laying.redacted()),
        vcp::Change::ConstitutionAnnounced(announcing) => vcp::Change::ConstitutionAnnounced(announcing.redacted()),
        vcp::Change::ContextShared(sharing) => vcp::Change::ContextShared(sharing.redacted()),
        vcp::Change::Standing(_)
        | vcp::Change::ConstraintsLifted(_)
        | vcp::Change::ConstitutionsClash(_)
        | vcp::Change::StaleEmergency(_)
        | vcp::Change::LetterClimbed(_) => change.clone(),
    }
}

fn of_alarm(change: &AlarmChange) -> AlarmChange {
    let mut change = change.clone();
    match &mut change {
        AlarmChange::Raised { found, .. } => found.clear(),
        AlarmChange::Told { .. }
        | AlarmChange::Said { .. }
        | AlarmChange::Passed { .. }
        | AlarmChange::Acked { .. }
        | AlarmChange::Handled { .. }
        | AlarmChange::Coalesced { .. }
        | AlarmChange::Closed { .. } => {}
    }
    change
}

fn of_cap(change: &cap::Change) -> cap::Change {
    use cap::Change::{
        Closed, Erred, Escalated, Expired, Finished, Opened, Reassigned, Repeated, Requested, Retried, Said, Shown,
        Stranded, Waits,
    };
    match change.clone() {
        Reassigned { task, to, deadline, judged } => {
            Reassigned { task, to, deadline, judged: judged.as_ref().map(Judged::redacted) }
        }
        // Tasks, parties, rights, digests and codes.
        same @ (Opened(_)
        | Repeated { .. }
        | Said { .. }
        | Shown { .. }
        | Waits { .. }
        | Requested { .. }
        | Stranded { .. }
        | Finished { .. }
        | Erred { .. }
        | Expired { .. }
        | Closed { .. }
        | Retried { .. }
        | Escalated { .. }) => same,
    }
}

fn of_acl(change: &acl::Change) -> acl::Change {
    let mut change = change.clone();
    match &mut change {
        acl::Change::Opened(opening) => opening.asked = None,
        acl::Change::Moved(moved) => moved.outcome = None,
        acl::Change::Declined { .. } | acl::Change::Passed { .. } | acl::Change::Waits { .. } => {}
    }
    change
}

fn of_vlp(change: &vlp::Change) -> vlp::Change {
    match change {
        vlp::Change::Refers { to, amends, rests } => {
            let to = to.iter().map(Target::redacted).collect();
            vlp::Change::Refers { to, amends: amends.clone(), rests: rests.clone() }
        }
        vlp::Change::Spoke(_)
        | vlp::Change::Halted(_)
        | vlp::Change::Forgotten { .. }
        | vlp::Change::Unheard { .. }
        | vlp::Change::Released { .. } => change.clone(),
    }
}

impl Kept {
    /// Effects gave way: what they said is kept no longer.
    pub(crate) fn redact(&mut self, is_redacted: &impl Fn(u64) -> bool, unbinds: &[Unbound]) {
        self.vcp.alarms.redact(is_redacted);
        self.vcp.contexts.erase(is_redacted);
        self.vcp.constitutions.erase(is_redacted);
        for unbound in unbinds {
            self.vcp.constraints.unbind(unbound);
        }
        self.acl.redact(is_redacted);
        self.vlp.window.redact(is_redacted);
        self.translations.redact(is_redacted);
    }
}
