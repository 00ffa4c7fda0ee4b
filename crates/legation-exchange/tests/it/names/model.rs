//! Any names set in any way, in any order: nobody receives what was addressed to a name that it was not given.

use super::{aliased, audience, below, grant, grouped, issue, live, revoke, task};
use crate::desk::{Desk, agent, by, cap, claim};
use crate::extensions::read;
use crate::tasks::house::{hand, manifest, with};
use legation_exchange::extensions::{Act, Subject, consensus};
use legation_exchange::{Input, Registration, State, Verdict, Who};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Pairs of names that look alike.
const NAMES: [&str; 6] = ["ops", "Ops", "press", "Press", "z1", "zl"];
/// Agents that try to take names.
const AGENTS: [&str; 2] = ["mallory", "eve"];

#[derive(Clone, Debug)]
enum Step {
    /// A stranger registers.
    ComesIn(usize),
    ComesInAliased(usize),
    Spawn(usize, usize),
    OwnAlias(usize, usize),
    OperatorId(usize),
    OperatorAlias(usize, usize),
    Group(usize, usize),
    Grant(usize),
    Withdraw(usize),
    External(usize),
    Issue(usize),
    OwnToken(usize),
    Revoke(usize),
    Refer(usize),
    Audience(usize),
    Remove(usize),
}

fn steps() -> impl Strategy<Value = (bool, Vec<Step>)> {
    let (name, who) = (0..NAMES.len(), 0..AGENTS.len());
    let step = prop_oneof![
        1 => name.clone().prop_map(Step::ComesIn),
        1 => name.clone().prop_map(Step::ComesInAliased),
        1 => (who.clone(), name.clone()).prop_map(|(who, name)| Step::Spawn(who, name)),
        2 => (who.clone(), name.clone()).prop_map(|(who, name)| Step::OwnAlias(who, name)),
        1 => name.clone().prop_map(Step::OperatorId),
        1 => (who.clone(), name.clone()).prop_map(|(who, name)| Step::OperatorAlias(who, name)),
        1 => (who, name.clone()).prop_map(|(who, name)| Step::Group(who, name)),
        1 => name.clone().prop_map(Step::Grant),
        1 => name.clone().prop_map(Step::Withdraw),
        1 => name.clone().prop_map(Step::External),
        1 => name.clone().prop_map(Step::Issue),
        1 => name.clone().prop_map(Step::OwnToken),
        1 => name.clone().prop_map(Step::Revoke),
        2 => name.clone().prop_map(Step::Refer),
        1 => name.clone().prop_map(Step::Audience),
        1 => name.prop_map(Step::Remove),
    ];
    (any::<bool>(), prop::collection::vec(step, 0..32))
}

/// Who was given which names, and how.
struct Model {
    desk: Desk,
    open: bool,
    /// Names of agents that references may mean: ids, aliases of an operator, and with open registration aliases that were
    /// there before anything referred to them.
    meant: BTreeMap<&'static str, String>,
    /// The members of each group.
    groups: BTreeMap<&'static str, BTreeSet<&'static str>>,
    people: BTreeSet<&'static str>,
    externals: BTreeSet<&'static str>,
    delegates: BTreeSet<&'static str>,
    audience: BTreeSet<&'static str>,
    sent: u64,
}

impl Model {
    fn new(open: bool) -> Model {
        let mut desk = Desk::new();
        for id in ["boss", "kid", "asker", "leader"].into_iter().chain(AGENTS) {
            desk.agent(id);
        }
        desk.policy.open_registration = open;
        let (meant, groups, people) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let (externals, delegates, audience) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Model { desk, open, meant, groups, people, externals, delegates, audience, sent: 0 }
    }

    fn refers(&self, name: &str) -> bool {
        self.delegates.contains(name) || self.audience.contains(name)
    }

