//! Halts against a model of them: whatever is said, blocked, read, approved and released in whatever order, nothing of what
//! is halted is delivered before a person lets it go on, and nothing else is taken back; nobody goes on from it, over
//! however many others and halts, nor is kept from going on from anything else; and whoever outside has taken what goes
//! on from it is told, once for each halt (VLP VI, rule 4).

use crate::desk::Desk;
use crate::talks::folds;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::vlp::Order;
use legation_exchange::{Directive, Input, State, Verdict, Who};
use legation_protocol::Code;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const NAMES: [&str; 4] = ["ann", "bob", "cat", "dan"];

#[derive(Clone, Debug)]
enum Step {
    Say(Words),
    Release {
        which: prop::sample::Index,
    },
    Approve {
        which: prop::sample::Index,
    },
    Ack {
        who: usize,
    },
    /// The state is written and read.
    Restart,
}

/// What somebody says.
#[derive(Clone, Debug)]
struct Words {
    from: usize,
    /// The others of its session, without one.
    to: Option<usize>,
    session: Option<usize>,
    /// Some of those said before.
    names: Vec<prop::sample::Index>,
    /// One of them, as a source with its hash.
    rests: Option<prop::sample::Index>,
    blocks: bool,
    for_review: bool,
}

#[derive(Clone, Debug)]
struct Said {
    position: u64,
    from: &'static str,
    to: BTreeSet<&'static str>,
    session: Option<String>,
    /// What it goes on from.
    from_those: BTreeSet<usize>,
    /// The session it halted, until that is released.
    halted: Option<String>,
    /// Who waits for it, and who will when nothing holds it.
    waiting: BTreeSet<&'static str>,
    reasons: BTreeSet<String>,
    /// Whether it was held when it came and was never released: nobody but its sender knows of it.
    hidden: bool,
}

#[derive(Clone, Debug, Default)]
struct Session {
    parties: BTreeSet<&'static str>,
    /// By whom, outside sessions.
    outside: Option<&'static str>,
    halted: bool,
    /// Messages outside that are halted with it.
    stops: BTreeSet<usize>,
    /// Who got a block of it outside sessions.
    blocked: BTreeSet<&'static str>,
    /// Those outside who were told.
    outsiders: BTreeSet<&'static str>,
}

/// What somebody says, where it leads.
#[derive(Clone, Debug)]
struct Leads {
    session: Option<String>,
    names: BTreeSet<usize>,
    rests: BTreeSet<usize>,
}

#[derive(Clone, Debug, Default)]
struct Model {
    said: Vec<Said>,
    sessions: BTreeMap<String, Session>,
    /// Who has a part in a session once these go on.
    joins: BTreeMap<usize, &'static str>,
    /// How often those outside were told that something is halted, and that it goes on.
    told: BTreeMap<&'static str, (usize, usize)>,
}

