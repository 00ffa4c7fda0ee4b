//! What goes on from what a `block` halted, over however many others: nobody goes on from that either, and whoever has
//! taken it is told (VLP VI, rule 4).

use crate::desk::{Desk, accepted, by, refused};
use crate::references::let_many_go_by;
use crate::talks::folds;
use crate::vlp::{held, said, three};
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::{Change, vlp};
use legation_exchange::{Directive, Effect, Entry, Erasure, Input, Registration, State, Verdict, Who, spans};
use legation_protocol::Code;
use legation_protocol::vlp::Gate;
use serde_json::{Value, json};
use std::time::Duration;

fn within(session: &str, to: &str) -> Value {
    json!({"session_id": session, "receiver": to})
}

/// To somebody outside sessions, naming this.
fn naming(to: &str, named: &str) -> Value {
    json!({"receiver": to, "refers_to": named})
}

fn block(desk: &mut Desk, id: &str, session: &str) -> u64 {
    let block = json!({"safety": {"level": "block"}, "receiver": "bob", "session_id": session});
    accepted(&desk.say("notice", "ann", id, &block))
}

fn release(desk: &mut Desk, session: &str) {
    let order = vlp::Order::Release { session: session.to_owned(), why: "looked at it".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() }));
    desk.passes(Duration::ZERO);
}

fn read_all(desk: &mut Desk, who: &str) {
    let (agent, positions) = (who.to_owned(), desk.waiting(who));
    desk.ask(Input::Acknowledge { agent, up_to: None, positions, who: Who::Agent(who.to_owned()) });
}

/// Ann and bob speak in S-1. Bob goes on from that with cat outside it, and cat with dan from that, who goes on too.
fn built() -> Desk {
    let mut desk = three();
    desk.agent("dan");
    accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
    accepted(&desk.say("query", "bob", "MSG-B", &naming("cat", "MSG-A")));
    accepted(&desk.say("query", "cat", "MSG-C", &naming("dan", "MSG-B")));
    accepted(&desk.say("query", "dan", "MSG-D", &naming("cat", "MSG-C")));
    desk
}

/// Whether somebody may go on from this.
fn goes_on(desk: &mut Desk, named: &str) -> bool {
    let number = desk.record.len();
    let verdict = desk.say("query", "cat", &format!("ASK-{number}"), &naming("dan", named));
    if let Verdict::Refused(rejection) = &verdict {
        assert_eq!(rejection.code(), Code::Halted, "{named}: {rejection}");
        return false;
    }
    accepted(&verdict);
    true
}

#[test]
fn nobody_goes_on_from_what_names_something_halted_over_however_many_others() {
    let mut desk = built();
    block(&mut desk, "MSG-X", "S-1");
    for named in ["MSG-A", "MSG-B", "MSG-C", "MSG-D"] {
        assert!(!goes_on(&mut desk, named), "{named}");
    }
    // A start begins with the same.
    desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert!(!goes_on(&mut desk, "MSG-D"));
    release(&mut desk, "S-1");
    for named in ["MSG-A", "MSG-B", "MSG-C", "MSG-D"] {
        assert!(goes_on(&mut desk, named), "{named}");
    }
    folds(&desk);
}

#[test]
fn who_names_several_is_refused_for_one_that_goes_on_from_something_halted() {
    let mut desk = built();
    accepted(&desk.say("claim", "cat", "MSG-1", &json!({"receiver": "dan"})));
    block(&mut desk, "MSG-X", "S-1");
    let both = json!({"receiver": "dan", "refers_to": ["MSG-1", "MSG-D"]});
    assert_eq!(refused(&desk.say("query", "cat", "MSG-2", &both)), Code::Halted);
}

