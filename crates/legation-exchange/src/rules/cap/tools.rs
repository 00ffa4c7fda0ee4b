//! Results of tools (MCP Integration): one must come from a tool that its sender is bound to and that every
//! grant above leaves it, or be a colleague's passed on unchanged. What the exchange's own gateway was answered is told
//! from what rests on somebody's word.

use super::Narrowing;
use super::bonds::{Bond, bonds};
use super::change::Change;
use super::place::family_task;
use super::rights::Rights;
use super::standing::{Shown, Standing};
use super::task::Task;
use super::tasks::{Kept, Tree};
use crate::agent::Agent;
use crate::policy::Policy;
use crate::rules::{Case, Ruling};
use crate::state::State;
use crate::tool;
use legation_protocol::cap::{Attachment, Message, ToolCallResult};
use legation_protocol::json::{Digest, Doc, canonical};
use legation_protocol::{Code, Rejection};
use std::borrow::Cow;

const SPEC: &str = "CAP MCP Integration";

/// Judges the results a message carries. `within` is the task its sender acts in, `shown_in` where they are seen.
pub(super) fn look(
    case: &Case<'_>,
    message: &Message,
    within: Option<u64>,
    shown_in: Option<u64>,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let mut shown = Shown::default();
    for (index, attachment) in message.attachments.iter().flatten().enumerate() {
        let Attachment::ToolCallResult(result) = attachment else { continue };
        let digest = digest(result);
        let standing = standing(case, within, result, &digest);
        let standing = standing.map_err(|rejection| rejection.at(format!("/attachments/{index}")).by(SPEC))?;
        shown.add(index, digest, standing);
    }
    shown.mark(ruling);
    if let (Some(task), false) = (shown_in, shown.is_empty()) {
        let (results, verified) = shown.told();
        ruling.change(Change::Shown { task, results, verified }.into());
    }
    Ok(())
}

/// How a result stands, if its sender may show it.
fn standing(
    case: &Case<'_>,
    within: Option<u64>,
    result: &ToolCallResult,
    digest: &str,
) -> Result<Standing, Rejection> {
    let borne_out = || shown_tree(case, within, digest).and_then(|tree| tree.borne_out(digest));
    match may_show(case, within, result) {
        Ok(()) => Ok(match (answer_to(case, within, result), borne_out()) {
            (Some(answer), _) => Standing::Verified(answer),
            (None, Some(answer)) => Standing::Forwarded(Some(answer)),
            (None, None) => Standing::SelfReported,
        }),
        Err(_) if shown_tree(case, within, digest).is_some() => Ok(Standing::Forwarded(borne_out())),
        Err(rejection) => Err(rejection),
    }
}

/// The entry in which the gateway was answered this, for the sender or whoever it is one with: in the task it acts in, in
/// one above that, or in none.
fn answer_to(case: &Case<'_>, within: Option<u64>, result: &ToolCallResult) -> Option<u64> {
    let kept = &case.state.rules.cap;
    let told = tool::told(&result.server_id, &result.tool, result.result.as_str())?;
    let digest = Digest::of_bytes(&told).to_string();
    let fits = |task: u64| within.is_some_and(|within| kept.line(within).any(|(number, _)| number == task));
    let family = case.state.registry.relatives(case.speaker.agent()?);
    family.filter_map(|one| kept.calls.answer_to(&one.id, &digest, &fits)).max()
}

/// The same for what is said in a task: whoever of a family says it, it is judged by the task that the family has.
pub(super) fn look_in_talk(
    case: &Case<'_>,
    message: &Message,
    task: Option<u64>,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    if message.attachments.is_none() {
        return Ok(());
    }
    look(case, message, family_task(case, &message.task_id).or(task), task, ruling)
}

/// A result however it is spelled.
fn digest(result: &ToolCallResult) -> String {
    let text = serde_json::to_string(result).unwrap_or_default();
    let canonical = Doc::parse(text.as_bytes()).map_or_else(|_| text.clone().into_bytes(), |doc| canonical(doc.root()));
    Digest::of_bytes(&canonical).to_string()
}

/// The tree in which a result was shown, if that was in this task, above it or below it.
fn shown_tree<'c>(case: &Case<'c>, within: Option<u64>, digest: &str) -> Option<&'c Tree> {
    let (kept, number) = (&case.state.rules.cap, within?);
    let tree = kept.task(number).and_then(|task| kept.tree(task))?;
    let in_line = |below: u64, above: u64| kept.line(below).any(|(task, _)| task == above);
    tree.shown(digest).any(|seen| in_line(number, seen) || in_line(seen, number)).then_some(tree)
}

fn may_show(case: &Case<'_>, within: Option<u64>, result: &ToolCallResult) -> Result<(), Rejection> {
    let Some(agent) = case.speaker.agent() else { return Ok(()) };
    let wanted = Wanted { server: &result.server_id, tool: &result.tool, scopes: &scopes(result) };
    Ground { state: case.state, policy: case.policy }.may_use(agent, within, &wanted)
}

/// What somebody wants to use.
pub(super) struct Wanted<'w> {
    pub(super) server: &'w str,
    pub(super) tool: &'w str,
    pub(super) scopes: &'w [String],
}

/// What rights are judged by.
#[derive(Clone, Copy)]
pub(super) struct Ground<'g> {
    pub(super) state: &'g State,
    pub(super) policy: &'g Policy,
}

