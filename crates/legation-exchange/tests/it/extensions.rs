//! The extensions: whose state it is, and what each keeps and shows.

mod consensus;
mod constrained;
mod erased;
mod model;
mod personal;
mod relational;
mod scanned;
mod torch;

use crate::desk::Desk;
use legation_exchange::extensions::{Act, Asker, Extension, Look, Order, Subject, look};
use legation_exchange::{Directive, Input, Verdict, Who};
use legation_protocol::Code;
use legation_scan::Found;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn asking(who: &Who, active: &[Extension]) -> Asker {
    Asker { subject: Subject::of(who, None).unwrap(), active: active.iter().copied().collect() }
}

pub(crate) fn all(who: &Who) -> Asker {
    asking(who, &Extension::ALL)
}

pub(crate) fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

impl Desk {
    pub(crate) fn order(&mut self, who: &Who, asker: Asker, act: Act) -> Result<u64, Code> {
        self.order_scanned(who, asker, act, Vec::new())
    }

    pub(crate) fn order_scanned(
        &mut self,
        who: &Who,
        asker: Asker,
        act: Act,
        scanned: Vec<Found>,
    ) -> Result<u64, Code> {
        let order = Box::new(Directive::Extension(Order { asker, act, scanned }));
        match self.ask(Input::Order { order, who: who.clone() }) {
            Verdict::Accepted { position, .. } => Ok(position),
            Verdict::Refused(rejection) => Err(rejection.code()),
            other => panic!("{other:?}"),
        }
    }

    /// With every extension active.
    pub(crate) fn act(&mut self, who: &Who, act: Act) -> Result<u64, Code> {
        self.order(who, all(who), act)
    }

    pub(crate) fn sees(&self, who: &Who, seen: &Look) -> Result<Value, Code> {
        look(&self.state, &all(who), who, seen, self.now).map_err(|rejection| rejection.code())
    }
}

#[test]
fn nothing_of_an_inactive_extension_is_taken_or_shown() {
    let mut desk = Desk::new();
    desk.agent("alpha");
    let who = crate::desk::agent("alpha");
    for extension in Extension::ALL {
        let rest: Vec<_> = Extension::ALL.into_iter().filter(|other| *other != extension).collect();
        let (act, seen) = sample(extension);
        assert_eq!(desk.order(&who, asking(&who, &rest), act.clone()), Err(Code::ExtensionInactive), "{extension:?}");
        let shown = look(&desk.state, &asking(&who, &rest), &who, &seen, desk.now);
        assert_eq!(shown.unwrap_err().code(), Code::ExtensionInactive, "{extension:?}");
        assert!(desk.order(&who, asking(&who, &[extension]), act).is_ok(), "{extension:?}");
    }
}

fn sample(extension: Extension) -> (Act, Look) {
    use legation_exchange::extensions::{Whose, consensus, intent, personal, relational, torch};
    use serde_json::json;
    match extension {
        Extension::Personal => (Act::Personal(personal::Act::Engage), Look::Personal(Whose::default())),
        Extension::Relational => {
            let act = relational::Act::BeginSession(read(json!({"session_id": "s"})));
            (Act::Relational(act), Look::Relational(read(json!({}))))
        }
        Extension::Consensus => {
            let act = read(json!({"title": "t", "candidates": ["a", "b"], "stakeholders": ["alpha"]}));
            (Act::Consensus(consensus::Act::Propose(act)), Look::Deliberations(read(json!({}))))
        }
        Extension::Torch => (Act::Torch(torch::Act::HandOff(read(json!({"session_id": "s"})))), Look::Torch),
        Extension::Intent => {
            let act = intent::Act::Infer(read(json!({"session_id": "s", "text": "hello"})));
            (Act::Intent(act), Look::Intent(read(json!({"session_id": "s"}))))
        }
    }
}

#[test]
fn nobody_changes_what_is_somebody_elses() {
    let mut desk = Desk::new();
    desk.agent("alpha");
    desk.agent("bravo");
    let (alpha, bravo) = (crate::desk::agent("alpha"), crate::desk::agent("bravo"));
    for extension in Extension::ALL {
        assert_eq!(desk.order(&bravo, all(&alpha), sample(extension).0), Err(Code::NotAllowed), "{extension:?}");
        assert_eq!(desk.order(&Who::Nobody, all(&alpha), sample(extension).0), Err(Code::NotAllowed));
        assert_eq!(desk.order(&Who::operator(), all(&alpha), sample(extension).0), Err(Code::NotAllowed));
    }
}

#[test]
fn an_agent_with_the_name_of_an_identity_gets_nothing_of_it() {
    let mut desk = Desk::new();
    desk.agent("user_42");
    let (act, _) = sample(Extension::Relational);
    let identity = Asker { subject: Subject::identity("user_42"), active: BTreeSet::from(Extension::ALL) };
    desk.order(&Who::Nobody, identity, act).unwrap();
    let own = desk.sees(&crate::desk::agent("user_42"), &Look::Relational(read(serde_json::json!({})))).unwrap();
    assert_eq!(own["session_count"], 0, "{own}");
}

#[test]
fn whoever_gets_a_name_next_finds_nothing_of_the_one_before() {
    let mut desk = Desk::new();
    desk.agent("alpha");
    let who = crate::desk::agent("alpha");
    for extension in Extension::ALL {
        desk.act(&who, sample(extension).0).unwrap();
    }
    desk.ask(Input::Remove { id: "alpha".to_owned(), who: Who::operator() });
    desk.agent("alpha");
    let kept = &desk.state.rules().extensions;
    let subject = Subject::agent("alpha");
    assert_eq!(kept.personal.of(&subject).count(), 0);
    assert!(kept.relational.of(&subject).is_none() && kept.torch.of(&subject).is_none());
    assert!(kept.intent.of(&subject, "s").is_none());
    let left = desk.sees(&who, &Look::Deliberations(read(serde_json::json!({})))).unwrap();
    assert_eq!(left["deliberations"], serde_json::json!([]));
}

#[test]
fn a_suspended_agent_changes_nothing() {
    let mut desk = Desk::new();
    desk.agent("alpha");
    let order = legation_exchange::rules::vcp::Order::Suspend { agent: "alpha".to_owned(), why: "odd".to_owned() };
    let order = Box::new(Directive::Vcp(order));
    crate::desk::accepted(&desk.ask(Input::Order { order, who: Who::operator() }));
    let who = crate::desk::agent("alpha");
    for extension in Extension::ALL {
        assert_eq!(desk.act(&who, sample(extension).0), Err(Code::AgentSuspended), "{extension:?}");
    }
}
