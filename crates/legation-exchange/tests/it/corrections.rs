//! Whose correction counts (VLP IV).

use crate::desk::{Desk, accepted};
use crate::vlp::three;
use legation_exchange::rules::Change;
use legation_exchange::rules::vlp;
use legation_exchange::{Input, Registration, Who};
use serde_json::json;

pub(crate) fn amends(desk: &Desk, position: u64) -> Vec<u64> {
    let named = desk.beside(position).changes.iter().find_map(|change| match change {
        Change::Vlp(vlp::Change::Refers { amends, .. }) => Some(amends.clone()),
        _ => None,
    });
    named.unwrap()
}

pub(crate) fn overseen(desk: &mut Desk, id: &str, overseer: &str) {
    let manifest = json!({"id": id, "system_prompt": "x", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [], "overseer": overseer});
    let wanted = Registration { manifest: Some(manifest), ..Registration::default() };
    desk.register(id, wanted, Who::operator()).unwrap();
}

#[test]
fn the_authors_own_correction_takes_the_place_of_what_it_corrects() {
    let mut desk = three();
    let claim = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob"})));
    let correction = json!({"receiver": "bob", "refers_to": "MSG-1"});
    let position = accepted(&desk.say("correction", "ann", "COR-1", &correction));
    assert_eq!((amends(&desk, position), desk.found(position)), (vec![claim], vec![]));
}

#[test]
fn anothers_correction_is_a_dispute() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob"})));
    for who in ["bob", "cat"] {
        let correction = json!({"receiver": "ann", "refers_to": "MSG-1"});
        let position = accepted(&desk.say("correction", who, "COR-1", &correction));
        assert_eq!((amends(&desk, position), desk.found(position)), (vec![], vec!["dispute"]), "{who}");
    }
}

#[test]
fn the_overseers_correction_counts_as_the_authors() {
    let mut desk = three();
    overseen(&mut desk, "dan-1", "bob");
    let claim = accepted(&desk.say("claim", "dan-1", "MSG-1", &json!({"receiver": "cat"})));
    let correction = json!({"receiver": "cat", "refers_to": "MSG-1"});
    let position = accepted(&desk.say("correction", "bob", "COR-1", &correction));
    assert_eq!(amends(&desk, position), [claim]);
    let position = accepted(&desk.say("correction", "ann", "COR-1", &correction));
    assert_eq!(desk.found(position), ["dispute"]);
}

#[test]
fn who_has_an_authors_name_later_is_another() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob"})));
    desk.ask(Input::Remove { id: "ann".to_owned(), who: Who::operator() });
    desk.agent("ann");
    let position = accepted(&desk.say("correction", "ann", "COR-1", &json!({"receiver": "bob", "refers_to": "MSG-1"})));
    assert_eq!(desk.found(position), ["dispute"]);
}
