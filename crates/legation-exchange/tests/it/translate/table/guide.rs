//! The table as the guide has it, read back.

use legation_protocol::Format;
use serde_json::{Value, json};

const GUIDE: &str = include_str!("../../../../../../docs/guides/translation.md");

pub(super) const DIALECTS: [Format; 4] = [Format::Acl, Format::Cap, Format::Vlp, Format::Vcp];

/// What says when a word has its meaning.
const CONDITIONS: [&str; 4] = [" if `", " in answer to a question", " of its overseer", " of what the exchange asked"];

/// A word of a dialect: what it is and when, as it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) row: &'static str,
    pub(super) dialect: Format,
    pub(super) is_said: bool,
    pub(super) is_understood: bool,
    pub(super) text: &'static str,
}

/// Every word of the table, from the top.
pub(super) fn words() -> Vec<Word> {
    let lines = GUIDE.lines().skip_while(|line| !line.starts_with("| what is said |")).skip(2);
    lines.take_while(|line| line.starts_with("| ")).flat_map(row).collect()
}

fn row(line: &'static str) -> Vec<Word> {
    let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [says, acl, cap, vlp, vcp, _] = cells[..] else { panic!("{line}") };
    let columns = DIALECTS.into_iter().zip([acl, cap, vlp, vcp]).filter(|(_, cell)| *cell != "–");
    let words = columns.flat_map(|(dialect, cell)| cell.split("; ").map(move |word| (dialect, word)));
    words
        .map(|(dialect, word)| Word {
            row: says,
            dialect,
            is_said: !word.starts_with('←'),
            is_understood: !word.starts_with('→'),
            text: word.trim_start_matches(['←', '→', ' ']),
        })
        .collect()
}

impl Word {
    /// When it has its meaning, if not always.
    pub(super) fn when(&self) -> Option<&'static str> {
        let at = CONDITIONS.iter().find_map(|condition| self.text.find(condition))?;
        Some(self.text[at..].trim())
    }

    /// Whether a message says exactly this.
    pub(super) fn is(&self, message: &Value) -> bool {
        let what = self.text.strip_suffix(self.when().unwrap_or_default()).unwrap().trim();
        let part = |name: &str| Some(what.split_once(name)?.1.split('`').next().unwrap());
        let code = what.rsplit_once("` ").and_then(|(_, code)| code.parse::<i64>().ok());
        let notice = &message["payload"]["constraints"][0];
        kind(message) == (self.dialect, what.split('`').nth(1).unwrap())
            && (self.dialect != Format::Vlp || message["topic"] == json!(part("topic `")))
            && part("level `").is_none_or(|level| message["safety"]["level"] == level)
            && message["error_code"] == json!(code)
            && message["final"] == json!(what.contains("with `final`").then_some(true))
            && part("code `").is_none_or(|code| notice["type"] == "notice" && notice["value"]["code"] == code)
    }
}

/// What kind of message it is, in its dialect's words.
pub(super) fn kind(message: &Value) -> (Format, &str) {
    let text = |name: &str| message[name].as_str();
    match (text("performative"), text("protocol"), text("vcp_message")) {
        (Some(act), ..) => (Format::Acl, act),
        (_, Some(_), _) => (Format::Vlp, text("type").unwrap()),
        (.., Some(_)) => (Format::Vcp, text("type").unwrap()),
        _ => (Format::Cap, text("type").unwrap()),
    }
}
