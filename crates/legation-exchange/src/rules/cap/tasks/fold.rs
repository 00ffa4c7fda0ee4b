//! How tasks change. Everything here follows from changes, registrations and the fate of holds alone.

use super::{Kept, seat};
use crate::agent::Agent;
use crate::by_name::ByName;
use crate::moment::Moment;
use crate::names::{Reference, ReferenceSource};
use crate::quota::Resource;
use crate::registry::Registry;
use crate::rules::At;
use crate::rules::acl::Loss;
use crate::rules::cap::change::{Escalation, Opened, User};
use crate::rules::cap::rights::Rights;
use crate::rules::cap::task::{Failure, Review, Stage, Task};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Index = ByName<BTreeSet<u64>>;

fn put(index: &mut Index, who: &str, number: u64) {
    index.or_default(who).insert(number);
}

/// The overseer of a task that runs under an older manifest than its assignee has.
fn overseer_in_task(number: u64, task: &Task) -> Option<Reference> {
    let name = task.narrowed.as_deref()?.overseer.clone()?;
    Some(Reference { name, source: ReferenceSource::Task(number), author: Some(task.assignee.clone()) })
}

pub(super) fn take(index: &mut Index, who: &str, number: u64) {
    let Some(numbers) = index.get_mut(who) else { return };
    numbers.remove(&number);
    if numbers.is_empty() {
        index.remove(who);
    }
}

impl Kept {
    pub(in crate::rules::cap) fn open(&mut self, at: At, opened: &Opened) {
        let number = at.position;
        let above = opened.parent.and_then(|parent| self.tasks.get(&parent));
        let (root, depth) = above.map_or((number, 1), |above| (above.root, above.depth + 1));
        let root_opener = above.map_or(&opened.delegator, |above| &above.opener).clone();
        let task = Task {
            id: opened.id.clone(),
            opener: root_opener,
            parent: opened.parent,
            root,
            depth,
            delegator: opened.delegator.clone(),
            asker: opened.asker.clone(),
            assignee: opened.assignee.clone(),
            former: Vec::new(),
            grant: opened.grant.clone(),
            narrowed: None,
            stage: Stage::Closed,
            waits: opened.waits,
            reuses_id: opened.waits && self.named(&opened.id).any(|(_, known)| !known.waits || known.reuses_id),
            opened_at: at.at,
            deadline: opened.deadline,
            first_deadline: None,
            ended_at: None,
            notice: number,
            handed: number,
            tries: 1,
            taken_up: false,
            parts: BTreeSet::new(),
            open_parts: 0,
            reviews: BTreeMap::new(),
            shown: BTreeMap::new(),
            result: None,
            messages: VecDeque::from([number]),
            said: 1,
            hidden: 0,
            errors: VecDeque::new(),
            asked_user: None,
            escalated: None,
        };
        self.names.or_default(&task.id).insert(task.opener.clone(), number);
        self.seat(&task.delegator, &task.id, number);
        if opened.waits {
            self.waiting.insert(number);
        } else {
            self.seat(&task.assignee, &task.id, number);
        }
        if let Some(above) = opened.parent.and_then(|parent| self.tasks.get_mut(&parent)) {
            above.parts.insert(number);
            above.taken_up |= above.assignee == *task.counts_for();
        }
        self.tasks.insert(number, task);
        self.reopen(number, opened.deadline);
    }

    fn seat(&mut self, who: &str, id: &str, number: u64) {
        put(&mut self.seats, &seat(who, id), number);
    }

