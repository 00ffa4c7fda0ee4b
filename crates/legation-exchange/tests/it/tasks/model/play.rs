//! A step, taken at the desk and in the model: the two must agree on what becomes of it.

use super::orders::Remedy;
use super::steps::{About, Attached, By, Says, Step, Terms, Which};
use super::words::{Decision, Fate, Notice, What, Words};
use super::world::{AGENTS, Model, Name, Rights, TOOLS};
use crate::desk::{Desk, START, agent};
use crate::tasks::house::{manifest, proof};
use legation_exchange::rules::cap::{Order, Step as Asked};
use legation_exchange::rules::hold::{Review, Says as Word};
use legation_exchange::{Directive, Effect, Input, Moment, Registration, State, Verdict, Who};
use legation_scan::Severity;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// What becomes of a step: as the model says, and as the desk does. Nothing, if there is nobody to take it.
pub(super) fn play(desk: &mut Desk, model: &mut Model, step: &Step) -> Option<(Fate, Fate)> {
    let at = desk.record.len() as u64;
    let fates = match step {
        Step::Open { id, by, to, terms } => {
            hand(desk, model, &notice(model, (format!("T{id}"), None), (by, to), terms))
        }
        Step::Part { of, number, dotted, by, to, terms } => {
            let of = nth(model, *of)?;
            let ids = part_id(&model.tasks[&of].id, *number, *dotted);
            hand(desk, model, &notice(model, ids, (party(model, of, *by)?, to), terms))
        }
        Step::Again { of, terms } => hand(desk, model, &again(model, nth(model, *of)?, terms.as_ref())),
        Step::Say { about, by, to, says, shows } => say(desk, model, *about, (*by, *to), *says, *shows),
        Step::Order { about, by, remedy } => order(desk, model, nth(model, *about)?, *by, *remedy),
        Step::Review { of, approves } => review(desk, model, *of, *approves),
        Step::Manifest { of, allowed, tools, overseer } => {
            let rights =
                Rights { allowed: picked(&AGENTS, *allowed), tools: picked(&TOOLS, *tools), overseer: *overseer };
            model
                .is_agent(of)
                .then(|| (model.register(at, of, Some(rights.clone())).into(), register(desk, of, Some(&rights))))
        }
        Step::Return(who) => {
            let rights = (*who != "b-1").then(everything);
            (!model.is_agent(who))
                .then(|| (model.register(at, who, rights.clone()).into(), register(desk, who, rights.as_ref())))
        }
        Step::Remove(who) => remove(desk, model, who),
        Step::Desert(which) => {
            let task = model.task_of(waiting(model, *which)?)?;
            remove(desk, model, party(model, task, By::Overseer)?)
        }
        Step::Pass(hours) => {
            model.pass(*hours);
            desk.passes(Duration::from_hours(*hours));
            Some((Fate::Taken, Fate::Taken))
        }
        Step::Purge(who) => model.is_agent(who).then(|| {
            model.purge(who);
            let input = Input::Purge { agent: (*who).to_owned(), up_to: None, who: Who::operator() };
            (Fate::Taken, fate(&desk.ask(input)))
        }),
        Step::Restart => {
            desk.state = State::from_bytes(&desk.state.to_bytes()).unwrap();
            Some((Fate::Taken, Fate::Taken))
        }
    };
    desk.passes(Duration::ZERO);
    fates
}

/// May delegate to everybody, and use everything; nobody looks at it.
pub(super) fn everything() -> Rights {
    Rights { allowed: AGENTS.into(), tools: TOOLS.into(), overseer: None }
}

pub(super) fn register(desk: &mut Desk, who: Name, rights: Option<&Rights>) -> Fate {
    let written = rights.map(|Rights { allowed, tools, overseer }| {
        let allowed: Vec<_> = allowed.iter().copied().collect();
        let tools: Vec<_> = tools.iter().map(|tool| format!("S/{tool}")).collect();
        manifest(who, &allowed, *overseer, &tools.iter().map(String::as_str).collect::<Vec<_>>())
    });
    let instance_of = (who == "b-1").then(|| "b".to_owned());
    let wanted = Registration { manifest: written, instance_of, ..Registration::default() };
    desk.register(who, wanted, Who::operator()).map_or_else(Fate::Refused, |_| Fate::Taken)
}

