//! What a message names (VLP III).

use crate::desk::{Desk, accepted, by, refused};
use crate::vlp::{held, said, three};
use legation_exchange::rules::Change;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::vlp::{self, Target, beyond};
use legation_exchange::{Directive, Earlier, Effect, Entry, Input, SpareId, Verified, Who};
use legation_protocol::{Code, Message, Received};
use serde_json::json;

/// What the message in an entry was found to name.
fn targets(desk: &Desk, position: u64) -> Vec<Target> {
    let named = desk.beside(position).changes.iter().find_map(|change| match change {
        Change::Vlp(vlp::Change::Refers { to, .. }) => Some(to.clone()),
        _ => None,
    });
    named.unwrap_or_default()
}

#[test]
fn a_name_leads_into_the_session_then_between_the_two_then_anywhere() {
    let mut desk = three();
    let anywhere = accepted(&desk.say("claim", "cat", "MSG-1", &json!({"receiver": "bob", "session_id": "S-0"})));
    let refer = |id: &str, to: &str| json!({"receiver": to, "refers_to": id, "content": "anywhere"});
    let position = accepted(&desk.say("response", "bob", "RSP-1", &refer("MSG-1", "cat")));
    assert_eq!(targets(&desk, position), [Target::Found(anywhere)]);
    let pair = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob"})));
    let position = accepted(&desk.say("response", "bob", "RSP-2", &refer("MSG-1", "ann")));
    assert_eq!(targets(&desk, position), [Target::Found(pair)]);
    let session = accepted(&desk.say("claim", "bob", "MSG-1", &json!({"receiver": "ann", "session_id": "S-1"})));
    let within = json!({"receiver": "bob", "refers_to": "MSG-1", "session_id": "S-1"});
    let position = accepted(&desk.say("response", "ann", "RSP-3", &within));
    assert_eq!(targets(&desk, position), [Target::Found(session)]);
}

#[test]
fn a_name_that_leads_to_several_is_refused() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob"})));
    accepted(&desk.say("claim", "bob", "MSG-1", &json!({"receiver": "ann"})));
    let between = json!({"receiver": "ann", "refers_to": "MSG-1"});
    assert_eq!(refused(&desk.say("response", "bob", "RSP-1", &between)), Code::AmbiguousReference);
    let anywhere = json!({"receiver": "cat", "refers_to": "MSG-1"});
    assert_eq!(refused(&desk.say("response", "bob", "RSP-1", &anywhere)), Code::AmbiguousReference);
    // As a source it is a name like another.
    accepted(&desk.say("claim", "bob", "CLM-1", &json!({"receiver": "cat", "provenance": ["MSG-1"]})));
}

#[test]
fn a_name_that_leads_nowhere_waits_for_a_person() {
    for (kind, waits) in
        [("claim", true), ("evidence", true), ("response", true), ("correction", true), ("query", false)]
    {
        let mut desk = three();
        let members = json!({"receiver": "bob", "refers_to": "MSG-404", "provenance": ["log"]});
        let verdict = desk.say(kind, "ann", "MSG-1", &members);
        let position = if waits { held(&verdict) } else { accepted(&verdict) };
        assert_eq!(desk.found(position), ["evidence_unverified"], "{kind}");
        assert_eq!(targets(&desk, position), [Target::Missing("MSG-404".to_owned())]);
    }
}

#[test]
fn references_do_not_lead_in_a_circle() {
    let refer = |id: &str| json!({"receiver": "bob", "refers_to": [id], "provenance": ["log"]});
    // Of two: the first names what is not there yet.
    let mut desk = three();
    held(&desk.say("evidence", "ann", "MSG-1", &refer("MSG-2")));
    assert_eq!(refused(&desk.say("evidence", "ann", "MSG-2", &refer("MSG-1"))), Code::Cycle);
    // Of three, made in either direction.
    held(&desk.say("evidence", "ann", "MSG-3", &refer("MSG-4")));
    held(&desk.say("evidence", "ann", "MSG-4", &refer("MSG-5")));
    assert_eq!(refused(&desk.say("evidence", "ann", "MSG-5", &refer("MSG-3"))), Code::Cycle);
    held(&desk.say("evidence", "ann", "MSG-6", &refer("MSG-8")));
    held(&desk.say("evidence", "ann", "MSG-7", &refer("MSG-6")));
    assert_eq!(refused(&desk.say("evidence", "ann", "MSG-8", &refer("MSG-7"))), Code::Cycle);
    held(&desk.say("evidence", "ann", "MSG-9", &refer("MSG-7")));
}

