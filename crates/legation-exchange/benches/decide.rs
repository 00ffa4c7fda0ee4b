//! What a decision costs with all rules on: 10,000 agents in families of ten, and 100,000 open tasks.
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark"
)]

use legation_exchange::{
    Decision, Input, Moment, Policy, Proof, Quotas, Registration, SpareId, State, TokenHash, Verdict, Verified, Who,
    decide,
};
use legation_protocol::Received;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const AGENTS: usize = 10_000;
const TASKS: usize = 100_000;
const DECISIONS: usize = 20_000;
/// Messages come to be decided some at a time, just read.
const BATCH: usize = 50;

struct Desk {
    state: State,
    policy: Policy,
    now: Moment,
}

impl Desk {
    fn ask(&mut self, input: Input) -> Verdict {
        self.now = self.now.plus(Duration::from_micros(50));
        let Decision { verdict, entries } = decide(&self.state, &self.policy, input, &[], self.now);
        for entry in &entries {
            self.state.apply(entry);
        }
        if let Verdict::Refused(why) = &verdict {
            panic!("{why}");
        }
        verdict
    }

    fn register(&mut self, id: &str, wanted: Value, number: usize) {
        let registration = Box::new(serde_json::from_value::<Registration>(wanted).unwrap());
        let mut token = [0; 32];
        token[..8].copy_from_slice(&(number as u64).to_le_bytes());
        self.ask(Input::Register { id: id.to_owned(), registration, who: Who::operator(), token: TokenHash(token) });
    }
}

fn agent(number: usize) -> String {
    format!("agent-{:05}", number % AGENTS)
}

fn message(text: &Value, who: Who) -> Input {
    let received = Received::read(text.to_string().into_bytes()).unwrap();
    let proof = Proof::Bearer(who);
    Input::Message(Box::new(Verified {
        received,
        proof,
        spare_id: SpareId::Fresh("x".to_owned()),
        trace: None,
        found: vec![],
        searched: None,
        opinion: None,
        scanned: vec![],
    }))
}

fn house() -> Desk {
    let now = Moment::from_micros(1_771_151_400_000_000);
    let mut desk =
        Desk { state: State::deciding(), policy: Policy { quotas: Quotas::UNLIMITED, ..Policy::default() }, now };
    for number in 0..AGENTS {
        let parent = (number % 10 != 0).then(|| agent(number - number % 10));
        desk.register(&agent(number), json!({ "parent": parent }), number);
    }
    for number in 0..TASKS {
        let delegation = json!({
            "type": "delegation_notice", "task_id": format!("T{number}"), "sender_id": "orchestrator",
            "recipient_id": agent(number), "context_summary": "Do it.",
        });
        desk.ask(message(&delegation, Who::operator()));
    }
    desk
}

fn cap(number: usize) -> Value {
    json!({
        "type": "message", "task_id": format!("T{number}"), "sender_id": agent(number), "recipient_id": agent(number + 1),
        "content": "The outline is ready, the numbers follow.", "message_id": format!("m-{number}"),
    })
}

fn vlp(number: usize) -> Value {
    json!({
        "id": format!("MSG-{number}"), "protocol": "VLP/1.1", "type": "claim", "timestamp": "2026-02-15T10:30:00Z",
        "sender": agent(number), "receiver": agent(number + 1), "content": "Water boils at 100 degrees.", "confidence": 0.5,
    })
}

fn acl(number: usize) -> Value {
    json!({
        "mcp_version": "0.1.0", "message_id": format!("5b1f0c9e-3a77-4c1d-9a46-{number:012}"), "performative": "TASK_REQUEST",
        "sender": {"agent_id": agent(number)}, "receiver": {"agent_id": agent(number + 1)},
        "language": "application/json", "ontology": "elizaos:ontology:code/general/refactor_request",
        "timestamp": "2026-02-15T10:30:00Z",
        "payload": {"task_type": "refactor", "task_description": "Tidy it.", "task_parameters": {}},
    })
}

/// Makes the message of this number.
type Make = fn(usize) -> Value;

/// The median and the 99th of a hundred.
fn measure(desk: &mut Desk, make: Make) -> (Duration, Duration) {
    let mut took = Vec::with_capacity(DECISIONS);
    for batch in 0..DECISIONS / BATCH {
        let numbers = batch * BATCH..(batch + 1) * BATCH;
        let inputs: Vec<_> = numbers.map(|number| message(&make(number), Who::Agent(agent(number)))).collect();
        for input in inputs {
            desk.now = desk.now.plus(Duration::from_micros(50));
            let start = Instant::now();
            let decision = decide(&desk.state, &desk.policy, input, &[], desk.now);
            took.push(start.elapsed());
            assert!(!matches!(decision.verdict, Verdict::Refused(_)), "{:?}", decision.verdict);
            decision.entries.iter().for_each(|entry| desk.state.apply(entry));
        }
    }
    took.sort();
    (took[DECISIONS / 2], took[DECISIONS * 99 / 100])
}

fn main() {
    let start = Instant::now();
    let mut desk = house();
    println!("{AGENTS} agents and {TASKS} open tasks, made in {:.1?}", start.elapsed());
    let kinds: [(&str, Make); 3] = [("cap message", cap), ("vlp claim", vlp), ("acl request", acl)];
    for (name, make) in kinds {
        let (median, p99) = measure(&mut desk, make);
        println!("{name:>12}: decided in {median:.2?}, 99 of 100 within {p99:.2?} (bound for the median: 3 µs)");
    }
}