fn remove(desk: &mut Desk, model: &mut Model, who: Name) -> Option<(Fate, Fate)> {
    model.is_agent(who).then(|| {
        model.remove(who);
        (Fate::Taken, fate(&desk.ask(Input::Remove { id: who.to_owned(), who: Who::operator() })))
    })
}

fn picked(all: &[Name], bits: u8) -> BTreeSet<Name> {
    (0..).zip(all).filter(|(bit, _)| bits & (1 << bit) != 0).map(|(_, name)| *name).collect()
}

pub(super) fn fate(verdict: &Verdict) -> Fate {
    match verdict {
        Verdict::Accepted { .. } => Fate::Taken,
        Verdict::Held { .. } => Fate::Held,
        Verdict::Refused(rejection) => Fate::Refused(rejection.code()),
        Verdict::Duplicate { .. } => panic!("nothing is sent twice"),
    }
}

fn nth(model: &Model, which: Which) -> Option<u64> {
    model.tasks.keys().nth(which % model.tasks.len().max(1)).copied()
}

fn waiting(model: &Model, which: Which) -> Option<u64> {
    let works: Vec<_> = model.waiting().into_iter().collect();
    works.get(which % works.len().max(1)).copied()
}

fn party(model: &Model, task: u64, by: By) -> Option<Name> {
    let known = &model.tasks[&task];
    match by {
        By::Assignee => Some(known.assignee),
        By::Delegator => Some(known.delegator),
        By::Overseer => known.works.values().find_map(|work| work.overseer).or_else(|| model.overseer_of(task)),
        By::Anybody(name) => Some(name),
    }
}

/// The id of a part, and the parent that goes with it. No task is named by what is below it.
fn part_id(above: &str, number: usize, dotted: bool) -> (String, Option<String>) {
    let fresh = format!("X{number}");
    if dotted || above.split('.').next() == Some(&fresh) {
        (format!("{above}.{number}"), None)
    } else {
        (fresh, Some(above.to_owned()))
    }
}

fn notice(model: &Model, (id, parent_id): (String, Option<String>), (from, to): (Name, Name), terms: &Terms) -> Notice {
    let grants = terms.grants.map(|bits| picked(&TOOLS, bits));
    let deadline = terms.deadline.and_then(|hours| model.now.checked_add_signed(hours));
    Notice { id, parent_id, from, to, grants, deadline, shows: terms.shows, suspect: terms.suspect }
}

/// The same as before, or on other terms.
fn again(model: &Model, of: u64, terms: Option<&Terms>) -> Notice {
    let task = &model.tasks[&of];
    let parent_id = task.parent.map(|parent| model.tasks[&parent].id.clone()).filter(|_| task.id.starts_with('X'));
    let ids = (task.id.clone(), parent_id.filter(|_| !task.id.contains('.')));
    let same = Terms { grants: None, deadline: None, shows: None, suspect: false };
    let asked = notice(model, ids, (task.delegator, task.assignee), terms.unwrap_or(&same));
    let grants = if terms.is_some() { asked.grants } else { task.grants.clone() };
    Notice { grants, ..asked }
}

fn attachments(shows: Attached) -> Option<Value> {
    let (tool, text) = shows?;
    Some(json!([{ "type": "tool_call_result", "server_id": "S", "tool": tool, "result": format!("rows {text}") }]))
}

/// Sends what has this type and these members beside those that all have.
fn send(desk: &mut Desk, (from, to, id): (Name, Name, &str), (shows, suspect): (Attached, bool), more: Value) -> Fate {
    let mut message = json!({ "task_id": id, "sender_id": from, "recipient_id": to });
    let members = message.as_object_mut().unwrap();
    let Value::Object(more) = more else { panic!("an object") };
    members.extend(more);
    members.extend(attachments(shows).map(|shown| ("attachments".to_owned(), shown)));
    let text = message.to_string();
    fate(&if suspect { desk.suspect(&text, proof(from), Severity::High) } else { desk.send(&text, proof(from)) })
}

fn hand(desk: &mut Desk, model: &mut Model, notice: &Notice) -> Option<(Fate, Fate)> {
    let Notice { id, parent_id, from, to, grants, deadline, shows, suspect } = notice;
    if from == to {
        return None;
    }
    let said = model.hand(desk.record.len() as u64, notice);
    let mut more = json!({ "type": "delegation_notice", "context_summary": "do it" });
    let members = more.as_object_mut().unwrap();
    members.extend(parent_id.as_ref().map(|id| ("parent_task_id".to_owned(), json!(id))));
    members.extend(grants.as_ref().map(|tools| ("grants".to_owned(), json!({ "tools": tools }))));
    let deadline = deadline.map(|hours| Moment::from_micros(START).plus(Duration::from_hours(hours)).to_string());
    members.extend(deadline.map(|deadline| ("deadline".to_owned(), json!(deadline))));
    Some((said.into(), send(desk, (from, to, id), (*shows, *suspect), more)))
}

