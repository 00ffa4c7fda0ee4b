//! What a message names (VLP III).

use crate::desk::{Desk, accepted, refused};
use crate::vlp::{held, three};
use legation_exchange::rules::Change;
use legation_exchange::rules::vlp::{self, Target};
use legation_protocol::Code;
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
    accepted(&desk.say("evidence", "ann", "MSG-7", &refer("MSG-6")));
    assert_eq!(refused(&desk.say("evidence", "ann", "MSG-8", &refer("MSG-7"))), Code::Cycle);
    accepted(&desk.say("evidence", "ann", "MSG-9", &refer("MSG-7")));
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