#[test]
fn what_else_is_named_by_what_goes_on_from_something_halted_is_not_halted() {
    let mut desk = three();
    desk.agent("dan");
    accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
    accepted(&desk.say("claim", "dan", "MSG-0", &within("S-2", "cat")));
    let both = json!({"session_id": "S-3", "receiver": "cat", "refers_to": ["MSG-A", "MSG-0"]});
    accepted(&desk.say("query", "bob", "MSG-B", &both));
    accepted(&desk.say("query", "bob", "MSG-1", &within("S-3", "cat")));
    block(&mut desk, "MSG-X", "S-1");
    assert!(!goes_on(&mut desk, "MSG-B"));
    assert!(goes_on(&mut desk, "MSG-0") && goes_on(&mut desk, "MSG-1"));
    // Nor is the session it was said in.
    accepted(&desk.say("query", "cat", "MSG-2", &within("S-3", "bob")));
    accepted(&desk.say("query", "dan", "MSG-3", &within("S-2", "cat")));
}

#[test]
fn nobody_rests_on_what_goes_on_from_something_halted() {
    let mut desk = built();
    let sources = |desk: &Desk, position: u64| {
        let digest = desk.digest(position);
        [json!(digest), json!({"ref": digest, "kind": "hash"}), json!({"ref": desk.id(position), "hash": digest})]
    };
    let last = desk.state.next() - 1;
    block(&mut desk, "MSG-X", "S-1");
    for source in sources(&desk, last) {
        let claim = json!({"receiver": "dan", "provenance": [source]});
        assert_eq!(refused(&desk.say("claim", "cat", "CLM-1", &claim)), Code::Halted, "{source}");
    }
    // Its name alone may be anything's.
    let position = accepted(&desk.say("claim", "cat", "CLM-1", &json!({"receiver": "dan", "provenance": ["MSG-D"]})));
    assert_eq!(desk.found(position), ["evidence_unverified"]);
    assert_eq!(desk.beside(position).metrics.unwrap().gate(), Gate::Review);
}

#[test]
fn nobody_goes_on_from_what_rests_on_something_halted_with_its_hash() {
    let mut desk = three();
    desk.agent("dan");
    let first = accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
    let by_hash = json!({"receiver": "cat", "provenance": [desk.digest(first)]});
    let second = accepted(&desk.say("claim", "bob", "MSG-B", &by_hash));
    let beside = json!({"receiver": "dan", "provenance": [{"ref": "MSG-B", "hash": desk.digest(second)}]});
    accepted(&desk.say("claim", "cat", "MSG-C", &beside));
    // A name leads nowhere by itself.
    accepted(&desk.say("claim", "cat", "MSG-1", &json!({"receiver": "dan", "provenance": ["MSG-A"]})));
    block(&mut desk, "MSG-X", "S-1");
    assert!(!goes_on(&mut desk, "MSG-B") && !goes_on(&mut desk, "MSG-C"));
    assert!(goes_on(&mut desk, "MSG-1"));
    folds(&desk);
}

#[test]
fn releasing_one_halt_frees_nothing_that_another_stops() {
    let mut desk = three();
    desk.agent("dan");
    for (id, session) in [("MSG-A", "S-1"), ("MSG-0", "S-2")] {
        accepted(&desk.say("claim", "ann", id, &within(session, "bob")));
    }
    accepted(&desk.say("query", "bob", "MSG-B", &naming("cat", "MSG-A")));
    let both = json!({"receiver": "dan", "refers_to": ["MSG-B", "MSG-0"]});
    accepted(&desk.say("query", "bob", "MSG-C", &both));
    let last = accepted(&desk.say("query", "dan", "MSG-D", &naming("cat", "MSG-C")));
    for first in ["S-1", "S-2"] {
        let other = if first == "S-1" { "S-2" } else { "S-1" };
        block(&mut desk, &format!("{first}-X"), first);
        block(&mut desk, &format!("{first}-Y"), other);
        assert!(!goes_on(&mut desk, "MSG-D"));
        assert_eq!(desk.state.rules().holds.get(last).unwrap().reasons.len(), 2);
        release(&mut desk, first);
        assert!(!goes_on(&mut desk, "MSG-C") && !goes_on(&mut desk, "MSG-D"), "{other} stops them");
        assert_eq!(goes_on(&mut desk, "MSG-B"), first == "S-1", "it has to do with one alone");
        assert!(desk.state.rules().holds.get(last).is_some());
        release(&mut desk, other);
        assert!(goes_on(&mut desk, "MSG-B") && goes_on(&mut desk, "MSG-C") && goes_on(&mut desk, "MSG-D"));
        assert!(desk.state.rules().holds.get(last).is_none());
    }
    folds(&desk);
}

