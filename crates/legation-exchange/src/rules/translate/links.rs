//! Which message the exchange said for which, so that answers find their way back. Kept for a week by the record's
//! time, and as many of each speaker as its share; what binds somebody, for as long as it does.

mod shares;

use crate::by_name::ByName;
use crate::moment::Moment;
use crate::rules::acl::Loss;
use crate::rules::{At, vlp};
use crate::state::State;
use legation_protocol::Format;
use serde::{Deserialize, Serialize};
use shares::Shares;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long a pair is known.
const KNOWN: Duration = Duration::from_hours(168);

/// A message the exchange said for another, as its entry tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// The entry of the original.
    pub original: u64,
    /// Whose words they are, by canonical id.
    pub from: String,
    /// Who hears them.
    pub to: String,
    /// The original's id.
    pub id: String,
    /// The original's dialect.
    pub dialect: Format,
    /// The original's task or session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The id of what the exchange said.
    pub said: String,
    /// Its dialect.
    pub said_in: Format,
    /// Its task or session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_thread: Option<String>,
    /// The entry in which the exchange asked what this is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask: Option<u64>,
    /// What it does to that.
    pub step: Step,
    /// What the original wants to read in an answer (ACL 3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_with: Option<String>,
    /// The original's field of knowledge (ACL 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ontology: Option<String>,
    /// The task whose grants go with it, where it asks for work that becomes no task: one of whoever asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<u64>,
    /// The task it hands over, where another entry than the original's opened that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<u64>,
    /// Whether it waits until the original goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// Whether it is an alarm.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alarm: bool,
}

/// What a message does to what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Asks for work.
    Asks,
    /// Asks a question.
    Questions,
    /// Takes the work on.
    Accepts,
    /// Ends it, well or not.
    Ends,
    /// Neither.
    Says,
}

/// Where something that was asked stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nobody has answered.
    #[default]
    Asked,
    /// It was taken on.
    Accepted,
    /// It was answered.
    Ended,
}

/// A translation that is still known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The entry of what the exchange said.
    pub position: u64,
    /// When that was.
    pub at: Moment,
    /// What it was.
    pub translation: Translation,
    /// Where it stands, if it asks for something.
    pub stage: Stage,
    /// Where what it answers stood before.
    pub before: Stage,
    /// How it came to nobody, until whoever asked was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Loss>,
}

impl Link {
    /// Whether it asks a question, and not for work.
    pub fn is_question(&self) -> bool {
        self.translation.step == Step::Questions
    }

    /// Whether it asks for something.
    pub(super) fn is_ask(&self) -> bool {
        matches!(self.translation.step, Step::Asks | Step::Questions)
    }

    /// The task that it hands over, if its answers are no message of that task by themselves.
    pub(super) fn task(&self) -> Option<u64> {
        let Translation { original, dialect, task, step, .. } = &self.translation;
        let own = (*dialect == Format::Cap).then_some(*original);
        task.or(own).filter(|_| *step == Step::Asks)
    }

    /// Whether the grants of a task lie on whoever has taken it on.
    fn binds(&self) -> bool {
        self.stage == Stage::Accepted && self.translation.below.is_some()
    }

    /// Whether neither side keeps it as a conversation or a task, which tell of a loss themselves.
    fn is_kept_here(&self) -> bool {
        let Translation { dialect, said_in, task, .. } = &self.translation;
        *dialect == Format::Vlp && *said_in != Format::Cap && task.is_none()
    }

    /// The halted session it belongs to: nothing goes on from it, in whatever dialect.
    pub(super) fn halted_with<'s>(&'s self, state: &'s State) -> Option<&'s str> {
        let Translation { original, dialect, thread, said_in, said_thread, .. } = &self.translation;
        let within = [(dialect, thread), (said_in, said_thread)].into_iter();
        let sessions = within.filter(|(dialect, _)| **dialect == Format::Vlp).filter_map(|(_, id)| id.as_deref());
        vlp::halted_with(state, [*original, self.position], sessions)
    }

