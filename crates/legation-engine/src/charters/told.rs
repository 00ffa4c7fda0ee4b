//! What binds an agent and how it is, as every door tells it: whole, or as flags.

use super::Charter;
use legation_exchange::rules::vcp::constraints::{Shown, Sum};
use legation_exchange::rules::vcp::{constitution, context};
use serde_json::{Value, json};

impl Charter {
    /// All of it.
    pub(super) fn told(&self) -> Value {
        json!({
            "constraints": self.constraints.iter().map(rule).collect::<Vec<_>>(),
            "effective": sum(&self.effective),
            "constitution": self.constitution.as_ref().map(announced),
            "context": self.context.as_ref().map(situation),
        })
    }
}

/// One constraint, where it comes from, and whether it bites here.
fn rule(shown: &Shown) -> Value {
    let mut rule = json!({
        "setter": shown.setter.as_deref().unwrap_or("operator"),
        "position": shown.position,
        "laid_at": shown.at.to_string(),
        "inherited_from": shown.inherited_from,
        "enforced": shown.enforced,
    });
    if let (Value::Object(rule), Value::Object(constraint)) = (&mut rule, json!(shown.constraint)) {
        rule.extend(constraint);
    }
    rule
}

fn sum(sum: &Sum) -> Value {
    json!({
        "token_limit": sum.token_limit,
        "topic_block": sum.blocked_topics,
        "audience_restrict": sum.audiences,
        "safety_floor": sum.safety_level,
    })
}

/// The constitution an agent announced.
fn announced(now: &constitution::Current) -> Value {
    json!({
        "constitution_ref": now.announced.constitution_ref,
        "manifest_hash": now.announced.manifest_hash,
        "scope": now.announced.scope,
        "position": now.position,
        "announced_at": now.at.to_string(),
        "clashes_with": now.announced.clashes,
    })
}

/// The situation an agent said it is in.
fn situation(now: &context::Current) -> Value {
    json!({
        "context": now.shared.context,
        "constitution_ref": now.shared.constitution_ref,
        "transition": now.shared.transition,
        "position": now.position,
        "shared_at": now.at.to_string(),
    })
}
