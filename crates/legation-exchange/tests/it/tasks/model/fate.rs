//! How the model's tasks end, go on and fall due.

use super::world::{Held, Model, Name, Rights, Stage, Task, Work};

/// How long a task may take without a deadline of its own, and how long a person's word is waited for.
pub(super) const USUAL: u64 = 168;
pub(super) const REVIEW: u64 = 24;

/// How the tasks name the exchange.
pub(super) const EXCHANGE: Name = "the exchange";

impl Model {
    /// Nobody works on a task any more, and nothing waits in it.
    fn end(&mut self, number: u64, stage: Stage) {
        let task = self.tasks.get_mut(&number).unwrap();
        (task.stage, task.asked_user) = (stage, false);
        task.works.clear();
        if task.waits {
            self.held.remove(&number);
        }
    }

    /// What is below a task and not done is over for good.
    pub(super) fn close_parts(&mut self, task: u64) {
        for part in self.parts(task) {
            self.close_parts(part);
            if self.tasks[&part].stage != Stage::Done {
                self.end(part, Stage::Closed);
            }
        }
    }

    pub(super) fn finish(&mut self, task: u64, result: u64) {
        self.close_parts(task);
        self.end(task, Stage::Done);
        self.tasks.get_mut(&task).unwrap().result = Some(result);
    }

    pub(super) fn close(&mut self, task: u64) {
        self.close_parts(task);
        self.end(task, Stage::Closed);
    }

    /// A task fails. What is below it goes on: it may be tried again.
    pub(super) fn fail(&mut self, task: u64, code: i64, by: Name) {
        self.tasks.get_mut(&task).unwrap().errors.push((code, by));
        self.end(task, Stage::Failed);
    }

    /// The exchange tells somebody of an error.
    pub(super) fn tell(&mut self, task: u64, to: Name, code: i64) {
        if self.is_here(to) {
            self.told.push((self.tasks[&task].id.clone(), to, code));
        }
    }

    pub(super) fn tell_delegator(&mut self, task: u64, code: i64) {
        self.tell(task, self.tasks[&task].delegator, code);
    }

    /// Somebody works on it from now on, by what it may do now. What is running goes on by what it had.
    pub(super) fn hand_over(&mut self, at: u64, task: u64) {
        let task = self.tasks.get_mut(&task).unwrap();
        if !task.is_open() {
            (task.stage, task.versions) = (Stage::Open, Vec::new());
        }
        (task.handed, task.tries, task.begun) = (at, task.tries + 1, false);
    }

    /// When a task is due: never later than the one it is a part of.
    pub(super) fn due(&self, parent: Option<u64>, wanted: Option<u64>) -> u64 {
        let wanted = wanted.unwrap_or(self.now + USUAL);
        parent.map_or(wanted, |parent| wanted.min(self.tasks[&parent].deadline))
    }

    /// A message waits for whoever reviews the task, or for a person if they are not here.
    pub(super) fn wait(&mut self, at: u64, task: u64, mut work: Work) {
        let author = self.tasks[&task].assignee;
        let overseer = self.overseer_of(task);
        work.overseer = overseer.filter(|overseer| self.is_agent(overseer) && !self.are_one(overseer, author));
        work.until = work.overseer.is_none().then_some(self.now + REVIEW);
        let known = self.tasks.get_mut(&task).unwrap();
        known.begun = true;
        let works = &mut known.works;
        if work.is_final {
            work.replaces = works.iter().filter(|(_, older)| older.is_final).map(|(message, _)| *message).collect();
        }
        // What a person has to see first withdraws nothing yet.
        if work.overseer.is_some() {
            works.retain(|message, _| !work.replaces.contains(message));
        }
        let overseer = work.overseer;
        works.insert(at, work);
        let seen = &mut self.tasks.get_mut(&task).unwrap().seen;
        seen.extend(overseer.map(|overseer| (at, overseer)));
    }

    /// What waited goes on.
    pub(super) fn release(&mut self, message: u64) {
        let (number, work) = self.take(message);
        self.tasks.get_mut(&number).unwrap().works.retain(|older, _| !work.replaces.contains(older));
        self.ask_user(work.asks_user);
        if let Some(task) = work.begins.and_then(|task| self.tasks.get_mut(&task)) {
            task.begun = true;
        }
        self.shown.extend(work.shows);
        if work.is_final {
            self.finish(number, message);
        }
    }

