//! What goes out, and where to.

use super::file::PushTable;
use anyhow::Context as _;
use legation_out::{Allow, Courier, Options};

/// Who brings messages to agents' endpoints.
pub(super) fn push(table: &PushTable) -> anyhow::Result<Courier> {
    let allow =
        table.allow.iter().map(|entry| entry.parse::<Allow>()).collect::<Result<_, _>>().context("push.allow")?;
    let options = Options { allow, authorities: table.authorities.clone(), ..Options::default() };
    Courier::new(options).context("push.authorities")
}
