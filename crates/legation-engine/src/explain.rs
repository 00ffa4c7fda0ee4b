//! What the exchange did with a message, and why, in order.

mod around;
mod moved;
mod refused;
mod ruled;
mod stopped;

pub use refused::explain_refusal;

use crate::exchange::{Error, Exchange};
use crate::fate::Fate;
use crate::search::Scope;
use legation_exchange::{Accepted, Custody, Effect, Entry, Fate as PushFate, Moment, Try, Who, Why};
use legation_store::index::{Finder, Order, Query, What};
use std::collections::BTreeSet;
use stopped::Way;

/// One thing that happened to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its name, for programs.
    pub step: &'static str,
    /// The entry that made it so.
    pub position: u64,
    /// When.
    pub at: Moment,
    /// In words.
    pub says: String,
}

impl Exchange {
    /// Tells what became of a message, as far as this one may know: its sender hears of all recipients,
    /// a recipient of itself.
    pub async fn explain(&self, entry: &Entry, message: &Accepted, who: &Who) -> Result<Vec<Step>, Error> {
        let scope = self.scope(who);
        let mut steps = taken(entry, message);
        steps.extend(self.text_gone(entry)?);
        let constrained = self.held_to(entry, message, who);
        let step = |says| Step { step: "constrained", position: entry.position, at: entry.at, says };
        steps.extend(constrained.into_iter().map(step));
        let clearance = self.clearance(&message.sender, who);
        steps.extend(ruled::judged(entry, message, clearance));
        steps.extend(self.borne_out_by_calls(message)?);
        steps.extend(self.lineage(entry, message, who));
        steps.extend(self.included(entry)?);
        let told = |agent: &String| match &scope {
            Scope::All => true,
            Scope::Of { name, .. } => *name == message.sender || name == agent,
            Scope::Nothing => false,
        };
        // Only what has left its mailbox is looked up, and only once the index knows how.
        if let Some(last) = self.head().size.checked_sub(1) {
            self.indexed_past(last).await?;
        }
        let (exchange, position) = (self.clone(), entry.position);
        let ways: Vec<(u64, String)> = self.asked(move |finder| exchange.ways(finder, position)).await?;
        let own = message.ruled.held.is_empty().then(|| message.to.iter().map(|agent| (position, agent.clone())));
        let mut ways: Vec<_> = own.into_iter().flatten().chain(ways).filter(|(_, agent)| told(agent)).collect();
        let recipients = ways.clone();
        let mut waiting = Vec::new();
        ways.retain(|(routed, agent)| {
            let step = self.waits(agent, *routed, entry);
            let has_left = step.is_none();
            waiting.extend(step);
            has_left
        });
        let (exchange, own, who) = (self.clone(), (entry.clone(), message.clone()), who.clone());
        let gone = move |finder: &Finder| {
            let mut steps = exchange.words_on(finder, position, &who)?;
            steps.extend(exchange.moved(finder, &own.0, &own.1, &who)?);
            steps.extend(exchange.stopped(finder, &Way { entry: &own.0, message: &own.1, routed: &recipients })?);
            steps.extend(exchange.borne_out(finder, &scope, &own.0, &own.1)?);
            for (routed, agent) in &ways {
                steps.extend(exchange.left(finder, agent, *routed)?);
            }
            for (routed, agent) in &recipients {
                steps.extend(exchange.tried(finder, agent, *routed)?);
            }
            Ok(steps)
        };
        steps.extend(self.asked(gone).await?);
        steps.extend(waiting);
        steps.extend(self.holds(entry, clearance));
        steps.sort_by_key(|step| step.position);
        // What was put into a mailbox twice left it once, and what was stopped twice went on once.
        let mut told = BTreeSet::new();
        steps.retain(|step| told.insert((step.step, step.position, step.says.clone())));
        Ok(steps)
    }

