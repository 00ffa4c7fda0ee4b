//! Every question, against what a look at all entries says.

use super::{acked, append, indexed, message, refused};
use crate::common::open;
use legation_exchange::record::Frame;
use legation_exchange::rules::Change;
use legation_exchange::rules::vlp::{self, Target};
use legation_exchange::{Accepted, Effect};
use legation_protocol::Format;
use legation_store::index::{Finder, MOST_WORDS, Order, Origin, Query, What, words_in};
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

fn some() -> (TempDir, Finder) {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    append(
        &mut log,
        vec![
            message("ann", &["bob"], Some("T1"), "The outline is ready"),
            message("bob", &["ann"], Some("T1"), "Thank you"),
            refused("eve", "unknown_sender"),
            message("ann", &["bob", "carl"], None, "READY, set, go"),
            acked("bob", Some(0), &[]),
            acked("bob", Some(0), &[3, 9]),
            acked("bob", Some(4), &[]),
            message("carl", &[], None, "café NEAR noon"),
        ],
    );
    let index = indexed(dir.path(), &log, Origin::New);
    (dir, index.finder())
}

#[track_caller]
fn check(finder: &Finder, query: Query, want: &[u64]) {
    let query = Query { limit: 10, ..query };
    assert_eq!(finder.find(&query).unwrap(), want, "{query:?}");
    let mut turned = want.to_vec();
    turned.reverse();
    let query = Query { order: Order::Oldest, ..query };
    assert_eq!(finder.find(&query).unwrap(), turned, "{query:?}");
}

#[expect(clippy::unnecessary_wraps, reason = "what it fills is optional")]
fn own(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn messages_are_found_by_those_they_name() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let naming = |to: Vec<Target>| {
        let (mut effect, body) = message("ann", &["bob"], None, "so it is");
        if let Effect::Accepted(accepted) = &mut effect {
            accepted.ruled.changes =
                vec![Change::Vlp(vlp::Change::Refers { to, amends: Vec::new(), rests: Vec::new() })];
        }
        (effect, body)
    };
    let missing = Target::Missing("0".to_owned());
    append(
        &mut log,
        vec![naming(vec![]), naming(vec![Target::Found(0)]), naming(vec![missing, Target::Found(1), Target::Found(0)])],
    );
    let finder = indexed(dir.path(), &log, Origin::New).finder();
    check(&finder, Query { names: Some(0), ..Query::default() }, &[2, 1]);
    check(&finder, Query { names: Some(1), ..Query::default() }, &[2]);
    check(&finder, Query { names: Some(2), ..Query::default() }, &[]);
}

#[test]
fn entries_are_found_by_all_that_is_known_of_them() {
    let (_dir, finder) = some();
    let all = Query::default;
    check(&finder, all(), &[7, 6, 5, 4, 3, 2, 1, 0]);
    check(&finder, Query { sender: own("ann"), ..all() }, &[3, 0]);
    check(&finder, Query { recipient: own("bob"), ..all() }, &[3, 0]);
    check(&finder, Query { parties: vec!["bob".to_owned()], ..all() }, &[3, 1, 0]);
    check(&finder, Query { parties: vec!["bob".to_owned(), "carl".to_owned()], ..all() }, &[3]);
    check(&finder, Query { thread: own("T1"), recipient: own("ann"), ..all() }, &[1]);
    check(&finder, Query { dialect: Some(Format::Vcp), ..all() }, &[7, 3]);
    check(&finder, Query { kind: own("message"), ..all() }, &[1, 0]);
    check(&finder, Query { id: own("m-Thank you"), ..all() }, &[1]);
    check(&finder, Query { digest: own("sha256:Thank you"), ..all() }, &[1]);
    check(&finder, Query { what: Some(What::Refused), ..all() }, &[2]);
    check(&finder, Query { what: Some(What::Accepted), code: own("unknown_sender"), ..all() }, &[]);
    check(&finder, Query { code: own("unknown_sender"), by: own("eve"), ..all() }, &[2]);
    check(&finder, Query { about: own("bob"), ..all() }, &[6, 5, 4]);
    check(&finder, Query { about: own("bob"), taken: Some(3), ..all() }, &[5]);
    // A name that stands for one thing is not found as another.
    check(&finder, Query { kind: own("ann"), ..all() }, &[]);
    check(&finder, Query { text: own("ann"), ..all() }, &[]);
}

