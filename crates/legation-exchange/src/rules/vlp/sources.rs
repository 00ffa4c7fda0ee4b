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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Verified,
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
    let found: Vec<_> = sources.map(|source| (source.target(), check(case, message, source))).collect();
    for (target, found) in &found {
        match found {
            Found::Verified => weighed.verified(),
            Found::Refuted => {
                weighed.refuted();
                let text = format!("The source {target:?} is not what it is said to be: nothing here has that hash.");
                weighed.review("VLP X", UNVERIFIED, text);
            }
            Found::Held => {
                weighed.refuted();
                weighed.review("VLP X", UNVERIFIED, format!("The source {target:?} was held, and has not gone on."));
            }
            Found::NoHash => {
                let text = format!("The source {target:?} has a hash that is no SHA-256 hash, and was not compared.");
                weighed.mark("VLP X", MALFORMED, text);
            }
            Found::Neither => {}
        }
    }
    let any = |wanted: Found| found.iter().any(|(_, found)| *found == wanted);
    if any(Found::Verified) && !any(Found::Refuted) && !any(Found::Held) {
        weighed.layers.insert(Layer::Evidence);
    }
}

fn check(case: &Case<'_>, message: &Message, source: &Provenance) -> Found {
    match source {
        Provenance::Name(name) if name.starts_with("sha256:") => by_hash(case, name),
        Provenance::Name(name) => named(case, message, name, None),
        Provenance::Reference(source) if is_hash(source) => match (by_hash(case, &source.target), &source.hash) {
            (Found::Verified, Some(hash)) if digest(hash) != digest(&source.target) => Found::Refuted,
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
        (Ok(Some(found)), _) => stands(case, found.position),
        (Ok(None) | Err(_), Some(Some(digest))) if let Some(found) = recorded(case, &digest) => found,
        (Ok(None) | Err(_), _) if has_part_in(case, target) => Found::Verified,
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
    let went_on = found.any(|position| stands(case, position) == Found::Verified);
    Some(if went_on { Found::Verified } else { Found::Held })
}

fn stands(case: &Case<'_>, position: u64) -> Found {
    if case.state.rules.holds.went_on(position) { Found::Verified } else { Found::Held }
}

/// A SHA-256 hash as the record writes it.
pub(super) fn digest(text: &str) -> Option<String> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    let is_one = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| format!("sha256:{}", hex.to_ascii_lowercase()))
}
