//! Halts against a model of them: whatever is said, blocked, read, approved and released in whatever order, nothing of what
//! is halted is delivered before a person lets it go on, and nothing else is taken back (VLP VI, rule 4).

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
    /// One of those said before.
    names: Option<prop::sample::Index>,
    blocks: bool,
    for_review: bool,
}

#[derive(Clone, Debug)]
struct Said {
    position: u64,
    from: &'static str,
    to: BTreeSet<&'static str>,
    session: Option<String>,
    names: Option<usize>,
    /// The session it halted, until that is released.
    halted: Option<String>,
    /// Who waits for it, and who will when nothing holds it.
    waiting: BTreeSet<&'static str>,
    reasons: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
struct Session {
    parties: BTreeSet<&'static str>,
    /// By whom, outside sessions.
    outside: Option<&'static str>,
    halted: bool,
    /// Messages outside that nobody goes on from.
    stops: BTreeSet<usize>,
}

#[derive(Clone, Debug, Default)]
struct Model {
    said: Vec<Said>,
    sessions: BTreeMap<String, Session>,
    /// Who has a part in a session once these go on.
    joins: BTreeMap<usize, &'static str>,
}

impl Model {
    fn is_halted(&self, session: &str) -> bool {
        self.sessions.get(session).is_some_and(|session| session.halted)
    }

    fn nobody_goes_on_from(&self, said: usize) -> bool {
        let stops = |session: &Session| session.halted && session.stops.contains(&said);
        self.said[said].session.as_ref().is_some_and(|own| self.is_halted(own)) || self.sessions.values().any(stops)
    }

    /// Whether one is among these, or names one that leads there.
    fn leads_to(&self, said: usize, those: &BTreeSet<usize>) -> bool {
        let mut ahead = self.said[said].names;
        while let Some(named) = ahead {
            if those.contains(&named) {
                return true;
            }
            ahead = self.said[named].names;
        }
        false
    }

    fn refuses(&self, words: &Words, session: Option<&String>, names: Option<usize>) -> Option<Code> {
        if let Some(known) = session.and_then(|id| self.sessions.get(id)) {
            if !known.parties.contains(NAMES[words.from]) {
                return Some(Code::NotAParty);
            }
            if known.halted {
                return Some(Code::Halted);
            }
        }
        names.filter(|named| self.nobody_goes_on_from(*named)).map(|_| Code::Halted)
    }

    fn recipients(&self, words: &Words, session: Option<&String>) -> BTreeSet<&'static str> {
        let from = NAMES[words.from];
        let others = || session.and_then(|id| self.sessions.get(id)).map(|known| known.parties.clone());
        let mut to = words.to.map_or_else(|| others().unwrap_or_default(), |to| BTreeSet::from([NAMES[to]]));
        to.remove(from);
        to
    }

    /// A message was taken.
    fn say(&mut self, position: u64, words: &Words, session: Option<String>, names: Option<usize>) {
        let (from, to) = (NAMES[words.from], self.recipients(words, session.as_ref()));
        let (number, mut halted) = (self.said.len(), None);
        if words.blocks {
            halted = Some(self.block(position, words, session.as_ref(), &to, names));
        }
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
        self.said.push(Said { position, from, to, session, names, halted, waiting, reasons });
    }

    /// Halts a session and what a block stops; says which session.
    fn block(
        &mut self,
        position: u64,
        words: &Words,
        session: Option<&String>,
        to: &BTreeSet<&'static str>,
        names: Option<usize>,
    ) -> String {
        let me = NAMES[words.from];
        let mine = |(_, one): &(&String, &Session)| one.halted && one.outside == Some(me);
        let before = self.sessions.iter().find(mine).map(|(id, _)| id.clone());
        let id = session.cloned().or(before).unwrap_or_else(|| format!("message {position}"));
        let has_part = |named: &usize| self.said[*named].from == me || self.said[*named].to.contains(me);
        let mut those: BTreeSet<usize> = names.filter(has_part).into_iter().collect();
        let halted = self.sessions.entry(id.clone()).or_insert_with(|| Session {
            parties: to.iter().copied().chain([me]).collect(),
            outside: session.is_none().then_some(me),
            ..Session::default()
        });
        halted.halted = true;
        halted.stops.extend(those.iter().copied().chain([self.said.len()]));
        let within = |one: &Said| session.is_some() && one.session.as_ref() == session;
        those.extend(self.said.iter().enumerate().filter(|(_, one)| within(one)).map(|(number, _)| number));
        for number in 0..self.said.len() {
            // Another block is for those it concerns, as long as it stands.
            let stands = self.said[number].halted.is_some();
            if those.contains(&number) || (self.leads_to(number, &those) && !stands) {
                let said = &mut self.said[number];
                // What was read by all it was for is on its way no more, unless it is held.
                if !said.waiting.is_empty() || !said.reasons.is_empty() {
                    said.reasons.insert(id.clone());
                }
            }
        }
        id
    }

    fn lift(&mut self, reason: &str) {
        for (number, said) in self.said.iter_mut().enumerate() {
            if !said.reasons.remove(reason) || !said.reasons.is_empty() {
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
        if said.reasons.is_empty()
            && let (Some(joins), Some(session)) = (self.joins.remove(&number), &said.session)
        {
            self.sessions.get_mut(session).unwrap().parties.insert(joins);
        }
    }

    fn release(&mut self, id: &str) {
        let session = self.sessions.get_mut(id).unwrap();
        (session.halted, session.stops) = (false, BTreeSet::new());
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

fn members(words: &Words, session: Option<&String>, names: Option<usize>) -> Value {
    let mut members = json!({});
    if let Some(to) = words.to {
        members["receiver"] = json!(NAMES[to]);
    }
    if let Some(session) = session {
        members["session_id"] = json!(session);
    }
    if let Some(named) = names {
        members["refers_to"] = json!(format!("MSG-{named}"));
    }
    if words.blocks || words.for_review {
        members["safety"] = json!({"level": if words.blocks { "block" } else { "review" }});
    }
    members
}

/// Queries, which wait only where their sender asks for it.
fn say(desk: &mut Desk, model: &mut Model, words: &Words) -> Result<(), TestCaseError> {
    let session = words.session.map(|number| format!("S-{number}"));
    let names = words.names.filter(|_| !model.said.is_empty()).map(|index| index.index(model.said.len()));
    let refused = model.refuses(words, session.as_ref(), names);
    let id = format!("MSG-{}", model.said.len());
    let verdict = desk.say("query", NAMES[words.from], &id, &members(words, session.as_ref(), names));
    match &verdict {
        Verdict::Refused(rejection) => prop_assert_eq!(Some(rejection.code()), refused, "{:?}", words),
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } => {
            prop_assert_eq!(None, refused, "{:?}", words);
            prop_assert_eq!(matches!(verdict, Verdict::Held { .. }), words.for_review);
            model.say(*position, words, session, names);
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
    let names = prop::option::weighted(0.5, any::<prop::sample::Index>());
    let session = prop::option::weighted(0.7, 0..3usize);
    let ends = (0..4usize, 1..4usize, prop::bool::weighted(0.8));
    (ends, session, names, 0..8u8).prop_map(|((from, step, to_one), session, names, how)| Words {
        from,
        to: (to_one || session.is_none()).then_some((from + step) % 4),
        session,
        names,
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
        folds(&desk);
    }
}