#[test]
fn what_was_halted_with_something_stays_so_however_much_is_said_since() {
    let mut desk = built();
    let block = block(&mut desk, "MSG-X", "S-1");
    let bystander = accepted(&desk.say("claim", "cat", "MSG-9", &json!({"receiver": "dan"})));
    assert!(bystander > block);
    let_many_go_by(&mut desk);
    desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap();
    let last = said("query", "cat", "ASK-1", &naming("dan", "MSG-D"));
    // What lies so far back is looked up in the index.
    assert_eq!(refused(&desk.send(&last, by("cat"))), Code::Halted);
    release(&mut desk, "S-1");
    accepted(&desk.send(&last, by("cat")));
}

#[test]
fn what_is_halted_later_reaches_as_far_back_as_messages_are_known() {
    let mut desk = built();
    accepted(&desk.say("claim", "cat", "MSG-9", &json!({"receiver": "dan"})));
    let_many_go_by(&mut desk);
    block(&mut desk, "MSG-X", "S-1");
    assert!(!goes_on(&mut desk, "MSG-A"), "it was said in the session");
    assert!(goes_on(&mut desk, "MSG-B"), "nobody knows any more what it names");
}

#[test]
fn what_is_held_refused_or_erased_leads_on_as_before() {
    for what in ["held", "refused", "erased"] {
        let mut desk = three();
        desk.agent("dan");
        accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
        let review = json!({"receiver": "cat", "refers_to": "MSG-A", "safety": {"level": "review"}});
        let waits = held(&desk.say("query", "bob", "MSG-B", &review));
        accepted(&desk.say("query", "bob", "MSG-C", &naming("dan", "MSG-B")));
        let (says, digest, why) = (Says::Refuse, desk.digest(waits), "no".to_owned());
        let directive = Directive::Review(Review { message: waits, says, digest, why });
        match what {
            "refused" => drop(desk.ask(Input::Order { order: Box::new(directive), who: Who::operator() })),
            "erased" => erase(&mut desk, waits),
            _ => {}
        }
        block(&mut desk, "MSG-X", "S-1");
        assert!(!goes_on(&mut desk, "MSG-C"), "{what}");
        // Cat does not know of what is held, or was, erased or not: to her it is like a message that nobody sent.
        assert!(goes_on(&mut desk, "MSG-B"), "{what}");
        release(&mut desk, "S-1");
        assert!(goes_on(&mut desk, "MSG-C"), "{what}");
        if what == "held" {
            assert!(desk.state.rules().holds.get(waits).is_some(), "it waits for a person still");
        }
    }
}

fn erase(desk: &mut Desk, position: u64) {
    let erasure = Erasure { positions: spans([position]), undelivered: true, ..Erasure::default() };
    accepted(&desk.ask(Input::Erase { erasure: Box::new(erasure), who: Who::operator() }));
}

#[test]
fn what_reached_nobody_and_goes_on_from_something_halted_is_not_sent_again() {
    let mut desk = built();
    let letter = desk.waiting("dan")[0];
    desk.passes(desk.policy.time_to_live);
    block(&mut desk, "MSG-X", "S-1");
    let resend = |desk: &mut Desk| {
        let (agent, who) = ("dan".to_owned(), Who::Agent("dan".to_owned()));
        desk.ask(Input::Resend { agent, positions: vec![letter], who })
    };
    assert_eq!(refused(&resend(&mut desk)), Code::Halted);
    release(&mut desk, "S-1");
    accepted(&resend(&mut desk));
}

