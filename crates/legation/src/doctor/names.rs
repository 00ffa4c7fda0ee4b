//! Names that collide, in a record that was written before all names were one namespace.

use super::Check;
use crate::remote::text;
use serde_json::Value;

/// The most collisions that are listed one by one.
const LISTED: usize = 20;

/// One check for each collision that the exchange found.
pub(super) fn checks(found: &Value) -> Vec<Check> {
    let all = found.get("collisions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if all.is_empty() {
        return vec![Check::ok("names", "no two names collide")];
    }
    let total = found.get("total").and_then(Value::as_u64).unwrap_or_default();
    let rest = total.saturating_sub(LISTED as u64);
    let more = (rest > 0).then(|| {
        let remedy = "`GET /v1/names/collisions` lists the first thousand";
        Check::warn("names", format!("{rest} more names collide"), remedy)
    });
    all.iter().take(LISTED).map(collision).chain(more).collect()
}

fn collision(found: &Value) -> Check {
    let kind = |member: &str| text(found, member).replace('_', " ");
    let holder = found.get("agent").map(|_| format!(" of {:?}", text(found, "agent"))).unwrap_or_default();
    let (name, other) = (text(found, "name"), text(found, "other"));
    let collides =
        format!("the {} {name:?}{holder} is, or looks like, the {} {other:?}", kind("kind"), kind("other_kind"));
    Check::warn("names", collides, text(found, "remedy"))
}

#[cfg(test)]
mod tests {
    use super::checks;
    use crate::doctor::{State, line};
    use serde_json::json;

    #[test]
    fn each_collision_is_told_with_a_remedy_up_to_a_number() {
        let one = json!({"kind": "alias", "name": "finance", "agent": "mallory", "other_kind": "group", "other": "finance", "remedy": "Give the agent another alias"});
        let found = checks(&json!({"collisions": [one], "total": 1}));
        let want = "warn  names      the alias \"finance\" of \"mallory\" is, or looks like, the group \"finance\": Give the agent another alias";
        assert_eq!(found.iter().map(line).collect::<Vec<_>>(), [want]);
        let many = checks(&json!({"collisions": vec![one; 30], "total": 5000}));
        assert_eq!((many.len(), many[20].found.as_str()), (21, "4980 more names collide"));
        assert_eq!(checks(&json!({"collisions": [], "total": 0}))[0].state, State::Ok);
    }
}