#[test]
fn entries_are_found_by_place_and_time() {
    let (_dir, finder) = some();
    let all = Query::default;
    check(&finder, Query { after: Some(2), before: Some(5), ..all() }, &[4, 3]);
    check(&finder, Query { after: Some(u64::MAX), ..all() }, &[]);
    check(&finder, Query { before: Some(u64::MAX), after: Some(6), ..all() }, &[7]);
    check(&finder, Query { since: Some(1001), until: Some(1003), ..all() }, &[5, 4, 3, 2]);
    check(&finder, Query { since: Some(0), until: Some(1000), ..all() }, &[]);
    check(&finder, Query { since: Some(1003), sender: own("carl"), ..all() }, &[7]);
    check(&finder, Query { since: Some(u64::MAX), ..all() }, &[]);
    let two = Query { limit: 2, ..all() };
    assert_eq!(finder.find(&two).unwrap(), [7, 6]);
    assert_eq!(finder.find(&Query { limit: 0, ..all() }).unwrap(), [0; 0]);
}

#[test]
fn texts_are_words_and_never_a_language() {
    let (_dir, finder) = some();
    let text = |text: &str, want: &[u64]| check(&finder, Query { text: own(text), ..Query::default() }, want);
    text("ready", &[3, 0]);
    text("ready outline", &[0]);
    text("CAFE", &[7]);
    text("near", &[7]);
    for hostile in ["NEAR(ready, go)", "ready OR thank", "terms:ready", "ready NOT set outline", "rea*"] {
        text(hostile, &[]);
    }
    text("\"ready", &[3, 0]);
    text("ready*", &[3, 0]);
    text("^ready AND \"", &[]);
    for none in ["", "\"", " * ", "'; DROP TABLE words; --\0", "(((((", "\u{0}"] {
        text(none, &[]);
    }
    let many = (0..=MOST_WORDS).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
    text(&many, &[]);
    text(&"ready ".repeat(2000), &[3, 0]);
}

#[test]
fn what_took_a_message_out_is_found_at_once() {
    let (_dir, finder) = some();
    assert_eq!(finder.reached("bob", 0).unwrap(), Some(4));
    assert_eq!(finder.reached("bob", 3).unwrap(), Some(6));
    assert_eq!(finder.reached("bob", 5).unwrap(), None);
    assert_eq!(finder.reached("ann", 0).unwrap(), None);
}

#[test]
fn the_files_tell_nothing_of_what_was_said() {
    let (dir, finder) = some();
    check(&finder, Query { text: own("outline"), ..Query::default() }, &[0]);
    for file in fs::read_dir(dir.path().join("index")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        for said in ["outline", "carl", "unknown_sender", "escalation"] {
            assert!(!bytes.windows(said.len()).any(|part| part == said.as_bytes()), "{said}");
        }
    }
}

