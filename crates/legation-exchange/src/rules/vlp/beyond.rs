//! What a message names that the window may not know: what is to be looked up before it is judged.

use super::reference::MOST;
use super::sources::{digest, is_hash};
use super::window::Key;
use crate::state::State;
use legation_protocol::vlp::{Message, Provenance};

/// What to look up in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// Ids of messages it refers to.
    pub ids: Vec<String>,
    /// Names of its sources, which may be ids of messages.
    pub sources: Vec<String>,
    /// Names of sources that a hash stands beside: they may be ids of messages in any dialect.
    pub named: Vec<String>,
    /// Messages at or before this position are not known any more; without it all are.
    pub up_to: Option<u64>,
    /// The session it belongs to, and the entry that began that: others may have had the name before.
    pub session: Option<(String, u64)>,
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
    let named: Vec<_> = hashed(message).filter(|name| window.find(Key::Id(name)).next().is_none()).collect();
    if digests.is_empty() && ids.is_empty() && sources.is_empty() && named.is_empty() {
        return None;
    }
    let canonical = |name: &str| state.registry.resolve(name).map(|agent| agent.id.clone());
    let receiver = message.recipient().and_then(|name| canonical(name));
    let between = canonical(message.sender()).zip(receiver).map(<[String; 2]>::from);
    let begun = |id: &str| state.rules.vlp.sessions.get(id).map(|session| session.first);
    let session = message.thread().and_then(|id| Some((id.to_owned(), begun(id)?)));
    let named = named.into_iter().map(str::to_owned).collect();
    Some(Beyond { ids, sources, named, up_to, session, between, digests })
}

fn names(message: &Message) -> impl Iterator<Item = &str> {
    let names = message.provenance.iter().flatten().take(MOST).map(Provenance::target);
    names.filter(|name| !name.contains("://") && !name.starts_with("sha256:"))
}

/// Sources that a hash stands beside.
fn hashed(message: &Message) -> impl Iterator<Item = &str> {
    let sources = message.provenance.iter().flatten().take(MOST);
    sources.filter_map(|source| match source {
        Provenance::Reference(source) if source.hash.is_some() && !is_hash(source) => Some(source.target.as_str()),
        Provenance::Reference(_) | Provenance::Name(_) => None,
    })
}

pub(super) fn digests(message: &Message) -> impl Iterator<Item = String> {
    let sources = message.provenance.iter().flatten().take(MOST);
    let hashes = sources.flat_map(|source| match source {
        Provenance::Name(name) if name.starts_with("sha256:") => [Some(name.as_str()), None],
        Provenance::Name(_) => [None, None],
        Provenance::Reference(source) => [is_hash(source).then_some(source.target.as_str()), source.hash.as_deref()],
    });
    hashes.flatten().filter_map(digest)
}