    pub(super) fn ask_user(&mut self, task: Option<u64>) {
        if let Some(task) = task.and_then(|task| self.tasks.get_mut(&task)).filter(|task| task.is_open()) {
            task.asked_user = true;
        }
    }

    /// A held delegation goes on: whoever it is for has a part in the task, or is handed it once more.
    pub(super) fn let_go(&mut self, message: u64) {
        let Held { task: number, shows, .. } = self.held.remove(&message).unwrap();
        let task = self.tasks.get_mut(&number).unwrap();
        if number == message {
            task.waits = false;
            self.shown.extend(shows);
        } else if task.is_open() {
            self.hand_over(message, number);
        }
    }

    /// A held delegation does not go on.
    pub(super) fn call_off(&mut self, message: u64) {
        if self.held.remove(&message).is_some_and(|held| held.task == message) {
            self.close(message);
        }
    }

    /// What waits for a word is taken out of its task.
    pub(super) fn take(&mut self, message: u64) -> (u64, Work) {
        let mut tasks = self.tasks.iter_mut();
        tasks.find_map(|(number, task)| Some((*number, task.works.remove(&message)?))).unwrap()
    }

    /// A manifest was written. What is running keeps the stricter of old and new rights.
    pub(super) fn write(&mut self, who: Name, manifest: Rights) {
        if self.agents[who].manifest.as_ref() == Some(&manifest) {
            return;
        }
        let before = self.clone();
        self.agents.get_mut(who).unwrap().manifest = Some(manifest);
        let holds = |holder: Name| holder == who || before.base(holder) == Some(who);
        let now = self.clone();
        for task in self.tasks.values_mut().filter(|task| task.is_open() && !task.waits && holds(task.assignee)) {
            if task.versions.is_empty() {
                task.versions.push(before.rights(task.assignee).unwrap_or_default());
            }
            task.versions.push(now.rights(task.assignee).unwrap_or_default());
        }
    }

    /// An agent goes, and its instances with it.
    pub(super) fn remove(&mut self, who: Name) {
        let instances: Vec<_> = self.agents.keys().copied().filter(|one| self.base(one) == Some(who)).collect();
        for gone in instances.into_iter().chain([who]) {
            self.agents.remove(gone);
        }
        let agents = self.agents.clone();
        for work in self.tasks.values_mut().flat_map(|task| task.works.values_mut()) {
            work.overseer = work.overseer.filter(|overseer| agents.contains_key(overseer));
        }
        for number in self.tasks.keys().copied().collect::<Vec<_>>() {
            let task = &self.tasks[&number];
            if !task.is_open() || (self.is_here(task.delegator) && self.is_here(task.assignee)) {
                continue;
            }
            if self.is_here(task.delegator) {
                self.fail(number, 404, EXCHANGE);
                self.tell_delegator(number, 404);
            } else {
                self.close(number);
            }
        }
    }

    /// An agent's mailbox is emptied: the tasks that it has not begun with fail, since it never hears of them.
    pub(super) fn purge(&mut self, who: Name) {
        let is_lost = |task: &Task| task.is_open() && task.assignee == who && !task.waits && !task.begun;
        let lost: Vec<_> = self.tasks.iter().filter(|(_, task)| is_lost(task)).map(|(number, _)| *number).collect();
        for number in lost {
            self.fail(number, 404, EXCHANGE);
            self.tell_delegator(number, 404);
        }
    }

    /// Time passes: what nobody decided on goes nowhere, and what is late expires, once.
    pub(super) fn pass(&mut self, hours: u64) {
        self.now += hours;
        let now = self.now;
        let late: Vec<_> = self.held.iter().filter(|(_, held)| held.until <= now).map(|(held, _)| *held).collect();
        for message in late {
            self.call_off(message);
        }
        for number in self.tasks.keys().copied().collect::<Vec<_>>() {
            let task = self.tasks.get_mut(&number).unwrap();
            task.works.retain(|_, work| work.until.is_none_or(|until| until > now));
            if task.is_open() && task.deadline <= now {
                task.errors.push((504, EXCHANGE));
                self.end(number, Stage::Expired);
                self.tell_delegator(number, 504);
            }
        }
    }
}
