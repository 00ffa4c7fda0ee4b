//! How much there was and is of everything, at one moment. What only ever rises is counted since the start.

use crate::shared::{Shared, since_1970};
use legation_engine::Escalations;
use legation_exchange::{Moment, Who};
use serde::Serialize;
use std::collections::BTreeMap;

/// Who people are to agents.
pub(super) const USER: &str = "user";
/// The most open escalations that are counted.
const ALARMS: usize = 1000;

#[derive(Serialize)]
pub(crate) struct Counts {
    at: String,
    /// Entries of the record.
    size: u64,
    accepted: u64,
    duplicate: u64,
    held: u64,
    refused: u64,
    /// Messages decided, by dialect.
    dialects: BTreeMap<&'static str, u64>,
    latency: Latency,
    /// Messages in all mailboxes.
    waiting: usize,
    /// Inputs that are not decided yet.
    queued: usize,
    /// Entries that cannot be found yet.
    lag: u64,
    agents: usize,
    /// Agents that may not go on.
    stopped: usize,
    reviews: usize,
    escalations: usize,
    /// Sessions that may not go on.
    halted: usize,
    /// What waits in the mailbox of people.
    questions: usize,
}

/// From a message to its durable answer.
#[derive(Serialize)]
struct Latency {
    count: u64,
    sum_micros: u64,
    /// Bounds in microseconds, each with how many took no longer.
    below: Vec<(u64, u64)>,
}

impl Counts {
    pub(crate) fn of(shared: &Shared) -> Counts {
        let exchange = &shared.exchange;
        let answered = &exchange.stats().answered;
        let latency =
            Latency { count: answered.total(), sum_micros: answered.sum(), below: answered.below().collect() };
        let open = Escalations { limit: ALARMS, ..Escalations::default() };
        let now = Moment::from_micros(u64::try_from(since_1970().as_micros()).unwrap_or(u64::MAX));
        let mut counts = Counts {
            at: now.to_string(),
            size: exchange.head().size,
            accepted: 0,
            duplicate: 0,
            held: 0,
            refused: 0,
            dialects: BTreeMap::new(),
            latency,
            waiting: exchange.waiting().total,
            queued: exchange.queued(),
            lag: exchange.index_lag(),
            agents: exchange.roster(0).1,
            stopped: exchange.agents_stopped(),
            reviews: exchange.reviews_waiting(),
            escalations: exchange.escalations(&Who::operator(), &open).len(),
            halted: exchange.sessions_halted(),
            questions: exchange.waiting_for(USER),
        };
        counts.add_verdicts(shared);
        counts
    }

    fn add_verdicts(&mut self, shared: &Shared) {
        for counted in shared.exchange.stats().verdicts() {
            let sum = match counted.verdict {
                "accepted" => &mut self.accepted,
                "duplicate" => &mut self.duplicate,
                "held" => &mut self.held,
                _ => &mut self.refused,
            };
            *sum += counted.count;
            let dialect = counted.dialect.map_or("unknown", legation_protocol::Format::as_str);
            *self.dialects.entry(dialect).or_default() += counted.count;
        }
    }
}