    /// The step by which the text of a message went: it was erased, or kept long enough.
    fn text_gone(&self, entry: &Entry) -> Result<Option<Step>, Error> {
        let step = match self.fate(entry)? {
            Some(Fate::Erased { position, at, by, reason }) => {
                let why = ruled::because(reason.as_deref().unwrap_or_default());
                Some(Step { step: "erased", position, at, says: format!("{by} erased its text{why}.") })
            }
            Some(Fate::Dropped) => {
                let dropped = self.state().dropped().entry;
                let at = self.entry(dropped)?.map_or(entry.at, |dropped| dropped.at);
                let says = "Its text was kept as long as texts are kept here, and is gone.".to_owned();
                Some(Step { step: "text_dropped", position: dropped, at, says })
            }
            None => None,
        };
        Ok(step)
    }

    fn waits(&self, agent: &str, routed: u64, entry: &Entry) -> Option<Step> {
        let state = self.state();
        let before = routed.checked_sub(1);
        let item = state.mailbox(agent)?.after(before).next().filter(|item| item.position == routed)?;
        let says = format!("It waits in the mailbox of {agent:?}, until {} at most.", item.expires);
        Some(Step { step: "waiting", position: routed, at: entry.at, says })
    }

    /// The entry that took a message out of a mailbox.
    fn left(&self, finder: &Finder, agent: &str, position: u64) -> Result<Option<Step>, Error> {
        let about = Query {
            about: Some(agent.to_owned()),
            after: Some(position),
            order: Order::Oldest,
            limit: 1,
            ..Query::default()
        };
        let named = Query { taken: Some(position), ..about.clone() };
        let removed = Query { what: Some(What::Removed), ..about };
        let find = |query: &Query| finder.find(query).map(|found| found.first().copied()).map_err(Error::Index);
        let reached = finder.reached(agent, position).map_err(Error::Index)?;
        let Some(first) = [find(&named)?, find(&removed)?, reached].into_iter().flatten().min() else {
            return Ok(None);
        };
        Ok(self.entry(first)?.and_then(|entry| departure(&entry, agent)))
    }
}

/// How often it was tried to bring a message to an agent: each attempt of a start of the exchange, and
/// of a few more.
const TRIES: usize = 32;

impl Exchange {
    /// The attempts to bring a message to an agent.
    fn tried(&self, finder: &Finder, agent: &str, position: u64) -> Result<Vec<Step>, Error> {
        let query = Query {
            what: Some(What::Pushed),
            about: Some(agent.to_owned()),
            tried: Some(position),
            order: Order::Oldest,
            limit: TRIES,
            ..Query::default()
        };
        let mut steps = Vec::new();
        for found in finder.find(&query).map_err(Error::Index)? {
            let Some(entry) = self.entry(found)? else { continue };
            let Effect::Pushed(pushed) = &entry.effect else { continue };
            let own = pushed.tries().filter(|(_, tried)| tried.position == position);
            let step = |says| Step { step: "pushed", position: found, at: entry.at, says };
            let again = pushed.again.iter().filter(|again| **again == position);
            steps.extend(again.map(|_| step(format!("It goes to the endpoint of {agent:?} once more."))));
            steps.extend(own.map(|(fate, tried)| step(attempt(fate, tried, agent))));
        }
        Ok(steps)
    }
}

fn attempt(fate: PushFate, tried: &Try, agent: &str) -> String {
    let Try { number, outcome, .. } = tried;
    match fate {
        PushFate::Delivered => format!("The endpoint of {agent:?} took it at attempt {number}, with {outcome}."),
        PushFate::Failed => format!("Attempt {number} to bring it to the endpoint of {agent:?} failed: {outcome}."),
        PushFate::GivenUp if *number == 0 => {
            format!("It was too old to be brought to the endpoint of {agent:?}, and waits.")
        }
        PushFate::GivenUp => {
            format!("Attempt {number}, the last, to bring it to the endpoint of {agent:?} failed: {outcome}. It waits.")
        }
    }
}