    /// What both sides call it: whoever knows the name, the name, and who else is part of it.
    fn names(&self) -> Vec<((String, String), String)> {
        let Translation { from, to, id, dialect, thread, said, said_in, said_thread, .. } = &self.translation;
        let task = |dialect: Format, thread: &Option<String>| thread.clone().filter(|_| dialect == Format::Cap);
        let ours = [Some(id.clone()), task(*dialect, thread)].into_iter().flatten();
        let theirs = [Some(said.clone()), task(*said_in, said_thread)].into_iter().flatten();
        let ours = ours.map(|name| ((from.clone(), name), to.clone()));
        ours.chain(theirs.map(|name| ((to.clone(), name), from.clone()))).collect()
    }
}

/// All translations that are still known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Link>", into = "Vec<Link>")]
pub struct Links {
    /// By the entry of what the exchange said.
    all: BTreeMap<u64, Link>,
    /// The same by the entry of the original.
    said_for: BTreeMap<u64, BTreeSet<u64>>,
    /// The same by the entry in which the exchange asked what they are about.
    about: BTreeMap<u64, BTreeSet<u64>>,
    /// Those that hand over a task which another entry opened, by that.
    again: BTreeMap<u64, BTreeSet<u64>>,
    /// The same by who knows it, by which name, and with whom.
    named: BTreeMap<(String, String), BTreeMap<String, BTreeSet<u64>>>,
    /// Those whose grants bind whoever has taken them on and not ended them, by whom that is.
    below: ByName<BTreeSet<u64>>,
    /// Those that came to nobody, which whoever asked has not been told.
    lost: BTreeSet<u64>,
    shares: Shares,
}

impl Links {
    /// The one in this entry.
    pub fn get(&self, position: u64) -> Option<&Link> {
        self.all.get(&position)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The last that an agent knows by this name, with each who is part of it. What is hidden from the agent is unknown
    /// to it.
    pub(in crate::rules) fn named<'l>(
        &'l self,
        agent: &str,
        name: &str,
        is_hidden: impl Fn(u64) -> bool,
    ) -> impl Iterator<Item = (&'l str, &'l Link)> {
        let known = self.named.get(&(agent.to_owned(), name.to_owned()));
        let is_known = {
            let agent = agent.to_owned();
            move |link: &&Link| link.translation.from == agent || !is_hidden(link.position)
        };
        known.into_iter().flatten().filter_map(move |(other, links)| {
            let last = links.iter().rev().filter_map(|link| self.all.get(link)).find(&is_known);
            Some((other.as_str(), last?))
        })
    }

    /// What the exchange said for the message in this entry.
    pub(crate) fn said_for(&self, original: u64) -> impl Iterator<Item = u64> {
        self.said_for.get(&original).into_iter().flatten().copied()
    }

    /// What goes on from the message in this entry: what the exchange said for it, and what was said about it to the
    /// exchange and passed on. An alarm goes its own way.
    pub(in crate::rules) fn going_on_from(&self, message: u64) -> BTreeSet<u64> {
        let goes_on = |said: &u64| self.all.get(said).filter(|link| !link.translation.is_alarm);
        let about = self.about.get(&message).into_iter().flatten().filter_map(goes_on);
        let about = about.flat_map(|link| [link.translation.original, link.position]);
        self.said_for(message).filter(|said| goes_on(said).is_some()).chain(about).collect()
    }

    /// What asked for the work that this entry asked for, oldest first: at first, and whenever it was handed over again.
    pub(super) fn asks_for(&self, task: u64) -> impl Iterator<Item = &Link> {
        let again = self.again.get(&task).into_iter().flatten().copied();
        let asks: BTreeSet<_> = self.said_for(task).chain(again).collect();
        asks.into_iter().filter_map(|ask| self.all.get(&ask)).filter(|link| link.translation.step == Step::Asks)
    }