/// Whether an entry is one of those asked for, by looking at it.
fn fits(query: &Query, frame: &Frame) -> bool {
    let effect: Effect = serde_json::from_slice(&frame.effect).unwrap();
    let is = |want: &Option<String>, has: Option<&str>| want.as_deref().is_none_or(|want| has == Some(want));
    let message = match &effect {
        Effect::Accepted(message) => Some(message),
        _ => None,
    };
    let about = match &effect {
        Effect::Acked(acked) => Some(acked.agent.as_str()),
        _ => None,
    };
    let code = match &effect {
        Effect::Refused(refused) => Some(refused.code.as_str()),
        _ => None,
    };
    let body: serde_json::Value = frame.body.here().map(|b| serde_json::from_slice(b).unwrap()).unwrap_or_default();
    let words = words_in(body["member"][0]["content"].as_str().unwrap_or_default());
    let party = |name: &String, message: &Accepted| message.sender == *name || message.to.contains(name);
    query.what.is_none_or(|what| what == What::of(&effect))
        && is(&query.sender, message.map(|m| m.sender.as_str()))
        && query.recipient.as_ref().is_none_or(|name| message.is_some_and(|m| m.to.contains(name)))
        && query.parties.iter().all(|name| message.is_some_and(|m| party(name, m)))
        && is(&query.thread, message.and_then(|m| m.thread.as_deref()))
        && is(&query.about, about)
        && is(&query.code, code)
        && query.text.as_deref().is_none_or(|text| !words_in(text).is_empty() && words_in(text).is_subset(&words))
        && query.since.is_none_or(|since| frame.at >= since)
        && query.until.is_none_or(|until| frame.at < until)
        && query.after.is_none_or(|after| frame.position > after)
        && query.before.is_none_or(|before| frame.position < before)
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["ann", "bob", "carl"]).prop_map(str::to_owned)
}

fn says() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["red", "Red", "green", "blue", "é", "-"]), 0..4)
        .prop_map(|words| words.join(" "))
}

fn entry() -> impl Strategy<Value = (Effect, Option<String>)> {
    let sent = (name(), prop::collection::vec(name(), 0..3), prop::option::of(name()), says());
    prop_oneof![
        4 => sent.prop_map(|(sender, to, thread, says)| {
            let to: Vec<_> = to.iter().map(String::as_str).collect();
            message(&sender, &to, thread.as_deref(), &says)
        }),
        1 => name().prop_map(|code| refused("somebody", &code)),
        1 => (name(), 0..40_u64).prop_map(|(agent, at)| acked(&agent, Some(at), &[])),
    ]
}

prop_compose! {
    fn question()(
        what in prop::option::of(prop::sample::select(vec![What::Accepted, What::Refused, What::Acked])),
        (sender, recipient, thread) in (prop::option::of(name()), prop::option::of(name()), prop::option::of(name())),
        (about, code, text) in (prop::option::weighted(0.1, name()), prop::option::weighted(0.1, name()), prop::option::of(says())),
        parties in prop::collection::vec(name(), 0..2),
        (since, until) in (prop::option::of(995..1025_u64), prop::option::of(995..1025_u64)),
        (after, before) in (prop::option::of(0..45_u64), prop::option::of(0..45_u64)),
        order in prop::sample::select(vec![Order::Newest, Order::Oldest]),
        limit in 1..50_usize,
        keep in prop::collection::vec(prop::bool::weighted(0.3), 7),
    ) -> Query {
        // Few conditions at once, or hardly anything is ever found.
        let mut query = Query { what, sender, recipient, thread, about, code, text, parties, since, until, after, before, order, limit, ..Query::default() };
        let drop: [fn(&mut Query); 7] = [
            |q| q.what = None, |q| q.sender = None, |q| q.recipient = None, |q| q.thread = None,
            |q| q.text = None, |q| (q.since, q.until) = (None, None), |q| (q.after, q.before) = (None, None),
        ];
        drop.iter().zip(keep).filter(|(_, keep)| !keep).for_each(|(drop, _)| drop(&mut query));
        query
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn the_index_finds_what_a_look_at_every_entry_finds(
        batches in prop::collection::vec(prop::collection::vec(entry(), 1..9), 1..6),
        questions in prop::collection::vec(question(), 12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = open(dir.path()).unwrap();
        let mut index = indexed(dir.path(), &log, Origin::New);
        for batch in batches {
            append(&mut log, batch);
            super::catch_up(&mut index);
        }
        let frames: Vec<_> = log.frames(0).map(Result::unwrap).collect();
        let finder = index.finder();
        for query in questions {
            let mut want: Vec<_> = frames.iter().filter(|frame| fits(&query, frame)).map(|frame| frame.position).collect();
            if query.order == Order::Newest {
                want.reverse();
            }
            want.truncate(query.limit);
            prop_assert_eq!(finder.find(&query).unwrap(), want, "{:?}", query);
        }
    }
}