fn digest(desk: &Desk, message: u64) -> String {
    let Effect::Accepted(accepted) = &desk.record[usize::try_from(message).unwrap()].effect else {
        panic!("no message")
    };
    accepted.digest.clone()
}

fn say(
    desk: &mut Desk,
    model: &mut Model,
    about: Option<Which>,
    (by, to): (By, By),
    says: Says,
    shows: Attached,
) -> Option<(Fate, Fate)> {
    let named = match says {
        Says::Decision(_, About::One(which)) => waiting(model, which).and_then(|work| model.task_of(work)),
        Says::Plain | Says::Result | Says::Error(_) | Says::Inquiry | Says::Decision(..) => None,
    };
    let task = named.or_else(|| nth(model, about.unwrap_or_default()))?;
    let (from, to) = (party(model, task, by)?, party(model, task, to)?);
    if from == to || [from, to].contains(&"ghost") {
        return None;
    }
    let id = about.map_or_else(|| "nobodys".to_owned(), |_| model.tasks[&task].id.clone());
    // No two have the same digest.
    let content = format!("words {}", desk.record.len());
    let (what, more) = match says {
        Says::Plain => (What::Plain, json!({ "type": "message", "content": content })),
        Says::Result => (What::Result, json!({ "type": "message", "content": content, "final": true })),
        Says::Error(code) => {
            (What::Error(code), json!({ "type": "error_response", "error_code": code, "error_message": content }))
        }
        Says::Inquiry => (What::Inquiry, json!({ "type": "oversight_inquiry", "inquiry": content })),
        Says::Decision(decision, about) => {
            let name = ["approve", "revise", "reject"][decision];
            let decision = [Decision::Approve, Decision::Revise, Decision::Reject][decision];
            let mut more = json!({ "type": "message", "content": content, "decision": name });
            let work = match about {
                About::TheOnly => None,
                About::One(which) | About::Elsewhere(which) => waiting(model, which),
                About::Nothing => Some(0),
            };
            if let Some(work) = work {
                let none = format!("sha256:{}", "0".repeat(64));
                more["digest"] = json!(if work == 0 { none } else { digest(desk, work) });
            }
            (What::Decision(decision, work), more)
        }
    };
    let words = Words { id, from, to, what, shows };
    let said = model.say(desk.record.len() as u64, &words);
    Some((said.into(), send(desk, (from, to, &words.id), (shows, false), more)))
}

fn order(
    desk: &mut Desk,
    model: &mut Model,
    task: u64,
    by: Option<By>,
    remedy: super::steps::Remedy,
) -> Option<(Fate, Fate)> {
    let by = by.map(|by| party(model, task, by).filter(|name| AGENTS.contains(name)));
    // People who are no operators are not asked for here.
    let by = match by {
        Some(None) => return None,
        Some(Some(name)) => Some(name),
        None => None,
    };
    let (remedy, step) = match remedy {
        super::steps::Remedy::Retry => (Remedy::Retry, Asked::Retry),
        super::steps::Remedy::Reassign(to) => (Remedy::Reassign(to), Asked::Reassign(to.to_owned())),
        super::steps::Remedy::Escalate => (Remedy::Escalate, Asked::Escalate),
    };
    let said = model.order(desk.record.len() as u64, task, by, remedy);
    let order = Box::new(Directive::Cap(Order { task, step, opinion: None }));
    let who = by.map_or_else(Who::operator, agent);
    Some((said.into(), fate(&desk.ask(Input::Order { order, who }))))
}

fn review(desk: &mut Desk, model: &mut Model, which: Which, approves: bool) -> Option<(Fate, Fate)> {
    let message = waiting(model, which)?;
    let said = model.review(message, approves);
    let says = if approves { Word::Approve } else { Word::Refuse };
    let (digest, why) = (digest(desk, message), "so it is".to_owned());
    let order = Box::new(Directive::Review(Review { message, says, digest, why }));
    Some((said.into(), fate(&desk.ask(Input::Order { order, who: Who::operator() }))))
}