impl Ground<'_> {
    /// Whether an agent may use a tool in a task, by its own bindings and every grant above.
    pub(super) fn may_use(self, agent: &Agent, within: Option<u64>, wanted: &Wanted<'_>) -> Result<(), Rejection> {
        let mut acting = acting(self, agent, within);
        let Wanted { server, tool, scopes } = *wanted;
        let binds = |rights: &Rights| rights.bind(server, tool);
        acting.retain(|place| allows(self, agent, *place, &binds, Some(tool)));
        // A scope of one task does not go with a tool of another: one place allows everything, or nothing is allowed.
        let mut lacking = acting.iter().map(|place| self.lacks(agent, *place, server, scopes));
        match lacking.next() {
            None => {
                let message = format!("{} may not use {tool:?} of {server:?} here", agent.id);
                Err(Rejection::because(Code::ToolNotBound, message))
            }
            Some(Some(scope)) if lacking.all(|lacking| lacking.is_some()) => {
                let message = format!("{} does not have the scope {scope:?} of {server:?} here", agent.id);
                Err(Rejection::because(Code::ScopeDenied, message))
            }
            Some(_) => Ok(()),
        }
    }

    /// The first scope that an agent does not have in a place.
    fn lacks<'w>(self, agent: &Agent, place: Option<Bond>, server: &str, scopes: &'w [String]) -> Option<&'w String> {
        scopes.iter().find(|scope| {
            let reach = |rights: &Rights| rights.reach(server, scope);
            !(allows(self, agent, place, &reach, None) && granted_scope(self, place, scope))
        })
    }
}

/// The scopes a result names, in members the spec does not define.
fn scopes(result: &ToolCallResult) -> Vec<String> {
    let named = |name: &str| result.extra.get(name).map(legation_protocol::json::Json::to_value);
    let one = named("scope").and_then(|scope| scope.as_str().map(str::to_owned));
    let list = named("scopes").and_then(|list| list.as_array().cloned()).unwrap_or_default();
    one.into_iter().chain(list.iter().filter_map(|scope| scope.as_str().map(str::to_owned))).collect()
}

/// In which task somebody acts, or below which; none is by its own rights alone. Naming a task of others gives nothing, and
/// a tree of one's own is no way out of what one was handed: whoever is bound acts in what binds it, or its family.
fn acting(ground: Ground<'_>, agent: &Agent, within: Option<u64>) -> Vec<Option<Bond>> {
    let (kept, registry) = (&ground.state.rules.cap, &ground.state.registry);
    for (number, task) in within.into_iter().flat_map(|number| kept.line(number)) {
        if registry.are_one(&task.assignee, &agent.id) {
            return vec![Some(Bond::Holds(number))];
        }
        if !registry.are_one(&task.delegator, &agent.id) {
            break;
        }
    }
    let bonds = bonds(ground.state, agent);
    if bonds.is_empty() { vec![None] } else { bonds.into_iter().map(Some).collect() }
}

fn allows(
    ground: Ground<'_>,
    agent: &Agent,
    place: Option<Bond>,
    has: &dyn Fn(&Rights) -> bool,
    tool: Option<&str>,
) -> bool {
    let kept = &ground.state.rules.cap;
    let own = kept.rights(agent).is_some_and(|rights| has(&rights));
    let Some(bond) = place.filter(|_| own) else { return own };
    let number = bond.task();
    // Nothing is known any more of what a forgotten task grants.
    let Some(task) = kept.task(number) else { return false };
    let binds = |task: &Task| kept.rights_in(&ground.state.registry, task).is_some_and(|rights| has(&rights));
    let granted = tool.is_none_or(|tool| kept.grants(number).all(|grant| grant.allows_tool(tool)));
    granted
        && match ground.policy.narrowing {
            Narrowing::Grants => !bond.is_held() || binds(task),
            Narrowing::Strict => {
                let line = kept.line(number).all(|(_, task)| binds(task) && delegator_has(ground, task, has));
                line && opener_has(ground, number, has)
            }
        }
}

/// Whether whoever handed a task on has a right too, as far as a manifest says. It need not work on the task above: it may
/// have been asked by somebody who does.
fn delegator_has(ground: Ground<'_>, task: &Task, has: &dyn Fn(&Rights) -> bool) -> bool {
    let delegator = ground.state.registry.agent(&task.delegator);
    delegator.and_then(|agent| ground.state.rules.cap.rights(agent)).is_none_or(|rights| has(&rights))
}

/// Whether whoever opened the tree is a person, or has a right too.
fn opener_has(ground: Ground<'_>, number: u64, has: &dyn Fn(&Rights) -> bool) -> bool {
    let kept = &ground.state.rules.cap;
    let opener = kept.task(number).and_then(|task| ground.state.registry.agent(&task.opener));
    opener.is_none_or(|opener| kept.rights(opener).is_some_and(|rights| has(&rights)))
}

fn granted_scope(ground: Ground<'_>, place: Option<Bond>, scope: &str) -> bool {
    place.is_none_or(|bond| ground.state.rules.cap.grants(bond.task()).all(|grant| grant.allows_scope(scope)))
}

impl Kept {
    /// What the assignee of a task may use in it, all told.
    pub fn left_in(&self, registry: &crate::registry::Registry, number: u64, narrowing: Narrowing) -> Rights {
        let Some(task) = self.task(number) else { return Rights::default() };
        let mut rights = self.rights_in(registry, task).map(Cow::into_owned).unwrap_or_default();
        for (_, task) in self.line(number) {
            rights.under(&task.grant);
            if narrowing == Narrowing::Strict {
                rights.within(&self.rights_in(registry, task).map(Cow::into_owned).unwrap_or_default());
                let delegator = registry.agent(&task.delegator).and_then(|agent| self.rights(agent));
                if let Some(own) = delegator {
                    rights.within(&own);
                }
            }
        }
        if let (Narrowing::Strict, Some(opener)) = (narrowing, registry.agent(&task.opener)) {
            rights.within(&self.rights(opener).map(Cow::into_owned).unwrap_or_default());
        }
        rights
    }
}