impl Model {
    fn is_halted(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|session| session.halted)
    }

    /// Whether one is halted by itself.
    fn is_stopped(&self, said: usize) -> bool {
        let stops = |session: &Session| session.halted && session.stops.contains(&said);
        self.said[said].session.as_ref().is_some_and(|own| self.is_halted(own)) || self.sessions.values().any(stops)
    }

    /// Everything that one goes on from, over however many others.
    fn back_from(&self, said: usize) -> BTreeSet<usize> {
        let (mut seen, mut ahead) = (BTreeSet::new(), self.said[said].from_those.clone());
        while let Some(one) = ahead.pop_last() {
            seen.insert(one);
            ahead.extend(&self.said[one].from_those);
        }
        seen
    }

    /// Whether one is halted, or goes on from one that is.
    fn nobody_goes_on_from(&self, said: usize) -> bool {
        self.is_stopped(said) || self.back_from(said).into_iter().any(|one| self.is_stopped(one))
    }

    fn refuses(&self, words: &Words, leads: &Leads) -> Option<Code> {
        if let Some(known) = leads.session.as_ref().and_then(|id| self.sessions.get(id)) {
            if !known.parties.contains(NAMES[words.from]) {
                return Some(Code::NotAParty);
            }
            if known.halted {
                return Some(Code::Halted);
            }
        }
        let mut all = leads.names.union(&leads.rests);
        all.any(|named| self.nobody_goes_on_from(*named)).then_some(Code::Halted)
    }

    fn recipients(&self, words: &Words, session: Option<&String>) -> BTreeSet<&'static str> {
        let from = NAMES[words.from];
        let others = || session.and_then(|id| self.sessions.get(id)).map(|known| known.parties.clone());
        let mut to = words.to.map_or_else(|| others().unwrap_or_default(), |to| BTreeSet::from([NAMES[to]]));
        to.remove(from);
        to
    }

    /// A message was taken.
    fn say(&mut self, position: u64, words: &Words, leads: Leads) {
        let (from, to) = (NAMES[words.from], self.recipients(words, leads.session.as_ref()));
        let (number, mut halted) = (self.said.len(), None);
        if words.blocks {
            halted = Some(self.block(position, from, &leads, &to));
        }
        let Leads { session, names, rests } = leads;
        if let Some(id) = &session {
            let known = self.sessions.entry(id.clone()).or_default();
            known.parties.insert(from);
            if !words.for_review {
                known.parties.extend(words.to.map(|to| NAMES[to]));
            } else if let Some(to) = words.to {
                self.joins.insert(number, NAMES[to]);
            }
        }
        let reasons = words.for_review.then(|| "a person".to_owned()).into_iter().collect();
        let waiting = to.clone();
        let from_those = &names | &rests;
        self.said.push(Said {
            position,
            from,
            to,
            session,
            from_those,
            halted,
            waiting,
            reasons,
            hidden: words.for_review,
        });
    }

    /// Halts a session and what a block stops; says which session.
    fn block(&mut self, position: u64, me: &'static str, leads: &Leads, to: &BTreeSet<&'static str>) -> String {
        let session = leads.session.as_ref();
        let mine = |(_, one): &(&String, &Session)| one.halted && one.outside == Some(me);
        let before = self.sessions.iter().find(mine).map(|(id, _)| id.clone());
        let id = session.cloned().or(before).unwrap_or_else(|| format!("message {position}"));
        let has_part = |named: &&usize| self.said[**named].from == me || self.said[**named].to.contains(me);
        let mut those: BTreeSet<usize> = leads.names.iter().filter(has_part).copied().collect();
        let concerned = self.concerned(session, &those);
        let halted = self.sessions.entry(id.clone()).or_insert_with(|| Session {
            parties: to.iter().copied().chain([me]).collect(),
            outside: session.is_none().then_some(me),
            ..Session::default()
        });
        halted.halted = true;
        halted.stops.extend(those.iter().copied().chain([self.said.len()]));
        if session.is_none() {
            halted.blocked.extend(to);
        }
        let within = |one: &Said| session.is_some() && one.session.as_ref() == session;
        those.extend(self.said.iter().enumerate().filter(|(_, one)| within(one)).map(|(number, _)| number));
        let goes_on = |number: &usize| !those.contains(number) && !self.back_from(*number).is_disjoint(&those);
        let from_it: BTreeSet<usize> = (0..self.said.len()).filter(goes_on).collect();
        self.tell_outsiders(&id, me, &concerned, &from_it);
        for number in &those | &from_it {
            // Another block is for those it concerns, as long as it stands.
            let stands = self.said[number].halted.is_some() && !those.contains(&number);
            let said = &mut self.said[number];
            // What was read by all it was for is on its way no more, unless it is held.
            if !stands && (!said.waiting.is_empty() || !said.reasons.is_empty()) {
                said.reasons.insert(id.clone());
            }
        }
        id
    }

    /// Those who learn of a block as parties, or since it names what they said or got.
    fn concerned(&self, session: Option<&String>, named: &BTreeSet<usize>) -> BTreeSet<&'static str> {
        let parties = session.and_then(|id| self.sessions.get(id)).into_iter().flat_map(|known| &known.parties);
        let named = named.iter().map(|number| &self.said[*number]);
        let named = named.flat_map(|said| said.to.iter().chain([&said.from]));
        parties.chain(named).copied().collect()
    }

    fn tell_outsiders(
        &mut self,
        id: &str,
        me: &'static str,
        concerned: &BTreeSet<&'static str>,
        from_it: &BTreeSet<usize>,
    ) {
        let halt = self.sessions.get_mut(id).unwrap();
        let taken = from_it.iter().map(|number| &self.said[*number]).flat_map(|said| &said.to - &said.waiting);
        let is_new = |who: &&str| {
            *who != me && ![concerned, &halt.blocked, &halt.outsiders].iter().any(|told| told.contains(who))
        };
        let told: BTreeSet<_> = taken.filter(is_new).collect();
        halt.outsiders.extend(&told);
        for who in told {
            self.told.entry(who).or_default().0 += 1;
        }
    }

    fn lift(&mut self, reason: &str) {
        for (number, said) in self.said.iter_mut().enumerate() {
            let was_lifted = said.reasons.remove(reason);
            said.hidden &= !said.reasons.is_empty();
            if !was_lifted || !said.reasons.is_empty() {
                continue;
            }
            if let (Some(joins), Some(session)) = (self.joins.remove(&number), &said.session) {
                self.sessions.get_mut(session).unwrap().parties.insert(joins);
            }
        }
    }

    fn approve(&mut self, number: usize) {
        let said = &mut self.said[number];
        said.reasons.remove("a person");
        said.hidden &= !said.reasons.is_empty();
        if said.reasons.is_empty()
            && let (Some(joins), Some(session)) = (self.joins.remove(&number), &said.session)
        {
            self.sessions.get_mut(session).unwrap().parties.insert(joins);
        }
    }

    fn release(&mut self, id: &str) {
        let session = self.sessions.get_mut(id).unwrap();
        (session.halted, session.stops) = (false, BTreeSet::new());
        let (blocked, outsiders) = (std::mem::take(&mut session.blocked), std::mem::take(&mut session.outsiders));
        for who in outsiders.into_iter().filter(|who| !session.parties.contains(who) && !blocked.contains(who)) {
            self.told.entry(who).or_default().1 += 1;
        }
        for said in self.said.iter_mut().filter(|said| said.halted.as_deref() == Some(id)) {
            said.halted = None;
        }
        self.lift(id);
    }

    /// What waits for somebody, and what is held.
    fn told(&self) -> (BTreeMap<&'static str, BTreeSet<u64>>, BTreeSet<u64>) {
        let free = |said: &&Said| said.reasons.is_empty();
        let waits = |who| self.said.iter().filter(free).filter(move |said| said.waiting.contains(who));
        let mailboxes = NAMES.map(|who| (who, waits(who).map(|said| said.position).collect()));
        let held = self.said.iter().filter(|said| !said.reasons.is_empty()).map(|said| said.position);
        (mailboxes.into(), held.collect())
    }
}

