//! The world as the model has it, in plain data: who is here with which manifest, and the tasks. Hours are counted from the
//! start of the test.

use legation_exchange::rules::cap::{Narrowing, Oversight};
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Name = &'static str;

/// All who come and go. The third runs as an instance of the second.
pub(super) const AGENTS: [Name; 5] = ["a", "b", "b-1", "c", "d"];
pub(super) const PEOPLE: [Name; 2] = ["orchestrator", "user"];
pub(super) const TOOLS: [Name; 3] = ["x", "y", "z"];

/// What a manifest lets an agent do.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rights {
    pub(super) allowed: BTreeSet<Name>,
    pub(super) tools: BTreeSet<Name>,
    pub(super) overseer: Option<Name>,
}

impl Rights {
    /// What both allow. Whoever was overseen by either is, by the newer one's overseer if that has one.
    fn and(&self, newer: &Rights) -> Rights {
        Rights {
            allowed: self.allowed.intersection(&newer.allowed).copied().collect(),
            tools: self.tools.intersection(&newer.tools).copied().collect(),
            overseer: newer.overseer.or(self.overseer),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) since: u64,
    pub(super) manifest: Option<Rights>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    Done,
    Failed,
    Expired,
    Closed,
}

/// What a tool answered: the tool, and one of a few texts.
pub(super) type Shown = (Name, usize);

/// Something that waits for a word.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Whose word; nobody's but a person's, if there is none.
    pub(super) overseer: Option<Name>,
    pub(super) is_final: bool,
    /// When nobody's word is waited for any more.
    pub(super) until: Option<u64>,
    /// The task in which it asks the user something.
    pub(super) asks_user: Option<u64>,
    /// What is seen of a tool once it goes on, and in which task.
    pub(super) shows: Option<(u64, Shown)>,
    /// Earlier results whose place it takes once a person has seen it.
    pub(super) replaces: Vec<u64>,
    /// The task that its author has begun with once it goes on.
    pub(super) begins: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) opener: Name,
    pub(super) parent: Option<u64>,
    pub(super) delegator: Name,
    pub(super) assignee: Name,
    pub(super) former: Vec<Name>,
    pub(super) grants: Option<BTreeSet<Name>>,
    /// What its assignee might do since it was handed over, from the first change on: the oldest first.
    pub(super) versions: Vec<Rights>,
    pub(super) stage: Stage,
    /// Whether its delegation is held, or never went on: its assignee has no part in it.
    pub(super) waits: bool,
    pub(super) deadline: u64,
    pub(super) first_deadline: u64,
    pub(super) handed: u64,
    pub(super) tries: u32,
    /// Whether its assignee has done anything in it since it was handed over last.
    pub(super) begun: bool,
    pub(super) works: BTreeMap<u64, Work>,
    /// Work that its overseer was shown and has not decided on.
    pub(super) seen: BTreeMap<u64, Name>,
    pub(super) result: Option<u64>,
    pub(super) asked_user: bool,
    pub(super) errors: Vec<(i64, Name)>,
    pub(super) escalated: Option<Name>,
}

#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) now: u64,
    pub(super) narrowing: Narrowing,
    pub(super) oversight: Oversight,
    pub(super) agents: BTreeMap<Name, Agent>,
    /// By the entry that opened each.
    pub(super) tasks: BTreeMap<u64, Task>,
    pub(super) shown: BTreeSet<(u64, Shown)>,
    /// Delegations that are held.
    pub(super) held: BTreeMap<u64, Held>,
    /// The errors that the exchange told of: the task, to whom and the code.
    pub(super) told: Vec<(String, Name, i64)>,
}

/// A delegation that waits for a person's word.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The task it opened, or is to hand over once more.
    pub(super) task: u64,
    pub(super) until: u64,
    pub(super) shows: Option<(u64, Shown)>,
}

/// The task a message means, as its sender sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Own(u64),
    /// One of the recipient's, which the sender reviews or, as a person, sees.
    Theirs(u64),
    Others,
    Nobodys,
}

impl Place {
    pub(super) fn task(self) -> Option<u64> {
        match self {
            Place::Own(task) | Place::Theirs(task) => Some(task),
            Place::Others | Place::Nobodys => None,
        }
    }
}

/// Several tasks could be meant.
pub(super) struct Ambiguous;

impl Task {
    pub(super) fn is_open(&self) -> bool {
        self.stage == Stage::Open
    }