#[test]
fn a_block_that_goes_on_from_something_halted_later_is_delivered_and_sent_again() {
    let mut desk = built();
    let stop = json!({"safety": {"level": "block"}, "receiver": "dan", "refers_to": "MSG-C"});
    let early = accepted(&desk.say("notice", "cat", "MSG-S", &stop));
    block(&mut desk, "MSG-X", "S-1");
    assert!(desk.waiting("dan").contains(&early));
    // What it halted is released, and it goes on from something halted still.
    release(&mut desk, &format!("message {early}"));
    assert!(!goes_on(&mut desk, "MSG-S") && !goes_on(&mut desk, "MSG-C"));
    release(&mut desk, "S-1");
    assert!(goes_on(&mut desk, "MSG-S"));
    let again = accepted(&desk.say("notice", "cat", "MSG-T", &stop));
    desk.passes(desk.policy.time_to_live);
    block(&mut desk, "MSG-Y", "S-1");
    let (agent, who) = ("dan".to_owned(), Who::Agent("dan".to_owned()));
    accepted(&desk.ask(Input::Resend { agent, positions: vec![again], who }));
}

/// What the exchange said to somebody.
fn told(desk: &Desk, who: &str) -> Vec<String> {
    desk.told(who).into_iter().map(|told| told["content"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn who_has_taken_what_goes_on_from_something_halted_is_told_and_told_when_it_goes_on() {
    let mut desk = built();
    let (to_cat, to_dan) = (desk.waiting("cat"), desk.waiting("dan"));
    read_all(&mut desk, "cat");
    let block = block(&mut desk, "MSG-X", "S-1");
    // Dan has not taken it, and does not get it now; ann and bob have a part in the session.
    assert_eq!(told(&desk, "dan"), Vec::<String>::new());
    assert!(desk.waiting("dan").is_empty());
    let [halted] = &told(&desk, "cat")[..] else { panic!("one notice") };
    assert!(halted.contains(&format!("began with the message in entry {block} reaches")), "{halted}");
    assert!(halted.contains(&format!("in entries {}, {}", to_cat[0], to_cat[1])), "{halted}");
    assert!(!halted.contains("S-1") && !halted.contains("ann"), "not for cat to know: {halted}");
    release(&mut desk, "S-1");
    let [_, released] = &told(&desk, "cat")[..] else { panic!("two notices") };
    assert!(
        released.contains(&format!("lets go on what the halt stopped that began with the message in entry {block}")),
        "{released}"
    );
    assert!(!released.contains("S-1"), "{released}");
    assert_eq!(told(&desk, "dan"), Vec::<String>::new());
    let waits = desk.state.mailbox("dan").unwrap().after(None).map(|item| item.message).collect::<Vec<_>>();
    assert_eq!(waits, to_dan, "it goes on");
    folds(&desk);
}

#[test]
fn nobody_outside_is_told_of_one_halt_twice() {
    let mut desk = three();
    desk.agent("dan");
    for id in ["MSG-1", "MSG-2"] {
        accepted(&desk.say("claim", "ann", id, &json!({"receiver": "bob"})));
        accepted(&desk.say("query", "bob", &format!("{id}-B"), &naming("dan", id)));
    }
    read_all(&mut desk, "dan");
    // What one sender blocks outside sessions is one halt.
    let mut first = None;
    for id in ["MSG-1", "MSG-2"] {
        let stop = json!({"safety": {"level": "block"}, "receiver": "bob", "refers_to": id});
        first = first.or(Some(accepted(&desk.say("notice", "ann", &format!("{id}-X"), &stop))));
    }
    assert_eq!(told(&desk, "dan").len(), 1);
    assert!(!goes_on(&mut desk, "MSG-1-B") && !goes_on(&mut desk, "MSG-2-B"));
    let first = first.unwrap();
    release(&mut desk, &format!("message {first}"));
    assert_eq!(told(&desk, "dan").len(), 2);
    assert!(told(&desk, "dan").iter().all(|told| told.contains(&format!("began with the message in entry {first}"))));
    // Another halt is another.
    let stop = json!({"safety": {"level": "block"}, "receiver": "bob", "refers_to": "MSG-1"});
    accepted(&desk.say("notice", "ann", "MSG-3", &stop));
    assert_eq!(told(&desk, "dan").len(), 3);
}

#[test]
fn another_of_a_name_is_told_nothing_of_what_it_never_had() {
    let mut desk = built();
    read_all(&mut desk, "cat");
    let again = |desk: &mut Desk| {
        desk.ask(Input::Remove { id: "cat".to_owned(), who: Who::operator() });
        assert_eq!(desk.register("cat", Registration::default(), Who::operator()), Ok(true));
    };
    again(&mut desk);
    block(&mut desk, "MSG-X", "S-1");
    assert_eq!(told(&desk, "cat"), Vec::<String>::new());
    release(&mut desk, "S-1");
    assert_eq!(told(&desk, "cat"), Vec::<String>::new());
    // Nor is it told that something goes on which another was told is halted.
    let mut desk = built();
    read_all(&mut desk, "cat");
    block(&mut desk, "MSG-X", "S-1");
    again(&mut desk);
    release(&mut desk, "S-1");
    assert_eq!(told(&desk, "cat").len(), 1, "that it is halted");
}

#[test]
fn all_who_have_a_part_in_another_session_are_told() {
    let mut desk = three();
    let all: Vec<_> = (0..20).map(|number| format!("out-{number:02}")).collect();
    accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
    for id in &all {
        desk.agent(id);
        accepted(&desk.say("query", "bob", &format!("MSG-{id}"), &within("S-2", id)));
    }
    accepted(&desk.say("query", "bob", "MSG-B", &json!({"session_id": "S-2", "refers_to": "MSG-A"})));
    for id in &all[1..] {
        read_all(&mut desk, id);
    }
    block(&mut desk, "MSG-X", "S-1");
    for id in &all {
        assert_eq!(told(&desk, id).len(), usize::from(*id != all[0]), "{id}");
    }
}

#[test]
fn so_many_outside_are_told_of_one_halt() {
    let mut desk = three();
    desk.agent("dan");
    accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
    let all: Vec<_> = (0..=vlp::MOST_PARTIES).map(|number| format!("out-{number}")).collect();
    for id in &all {
        desk.agent(id);
        accepted(&desk.say("query", "bob", &format!("MSG-{id}"), &naming(id, "MSG-A")));
        read_all(&mut desk, id);
    }
    let before = desk.record.len();
    block(&mut desk, "MSG-X", "S-1");
    let told = |entry: &&Entry| matches!(&entry.effect, Effect::Accepted(said) if said.proof == "exchange" && said.to[0].starts_with("out-"));
    assert_eq!(desk.record[before..].iter().filter(told).count(), vlp::MOST_PARTIES);
    assert!(desk.waiting(all.last().unwrap()).is_empty(), "those who got it first are told");
    assert!(!goes_on(&mut desk, &format!("MSG-{}", all.last().unwrap())));
}

/// About as many messages as are known, each naming this one.
fn many_name(desk: &mut Desk, named: u64, round: u64) {
    name_often(desk, named, round, (65_000, 1));
}

/// So many messages, each naming this one so often.
fn name_often(desk: &mut Desk, named: u64, round: u64, (count, often): (u64, usize)) {
    let template = desk.record[usize::try_from(named).unwrap()].clone();
    let Effect::Accepted(accepted) = &template.effect else { panic!("no message: {template:?}") };
    for number in 0..count {
        let mut accepted = accepted.clone();
        (accepted.id, accepted.thread) = (format!("MANY-{round}-{number}"), None);
        accepted.digest = format!("digest of {round} {number}");
        accepted.ruled = Box::default();
        let refers = vlp::Change::Refers { to: vec![vlp::Target::Found(named); often], amends: vec![], rests: vec![] };
        accepted.ruled.changes = vec![Change::Vlp(refers)];
        accepted.to = Vec::new();
        let entry = Entry { position: desk.state.next(), effect: Effect::Accepted(accepted), ..template.clone() };
        desk.state.apply(&entry);
        desk.record.push(entry);
    }
}

#[test]
fn a_block_follows_so_many_names_that_others_need_not_wait() {
    let mut desk = three();
    desk.agent("dan");
    let first = accepted(&desk.say("claim", "ann", "MSG-0", &within("S-0", "bob")));
    name_often(&mut desk, first, 0, (5_000, 64));
    block(&mut desk, "MSG-X", "S-0");
    assert!(!goes_on(&mut desk, "MANY-0-4000"));
    assert!(goes_on(&mut desk, "MANY-0-4999"));
}

#[test]
fn whoever_joined_later_has_not_taken_what_was_said_before() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-A", &within("S-1", "bob")));
    let early: Vec<_> = (0..10).map(|number| format!("out-{number}")).collect();
    for id in early.iter().map(String::as_str).chain(["late"]) {
        desk.agent(id);
    }
    for id in &early {
        accepted(&desk.say("query", "bob", &format!("MSG-{id}"), &within("S-2", id)));
    }
    accepted(&desk.say("query", "bob", "MSG-B", &json!({"session_id": "S-2", "refers_to": "MSG-A"})));
    for id in &early {
        read_all(&mut desk, id);
    }
    accepted(&desk.say("query", "bob", "MSG-late", &within("S-2", "late")));
    read_all(&mut desk, "late");
    block(&mut desk, "MSG-X", "S-1");
    for id in &early {
        assert_eq!(told(&desk, id).len(), 1, "{id}");
    }
    assert_eq!(told(&desk, "late").len(), 0);
}

#[test]
fn who_has_no_part_in_what_is_halted_is_not_told_its_name_when_a_letter_is_sent_again() {
    let mut desk = built();
    let letter = desk.waiting("dan")[0];
    desk.passes(desk.policy.time_to_live);
    block(&mut desk, "MSG-X", "S-1");
    let (agent, who) = ("dan".to_owned(), Who::Agent("dan".to_owned()));
    let verdict = desk.ask(Input::Resend { agent, positions: vec![letter], who });
    assert_eq!(refused(&verdict), Code::Halted);
    assert!(!format!("{verdict:?}").contains("S-1"), "{verdict:?}");
}

#[test]
fn what_one_sender_halts_reaches_so_many_messages() {
    let mut desk = three();
    desk.agent("dan");
    for (round, halts) in [(0, true), (1, true), (2, false)] {
        let session = format!("S-{round}");
        let first = accepted(&desk.say("claim", "ann", &format!("MSG-{round}"), &within(&session, "bob")));
        many_name(&mut desk, first, round);
        block(&mut desk, &format!("MSG-X-{round}"), &session);
        assert!(!goes_on(&mut desk, &format!("MANY-{round}-0")), "the first is reached in any case");
        assert_eq!(goes_on(&mut desk, &format!("MANY-{round}-64999")), !halts, "{round}");
    }
    release(&mut desk, "S-0");
    // Another's halts are not counted.
    let first = accepted(&desk.say("claim", "bob", "MSG-9", &within("S-9", "cat")));
    many_name(&mut desk, first, 9);
    let stop = json!({"safety": {"level": "block"}, "receiver": "bob", "session_id": "S-9"});
    accepted(&desk.say("notice", "cat", "MSG-X-9", &stop));
    assert!(!goes_on(&mut desk, "MANY-9-64999"));
}