/// The same as the exchange has it, of what agents said.
fn found(desk: &Desk, model: &Model) -> (BTreeMap<&'static str, BTreeSet<u64>>, BTreeSet<u64>) {
    let ours: BTreeSet<u64> = model.said.iter().map(|said| said.position).collect();
    let waits = |who: &str| desk.state.mailbox(who).unwrap().after(None).map(|item| item.message);
    let mailboxes = NAMES.map(|who| (who, waits(who).filter(|message| ours.contains(message)).collect()));
    let held = desk.state.rules().holds.iter().map(|(message, _)| message);
    (mailboxes.into(), held.collect())
}

/// How often those outside were told, as the exchange has it.
fn told(desk: &Desk) -> BTreeMap<&'static str, (usize, usize)> {
    let all = NAMES.map(|who| {
        let told = desk.told(who);
        let count = |words: &str| told.iter().filter(|told| told["content"].as_str().unwrap().contains(words)).count();
        (who, (count("reaches what you have taken"), count("lets go on what the halt stopped")))
    });
    all.into_iter().filter(|(_, told)| *told != (0, 0)).collect()
}

fn members(desk: &Desk, model: &Model, words: &Words, leads: &Leads) -> Value {
    let mut members = json!({});
    if let Some(to) = words.to {
        members["receiver"] = json!(NAMES[to]);
    }
    if let Some(session) = &leads.session {
        members["session_id"] = json!(session);
    }
    if !leads.names.is_empty() {
        let names: Vec<_> = leads.names.iter().map(|named| format!("MSG-{named}")).collect();
        members["refers_to"] = json!(names);
    }
    if !leads.rests.is_empty() {
        let sources: Vec<_> = leads.rests.iter().map(|named| desk.digest(model.said[*named].position)).collect();
        members["provenance"] = json!(sources);
    }
    if words.blocks || words.for_review {
        members["safety"] = json!({"level": if words.blocks { "block" } else { "review" }});
    }
    members
}