    pub(super) fn is_in_review(&self) -> bool {
        self.is_open() && self.works.values().any(|work| work.is_final)
    }

    pub(super) fn has_party(&self, who: &str) -> bool {
        self.delegator == who || self.assignee == who
    }
}

impl Model {
    pub(super) fn is_here(&self, who: &str) -> bool {
        PEOPLE.contains(&who) || self.agents.contains_key(who)
    }

    pub(super) fn is_agent(&self, who: &str) -> bool {
        self.agents.contains_key(who)
    }

    /// Whom an agent is an instance of.
    pub(super) fn base(&self, who: Name) -> Option<Name> {
        (who == "b-1" && self.is_agent(who)).then_some("b")
    }

    /// Whether somebody may know that there is a task with this id: a held delegation is known to its sender alone.
    pub(super) fn is_known(&self, who: &str, id: &str) -> bool {
        self.tasks.values().any(|task| task.id == id && (!task.waits || task.delegator == who))
    }

    /// An agent and its instances are one party.
    pub(super) fn are_one(&self, one: Name, other: Name) -> bool {
        self.base(one).unwrap_or(one) == self.base(other).unwrap_or(other)
    }

    /// A task and those above it, the nearest first.
    pub(super) fn line(&self, task: u64) -> Vec<u64> {
        let mut line = vec![task];
        while let Some(above) = self.tasks[&line[line.len() - 1]].parent {
            line.push(above);
        }
        line
    }

    pub(super) fn line_above(&self, parent: Option<u64>) -> Vec<u64> {
        parent.map_or_else(Vec::new, |parent| self.line(parent))
    }

    pub(super) fn parts(&self, of: u64) -> Vec<u64> {
        self.tasks.iter().filter(|(_, task)| task.parent == Some(of)).map(|(number, _)| *number).collect()
    }

    /// All that waits for a word.
    pub(super) fn waiting(&self) -> BTreeSet<u64> {
        let works = self.tasks.values().flat_map(|task| task.works.keys());
        works.chain(self.held.keys()).copied().collect()
    }

    /// The task in which something waits.
    pub(super) fn task_of(&self, message: u64) -> Option<u64> {
        self.tasks.iter().find(|(_, task)| task.works.contains_key(&message)).map(|(number, _)| *number)
    }

    /// The newest task with this key.
    pub(super) fn newest(&self, opener: &str, id: &str) -> Option<u64> {
        let is_it = |task: &Task| task.opener == opener && task.id == id;
        self.tasks.iter().rev().find(|(_, task)| is_it(task)).map(|(number, _)| *number)
    }

    /// What an agent may do now: an instance what its base may, and no more than a manifest of its own says.
    pub(super) fn rights(&self, who: Name) -> Option<Rights> {
        let own = self.agents.get(who)?.manifest.as_ref();
        let base = self.base(who).and_then(|base| self.agents[base].manifest.as_ref());
        match (base, own) {
            (Some(base), Some(own)) => Some(base.and(own)),
            (one, None) | (None, one) => one.cloned(),
        }
    }

    /// What the assignee of a task may do in it: the strictest of all it might do since it got it.
    pub(super) fn rights_in(&self, task: u64) -> Option<Rights> {
        let task = &self.tasks[&task];
        let strictest = task.versions.iter().cloned().reduce(|older, newer| older.and(&newer));
        strictest.or_else(|| self.rights(task.assignee))
    }

    pub(super) fn overseer_of(&self, task: u64) -> Option<Name> {
        self.rights_in(task).and_then(|rights| rights.overseer)
    }

    /// Whether an agent, or the one it is an instance of, reviews the work in a task.
    pub(super) fn oversees(&self, who: Name, task: u64) -> bool {
        let overseer = self.overseer_of(task).filter(|overseer| self.is_agent(overseer));
        overseer.is_some_and(|overseer| who == overseer || self.base(who) == Some(overseer))
    }

    /// The tasks with this id that somebody handed over or works on.
    pub(super) fn seats(&self, who: &str, id: &str) -> Vec<u64> {
        let has_part = |task: &Task| task.delegator == who || (task.assignee == who && !task.waits);
        let is_one = |task: &Task| task.id == id && has_part(task);
        self.tasks.iter().filter(|(_, task)| is_one(task)).map(|(number, _)| *number).collect()
    }