    /// What answers something that was asked in one of these entries.
    pub(super) fn answers_to(&self, asks: &BTreeSet<u64>) -> impl Iterator<Item = &Link> {
        let answers = |link: &&Link| link.translation.ask.is_some_and(|ask| asks.contains(&ask));
        let first = asks.first().copied().unwrap_or(u64::MAX);
        self.all.range(first..).map(|(_, link)| link).filter(answers)
    }

    /// What an agent has taken on for somebody who works on a task, and not ended, with that task.
    pub(crate) fn asked_below(&self, agent: &str) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let positions = self.below.get(agent).into_iter().flatten();
        positions.filter_map(|position| Some((*position, self.all.get(position)?.translation.below?)))
    }

    pub(crate) fn apply(&mut self, at: At, translation: &Translation) {
        let stage = match translation.step {
            Step::Accepts => Some(Stage::Accepted),
            Step::Ends => Some(Stage::Ended),
            Step::Asks | Step::Questions | Step::Says => None,
        };
        let moved = stage.zip(translation.ask).and_then(|(stage, ask)| self.stand(ask, stage));
        let before = moved.unwrap_or_default();
        let translation = translation.clone();
        let (speaker, position) = (translation.from.clone(), at.position);
        self.put(Link { position, at: at.at, translation, stage: Stage::default(), before, lost: None });
        while let Some(much) = self.shares.too_much(&speaker, position) {
            self.forget(much);
        }
        while let Some(old) = self.shares.oldest().filter(|oldest| self.is_old(*oldest, at.at)) {
            self.forget(old);
        }
    }

    fn is_old(&self, position: u64, now: Moment) -> bool {
        self.all.get(&position).is_some_and(|link| link.at.plus(KNOWN) < now)
    }

    /// Whether somebody may ask one thing more.
    pub(super) fn has_room(&self, speaker: &str) -> bool {
        self.shares.has_room(speaker)
    }

    /// The first that came to nobody, and how.
    pub(super) fn first_lost(&self) -> Option<(&Link, Loss)> {
        let link = self.all.get(self.lost.first()?)?;
        Some((link, link.lost?))
    }

    pub(crate) fn earliest(&self) -> Option<Moment> {
        (!self.lost.is_empty()).then(Moment::default)
    }

    /// What was asked in this entry never comes to whom it was for.
    pub(crate) fn lose(&mut self, ask: u64, loss: Loss) {
        let is_open = |link: &&mut Link| link.is_ask() && link.stage == Stage::Asked && link.is_kept_here();
        if let Some(link) = self.all.get_mut(&ask).filter(is_open) {
            link.lost = Some(loss);
            self.lost.insert(ask);
        }
    }

    /// An agent is gone: what was asked of it comes to nothing, and what it asked binds nobody.
    pub(crate) fn gone(&mut self, agent: &str) {
        let is_open = |link: &&Link| link.is_ask() && link.stage != Stage::Ended;
        let open = self.all.values().filter(is_open).map(|link| (link.position, &link.translation));
        let asked: Vec<_> = open.clone().filter(|(_, asked)| asked.from == agent).map(|(ask, _)| ask).collect();
        let lost: Vec<_> = open.filter(|(_, asked)| asked.to == agent).map(|(ask, _)| ask).collect();
        for ask in asked {
            self.stand(ask, Stage::Ended);
        }
        for ask in lost {
            if let Some(link) = self.all.get_mut(&ask).filter(|link| link.is_kept_here()) {
                link.lost = Some(Loss::Removed);
                self.lost.insert(ask);
            }
        }
    }

    /// A message that was held does not go on: what it would have answered stands as before.
    pub(crate) fn refused(&mut self, original: u64) {
        let Some(first) = self.said_for(original).next().and_then(|said| self.all.get(&said)) else { return };
        let (position, before) = (first.position, first.before);
        match (first.translation.step, first.translation.ask) {
            (Step::Accepts | Step::Ends, Some(ask)) => self.stand(ask, before),
            (Step::Asks | Step::Questions, _) => self.stand(position, Stage::Ended),
            (Step::Accepts | Step::Ends | Step::Says, _) => None,
        };
    }

    /// Nothing comes of what was asked.
    pub(crate) fn broke_off(&mut self, ask: u64) {
        self.stand(ask, Stage::Ended);
    }

    /// What was asked stands like this now, and stood like that before.
    fn stand(&mut self, ask: u64, stage: Stage) -> Option<Stage> {
        let asked = self.all.get_mut(&ask)?;
        self.shares.take(asked);
        let before = std::mem::replace(&mut asked.stage, stage);
        if stage == Stage::Ended {
            asked.lost = None;
            self.lost.remove(&ask);
        }
        self.shares.put(asked);
        bind(&mut self.below, asked);
        Some(before)
    }

    /// What the originals of these were about is kept no longer.
    pub(crate) fn redact(&mut self, is_redacted: &impl Fn(u64) -> bool) {
        for (_, link) in self.all.iter_mut().filter(|(position, _)| is_redacted(**position)) {
            link.translation.ontology = None;
        }
    }

    fn put(&mut self, link: Link) {
        for (name, other) in link.names() {
            self.named.entry(name).or_default().entry(other).or_default().insert(link.position);
        }
        self.said_for.entry(link.translation.original).or_default().insert(link.position);
        if let Some(ask) = link.translation.ask {
            self.about.entry(ask).or_default().insert(link.position);
        }
        if let Some(task) = link.translation.task {
            self.again.entry(task).or_default().insert(link.position);
        }
        bind(&mut self.below, &link);
        self.shares.put(&link);
        self.lost.extend(link.lost.map(|_| link.position));
        self.all.insert(link.position, link);
    }

    fn forget(&mut self, position: u64) {
        let Some(link) = self.all.remove(&position) else { return };
        unbind(&mut self.below, &link);
        self.shares.take(&link);
        self.lost.remove(&position);
        for (name, other) in link.names() {
            let Some(known) = self.named.get_mut(&name) else { continue };
            let is_last = known.get_mut(&other).is_some_and(|links| links.remove(&position) && links.is_empty());
            if is_last {
                known.remove(&other);
            }
            if known.is_empty() {
                self.named.remove(&name);
            }
        }
        drop_from(&mut self.said_for, link.translation.original, position);
        if let Some(ask) = link.translation.ask {
            drop_from(&mut self.about, ask, position);
        }
        if let Some(task) = link.translation.task {
            drop_from(&mut self.again, task, position);
        }
    }
}

fn drop_from(index: &mut BTreeMap<u64, BTreeSet<u64>>, of: u64, position: u64) {
    let Some(positions) = index.get_mut(&of) else { return };
    positions.remove(&position);
    if positions.is_empty() {
        index.remove(&of);
    }
}

/// Whoever has taken something on is bound until it has ended it: a request alone binds nobody.
fn bind(below: &mut ByName<BTreeSet<u64>>, link: &Link) {
    if link.binds() {
        below.or_default(&link.translation.to).insert(link.position);
    } else {
        unbind(below, link);
    }
}

fn unbind(below: &mut ByName<BTreeSet<u64>>, link: &Link) {
    let Some(asked) = below.get_mut(&link.translation.to) else { return };
    asked.remove(&link.position);
    if asked.is_empty() {
        below.remove(&link.translation.to);
    }
}

impl From<Vec<Link>> for Links {
    fn from(all: Vec<Link>) -> Self {
        let mut links = Links::default();
        for link in all {
            links.put(link);
        }
        links
    }
}

impl From<Links> for Vec<Link> {
    fn from(links: Links) -> Self {
        links.all.into_values().collect()
    }
}
