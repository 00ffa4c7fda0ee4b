//! The index: what it finds, and what it makes of damage.

mod memory;
mod recover;
mod search;

use legation_exchange::record::Frame;
use legation_exchange::{Accepted, Acked, Effect, Moment, Refused};
use legation_protocol::Format;
use legation_store::Log;
use legation_store::index::{Index, Origin};
use std::path::Path;

/// A message from one to another.
pub(crate) fn message(sender: &str, to: &[&str], thread: Option<&str>, says: &str) -> (Effect, Option<String>) {
    let effect = Effect::Accepted(Accepted {
        machine: None,
        dialect: if thread.is_some() { Format::Cap } else { Format::Vcp },
        kind: if thread.is_some() { "message" } else { "escalation" }.to_owned(),
        id: format!("m-{says}"),
        sender: sender.to_owned(),
        to: to.iter().map(|&name| name.to_owned()).collect(),
        thread: thread.map(str::to_owned),
        digest: format!("sha256:{says}"),
        proof: "token".to_owned(),
        custody: legation_exchange::Custody::Own,
        expires: Moment::default(),
        remembered: None,
        missed: Vec::new(),
        by: None,
        trace: None,
        emergency: false,
        is_alarm: false,
        ruled: Box::default(),
        proves: None,
        keys: legation_exchange::rules::vlp::Keys::default(),
    });
    (effect, Some(serde_json::json!({ "member": [{ "content": says }] }).to_string()))
}

pub(crate) fn refused(by: &str, code: &str) -> (Effect, Option<String>) {
    (Effect::Refused(Refused { by: by.to_owned(), code: code.to_owned(), ..Refused::default() }), None)
}

pub(crate) fn acked(agent: &str, up_to: Option<u64>, positions: &[u64]) -> (Effect, Option<String>) {
    (Effect::Acked(Acked { agent: agent.to_owned(), up_to, positions: positions.to_vec() }), None)
}

/// Appends entries, a microsecond apart for each two.
pub(crate) fn append(log: &mut Log, entries: Vec<(Effect, Option<String>)>) {
    let frame = |(position, (effect, body)): (u64, (Effect, Option<String>))| Frame {
        position,
        at: 1000 + position / 2,
        salt: [7; 16],
        effect: serde_json::to_vec(&effect).unwrap(),
        was: None,
        body: body.map(String::into_bytes).into(),
    };
    let frames: Vec<_> = (log.next()..).zip(entries).map(frame).collect();
    log.append(&frames).unwrap();
}

/// Opens the index beside a record, and lets it take in everything.
#[track_caller]
pub(crate) fn indexed(dir: &Path, log: &Log, origin: Origin) -> Index {
    let (mut index, found) = Index::open(&dir.join("index"), log.reader()).unwrap();
    assert_eq!(found, origin);
    catch_up(&mut index);
    assert_eq!(index.indexed(), log.next());
    index
}

pub(crate) fn catch_up(index: &mut Index) {
    while index.indexed() < index.follow().unwrap() {}
}
