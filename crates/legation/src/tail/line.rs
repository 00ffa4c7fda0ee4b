//! An entry in one line. It reads the JSON and not the types, so that entries of an exchange newer
//! than this program are shown too.

use crate::remote::text;
use crate::validate::shown;
use anstyle::{AnsiColor, Style};
use legation_exchange::Moment;
use serde_json::Value;

/// Which entries are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Filter {
    pub(super) agent: Option<String>,
    pub(super) dialect: Option<String>,
    pub(super) kind: Option<String>,
}

impl Filter {
    pub(super) fn fits(&self, effect: &Value) -> bool {
        let is = |name: &str, want: &str| effect.get(name).and_then(Value::as_str) == Some(want);
        self.agent.as_ref().is_none_or(|agent| is_about(effect, agent))
            && self.dialect.as_ref().is_none_or(|dialect| is("dialect", dialect))
            && self.kind.as_ref().is_none_or(|kind| is("entry", kind) || is("kind", kind))
    }
}

/// Whether an agent sent it, gets it, did it or is what it is about.
fn is_about(effect: &Value, agent: &str) -> bool {
    let named = |name: &str| effect.get(name).and_then(Value::as_str);
    let to = effect.get("to").and_then(Value::as_array);
    let by = named("by").map(|by| by.strip_prefix("agent ").unwrap_or(by));
    [named("sender"), named("agent"), effect.pointer("/agent/id").and_then(Value::as_str), by].contains(&Some(agent))
        || to.into_iter().flatten().any(|to| to == agent)
}

/// A line for people, with colours.
pub(super) fn of(entry: &Value) -> String {
    let effect = entry.get("effect").unwrap_or(&Value::Null);
    let at = entry.get("at").and_then(Value::as_u64).unwrap_or_default();
    // To the second: the rest is for programs.
    let at = Moment::from_micros(at / 1_000_000 * 1_000_000);
    let what = text(effect, "entry");
    let color = match what.as_str() {
        "accepted" => AnsiColor::Green,
        "refused" => AnsiColor::Red,
        _ => AnsiColor::Cyan,
    };
    let (faint, loud) = (Style::new().dimmed(), Style::new().fg_color(Some(color.into())));
    let words = words(effect).join("  ");
    format!("{faint}{:>6}  {at}{faint:#}  {loud}{what:<10}{loud:#}  {words}", text(entry, "position"))
        .trim_end()
        .to_owned()
}

/// An alert in one line.
pub(super) fn of_alert(alert: &Value) -> String {
    let loud = Style::new().fg_color(Some(AnsiColor::Red.into()));
    let words = [text(alert, "text"), text(alert, "about"), format!("×{}", text(alert, "count"))];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty() && word != "×1").collect();
    format!("{}  {loud}{:<14}{loud:#}  {}", text(alert, "at"), text(alert, "kind"), words.join("  "))
}

/// What else there is to say of it.
fn words(effect: &Value) -> Vec<String> {
    let given = |name: &str| Some(text(effect, name)).filter(|text| !text.is_empty());
    let to = effect.get("to").and_then(Value::as_array);
    let to = to.map(|to| to.iter().filter_map(Value::as_str).map(shown).collect::<Vec<_>>().join(", "));
    let agent = effect.get("agent").and_then(|agent| agent.get("id").unwrap_or(agent).as_str()).map(shown);
    let person = effect.get("person").map(|person| match person.get("name") {
        Some(_) => format!("{} ({})", text(person, "name"), text(person, "role")),
        None => text(effect, "person"),
    });
    [
        given("dialect").map(|dialect| format!("{dialect} {}", text(effect, "kind"))),
        given("sender")
            .map(|sender| format!("{sender} → {}", to.filter(|to| !to.is_empty()).unwrap_or("nobody".into()))),
        agent,
        person,
        given("code"),
        given("id"),
        given("thread").map(|thread| format!("in {thread}")),
        given("by").map(|by| format!("by {by}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Filter, of};
    use serde_json::{Value, json};

    fn accepted() -> Value {
        json!({"position": 12, "at": 1_790_000_000_123_456_u64, "effect": {
            "entry": "accepted", "dialect": "cap", "kind": "message", "id": "m-1\u{1b}[2J", "sender": "ann",
            "to": ["bob", "cid"], "thread": "T1",
        }})
    }

    #[track_caller]
    fn check(entry: &Value, want: &str) {
        let line = anstream::adapter::strip_str(&of(entry)).to_string();
        assert_eq!(line, want);
    }

    #[test]
    fn an_entry_is_one_line_that_hides_nothing_and_moves_nothing() {
        check(
            &accepted(),
            "    12  2026-09-21T14:13:20Z  accepted    cap message  ann → bob, cid  m-1\u{fffd}[2J  in T1",
        );
        check(
            &json!({"position": 0, "at": 0, "effect": {"entry": "registered", "agent": {"id": "ann"}, "by": "nobody"}}),
            "     0  1970-01-01T00:00:00Z  registered  ann  by nobody",
        );
        check(
            &json!({"position": 1, "at": 0, "effect": {"entry": "refused", "by": "ann", "code": "stale"}}),
            "     1  1970-01-01T00:00:00Z  refused     stale  by ann",
        );
        check(
            &json!({"position": 2, "at": 0, "effect": {"entry": "of_tomorrow"}}),
            "     2  1970-01-01T00:00:00Z  of_tomorrow",
        );
    }

    #[test]
    fn a_filter_asks_for_all_it_names() {
        let entry = accepted();
        let fits = |agent: Option<&str>, dialect: Option<&str>, kind: Option<&str>| {
            let own = |text: Option<&str>| text.map(str::to_owned);
            Filter { agent: own(agent), dialect: own(dialect), kind: own(kind) }.fits(&entry["effect"])
        };
        assert!(fits(None, None, None));
        assert!(fits(Some("ann"), Some("cap"), Some("message")));
        assert!(fits(Some("cid"), None, Some("accepted")));
        assert!(!fits(Some("dan"), None, None));
        assert!(!fits(Some("ann"), Some("vcp"), None));
        assert!(!fits(None, None, Some("refused")));
        let by = json!({"entry": "registered", "agent": {"id": "x"}, "by": "agent ann"});
        assert!(Filter { agent: Some("ann".to_owned()), ..Filter::default() }.fits(&by));
    }
}
