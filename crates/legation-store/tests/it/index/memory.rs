//! Memory (VLP XI): what keywords, topics and words find, against a look at every message.

use super::{append, catch_up, indexed, message};
use crate::common::open;
use legation_exchange::Effect;
use legation_protocol::Format;
use legation_protocol::vlp::{normalise, normalise_all};
use legation_store::index::{FOUND_BY, Finder, Fit, Index, Keyword, Order, Origin, Query, words_in};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn vlp(sender: &str, session: Option<&str>, body: &Value) -> (Effect, Option<String>) {
    let (effect, _) = message(sender, &["bob"], session, "x");
    let Effect::Accepted(mut accepted) = effect else { unreachable!() };
    (accepted.dialect, accepted.kind) = (Format::Vlp, "session_context".to_owned());
    (Effect::Accepted(accepted), Some(body.to_string()))
}

fn some() -> (TempDir, Index, Finder) {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    let says = json!({"content": "oklahoma", "keywords": ["oklahoma"], "topic": "research"});
    let many: Vec<_> = (0..=FOUND_BY).map(|n| format!("many{n}")).collect();
    append(
        &mut log,
        vec![
            vlp(
                "ann",
                Some("S-1"),
                &json!({"keywords": ["research", "Oklahoma ", "pending:pricing"], "topic": "Research"}),
            ),
            vlp(
                "ann",
                Some("S-2"),
                &json!({"keywords": ["gas  stations", "oklahoma", "Pending:audit"], "topic": "gas"}),
            ),
            vlp("eve", None, &json!({"content": "oklahoma and research", "topic": null})),
            vlp("ann", None, &json!({"keywords": ["okra", "q:1"], "content": {"said": "café"}})),
            // Of another dialect: these members are its own.
            (message("ann", &["bob"], Some("S-1"), "x").0, Some(says.to_string())),
            vlp("ann", None, &json!({"keywords": many, "topic": " "})),
        ],
    );
    let index = indexed(dir.path(), &log, Origin::New);
    let finder = index.finder();
    (dir, index, finder)
}

fn asked(keywords: &str) -> Query {
    let keywords = keywords.split(',').map(|text| Keyword::asked(text).unwrap()).collect();
    Query { keywords, limit: 10, ..Query::default() }
}

#[track_caller]
fn check(finder: &Finder, query: &Query, want: &[u64]) {
    assert_eq!(finder.find(query).unwrap(), want, "{query:?}");
}

#[test]
fn messages_are_found_by_all_of_the_keywords_whole_or_by_their_beginning() {
    let (_dir, _index, finder) = some();
    for (keywords, want) in [
        ("oklahoma", &[1, 0][..]),
        ("OKLAHOMA ", &[1, 0]),
        ("oklahoma,research", &[0]),
        ("oklahoma,absent", &[]),
        ("gas stations", &[1]),
        ("stations", &[]),
        ("pending:", &[1, 0]),
        ("pending:,research", &[0]),
        ("pending:pri*", &[0]),
        ("pending:audit", &[1]),
        ("okl*", &[1, 0]),
        ("okr*", &[3]),
        ("oklahoma*", &[1, 0]),
        ("q:", &[3]),
        ("many0", &[5]),
        ("many63,many1*", &[5]),
        // Beyond the keywords that a message is found by.
        ("many64", &[]),
    ] {
        check(&finder, &asked(keywords), want);
    }
}

#[test]
fn topic_session_sender_and_words_narrow_what_keywords_find() {
    let (_dir, _index, finder) = some();
    let own = |text: &str| Some(text.to_owned());
    let all = || Query { limit: 10, ..Query::default() };
    check(&finder, &Query { topic: own(" RESEARCH"), ..all() }, &[0]);
    check(&finder, &Query { topic: own("gas"), ..asked("oklahoma") }, &[1]);
    check(&finder, &Query { topic: own("res"), ..all() }, &[]);
    check(&finder, &Query { thread: own("S-1"), ..asked("oklahoma") }, &[0]);
    check(&finder, &Query { sender: own("eve"), ..asked("oklahoma") }, &[]);
    check(&finder, &Query { text: own("audit"), ..asked("oklahoma") }, &[1]);
    check(&finder, &Query { text: own("oklahoma"), dialect: Some(Format::Vlp), ..all() }, &[2, 1, 0]);
    check(&finder, &Query { text: own("Cafe"), ..asked("okra") }, &[3]);
    check(&finder, &Query { order: Order::Oldest, ..asked("oklahoma") }, &[0, 1]);
    check(&finder, &Query { before: Some(1), ..asked("oklahoma") }, &[0]);
}

#[test]
fn what_is_about_all_of_it_fits_better_than_what_mentions_it() {
    let (_dir, _index, finder) = some();
    let text =
        |text: &str| Query { text: Some(text.to_owned()), dialect: Some(Format::Vlp), limit: 10, ..Query::default() };
    for (query, wholly, partly, mentions) in [
        (text("oklahoma research"), &[0][..], &[][..], &[2][..]),
        (text("oklahoma"), &[1, 0], &[], &[2]),
        (text("oklahoma stations"), &[1], &[], &[]),
        (text("cafe okra"), &[], &[3], &[]),
        (asked("oklahoma"), &[1, 0], &[], &[]),
        (asked("oklahoma*"), &[1, 0], &[], &[]),
        (asked("okl*"), &[], &[], &[1, 0]),
        (asked("okl*,research"), &[], &[0], &[]),
        (Query::default(), &[], &[], &[]),
    ] {
        for (fit, want) in Fit::ALL.into_iter().zip([wholly, partly, mentions]) {
            check(&finder, &Query { fit: Some(fit), ..query.clone() }, want);
        }
    }
}

