//! What a message names that the window may not know: what is to be looked up before it is judged.

use super::reference::MOST;
use super::sources::{digest, is_hash};
use crate::state::State;
use legation_protocol::vlp::{Message, Provenance};

/// What to look up in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// Ids of messages it refers to.
    pub ids: Vec<String>,
    /// Names of its sources, which may be ids of messages.
    pub sources: Vec<String>,
    /// Messages at or before this position are not known any more; without it all are.
    pub up_to: Option<u64>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Whom it is between.
    pub between: Option<[String; 2]>,
    /// Digests that no message in the window has.
    pub digests: Vec<String>,
}

/// What must be looked up for a message; nothing for most.
pub fn beyond(state: &State, message: &Message) -> Option<Beyond> {
    let window = &state.rules.vlp.window;
    let digests: Vec<_> = digests(message).filter(|digest| !window.has_digest(digest)).collect();
    let up_to = window.gone();
    let known = up_to.is_none();
    let ids: Vec<_> = message.references().take(MOST).filter(|_| !known).map(str::to_owned).collect();
    let sources: Vec<_> = names(message).filter(|_| !known).map(str::to_owned).collect();
    if digests.is_empty() && ids.is_empty() && sources.is_empty() {
        return None;
    }
    let canonical = |name: &str| state.registry.resolve(name).map(|agent| agent.id.clone());
    let receiver = message.recipient().and_then(|name| canonical(name));
    let between = canonical(message.sender()).zip(receiver).map(<[String; 2]>::from);
    let session = message.thread().map(str::to_owned);
    Some(Beyond { ids, sources, up_to, session, between, digests })
}

fn names(message: &Message) -> impl Iterator<Item = &str> {
    let names = message.provenance.iter().flatten().take(MOST).map(Provenance::target);
    names.filter(|name| !name.contains("://") && !name.starts_with("sha256:"))
}

fn digests(message: &Message) -> impl Iterator<Item = String> {
    let sources = message.provenance.iter().flatten().take(MOST);
    let hashes = sources.flat_map(|source| match source {
        Provenance::Name(name) if name.starts_with("sha256:") => [Some(name.as_str()), None],
        Provenance::Name(_) => [None, None],
        Provenance::Reference(source) => [is_hash(source).then_some(source.target.as_str()), source.hash.as_deref()],
    });
    hashes.flatten().filter_map(digest)
}
