//! What a message says it comes from (VLP X), as far as that can be checked here: messages, digests of what is
//! in the record, sessions one has a part in. Names and addresses that nobody fetches count neither way, and neither does the
//! hash of what lies at such an address.

use super::halt::{halted, halted_as};
use super::reference::{MOST, resolve};
use super::speaking::is_party;
use super::weighed::{MALFORMED, UNVERIFIED, Weighed};
use crate::decide::Earlier;
use crate::rules::Case;
use legation_protocol::Rejection;
use legation_protocol::vlp::{Layer, Message, Provenance, Reference, SourceKind};
use std::collections::BTreeSet;

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
    /// It leads somewhere, and the hash beside it is none, or there is nothing to compare it with.
    Uncompared,
    /// Its name leads to a message that is halted.
    Halted,
    /// It was held, and has not gone on.
    Held,
}

/// Weighs the sources, and says which messages they lead to by their hashes.
pub(super) fn look(case: &Case<'_>, message: &Message, weighed: &mut Weighed) -> Result<BTreeSet<u64>, Rejection> {
    let (sources, mut rests) = (message.provenance.iter().flatten().take(MOST), BTreeSet::new());
    let found = sources.map(|source| Ok((source, check(case, message, source, &mut rests)?)));
    let found: Vec<_> = found.collect::<Result<_, Rejection>>()?;
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
            Found::Uncompared => {
                weighed.unchecked();
                let text = format!("The hash beside the source {target:?} could not be compared with anything.");
                weighed.mark("VLP X", MALFORMED, text);
            }
            Found::Halted => {
                weighed.unchecked();
                let text = format!("The source {target:?} is halted: nothing goes on from it.");
                weighed.mark("VLP VI.4", UNVERIFIED, text);
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
    let fails = |found: &Found| matches!(found, Found::Refuted | Found::Held | Found::Uncompared | Found::Halted);
    if found.iter().any(|(_, found)| holds(found)) && !found.iter().any(|(_, found)| fails(found)) {
        weighed.layers.insert(Layer::Evidence);
    }
    Ok(rests)
}

/// What tells a source from others: the same with the same hash is one, however often it is named.
fn named_as(source: &Provenance) -> String {
    let hash = match source {
        Provenance::Name(_) => None,
        Provenance::Reference(source) => source.hash.as_deref().and_then(digest),
    };
    format!("source {} {}", source.target(), hash.unwrap_or_default())
}

fn check(
    case: &Case<'_>,
    message: &Message,
    source: &Provenance,
    rests: &mut BTreeSet<u64>,
) -> Result<Found, Rejection> {
    Ok(match source {
        Provenance::Name(name) if name.starts_with("sha256:") => by_hash(case, name, rests)?,
        Provenance::Name(name) => named(case, message, name),
        Provenance::Reference(source) if is_hash(source) => match (by_hash(case, &source.target, rests)?, &source.hash)
        {
            (Found::Verified(_), Some(hash)) if digest(hash) != digest(&source.target) => Found::Refuted,
            (Found::NoHash, Some(hash)) if digest(hash).is_some_and(|hash| has(case, &hash)) => Found::Uncompared,
            (found, _) => found,
        },
        Provenance::Reference(source) => match &source.hash {
            Some(hash) => named_with(case, &source.target, hash, rests)?,
            None => named(case, message, &source.target),
        },
    })
}

pub(super) fn is_hash(source: &Reference) -> bool {
    source.source_kind() == Some(SourceKind::Hash) || source.target.starts_with("sha256:")
}

/// What is named by its hash alone is in the record, or nobody here can tell what it is.
fn by_hash(case: &Case<'_>, hash: &str, rests: &mut BTreeSet<u64>) -> Result<Found, Rejection> {
    match digest(hash) {
        None => Ok(Found::NoHash),
        Some(digest) => Ok(best(case, with_digest(case, &digest), rests)?.unwrap_or(Found::Refuted)),
    }
}

/// What is named without a hash. Anybody may give a message the name of something else, so that whoever names a halted one
/// so is not refused.
fn named(case: &Case<'_>, message: &Message, target: &str) -> Found {
    // One of several messages of that name is as good as a name.
    match resolve(case, message, target) {
        Ok(Some(found)) if halted_as(&case.state.rules.vlp.sessions, found).is_some() => Found::Halted,
        Ok(Some(found)) => stands(case, found),
        Ok(None) | Err(_) if has_part_in(case, target) => Found::Verified(format!("session {target}")),
        Ok(None) | Err(_) => Found::Neither,
    }
}

/// What is named with a hash beside it: a message of that id, in whatever dialect, has that digest or the hash is wrong.
fn named_with(case: &Case<'_>, target: &str, hash: &str, rests: &mut BTreeSet<u64>) -> Result<Found, Rejection> {
    let of_that_id = || case.earlier.iter().filter(|one| one.accepted.id == target);
    let is_known = of_that_id().next().is_some();
    let Some(digest) = digest(hash) else {
        return Ok(if is_known || has_part_in(case, target) { Found::Uncompared } else { Found::NoHash });
    };
    if is_known {
        let meant = of_that_id().filter(|one| one.accepted.digest == digest);
        return Ok(best(case, meant, rests)?.unwrap_or(Found::Refuted));
    }
    let found = best(case, with_digest(case, &digest), rests)?;
    Ok(found.unwrap_or_else(|| if has_part_in(case, target) { Found::Uncompared } else { Found::Neither }))
}

/// Whether this is a session the sender has a part in. Those of others count neither way, so that nobody learns of them.
fn has_part_in(case: &Case<'_>, session: &str) -> bool {
    let session = case.state.rules.vlp.sessions.get(session);
    session.is_some_and(|session| is_party(case.state, session, case.speaker.id()))
}

fn has(case: &Case<'_>, digest: &str) -> bool {
    with_digest(case, digest).next().is_some()
}

fn with_digest<'c>(case: &Case<'c>, digest: &str) -> impl Iterator<Item = &'c Earlier> {
    case.earlier.iter().filter(move |one| one.accepted.digest == digest)
}

/// What comes of messages that have the digest given: one that has gone on, if there is one. Nobody goes on from what is halted.
fn best<'c>(
    case: &Case<'c>,
    all: impl Iterator<Item = &'c Earlier>,
    rests: &mut BTreeSet<u64>,
) -> Result<Option<Found>, Rejection> {
    let mut best = None;
    for one in all {
        if let Some(session) = halted_as(&case.state.rules.vlp.sessions, one) {
            return Err(halted(case, one, session, "/provenance"));
        }
        rests.insert(one.position);
        best = best.filter(|found| *found != Found::Held).or_else(|| Some(stands(case, one)));
    }
    Ok(best)
}

fn stands(case: &Case<'_>, one: &Earlier) -> Found {
    let Earlier { position, accepted, .. } = one;
    if case.state.rules.holds.went_on(*position) { Found::Verified(accepted.digest.clone()) } else { Found::Held }
}

/// A SHA-256 hash as the record writes it.
pub(super) fn digest(text: &str) -> Option<String> {
    let hex = text.strip_prefix("sha256:").unwrap_or(text);
    let is_one = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| format!("sha256:{}", hex.to_ascii_lowercase()))
}