fn files_have(dir: &TempDir, said: &str) -> bool {
    let files = fs::read_dir(dir.path().join("index")).unwrap();
    files.map(|file| fs::read(file.unwrap().path()).unwrap()).any(|bytes| {
        let letters: Vec<_> = bytes.iter().map(u8::to_ascii_lowercase).collect();
        letters.windows(said.len()).any(|part| part == said.as_bytes())
    })
}

#[test]
fn no_file_of_the_index_has_a_keyword_or_a_topic_in_plain_text() {
    let (dir, mut index, finder) = some();
    for when in ["taken in", "erased"] {
        for said in ["oklahoma", "oklah", "research", "pending", "pricing", "stations", "okra"] {
            assert!(!files_have(&dir, said), "{said} when {when}");
        }
        index.erase(&[0, 1, 3]).unwrap();
    }
    drop(finder);
}

#[test]
fn what_is_erased_is_not_found_by_what_it_said() {
    let (_dir, mut index, finder) = some();
    index.erase(&[0]).unwrap();
    for (keywords, want) in [("oklahoma", &[1][..]), ("research", &[]), ("pending:", &[1]), ("pending:pri*", &[])] {
        check(&finder, &asked(keywords), want);
    }
    check(&finder, &Query { topic: Some("research".to_owned()), limit: 10, ..Query::default() }, &[]);
    check(
        &finder,
        &Query { sender: Some("ann".to_owned()), thread: Some("S-1".to_owned()), limit: 10, ..Query::default() },
        &[4, 0],
    );
}

#[test]
fn an_index_made_again_finds_the_same() {
    let (_dir, mut index, finder) = some();
    let questions = ["oklahoma", "pending:", "okl*", "gas stations", "many3*"].map(asked);
    let found = |finder: &Finder| questions.iter().map(|query| finder.find(query).unwrap()).collect::<Vec<_>>();
    let before = found(&finder);
    index.start_over().unwrap();
    catch_up(&mut index);
    assert_eq!(found(&finder), before);
}

/// How a message fits, by looking at it; nothing if it does not.
fn fit(query: &Query, body: &Value) -> Option<Fit> {
    let listed = body["keywords"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let keywords = normalise_all(listed);
    let topic = body["topic"].as_str().unwrap_or_default();
    let said = words_in(&format!("{} {topic} {}", body["content"], keywords.join(" ")));
    let subjects = words_in(&format!("{topic} {}", keywords.join(" ")));
    let has = |asked: &Keyword| match asked {
        Keyword::Whole(text) => keywords.contains(text),
        Keyword::Beginning(text) => keywords.iter().any(|keyword| keyword.starts_with(text)),
    };
    let is = |asked: &Keyword| match asked {
        Keyword::Whole(text) | Keyword::Beginning(text) => keywords.contains(text),
    };
    let words = words_in(query.text.as_deref().unwrap_or_default());
    let fits = query.keywords.iter().all(has)
        && words.is_subset(&said)
        && query.topic.as_deref().is_none_or(|wanted| normalise(wanted) == normalise(topic));
    let about: Vec<_> = query.keywords.iter().map(is).chain(words.iter().map(|word| subjects.contains(word))).collect();
    fits.then(|| match (about.iter().all(|is| *is), about.iter().any(|is| *is)) {
        (true, _) => Fit::Wholly,
        (false, true) => Fit::Partly,
        (false, false) => Fit::Mentions,
    })
}

const KEYWORDS: [&str; 7] = ["oklahoma", "Okla", "pending:pricing", "pending:", "pricing", "gas stations", "q:1"];

fn body() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec!["oklahoma", "pricing", "gas", "none"]);
    let topic = prop::sample::select(vec![Value::Null, json!("Pricing"), json!("gas oklahoma")]);
    let keywords = prop::collection::vec(prop::sample::select(KEYWORDS.to_vec()), 0..4);
    (word, topic, keywords)
        .prop_map(|(content, topic, keywords)| json!({"content": content, "topic": topic, "keywords": keywords}))
}

fn question() -> impl Strategy<Value = Query> {
    let asked = vec!["oklahoma", "okl*", "okla*", "pending:", "pending:pr*", "pricing", "gas stations", "q:", "gas*"];
    let keywords = prop::collection::vec(prop::sample::select(asked), 0..3);
    let text = prop::option::of(prop::sample::select(vec!["oklahoma", "pricing gas", "gas oklahoma", "pending"]));
    let topic = prop::option::weighted(0.2, Just("pricing".to_owned()));
    (keywords, text, topic).prop_map(|(keywords, text, topic)| Query {
        keywords: keywords.into_iter().filter_map(Keyword::asked).collect(),
        text: text.map(str::to_owned),
        dialect: Some(Format::Vlp),
        topic,
        limit: 100,
        ..Query::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn memory_finds_what_a_look_at_every_message_finds(
        bodies in prop::collection::vec(body(), 1..40),
        questions in prop::collection::vec(question(), 12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, _) = open(dir.path()).unwrap();
        append(&mut log, bodies.iter().map(|body| vlp("ann", None, body)).collect());
        let finder = indexed(dir.path(), &log, Origin::New).finder();
        for query in questions {
            let fits: Vec<_> = bodies.iter().enumerate().rev().filter_map(|(at, body)| Some((at as u64, fit(&query, body)?))).collect();
            let all: Vec<_> = fits.iter().map(|(at, _)| *at).collect();
            prop_assert_eq!(finder.find(&query).unwrap(), all, "{:?}", query);
            for fit in Fit::ALL {
                let want: Vec<_> = fits.iter().filter(|(_, found)| *found == fit).map(|(at, _)| *at).collect();
                let query = Query { fit: Some(fit), ..query.clone() };
                prop_assert_eq!(finder.find(&query).unwrap(), want, "{:?}", query);
            }
        }
    }
}
