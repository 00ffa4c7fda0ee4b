//! What becomes of work once it was handed over again: whoever asked can still take it back, whoever has it answers by the
//! exchange, and is told in its own dialect when nobody waits any more.

use super::again::{crowd, to};
use super::cancelled::cancel;
use super::{EXCHANGE, inbox, last, name, request, sent};
use crate::desk::{accepted, by, refused};
use crate::tasks::house::{folds_again, order, state};
use legation_exchange::Who;
use legation_exchange::rules::acl::Stage;
use legation_protocol::Code;
use std::time::Duration;

#[test]
fn what_went_to_another_is_taken_back_from_whoever_was_asked_first_or_from_the_exchange() {
    for receiver in ["analyst", EXCHANGE] {
        for worker in ["clerk", "seer"] {
            let mut desk = crowd();
            desk.policy.extended_acl = true;
            let talk = sent(&mut desk, "ide", &request(1, "analyst"));
            let id = format!("legation-{talk}");
            accepted(&order(&mut desk, &id, to(worker), Who::operator()));
            let (asked, before) = (name(&last(&desk, worker)), desk.waiting("analyst"));
            assert_eq!(refused(&desk.send(&cancel("observer"), by("ide"))), Code::NotAParty);
            sent(&mut desk, "ide", &cancel(receiver));
            assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Cancelled);
            state(&desk, &id, "closed");
            let told = last(&desk, worker);
            if worker == "seer" {
                assert_eq!((told["topic"].as_str(), &told["refers_to"]), (Some("task_cancelled"), &asked.into()));
            } else {
                assert_eq!((told["type"].as_str(), &told["task_id"]), (Some("message"), &id.into()));
            }
            assert_eq!(inbox(&desk, worker).len(), 2, "{worker} is told once");
            assert_eq!(desk.waiting("analyst"), before, "who has it no more knows that already");
            desk.passes(Duration::from_hours(1000));
            assert!(inbox(&desk, "ide").is_empty(), "nobody is told of a failure");
            folds_again(&desk);
        }
    }
}

#[test]
fn nothing_is_taken_back_from_the_exchange_that_it_has_not_asked_for() {
    let mut desk = crowd();
    desk.policy.extended_acl = true;
    let talk = sent(&mut desk, "ide", &request(1, "coder"));
    assert_eq!(refused(&desk.send(&cancel(EXCHANGE), by("ide"))), Code::NotAParty);
    assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Requested);
}
