//! Keys that stand with more than one agent: a record of before keys were bound to agents may have some.

use super::Check;
use crate::remote::{Parcel, Remote, encoded, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// How many pages of the registry are read at most.
const PAGES: usize = 10_000;
/// How many keys are named.
const NAMED: usize = 5;

/// Agents by the keys that count for them, or may come to count.
type Holders = BTreeMap<String, BTreeSet<String>>;

/// Looks for shared keys; nothing where the registry is not shown.
pub(super) fn check(remote: &Remote) -> Option<Check> {
    let (mut holders, mut after) = (Holders::new(), None::<String>);
    for _ in 0..PAGES {
        let query = after.as_ref().map(|after| format!("?after={}", encoded(after))).unwrap_or_default();
        let reply = remote.ask("GET", &format!("/v1/agents{query}"), &Parcel::default()).ok()?;
        let page = reply.value().ok().filter(|_| reply.is_accepted())?;
        let agents = page.get("agents").and_then(Value::as_array)?;
        for agent in agents {
            note(&mut holders, agent);
        }
        after = page.get("next").and_then(Value::as_str).filter(|_| !agents.is_empty()).map(str::to_owned);
        if after.is_none() {
            break;
        }
    }
    Some(found(&holders))
}

fn note(holders: &mut Holders, agent: &Value) {
    let keys = agent.get("keys").and_then(Value::as_array).into_iter().flatten();
    for key in keys.filter(|key| matches!(text(key, "state").as_str(), "PENDING" | "ACTIVE" | "ROTATING")) {
        holders.entry(text(key, "public")).or_default().insert(text(agent, "id"));
    }
}

fn found(holders: &Holders) -> Check {
    let shared: Vec<_> = holders.iter().filter(|(_, agents)| agents.len() > 1).collect();
    if shared.is_empty() {
        return Check::ok("keys", "no key stands with more than one agent");
    }
    let named = shared.iter().take(NAMED).map(|(key, agents)| {
        let agents: Vec<_> = agents.iter().map(String::as_str).collect();
        format!("{key} with {}", agents.join(", "))
    });
    let named = named.collect::<Vec<_>>().join("; ");
    let found = format!("{} keys stand with more than one agent: {named}", shared.len());
    Check::warn("keys", found, "give each agent a key of its own: whoever signs with a shared one first has it")
}

#[cfg(test)]
mod tests {
    use super::{Holders, found, note};
    use crate::doctor::State;
    use serde_json::json;

    #[test]
    fn keys_that_two_agents_have_are_named_and_those_out_of_use_are_not() {
        let agent = |id: &str, key: &str, state: &str| json!({"id": id, "keys": [{"public": key, "state": state}]});
        let mut holders = Holders::new();
        note(&mut holders, &agent("ann", "k1", "ACTIVE"));
        note(&mut holders, &agent("bob", "k1", "RETIRED"));
        assert_eq!(found(&holders).state, State::Ok);
        note(&mut holders, &agent("eve", "k1", "PENDING"));
        let check = found(&holders);
        assert_eq!(check.state, State::Warn);
        assert!(check.found.contains("k1 with ann, eve"), "{}", check.found);
    }
}