/// Queries, which wait only where their sender asks for it.
fn say(desk: &mut Desk, model: &mut Model, words: &Words) -> Result<(), TestCaseError> {
    let pick = |index: &prop::sample::Index| (!model.said.is_empty()).then(|| index.index(model.said.len()));
    let session = words.session.map(|number| format!("S-{number}"));
    let (names, rests) = (words.names.iter().filter_map(pick).collect(), words.rests.iter().filter_map(pick).collect());
    let leads = Leads { session, names, rests };
    // What is held leads nowhere for anybody but its sender, who alone knows of it.
    let is_known = |named: &usize| {
        let earlier = &model.said[*named];
        earlier.from == NAMES[words.from] || !earlier.hidden
    };
    let mut known = leads.clone();
    known.names.retain(is_known);
    known.rests.retain(is_known);
    let refused = model.refuses(words, &known);
    let id = format!("MSG-{}", model.said.len());
    let verdict = desk.say("query", NAMES[words.from], &id, &members(desk, model, words, &leads));
    match &verdict {
        Verdict::Refused(rejection) => prop_assert_eq!(Some(rejection.code()), refused, "{:?}", words),
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } => {
            prop_assert_eq!(None, refused, "{:?}", words);
            prop_assert_eq!(matches!(verdict, Verdict::Held { .. }), words.for_review);
            model.say(*position, words, known);
        }
        Verdict::Duplicate { .. } => panic!("no duplicates: {words:?}"),
    }
    Ok(())
}

fn step(desk: &mut Desk, model: &mut Model, step: &Step) -> Result<(), TestCaseError> {
    match step {
        Step::Say(words) => say(desk, model, words)?,
        Step::Release { which } => {
            let halted: Vec<_> =
                model.sessions.iter().filter(|(_, one)| one.halted).map(|(id, _)| id.clone()).collect();
            if !halted.is_empty() {
                let session = halted[which.index(halted.len())].clone();
                let order = Order::Release { session: session.clone(), why: "fine".to_owned() };
                desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() });
                model.release(&session);
            }
        }
        Step::Approve { which } => {
            let waits = |(_, said): &(usize, &Said)| said.reasons.contains("a person");
            let held: Vec<_> = model.said.iter().enumerate().filter(waits).map(|(number, _)| number).collect();
            if !held.is_empty() {
                let number = held[which.index(held.len())];
                let message = model.said[number].position;
                let (says, digest, why) = (Says::Approve, desk.digest(message), "fine".to_owned());
                let order = Box::new(Directive::Review(Review { message, says, digest, why }));
                desk.ask(Input::Order { order, who: Who::operator() });
                model.approve(number);
            }
        }
        Step::Ack { who } => {
            let (agent, positions) = (NAMES[*who], desk.waiting(NAMES[*who]));
            let who = Who::Agent(agent.to_owned());
            desk.ask(Input::Acknowledge { agent: agent.to_owned(), up_to: None, positions, who });
            for said in model.said.iter_mut().filter(|said| said.reasons.is_empty()) {
                said.waiting.remove(agent);
            }
        }
        // Only what was taken before is not in these bytes, and no id comes twice here.
        Step::Restart => desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap(),
    }
    desk.passes(Duration::ZERO);
    Ok(())
}

fn words() -> impl Strategy<Value = Words> {
    let names = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
    let rests = prop::option::weighted(0.2, any::<prop::sample::Index>());
    let session = prop::option::weighted(0.7, 0..3usize);
    let ends = (0..4usize, 1..4usize, prop::bool::weighted(0.8));
    (ends, session, names, rests, 0..8u8).prop_map(|((from, step, to_one), session, names, rests, how)| Words {
        from,
        to: (to_one || session.is_none()).then_some((from + step) % 4),
        session,
        names,
        rests,
        blocks: how == 0,
        for_review: how == 1,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = prop_oneof![
        12 => words().prop_map(Step::Say),
        2 => any::<prop::sample::Index>().prop_map(|which| Step::Release { which }),
        1 => any::<prop::sample::Index>().prop_map(|which| Step::Approve { which }),
        2 => (0..4usize).prop_map(|who| Step::Ack { who }),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(one, 0..60)
}

proptest! {
    #[test]
    fn halts_go_as_the_model_says(steps in steps()) {
        let mut desk = Desk::new();
        for name in NAMES {
            desk.agent(name);
        }
        let mut model = Model::default();
        for one in &steps {
            step(&mut desk, &mut model, one)?;
            prop_assert_eq!(found(&desk, &model), model.told(), "after {:?}", one);
        }
        prop_assert_eq!(told(&desk), model.told);
        folds(&desk);
    }
}