    /// An agent has one alias at a time here.
    fn renames(&mut self, who: &str) {
        self.meant.retain(|name, holder| holder != who || *name == who);
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::ComesIn(name) => self.comes(NAMES[name], Registration::default(), NAMES[name], Who::Nobody),
            Step::ComesInAliased(name) => {
                let id: &'static str = ["in-0", "in-1", "in-2", "in-3", "in-4", "in-5"][name];
                self.comes(id, aliased(NAMES[name]), NAMES[name], Who::Nobody);
            }
            Step::Spawn(who, name) => {
                let who = AGENTS[who];
                self.comes(NAMES[name], below(who), NAMES[name], agent(who));
            }
            Step::OwnAlias(who, name) => self.renamed(AGENTS[who], NAMES[name], agent(AGENTS[who])),
            Step::OperatorId(name) => self.comes(NAMES[name], Registration::default(), NAMES[name], Who::operator()),
            Step::OperatorAlias(who, name) => self.renamed(AGENTS[who], NAMES[name], Who::operator()),
            Step::Group(who, name) => {
                if self.desk.register(AGENTS[who], grouped(NAMES[name]), Who::operator()).is_ok() {
                    self.groups.values_mut().for_each(|members| {
                        members.remove(AGENTS[who]);
                    });
                    self.groups.entry(NAMES[name]).or_default().insert(AGENTS[who]);
                    self.groups.retain(|_, members| !members.is_empty());
                }
            }
            Step::Grant(name) => {
                if grant(&mut self.desk, NAMES[name]).is_ok() {
                    self.people.insert(NAMES[name]);
                }
            }
            Step::Withdraw(name) => {
                self.desk.ask(Input::Withdraw { name: NAMES[name].to_owned(), who: Who::operator() });
                self.people.remove(NAMES[name]);
            }
            Step::External(name) => {
                if issue(&mut self.desk, &format!("external:{}", NAMES[name]), Who::operator()).is_ok() {
                    self.externals.insert(NAMES[name]);
                }
            }
            Step::Issue(name) => self.issue(NAMES[name]),
            Step::OwnToken(name) => self.own_token(NAMES[name]),
            Step::Revoke(name) => self.revoke(NAMES[name]),
            Step::Refer(name) => {
                if with(&mut self.desk, manifest("boss", &[NAMES[name]], None, &[])).is_ok() {
                    self.delegates = BTreeSet::from([NAMES[name]]);
                }
            }
            Step::Audience(name) => {
                audience(&mut self.desk, "kid", &[NAMES[name]]);
                self.audience = BTreeSet::from([NAMES[name]]);
            }
            Step::Remove(name) => {
                let id = NAMES[name];
                let gone = self.desk.ask(Input::Remove { id: id.to_owned(), who: Who::operator() });
                if let Verdict::Accepted { .. } = gone {
                    self.meant.retain(|_, holder| holder != id);
                }
            }
        }
    }

    /// Somebody registers, by an id or an alias of its own that is the name.
    fn comes(&mut self, id: &'static str, wanted: Registration, name: &'static str, who: Who) {
        let is_alias = id != name;
        let (meant, refers) = (!is_alias || self.open || who.is_operator(), self.refers(name));
        let by_agent = matches!(who, Who::Agent(_));
        if self.desk.register(id, wanted, who) != Ok(true) {
            return;
        }
        assert!(!(refers && (is_alias || by_agent)), "{name} was taken by {id} though something refers to it");
        self.meant.insert(id, id.to_owned());
        if meant {
            self.meant.insert(name, id.to_owned());
        }
    }

    fn renamed(&mut self, id: &'static str, name: &'static str, who: Who) {
        let (operator, refers) = (who.is_operator(), self.refers(name));
        let had = self.desk.state.registry().agent(id).unwrap().aliases.values().any(|own| own == name);
        let meant = self.meant.get(name).is_some_and(|holder| holder == id);
        if self.desk.register(id, aliased(name), who).is_err() {
            return;
        }
        assert!(operator || had || !refers, "{id} took {name}, which something refers to");
        self.renames(id);
        if operator || (had && meant) || (!had && self.open) {
            self.meant.insert(name, id.to_owned());
        }
    }

    /// A token for a bare name is of the kind that has the name.
    fn issue(&mut self, name: &'static str) {
        let before = live(&self.desk);
        if issue(&mut self.desk, name, Who::operator()).is_err() {
            return;
        }
        let mut added = live(&self.desk);
        for one in &before {
            added.remove(added.iter().position(|other| other == one).unwrap());
        }
        let [subject] = &added[..] else { panic!("{added:?}") };
        match subject.split_once(':').unwrap() {
            ("agent", id) => assert_eq!(self.desk.state.registry().resolve(name).unwrap().id, id),
            ("person", person) => assert!(person == name && self.people.contains(name)),
            (_, external) => {
                assert_eq!(external, name);
                self.externals.insert(name);
            }
        }
    }

    fn own_token(&mut self, name: &'static str) {
        let before = live(&self.desk);
        if self.desk.state.registry().agent(name).is_some() && issue(&mut self.desk, name, agent(name)).is_ok() {
            let own = format!("agent:{name}");
            let others = |all: Vec<String>| all.into_iter().filter(|one| *one != own).collect::<Vec<_>>();
            assert_eq!(others(live(&self.desk)), others(before));
        }
    }

    /// An agent revokes by its name: nothing but its own tokens end.
    fn revoke(&mut self, name: &'static str) {
        let before = live(&self.desk);
        let _ = revoke(&mut self.desk, name, agent(name));
        let own = format!("agent:{name}");
        let others = |all: Vec<String>| all.into_iter().filter(|one| *one != own).collect::<Vec<_>>();
        assert_eq!(others(live(&self.desk)), others(before));
    }

    /// Everything that a name leads to.
    fn check(&mut self) {
        for name in NAMES {
            self.check_messages(name);
            self.check_group(name);
            self.check_seat(name);
        }
        let read = State::from_bytes(&self.desk.state.to_bytes()).unwrap();
        assert_eq!(read.registry(), self.desk.state.registry());
        assert_eq!(read.rules(), self.desk.state.rules());
        assert!(
            self.desk
                .state
                .name_collisions()
                .iter()
                .all(|one| one.other_kind == legation_exchange::NameKind::Reference)
        );
    }

    /// What is addressed to a name in CAP and VLP, and who is handed a task or told something by it.
    fn check_messages(&mut self, name: &'static str) {
        self.sent += 1;
        let before = self.lengths();
        let told = self.desk.send(&cap("asker", name, &format!("m{}", self.sent)), by("asker"));
        let holder = self.desk.state.registry().resolve(name).map(|agent| agent.id.clone());
        let reached: Vec<_> = self.reached(&before);
        assert_eq!(reached.first(), holder.as_ref().filter(|_| matches!(told, Verdict::Accepted { .. })));
        for to in self.lengths().into_keys() {
            let state = self.desk.state.clone();
            let record = self.desk.record.len();
            let handed = (to != "boss").then(|| hand(&mut self.desk, "T1", "boss", &to));
            if let Some(Verdict::Accepted { .. }) = handed {
                let named = self.delegates.iter().any(|one| self.meant.get(one).is_some_and(|holder| *holder == to));
                assert!(named, "{to} was handed a task of {:?}: {:?}", self.delegates, self.meant);
            }
            if to != "kid" {
                self.check_audience(&to);
            }
            (self.desk.state, ()) = (state, self.desk.record.truncate(record));
        }
    }

    fn check_audience(&mut self, to: &str) {
        let words = claim("kid", to, "MSG001", "the books");
        if let Verdict::Accepted { .. } = self.desk.send(&words, by("kid")) {
            let by_name = self.audience.iter().any(|one| self.meant.get(one).is_some_and(|holder| holder == to));
            let by_group =
                self.audience.iter().any(|one| self.groups.get(one).is_some_and(|members| members.contains(to)));
            assert!(by_name || by_group || self.audience.is_empty(), "{to} was told what is for {:?}", self.audience);
        }
    }

    fn check_group(&mut self, name: &'static str) {
        self.sent += 1;
        let before = self.lengths();
        let is_group = self.groups.contains_key(name);
        let verdict = self.desk.send(&task(self.sent, name), by("asker"));
        if let (true, Verdict::Accepted { .. }) = (is_group, verdict) {
            let reached: BTreeSet<_> = self.reached(&before).into_iter().filter(|id| id != "asker").collect();
            let members = self.groups.get(name).into_iter().flatten().map(|member| (*member).to_owned()).collect();
            assert_eq!(reached, members, "{name}");
        }
    }

    fn check_seat(&mut self, name: &'static str) {
        let asked = json!({"title": "t", "candidates": ["a", "b"], "stakeholders": [name, "leader"]});
        let state = self.desk.state.clone();
        let record = self.desk.record.len();
        if let Ok(position) = self.desk.act(&agent("leader"), Act::Consensus(consensus::Act::Propose(read(asked)))) {
            let kept = &self.desk.state.rules().extensions.consensus;
            let (_, one) = kept.iter().find(|(number, _)| *number == position).unwrap();
            let seats: Vec<_> = one.stakeholders.keys().filter(|seat| **seat != Subject::agent("leader")).collect();
            let want = if self.people.contains(name) {
                Subject::person(name)
            } else {
                Subject::agent(&self.desk.state.registry().resolve(name).unwrap().id)
            };
            assert_eq!(seats, [&want]);
        }
        (self.desk.state, ()) = (state, self.desk.record.truncate(record));
    }

    fn lengths(&self) -> BTreeMap<String, usize> {
        let agents = self.desk.state.registry().agents();
        agents.map(|agent| (agent.id.clone(), self.desk.waiting(&agent.id).len())).collect()
    }

    fn reached(&self, before: &BTreeMap<String, usize>) -> Vec<String> {
        let grew = |(id, length): &(String, usize)| before.get(id) != Some(length);
        self.lengths().into_iter().filter(grew).map(|(id, _)| id).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn nobody_receives_what_was_addressed_to_a_name_it_was_not_given((open, steps) in steps()) {
        let mut model = Model::new(open);
        for step in &steps {
            model.take(step);
        }
        model.check();
    }
}