#[test]
fn a_message_names_a_bounded_number_of_others() {
    let mut desk = three();
    let names: Vec<_> = (0..65).map(|number| format!("MSG-{number}")).collect();
    let members = |names: &[String]| json!({"receiver": "bob", "refers_to": names});
    assert_eq!(refused(&desk.say("claim", "ann", "CLM-1", &members(&names))), Code::OutOfRange);
    held(&desk.say("claim", "ann", "CLM-1", &members(&names[..64])));
}

#[test]
fn what_was_said_in_anothers_session_is_no_ground_to_stand_on() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    let refer = json!({"receiver": "bob", "refers_to": "MSG-1"});
    let position = held(&desk.say("claim", "cat", "MSG-2", &refer));
    assert_eq!(desk.reasons(position), ["capability_denied"]);
    assert_eq!(desk.beside(position).metrics.unwrap().depth(), 3, "intent, constraints, memory");
}

/// Who owns one session at most has begun another: the first is forgotten.
fn forgotten() -> (Desk, u64) {
    let mut desk = three();
    desk.policy.shares.sessions = 1;
    let old = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-2"})));
    assert!(desk.state.rules().vlp.sessions.get("S-1").is_none());
    (desk, old)
}

#[test]
fn a_session_of_the_same_name_makes_nothing_of_the_one_before_its_own() {
    let (mut desk, old) = forgotten();
    let refer = json!({"receiver": "bob", "session_id": "S-1", "refers_to": "MSG-1", "provenance": ["log"]});
    // The first of a session has nothing in it to name, and several elsewhere.
    assert_eq!(refused(&desk.say("evidence", "cat", "EVD-1", &refer)), Code::AmbiguousReference);
    accepted(&desk.say("claim", "cat", "MSG-2", &json!({"receiver": "bob", "session_id": "S-1"})));
    assert_eq!(refused(&desk.say("evidence", "cat", "EVD-1", &refer)), Code::AmbiguousReference);
    // Its own of that id is the one, once there is one.
    let own = accepted(&desk.say("claim", "bob", "MSG-1", &json!({"receiver": "cat", "session_id": "S-1"})));
    let position = accepted(&desk.say("evidence", "cat", "EVD-1", &refer));
    assert_eq!(targets(&desk, position), [Target::Found(own)]);
    assert_ne!(own, old);
}

#[test]
fn what_was_said_in_a_forgotten_session_is_for_those_who_said_or_got_it() {
    let mut desk = three();
    desk.policy.shares.sessions = 1;
    let old = accepted(&desk.say("claim", "ann", "OLD-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-2"})));
    let refer = |to: &str| json!({"receiver": to, "refers_to": "OLD-1"});
    for round in 0..2 {
        let position = held(&desk.say("claim", "cat", &format!("CLM-{round}"), &refer("bob")));
        assert_eq!(
            (targets(&desk, position), desk.reasons(position)),
            (vec![Target::Found(old)], vec!["capability_denied"])
        );
        accepted(&desk.say("claim", "bob", &format!("CLM-{round}"), &refer("cat")));
        // Another session of that name makes cat no party to the one before.
        accepted(&desk.say("claim", "cat", &format!("NEW-{round}"), &json!({"receiver": "bob", "session_id": "S-1"})));
    }
}

#[test]
fn a_halt_is_of_the_session_that_has_the_name_now() {
    let (mut desk, old) = forgotten();
    let block = json!({"receiver": "bob", "session_id": "S-1", "safety": {"level": "block"}});
    accepted(&desk.say("notice", "cat", "MSG-9", &block));
    assert!(desk.waiting("bob").contains(&old), "what is on its way of the one before goes on");
    let refer = json!({"receiver": "ann", "refers_to": "MSG-1", "session_id": "S-2"});
    accepted(&desk.say("response", "bob", "RSP-1", &refer));
}

