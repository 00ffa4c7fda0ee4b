//! The table as the guide prints it.

use super::word::{Way, When};
use super::{InCap, InVcp, InVlp, Row, TABLE, Word};

const HEAD: &str = "| what is said | ACL | CAP | VLP | VCP | what is lost |\n|---|---|---|---|---|---|\n";

/// The table, as `docs/guides/translation.md` has it.
pub fn published() -> String {
    TABLE.iter().fold(HEAD.to_owned(), |table, row| table + &line(row))
}

fn line(row: &Row) -> String {
    let acl = cell(row.acl, |word| format!("`{word}`"));
    let (cap, vlp, vcp) = (cell(row.cap, in_cap), cell(row.vlp, in_vlp), cell(row.vcp, in_vcp));
    format!("| {} | {acl} | {cap} | {vlp} | {vcp} | {} |\n", row.says, row.lost)
}

fn cell<W: Copy>(words: &[Word<W>], name: impl Fn(W) -> String) -> String {
    let words: Vec<_> =
        words.iter().map(|word| way(word.way).to_owned() + &name(word.what) + &when(word.when)).collect();
    if words.is_empty() { "–".to_owned() } else { words.join("; ") }
}

fn way(way: Way) -> &'static str {
    match way {
        Way::Both => "",
        Way::Said => "→ ",
        Way::Heard => "← ",
    }
}

fn when(when: When) -> String {
    match when {
        When::Always => String::new(),
        When::Answering => " in answer to a question".to_owned(),
        When::Overseeing => " of its overseer".to_owned(),
        When::TakingBack => " of what the exchange asked".to_owned(),
        When::Because(code) => format!(" if `{code}`"),
    }
}

fn in_cap(word: InCap) -> String {
    match word {
        InCap::Delegation => "`delegation_notice`".to_owned(),
        InCap::Inquiry => "`oversight_inquiry`".to_owned(),
        InCap::Message => "`message`".to_owned(),
        InCap::Final => "`message` with `final`".to_owned(),
        InCap::Error(code) => format!("`error_response` {}", code.number()),
        InCap::AnyError => "`error_response`".to_owned(),
    }
}

fn in_vlp(InVlp { kind, topic, level }: InVlp) -> String {
    let kind = kind.map_or("any kind".to_owned(), |kind| format!("`{kind}`"));
    let topic = topic.map(|topic| format!(", topic `{topic}`")).unwrap_or_default();
    kind + &topic + &level.map(|level| format!(", level `{level}`")).unwrap_or_default()
}

fn in_vcp(word: InVcp) -> String {
    match word {
        InVcp::Escalation(severity) => format!("`escalation`, severity `{severity}`"),
        InVcp::Ack => "`escalation` that acknowledges one".to_owned(),
        InVcp::Constraints => "`constraint_propagate`".to_owned(),
        InVcp::Notice(code) => format!("`constraint_propagate` with a `notice`, code `{code}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::published;

    #[test]
    fn the_guide_has_the_table() {
        let (guide, table) = (include_str!("../../../../../../docs/guides/translation.md"), published());
        let has_it = guide.contains(&format!("\n\n{table}\n"));
        assert!(has_it, "put this into docs/guides/translation.md, in place of the table there:\n\n{table}");
    }
}
