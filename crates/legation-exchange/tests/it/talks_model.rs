//! Conversations against a model of them: whatever is said in whatever order, a task and a query go as the
//! model says, and the record gives the same again.

use crate::desk::{Desk, by};
use crate::talks::{acl, folds};
use legation_exchange::rules::acl::Stage;
use legation_exchange::{Input, Verdict, Who};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Clone, Copy, Debug)]
enum Move {
    /// One of [`ACTS`] by one of [`NAMES`] about one of the conversations.
    Say {
        act: usize,
        from: usize,
        about: usize,
    },
    Pass {
        minutes: u64,
    },
    Remove {
        who: usize,
    },
}

const NAMES: [&str; 3] = ["Eddy", "Jules", "Mallory"];
const ACTS: [&str; 6] = ["TASK_ACCEPT", "TASK_REJECT", "INFORM_RESULT", "FAILURE", "NOT_UNDERSTOOD", "CANCEL"];
const ESTIMATE: u64 = 10;

/// What is known of one conversation of Eddy with Jules.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Model {
    is_task: bool,
    stage: Stage,
    accepted: Option<u64>,
}

impl Model {
    /// Whether one of [`NAMES`] may do this now, and where it leads: Jules answers, and Eddy takes it back.
    fn after(self, act: usize, from: usize) -> Option<Stage> {
        let open = [Stage::Requested, Stage::Asked, Stage::Accepted, Stage::Overdue];
        match (ACTS[act], NAMES[from]) {
            ("CANCEL", "Eddy") => return open.contains(&self.stage).then_some(Stage::Cancelled),
            ("CANCEL", _) | (_, "Eddy" | "Mallory") => return None,
            _ => {}
        }
        match (ACTS[act], self.is_task, self.stage) {
            ("TASK_ACCEPT", true, Stage::Requested) => Some(Stage::Accepted),
            ("TASK_REJECT", true, Stage::Requested) => Some(Stage::Rejected),
            ("NOT_UNDERSTOOD", true, Stage::Requested) | ("NOT_UNDERSTOOD", false, Stage::Asked) => {
                Some(Stage::NotUnderstood)
            }
            ("INFORM_RESULT", true, Stage::Accepted | Stage::Overdue) => Some(Stage::Result),
            ("INFORM_RESULT", false, Stage::Asked) => Some(Stage::Answered),
            ("FAILURE", true, Stage::Accepted | Stage::Overdue) | ("FAILURE", false, Stage::Asked) => {
                Some(Stage::Failed)
            }
            _ => None,
        }
    }
}

fn id(number: usize) -> String {
    format!("5b1f0c9e-3a77-4c1d-9a46-{number:012}")
}

fn payload(act: &str) -> Value {
    match act {
        "TASK_REQUEST" => json!({"task_type": "t", "task_description": "d", "task_parameters": {}}),
        "QUERY_REF" => json!({"reference": "r"}),
        "TASK_ACCEPT" => json!({"status": "accepted", "estimated_completion_time": ESTIMATE * 60}),
        "TASK_REJECT" => json!({"status": "rejected"}),
        "INFORM_RESULT" => json!({"task_status": "success", "result_summary": "s", "result_details": {"value": 1}}),
        "FAILURE" => json!({"status": "failure", "error_text": "e"}),
        "CANCEL" => json!({}),
        _ => json!({"reason_code": "parsing_error"}),
    }
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let a_move = prop_oneof![
        12 => (0..ACTS.len(), prop_oneof![8 => Just(1usize), 1 => Just(2), 1 => Just(0)], 0..4usize)
            .prop_map(|(act, from, about)| Move::Say { act, from, about }),
        3 => (0..15u64).prop_map(|minutes| Move::Pass { minutes }),
        1 => (1..3usize).prop_map(|who| Move::Remove { who }),
    ];
    prop::collection::vec(a_move, 0..40)
}

proptest! {
    #[test]
    fn conversations_go_as_the_model_says(moves in moves()) {
        let mut desk = Desk::new();
        desk.policy.extended_acl = true;
        for name in NAMES {
            desk.agent(name);
        }
        let mut models = Vec::new();
        for number in 0..4u64 {
            let (act, stage) = if number % 2 == 0 { ("TASK_REQUEST", Stage::Requested) } else { ("QUERY_REF", Stage::Asked) };
            let text = acl(act, "Eddy", "Jules", number, &payload(act), &json!({}));
            prop_assert!(matches!(desk.send(&text, by("Eddy")), Verdict::Accepted { .. }), "{text}");
            models.push(Model { is_task: number % 2 == 0, stage, accepted: None });
        }
        let (mut minute, mut jules) = (0, true);
        for (number, a_move) in (100u64..).zip(moves) {
            match a_move {
                Move::Say { act, from, about } => {
                    let to = if from == 0 { "Jules" } else { "Eddy" };
                    let more = json!({"in_reply_to": id(about)});
                    let text = acl(ACTS[act], NAMES[from], to, number, &payload(ACTS[act]), &more);
                    let verdict = desk.send(&text, by(NAMES[from]));
                    let expected = models[about].after(act, from).filter(|_| jules);
                    prop_assert_eq!(matches!(verdict, Verdict::Accepted { .. }), expected.is_some(), "{:?} {:?}", a_move, verdict);
                    if let Some(stage) = expected {
                        models[about].stage = stage;
                        models[about].accepted = (stage == Stage::Accepted).then_some(minute);
                    }
                }
                Move::Pass { minutes } => {
                    minute += minutes;
                    desk.passes(Duration::from_mins(minutes));
                }
                Move::Remove { who } => {
                    desk.ask(Input::Remove { id: NAMES[who].to_owned(), who: Who::operator() });
                    desk.passes(Duration::ZERO);
                    jules &= who != 1;
                }
            }
            for model in &mut models {
                if !jules && model.stage.is_open() {
                    model.stage = Stage::Failed;
                }
                if model.stage == Stage::Accepted && model.accepted.is_some_and(|since| minute >= since + ESTIMATE) {
                    model.stage = Stage::Overdue;
                }
            }
            for (number, model) in models.iter().enumerate() {
                let talk = desk.state.rules().acl.opened_by("Eddy", &id(number)).unwrap().1;
                prop_assert_eq!(talk.stage, model.stage, "conversation {}", number);
            }
        }
        folds(&desk);
    }
}