    /// Somebody works on it from now on.
    fn reopen(&mut self, number: u64, deadline: Moment) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        self.deadlines.remove(&(task.deadline, number));
        self.deadlines.insert((deadline, number));
        task.deadline = deadline;
        if task.is_open() {
            return;
        }
        (task.stage, task.ended_at, task.narrowed) = (Stage::Open, None, None);
        if !task.waits {
            put(&mut self.held, &task.assignee, number);
        }
        self.usage.add(task.counts_for(), Resource::Tasks, 1);
        put(&mut self.handed, task.counts_for(), number);
        let (root, parent) = (task.root, task.parent);
        if let Some(above) = parent.and_then(|parent| self.tasks.get_mut(&parent)) {
            above.open_parts += 1;
        }
        self.grow(root, number);
    }

    /// The delegation goes on: whoever it is for has a part in the task from now on.
    fn reach(&mut self, number: u64) {
        let Some(task) = self.tasks.get_mut(&number).filter(|_| self.waiting.remove(&number)) else { return };
        task.waits = false;
        put(&mut self.held, &task.assignee, number);
        put(&mut self.seats, &seat(&task.assignee, &task.id), number);
    }

    /// The delegation does not go on.
    fn call_off(&mut self, at: At, number: u64) {
        self.stale.remove(&number);
        // One that reaches nobody fails instead, and its delegator is told.
        if self.waiting.remove(&number) && !self.undelivered.contains_key(&number) {
            self.close(at, number);
        }
    }

    /// Nobody works on it any more. What waits in it for a word will be turned back, and so will its delegation.
    fn end(&mut self, at: At, number: u64, stage: Stage) {
        let Some(task) = self.tasks.get_mut(&number).filter(|task| task.is_open()) else { return };
        (task.stage, task.ended_at, task.asked_user) = (stage, Some(at.at), None);
        self.stale.extend(task.reviews.keys());
        self.stale.extend(self.waiting.take(&number));
        self.stranded.retain(|message| !task.reviews.contains_key(message));
        self.deadlines.remove(&(task.deadline, number));
        take(&mut self.held, &task.assignee, number);
        if self.narrowed.remove(&number)
            && let Some(reference) = overseer_in_task(number, task)
        {
            self.references.remove(&reference);
        }
        self.usage.add(task.counts_for(), Resource::Tasks, -1);
        take(&mut self.handed, task.counts_for(), number);
        self.lost.remove(&number);
        self.undelivered.remove(&number);
        let (root, parent) = (task.root, task.parent);
        if let Some(above) = parent.and_then(|parent| self.tasks.get_mut(&parent)) {
            above.open_parts = above.open_parts.saturating_sub(1);
        }
        self.wither(root, at.position);
    }

    /// Ends what is below a task and not done: nobody takes it up again.
    fn close_parts(&mut self, at: At, number: u64) {
        let parts: Vec<_> = self.tasks.get(&number).into_iter().flat_map(|task| task.parts.iter().copied()).collect();
        for part in parts {
            self.close_parts(at, part);
            self.end(at, part, Stage::Closed);
            if let Some(task) = self.tasks.get_mut(&part).filter(|task| task.stage != Stage::Done) {
                task.stage = Stage::Closed;
            }
        }
    }

    pub(in crate::rules::cap) fn note(
        &mut self,
        at: At,
        number: u64,
        user: Option<User>,
        by_assignee: bool,
        held: bool,
    ) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        task.note(at.position);
        task.taken_up |= by_assignee;
        if held {
            task.hidden += 1;
            self.held_talk.insert(at.position, number);
        }
        match user {
            Some(User::Asked) if task.is_open() => task.asked_user = Some(at.position),
            Some(User::Answered) => task.asked_user = None,
            Some(User::Asked) | None => {}
        }
    }

    pub(in crate::rules::cap) fn review(
        &mut self,
        message: u64,
        number: u64,
        digest: &str,
        overseer: Option<&str>,
        is_final: bool,
    ) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let overseer_id = overseer.map(str::to_owned);
        let review = Review { digest: digest.to_owned(), overseer: overseer_id, is_final, request: None };
        task.reviews.insert(message, review);
        task.taken_up = true;
        self.reviews.insert(message, number);
        if let Some(tree) = self.trees.get_mut(&task.root) {
            tree.reviews.insert(message);
        }
        if let Some(overseer) = overseer {
            put(&mut self.overseen, overseer, message);
        }
    }

    /// The exchange routed a message because of another: where that is work under review and the message goes to its
    /// overseer, the overseer is shown the work, at once or when the message is released.
    pub(crate) fn routed_because(&mut self, position: u64, because: u64, to: &[String], is_held: bool) {
        let Some((number, task)) = self.reviewed(because) else { return };
        let overseer = task.reviews.get(&because).and_then(|review| review.overseer.clone());
        let Some(overseer) = overseer.filter(|overseer| to.contains(overseer)) else { return };
        if is_held {
            self.to_be_shown.insert(position, (because, overseer));
        } else if let Some(task) = self.tasks.get_mut(&number) {
            task.show(because, &overseer);
        }
    }

    /// A message that shows work is released.
    fn shows(&mut self, message: u64) {
        let Some((work, overseer)) = self.to_be_shown.remove(&message) else { return };
        let task = self.reviews.get(&work).and_then(|number| self.tasks.get_mut(number));
        if let Some(task) = task {
            task.show(work, &overseer);
        }
    }

    /// An overseer has decided on work.
    pub(crate) fn overseer_decided(&mut self, work: u64, overseer: &str) {
        let task = self.reviews.get(&work).and_then(|number| self.tasks.get_mut(number));
        if let Some(task) = task {
            task.decided(work, overseer);
        }
    }

    /// An overseer is asked for a decision by the message with this id.
    pub(in crate::rules::cap) fn request(&mut self, message: u64, request: &str) {
        let task = self.reviews.get(&message).and_then(|number| self.tasks.get_mut(number));
        if let Some(review) = task.and_then(|task| task.reviews.get_mut(&message)) {
            review.request = Some(request.to_owned());
        }
    }

    /// Nothing waits here any more.
    fn reviewed_once(&mut self, message: u64) -> Option<(u64, Review)> {
        self.stale.remove(&message);
        self.stranded.remove(&message);
        let number = self.reviews.remove(&message)?;
        self.to_be_shown.retain(|_, (work, _)| *work != message);
        let task = self.tasks.get_mut(&number)?;
        let review = task.reviews.remove(&message)?;
        if let Some(tree) = self.trees.get_mut(&task.root) {
            tree.reviews.remove(&message);
        }
        if let Some(overseer) = &review.overseer {
            take(&mut self.overseen, overseer, message);
        }
        Some((number, review))
    }

    /// A held message went on.
    pub(crate) fn released(&mut self, at: At, message: u64) {
        self.reach(message);
        self.shows(message);
        if let Some(task) = self.held_talk.remove(&message).and_then(|number| self.tasks.get_mut(&number)) {
            task.hidden = task.hidden.saturating_sub(1);
        }
        if let Some((number, review)) = self.reviewed_once(message)
            && review.is_final
        {
            self.finish(at, number, message);
        }
    }

    /// A held message did not go on.
    pub(crate) fn refused(&mut self, at: At, message: u64) {
        self.held_talk.remove(&message);
        self.to_be_shown.remove(&message);
        self.reviewed_once(message);
        self.call_off(at, message);
    }

    /// What is erased waits for nobody.
    pub(crate) fn erased(&mut self, at: At, is_erased: &impl Fn(u64) -> bool) {
        let waiting = self.reviews.keys().chain(&self.waiting).copied();
        let gone: Vec<_> = waiting.filter(|message| is_erased(*message)).collect();
        for message in gone {
            self.refused(at, message);
        }
        self.calls.erase(is_erased);
        self.trees.values_mut().for_each(|tree| tree.erase(is_erased));
    }

    pub(in crate::rules::cap) fn strand(&mut self, message: u64) {
        self.stranded.remove(&message);
        let Some(task) = self.reviews.get(&message).and_then(|number| self.tasks.get_mut(number)) else { return };
        let Some(review) = task.reviews.get_mut(&message) else { return };
        if let Some(overseer) = review.overseer.take() {
            take(&mut self.overseen, &overseer, message);
        }
    }

    pub(in crate::rules::cap) fn finish(&mut self, at: At, number: u64, result: u64) {
        let Some(task) = self.tasks.get_mut(&number).filter(|task| task.is_open()) else { return };
        task.result = Some(result);
        self.close_parts(at, number);
        self.end(at, number, Stage::Done);
    }

    pub(in crate::rules::cap) fn err(&mut self, at: At, number: u64, failure: Failure, fails: bool) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        task.fail(failure);
        if fails {
            self.end(at, number, Stage::Failed);
        }
    }

    pub(in crate::rules::cap) fn expire(&mut self, at: At, number: u64) {
        self.end(at, number, Stage::Expired);
    }

    pub(in crate::rules::cap) fn close(&mut self, at: At, number: u64) {
        self.close_parts(at, number);
        self.end(at, number, Stage::Closed);
    }

    pub(in crate::rules::cap) fn hand_again(&mut self, at: At, number: u64, deadline: Option<Moment>) {
        let Some(task) = self.tasks.get_mut(&number) else { return };
        task.tries = task.tries.saturating_add(1);
        (task.handed, task.taken_up) = (at.position, false);
        self.undelivered.remove(&number);
        let deadline = deadline.unwrap_or(task.deadline);
        if deadline != task.deadline {
            task.first_deadline.get_or_insert(task.deadline);
        }
        self.reopen(number, deadline);
    }

    pub(in crate::rules::cap) fn reassign(&mut self, at: At, number: u64, to: &str, deadline: Moment) {
        self.close_parts(at, number);
        self.end(at, number, Stage::Closed);
        let Some(task) = self.tasks.get_mut(&number) else { return };
        let (id, before) = (task.id.clone(), std::mem::replace(&mut task.assignee, to.to_owned()));
        task.former.push(before.clone());
        self.unseat(&before, &id, number);
        self.seat(to, &id, number);
        self.hand_again(at, number, Some(deadline));
    }

    pub(in crate::rules::cap) fn escalate(&mut self, number: u64, to: &Escalation) {
        if let Some(task) = self.tasks.get_mut(&number) {
            task.escalated = Some(to.clone());
        }
    }

    /// The delegations of these tasks reach nobody.
    pub(crate) fn lose_delegations(&mut self, tasks: &[u64], loss: Loss) {
        let is_open = |number: &&u64| self.tasks.get(number).is_some_and(Task::is_open);
        self.undelivered.extend(tasks.iter().filter(is_open).map(|number| (*number, loss)));
    }

    /// An agent calls a tool in a task.
    pub(crate) fn take_up(&mut self, task: Option<u64>, agent: &str) {
        if let Some(task) = task.and_then(|number| self.tasks.get_mut(&number)) {
            task.taken_up |= task.assignee == agent;
        }
    }

    /// An agent was registered or changed. What is running keeps the stricter of old and new rights.
    pub(crate) fn registered(&mut self, registry: &Registry, agent: &Agent) {
        let Some(manifest) = &agent.manifest else { return };
        let rights = Rights::of(manifest);
        if self.rights.get(&agent.id) == Some(&rights) {
            return;
        }
        let holders: Vec<_> = registry.instances(&agent.id).chain([agent]).collect();
        let holders = holders.into_iter().filter(|holder| self.held.contains_key(&holder.id));
        let before: Vec<_> = holders.map(|holder| (holder, self.rights(holder).map(Cow::into_owned))).collect();
        rights.references(&agent.id).for_each(|reference| self.references.insert(reference));
        let old = self.rights.remove(&agent.id);
        self.rights.insert(agent.id.clone(), rights);
        if let Some(old) = old {
            self.drop_references(&agent.id, &old);
        }
        for (holder, old) in before {
            let new = self.rights(holder).map(Cow::into_owned).unwrap_or_default();
            let old = old.unwrap_or_default();
            for number in self.held.get(&holder.id).into_iter().flatten() {
                if let Some(task) = self.tasks.get_mut(number) {
                    let met = task.narrowed.as_deref().unwrap_or(&old).meet(&new);
                    if let Some(reference) = overseer_in_task(*number, task) {
                        self.references.remove(&reference);
                    }
                    task.narrowed = Some(Box::new(met));
                    self.narrowed.insert(*number);
                    if let Some(reference) = overseer_in_task(*number, task) {
                        self.references.insert(reference);
                    }
                }
            }
        }
    }

    /// Drops the references of a manifest that gave way, save those that the current one has too.
    fn drop_references(&mut self, agent: &str, old: &Rights) {
        let kept: BTreeSet<_> =
            self.rights.get(agent).into_iter().flat_map(|rights| rights.references(agent)).collect();
        for reference in old.references(agent).filter(|reference| !kept.contains(reference)) {
            self.references.remove(&reference);
        }
    }

    /// An agent is gone.
    pub(crate) fn removed(&mut self, agent: &str) {
        if let Some(rights) = self.rights.remove(agent) {
            self.drop_references(agent, &rights);
        }
        self.calls.forget(agent);
        self.lost.extend(self.held.get(agent).into_iter().chain(self.handed.get(agent)).flatten());
        let is_for = |number: &&u64| self.tasks.get(number).is_some_and(|task| task.assignee == agent);
        self.lost.extend(self.waiting.iter().filter(is_for));
        self.stranded.extend(self.overseen.get(agent).into_iter().flatten());
    }
}