/// What happened up to the entry itself.
fn taken(entry: &Entry, message: &Accepted) -> Vec<Step> {
    let step = |step, says| Step { step, position: entry.position, at: entry.at, says };
    let what = format!("a {} {} by {:?}", message.dialect, message.kind, message.sender);
    let received = match &entry.body {
        Some(body) => format!("{} bytes came in: {what}. They broke no rule of their dialect.", body.len()),
        None => format!("It came in: {what}. It broke no rule of its dialect."),
    };
    let proven = match message.proof.as_str() {
        "signature" if message.custody == Custody::Exchange => {
            "The sender's token proved the sender, and the exchange signed it with the key that it keeps for the sender \
             (custody: exchange)."
                .to_owned()
        }
        "signature" => "A signature under one of the sender's keys in use proved the sender.".to_owned(),
        "token" => "The sender's token proved the sender.".to_owned(),
        _ => "It was handed over inside the exchange's own process.".to_owned(),
    };
    let first = match message.remembered {
        Some(until) => format!(
            "The sender had not used the id {:?} for another message, and the message was fresh. A copy gets the same answer until {until}.",
            message.id
        ),
        None => format!("It brought no id, so it is {:?} here, and a copy would be a message of its own.", message.id),
    };
    let is_translated = message.ruled.findings.iter().any(|finding| finding.code == "translated");
    let routed = if is_translated {
        "It is in the record and in nobody's mailbox: whom it is for does not speak its dialect.".to_owned()
    } else if message.to.is_empty() {
        "It is in the record and in nobody's mailbox: it names no recipient that has one here.".to_owned()
    } else {
        let way = if message.ruled.held.is_empty() { "It went to" } else { "It is for" };
        format!("{way} {}.", message.to.iter().map(|agent| format!("{agent:?}")).collect::<Vec<_>>().join(", "))
    };
    let recorded = format!("It was made durable as entry {} before anybody was answered.", entry.position);
    let steps =
        [("received", received), ("proven", proven), ("new", first), ("routed", routed), ("recorded", recorded)];
    steps.into_iter().map(|(name, says)| step(name, says)).collect()
}

/// How an entry took a message out of an agent's mailbox.
fn departure(entry: &Entry, agent: &str) -> Option<Step> {
    let (step, says) = match &entry.effect {
        Effect::Acked(_) => ("acknowledged", format!("{agent:?} acknowledged it.")),
        Effect::Died { why, .. } => ("died", died(*why, agent)),
        Effect::Purged { by, .. } => ("purged", format!("{by} emptied the mailbox of {agent:?} unread.")),
        Effect::Resent(resent) => ("resent", format!("{} sent it to {agent:?} again.", resent.by)),
        Effect::Erased(erased) => ("erased", format!("{} erased it before {agent:?} took it.", erased.by)),
        Effect::Removed { by, .. } => ("removed", format!("{by} removed {agent:?}, and the mailbox with it.")),
        Effect::Accepted(_)
        | Effect::Refused(_)
        | Effect::Registered { .. }
        | Effect::Keyed { .. }
        | Effect::Granted { .. }
        | Effect::Withdrawn { .. }
        | Effect::Confirmed { .. }
        | Effect::Pushed(_)
        | Effect::Tallied { .. }
        | Effect::Restored(_)
        | Effect::Cleared { .. }
        | Effect::Dropped { .. }
        | Effect::Released(_)
        | Effect::Changed { .. }
        | Effect::Rotated { .. }
        | Effect::Called(_)
        | Effect::Answered(_)
        | Effect::Copied { .. } => return None,
    };
    Some(Step { step, position: entry.position, at: entry.at, says })
}

fn died(why: Why, agent: &str) -> String {
    match why {
        Why::Expired => format!("It waited too long for {agent:?} and went to the dead letters."),
        Why::Removed => format!("{agent:?} was removed, and it went to the dead letters."),
        Why::MailboxFull => format!("The mailbox of {agent:?} was full, and it went to the dead letters."),
    }
}