/// Lets so many messages go by that the state knows none of those before.
pub(crate) fn let_many_go_by(desk: &mut Desk) {
    let template = desk.record.last().unwrap().clone();
    let Effect::Accepted(accepted) = &template.effect else { panic!("no message: {template:?}") };
    for number in 0..65_536u64 {
        let mut accepted = accepted.clone();
        accepted.id = format!("MANY-{number}");
        accepted.digest = format!("digest of {number}");
        accepted.ruled = Box::default();
        let entry = Entry { position: desk.state.next(), effect: Effect::Accepted(accepted), ..template.clone() };
        desk.state.apply(&entry);
        desk.record.push(entry);
    }
}

#[test]
fn what_lies_far_back_is_looked_up_and_handed_over() {
    let mut desk = three();
    let claim = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    let members = json!({"receiver": "ann", "session_id": "S-1", "refers_to": "MSG-1", "provenance": ["log"]});
    let text = said("evidence", "bob", "EVD-1", &members);
    let received = Received::read(text.as_bytes()).unwrap();
    let Message::Vlp(message) = received.message().clone() else { panic!("no VLP") };
    assert_eq!(beyond(&desk.state, &message), None, "the state knows it");
    let_many_go_by(&mut desk);
    let wanted = beyond(&desk.state, &message).unwrap();
    assert_eq!(
        (wanted.ids, wanted.sources, wanted.up_to),
        (vec!["MSG-1".to_owned()], vec!["log".to_owned()], Some(claim))
    );
    let between = Some(["bob".to_owned(), "ann".to_owned()]);
    assert_eq!((wanted.session, wanted.between), (Some(("S-1".to_owned(), claim)), between));
    let Effect::Accepted(taken) = desk.record[usize::try_from(claim).unwrap()].effect.clone() else {
        panic!("no message")
    };
    let found = vec![Earlier { position: claim, accepted: taken, body: None }];
    let spare_id = SpareId::Fresh("spare".to_owned());
    let verified = Verified {
        received,
        proof: by("bob"),
        spare_id,
        trace: None,
        found,
        searched: None,
        opinion: None,
        scanned: vec![],
    };
    let position = accepted(&desk.ask(Input::Message(Box::new(verified))));
    assert_eq!(targets(&desk, position), [Target::Found(claim)]);
}

#[test]
fn hashes_that_the_state_does_not_know_are_looked_up() {
    let desk = three();
    let hash = format!("sha256:{}", "ab".repeat(32));
    let members = json!({"provenance": [hash, {"ref": "https://h/x", "hash": hash.to_uppercase()}, {"ref": "no", "kind": "hash"}]});
    let received = Received::read(said("claim", "ann", "MSG-1", &members).as_bytes()).unwrap();
    let Message::Vlp(message) = received.message() else { panic!("no VLP") };
    assert_eq!(beyond(&desk.state, message).unwrap().digests, [hash]);
}

#[test]
fn what_a_person_refused_or_has_not_seen_yet_is_no_ground_to_stand_on() {
    // VLP X: a claim rests on what others have.
    let mut desk = three();
    let sure = json!({"receiver": "bob", "confidence": 0.99, "safety": {"level": "review"}});
    let first = held(&desk.say("claim", "ann", "MSG-1", &sure));
    let digest = desk.digest(first);
    let sources = [json!(["MSG-1"]), json!([digest]), json!([{"ref": "MSG-1", "hash": digest}])];
    for (round, refuse) in [(2, false), (3, true)] {
        if refuse {
            let review = Review { message: first, says: Says::Refuse, digest: digest.clone(), why: "no".to_owned() };
            accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
        }
        for (number, source) in sources.iter().enumerate() {
            let members = json!({"receiver": "bob", "confidence": 0.99, "provenance": source});
            let position = held(&desk.say("claim", "ann", &format!("MSG-{round}{number}"), &members));
            assert!(desk.reasons(position).contains(&"evidence_unverified"), "{source}");
        }
        let members = json!({"receiver": "bob", "refers_to": "MSG-1"});
        let position = held(&desk.say("claim", "ann", &format!("MSG-{round}9"), &members));
        assert!(desk.reasons(position).contains(&"evidence_unverified"));
    }
}
