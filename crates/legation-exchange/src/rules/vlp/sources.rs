//! What a message says it comes from (VLP X), as far as that can be checked here: messages, digests of what is
//! in the record, sessions one has a part in. Names and addresses that nobody fetches count neither way, and neither does the
//! hash of what lies at such an address.

use super::reference::{MOST, resolve};
use super::speaking::is_party;
use super::weighed::{MALFORMED, UNVERIFIED, Weighed};
use super::window::Key;
use crate::rules::Case;
use legation_protocol::vlp::{Layer, Message, Provenance, Reference, SourceKind};

/// What came of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    /// It leads to this: a message by its digest, or a session.
    Verified(String),
    Refuted,
    /// It is not for us to tell.
    Neither,
    /// A hash that is none.
    NoHash,
    /// It was held, and has not gone on.
    Held,
}

pub(super) fn look(case: &Case<'_>, message: &Message, weighed: &mut Weighed) {
    let sources = message.provenance.iter().flatten().take(MOST);
    let found: Vec<_> = sources.map(|source| (source, check(case, message, source))).collect();
    for (source, found) in &found {
        let target = source.target();
        match found {
            Found::Verified(what) => weighed.verified(what),
            Found::Refuted if weighed.altered(named_as(source)) => {
                let text = format!("The source {target:?} is not what it is said to be: nothing here has that hash.");
                weighed.review("VLP X", UNVERIFIED, text);
            }
            Found::Held if weighed.refuted(named_as(source)) => {
                weighed.review("VLP X", UNVERIFIED, format!("The source {target:?} was held, and has not gone on."));
            }
            Found::NoHash => {
                let text = format!("The source {target:?} has a hash that is no SHA-256 hash, and was not compared.");
                weighed.mark("VLP X", MALFORMED, text);
            }
            Found::Neither | Found::Refuted | Found::Held => {}
        }
    }
    if message.provenance.iter().flatten().nth(MOST).is_some() {
        weighed.unchecked();
        let text = format!("It names more than {MOST} sources, and only so many were checked.");
        weighed.mark("VLP X", "sources_unchecked", text);
    }
    let holds = |found: &Found| matches!(found, Found::Verified(_));
    let fails = |found: &Found| matches!(found, Found::Refuted | Found::Held);
    if found.iter().any(|(_, found)| holds(found)) && !found.iter().any(|(_, found)| fails(found)) {
        weighed.layers.insert(Layer::Evidence);
    }
}

/// What tells a source from others: the same with the same hash is one, however often it is named.
fn named_as(source: &Provenance) -> String {
    let hash = match source {
        Provenance::Name(_) => None,
        Provenance::Reference(source) => source.hash.as_deref().and_then(digest),
    };
    format!("source {} {}", source.target(), hash.unwrap_or_default())
}

fn check(case: &Case<'_>, message: &Message, source: &Provenance) -> Found {
    match source {
        Provenance::Name(name) if name.starts_with("sha256:") => by_hash(case, name),
        Provenance::Name(name) => named(case, message, name, None),
        Provenance::Reference(source) if is_hash(source) => match (by_hash(case, &source.target), &source.hash) {
            (Found::Verified(_), Some(hash)) if digest(hash) != digest(&source.target) => Found::Refuted,
            (found, _) => found,
        },
        Provenance::Reference(source) => named(case, message, &source.target, source.hash.as_deref()),
    }
}

pub(super) fn is_hash(source: &Reference) -> bool {
    source.source_kind() == Some(SourceKind::Hash) || source.target.starts_with("sha256:")
}

/// What is named by its hash alone is in the record, or nobody here can tell what it is.
fn by_hash(case: &Case<'_>, hash: &str) -> Found {
    match digest(hash) {
        None => Found::NoHash,
        Some(digest) => recorded(case, &digest).unwrap_or(Found::Refuted),
    }
}

fn named(case: &Case<'_>, message: &Message, target: &str, hash: Option<&str>) -> Found {
    let digest = hash.map(digest);
    // One of several messages of that name is as good as a name.
    match (resolve(case, message, target), digest) {
        (_, Some(None)) => Found::NoHash,
        (Ok(Some(found)), Some(Some(digest))) if found.accepted.digest != digest => Found::Refuted,
        (Ok(Some(found)), _) => stands(case, found.position, &found.accepted.digest),
        (Ok(None) | Err(_), Some(Some(digest))) if let Some(found) = recorded(case, &digest) => found,
        (Ok(None) | Err(_), _) if has_part_in(case, target) => Found::Verified(format!("session {target}")),
        (Ok(None) | Err(_), _) => Found::Neither,
    }
}

/// Whether this is a session the sender has a part in. Those of others count neither way, so that nobody learns of them.
fn has_part_in(case: &Case<'_>, session: &str) -> bool {
    let session = case.state.rules.vlp.sessions.get(session);
    session.is_some_and(|session| is_party(case.state, session, case.speaker.id()))
}

/// What comes of a digest that messages in the record have.
fn recorded(case: &Case<'_>, digest: &str) -> Option<Found> {
    let earlier = case.earlier.iter().filter(|one| one.accepted.digest == digest).map(|one| one.position);
    let mut found = case.state.rules.vlp.window.find(Key::Digest(digest)).chain(earlier).peekable();
    found.peek()?;
    Some(
        found.map(|position| stands(case, position, digest)).find(|found| *found != Found::Held).unwrap_or(Found::Held),
    )
}

fn stands(case: &Case<'_>, position: u64, digest: &str) -> Found {
    if case.state.rules.holds.went_on(position) { Found::Verified(digest.to_owned()) } else { Found::Held }
}

/// A SHA-256 hash as the record writes it.
pub(super) fn digest(text: &str) -> Option<String> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    let is_one = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| format!("sha256:{}", hex.to_ascii_lowercase()))
}
