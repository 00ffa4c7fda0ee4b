//! Effects that give way to others: every hash stays, nothing of what was said does, and only what an entry of the
//! record ordered verifies.

use crate::common::{all, batch, frame, open, ring};
use legation_exchange::record::{Body, Frame, Hash, leaf, verify_inclusion};
use legation_exchange::{Effect, Erased, Redacted, spans};
use legation_store::verify::{Fault, Options, Report, verify};
use legation_store::{Log, Rewrite};
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const INSTEAD: &[u8] = br#"{"entry":"changed","changes":[],"by":"ann"}"#;

/// An entry that orders effects to give way to these.
pub(crate) fn order(position: u64, all: &[(u64, &[u8])]) -> Frame {
    let redacted = all.iter().map(|(position, effect)| Redacted { position: *position, effect: Hash::of(&[*effect]) });
    let erased = Erased {
        positions: spans(all.iter().map(|(position, _)| *position)),
        redacted: redacted.collect(),
        forgets: [].into(),
        unbinds: [].into(),
        tasks: [].into(),
        subject: None,
        reason: None,
        by: "operator".to_owned(),
    };
    Frame { effect: serde_json::to_vec(&Effect::Erased(erased)).unwrap(), ..frame(position, 0) }
}

/// A record of nine entries, some with bodies, and the order; then all that is to give way did.
fn redacted(dir: &Path, ordered: &[(u64, &[u8])], done: &[(u64, &[u8])]) -> (Log, Vec<Frame>) {
    let (mut log, _) = open(dir).unwrap();
    let mut frames = [batch(0, 3, 40), batch(3, 6, 0)].concat();
    frames.push(order(9, ordered));
    log.append(&frames[..3]).unwrap();
    log.append(&frames[3..9]).unwrap();
    log.append(&frames[9..]).unwrap();
    log.seal_active().unwrap();
    let redact: BTreeMap<_, _> = done.iter().map(|(position, effect)| (*position, effect.to_vec())).collect();
    let gone = log.rewriter().segment(0, &Rewrite { redact: redact.clone(), ..Rewrite::default() }).unwrap().gone;
    assert_eq!(gone, redact.len() as u64);
    let given = |frame: Frame| match redact.get(&frame.position) {
        Some(effect) => frame.redacted(effect.clone()),
        None => frame,
    };
    (log, frames.into_iter().map(given).collect())
}

fn checked(dir: &Path, to: Option<u64>, open: bool) -> Report {
    verify(dir, &Options { ring: open.then(ring), to, ..Options::default() }, &mut |_| ()).unwrap()
}

fn fault(dir: &Path) -> (u64, String) {
    let Fault { position, what, .. } = checked(dir, None, true).fault.unwrap();
    (position, what)
}

#[test]
fn effects_give_way_and_every_hash_stays() {
    let dir = tempfile::tempdir().unwrap();
    let both = [(1, INSTEAD), (5, INSTEAD)];
    let (mut log, want) = redacted(dir.path(), &both, &both);
    assert_eq!(all(&log), want);
    let root = log.frontier().root();
    for (frame, whole) in want.iter().zip([batch(0, 3, 40), batch(3, 6, 0)].concat()) {
        assert_eq!(leaf(frame), leaf(&whole));
        let path = log.reader().inclusion(frame.position, 10).unwrap().unwrap();
        assert!(verify_inclusion(leaf(frame), frame.position, 10, root, &path));
    }
    let given = log.read(1).unwrap().unwrap();
    assert!(matches!(given.body, Body::Gone(_)) && given.effect == INSTEAD && given.was.is_some());
    // What gave way once does not again.
    log.append(&[frame(10, 0)]).unwrap();
    log.rewriter().segment(0, &Rewrite { redact: [(1, b"{}".to_vec())].into(), ..Rewrite::default() }).unwrap();
    assert_eq!(all(&log)[..10], want);
    let said: Vec<_> = log.reader().effects(0).map(|said| said.unwrap().effect).collect();
    assert_eq!((said[1].as_slice(), said[5].as_slice()), (INSTEAD, INSTEAD));
    drop(log);
    for report in
        [checked(dir.path(), None, true), checked(dir.path(), Some(8), true), checked(dir.path(), None, false)]
    {
        assert!(report.is_sound(), "{report:?}");
    }
    let (log, _) = open(dir.path()).unwrap();
    assert_eq!(all(&log)[..10], want);
}

#[test]
fn an_order_that_is_not_carried_out_yet_is_no_fault() {
    let dir = tempfile::tempdir().unwrap();
    drop(redacted(dir.path(), &[(1, INSTEAD), (5, INSTEAD)], &[(5, INSTEAD)]));
    assert!(checked(dir.path(), None, true).is_sound());
}

#[test]
fn another_effect_than_was_ordered_is_named() {
    let dir = tempfile::tempdir().unwrap();
    drop(redacted(dir.path(), &[(1, INSTEAD), (5, INSTEAD)], &[(1, INSTEAD), (5, b"{}")]));
    assert_eq!(fault(dir.path()), (5, "its effect gave way to another than the entry 9 says".to_owned()));
}

#[test]
fn an_effect_that_gave_way_without_an_order_is_named_once_all_was_read() {
    let dir = tempfile::tempdir().unwrap();
    drop(redacted(dir.path(), &[(5, INSTEAD)], &[(1, INSTEAD), (5, INSTEAD)]));
    assert_eq!(fault(dir.path()), (1, "its effect gave way to another, and no entry erased it".to_owned()));
    let part = checked(dir.path(), Some(3), true);
    assert!(part.is_sound(), "what comes later may order it: {part:?}");
    assert!(checked(dir.path(), None, false).is_sound(), "nobody can tell without the keys");
}