    /// The same of an agent and all it is one with.
    pub(super) fn family_seats(&self, who: Name, id: &str) -> Vec<u64> {
        let family = self.agents.keys().filter(|one| self.is_agent(who) && self.are_one(one, who));
        let seats: BTreeSet<_> = family.flat_map(|one| self.seats(one, id)).collect();
        seats.into_iter().collect()
    }

    /// The one that is meant of several: an open one, one of the recipient's, the newest. Open ones of several openers could
    /// all be meant.
    pub(super) fn meant(&self, mut found: Vec<u64>, to: &str) -> Result<Option<u64>, Ambiguous> {
        if found.len() > 1 {
            let open = |number: &u64| self.tasks[number].is_open();
            let theirs = |number: &u64| self.tasks[number].has_party(to);
            if found.iter().any(open) {
                found.retain(open);
            }
            if found.iter().any(theirs) {
                found.retain(theirs);
            }
        }
        let Some(newest) = found.last().copied() else { return Ok(None) };
        let openers: BTreeSet<_> = found.iter().map(|number| self.tasks[number].opener).collect();
        if self.tasks[&newest].is_open() && openers.len() > 1 { Err(Ambiguous) } else { Ok(Some(newest)) }
    }

    pub(super) fn place(&self, from: Name, to: Name, id: &str) -> Result<Place, Ambiguous> {
        if let Some(own) = self.meant(self.seats(from, id), to)? {
            return Ok(Place::Own(own));
        }
        let may_see = |task: u64| PEOPLE.contains(&from) || self.oversees(from, task);
        let theirs = self.seats(to, id).into_iter().filter(|task| !self.tasks[task].waits).collect();
        match self.meant(theirs, to)? {
            Some(task) if may_see(task) => Ok(Place::Theirs(task)),
            None if !self.is_known(from, id) => Ok(Place::Nobodys),
            Some(_) | None => Ok(Place::Others),
        }
    }

    /// The open tasks that bind an agent: its own, or else those of its family.
    pub(super) fn bound_by(&self, who: Name) -> Vec<u64> {
        let held = |is_holder: &dyn Fn(Name) -> bool| -> Vec<u64> {
            let is_held = |task: &Task| task.is_open() && !task.waits && is_holder(task.assignee);
            let held = self.tasks.iter().filter(|(_, task)| is_held(task));
            held.map(|(number, _)| *number).collect()
        };
        let own = held(&|holder| holder == who);
        if own.is_empty() { held(&|holder| self.are_one(holder, who)) } else { own }
    }

    /// Whether an agent may use a tool where it names this task, or none.
    pub(super) fn may_use(&self, who: Name, named: Option<u64>, tool: Name) -> bool {
        let has = |rights: Option<Rights>| rights.is_some_and(|rights| rights.tools.contains(tool));
        if !has(self.rights(who)) {
            return false;
        }
        let places = match self.works_in(who, named) {
            Some(task) => vec![task],
            None => self.bound_by(who),
        };
        places.is_empty() || places.into_iter().any(|task| self.leaves(task, tool))
    }

    /// The task an agent acts in by naming one: that, if its family works on it; the one above, if it only handed it on.
    fn works_in(&self, who: Name, named: Option<u64>) -> Option<u64> {
        let task = &self.tasks[&named?];
        if self.are_one(task.assignee, who) {
            return named;
        }
        if self.are_one(task.delegator, who) { self.works_in(who, task.parent) } else { None }
    }

    /// Whether a task leaves a tool to those who work on it.
    fn leaves(&self, task: u64, tool: Name) -> bool {
        let has = |rights: Option<Rights>| rights.is_some_and(|rights| rights.tools.contains(tool));
        let granted = |above: &u64| self.tasks[above].grants.as_ref().is_none_or(|grants| grants.contains(tool));
        // A delegator without a manifest is no reason; an opener without one is.
        let delegator_has = |above: &u64| self.rights(self.tasks[above].delegator).is_none_or(|own| has(Some(own)));
        let opener = self.tasks[&task].opener;
        let line = self.line(task);
        has(self.rights_in(task))
            && line.iter().all(granted)
            && match self.narrowing {
                Narrowing::Grants => true,
                Narrowing::Strict => {
                    line.iter().all(|above| has(self.rights_in(*above)) && delegator_has(above))
                        && (!self.is_agent(opener) || has(self.rights(opener)))
                }
            }
    }
}
