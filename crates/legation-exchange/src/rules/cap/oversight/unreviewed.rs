//! What an overseen agent says beside its result: it flows, and whoever handed it the task is told that nobody has approved
//! it, whichever of its instances says it, in whichever dialect and under whichever id.

use super::{WAITS, is_overseen};
use crate::rules::cap::task::Task;
use crate::rules::{Case, Ruling, translate};
use std::collections::BTreeSet;

/// Open tasks of the sender, and of whoever it is one with, whose work somebody reviews and for whom the message is.
/// A session's members hear what is said in it.
pub(super) fn owed<'c>(case: &Case<'c>, members: &[String]) -> impl Iterator<Item = (u64, &'c Task)> + use<'c> {
    let (kept, registry) = (&case.state.rules.cap, &case.state.registry);
    let relatives = case.speaker.agent().into_iter().flat_map(|agent| registry.relatives(agent));
    let overseen = relatives.filter(|one| kept.may_be_overseen(one));
    let held: Vec<_> = overseen.flat_map(|one| kept.held(&one.id)).collect();
    let hearer = || if case.to.is_empty() { translate::hearer(case) } else { None };
    let hearers: BTreeSet<String> = if held.is_empty() {
        BTreeSet::new()
    } else {
        let named = case.to.iter().chain(members).map(String::as_str);
        named.chain(hearer()).map(|to| registry.family(to).to_owned()).collect()
    };
    let tasks = held.into_iter().filter_map(|number| Some((number, kept.task(number)?)));
    tasks.filter(move |(_, task)| hearers.contains(registry.family(task.counts_for()))).filter({
        let case = *case;
        move |(_, task)| is_overseen(&case, task)
    })
}

/// Marks what is said of such work, and what the exchange says for it. What waits for the overseer needs no mark.
pub(crate) fn mark_unreviewed(case: &Case<'_>, ruling: &mut Ruling) {
    let members = ruling.instead.as_deref().unwrap_or_default();
    if ruling.reasons.iter().any(|reason| reason.code == WAITS) || owed(case, members).next().is_none() {
        return;
    }
    ruling.find("cap.oversight", "unreviewed", "the sender's work for its recipient is not approved");
    let mark = ruling.findings.last();
    let said =
        ruling.heard.iter_mut().filter(|heard| heard.changes.iter().any(|change| change.translation().is_some()));
    said.for_each(|heard| heard.findings.extend(mark.cloned()));
}
