//! What a paused agent may still say, as it is published.

use legation_protocol::Format;
use std::collections::BTreeSet;
use std::sync::OnceLock;

const GUIDE: &str = include_str!("../../../../docs/guides/escalation.md");

/// Whether a message of this kind finishes something, by the table in the guide.
pub(super) fn finishes(dialect: Format, kind: &str) -> bool {
    static ROWS: OnceLock<BTreeSet<(String, String)>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| GUIDE.lines().filter_map(row).collect());
    rows.contains(&(dialect.to_string(), kind.to_owned()))
}

fn row(line: &str) -> Option<(String, String)> {
    let cells: Vec<_> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
    match cells.as_slice() {
        ["", dialect, kind, "finishes", ""] => Some(((*dialect).to_owned(), (*kind).to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::finishes;
    use legation_protocol::Format;

    #[test]
    fn the_guide_is_understood() {
        assert!(finishes(Format::Acl, "INFORM_RESULT") && finishes(Format::Vlp, "claim"));
        assert!(!finishes(Format::Acl, "TASK_REQUEST") && !finishes(Format::Cap, "delegation_notice"));
    }
}
