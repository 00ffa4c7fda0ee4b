//! `kill -9` under those who read as it comes: each goes on where it was, and misses nothing.

use super::ways::{Reading, Way};
use super::{Sender, answers, sound};
use crate::served::Served;
use legation_client::Mark;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::mpsc;
use std::thread;
use tokio::sync::watch;

const CYCLES: u64 = 10;
const SENDERS: [&str; 3] = ["ann", "ben", "cat"];
const READERS: [&str; 4] = ["sock", "sse", "lines", "sdk"];
/// How many messages others may see before one that sees none is given up.
const PATIENCE: usize = 10_000;
const WAYS: [Way; 4] = [Way::Socket, Way::Events, Way::Lines, Way::Library];

/// What one reader knows of its mailbox.
struct Reader {
    name: &'static str,
    way: Way,
    token: String,
    mark: Option<Mark>,
    /// Positions and ids, as they were seen.
    seen: Vec<(u64, String)>,
}

impl Reader {
    /// Reads on until `enough` says so or the exchange has gone, and tells of each message.
    fn read(&mut self, url: &str, gone: watch::Receiver<bool>, mut enough: impl FnMut(u64) -> bool) {
        let Reader { name, way, token, mark, seen } = self;
        let reading = Reading { url, agent: name, token, mark };
        reading.read(*way, gone, |position, id| {
            seen.push((position, id));
            enough(position)
        });
    }
}

/// Lets all send and read. Once each reader has seen something, and all together so much more, the exchange
/// is killed.
fn cycle(served: &mut Served, senders: &mut BTreeMap<&str, Sender>, readers: &mut [Reader], more: u64) {
    let (heard, count) = mpsc::channel();
    let (showed, shown) = mpsc::channel();
    let (over, gone) = watch::channel(false);
    let url = served.url.clone();
    thread::scope(move |scope| {
        for (name, sender) in senders {
            let (heard, url) = (heard.clone(), url.clone());
            scope.spawn(move || sender.send(name, &url, &heard));
        }
        for reader in readers {
            let (showed, gone, url, name) = (showed.clone(), gone.clone(), url.clone(), reader.name);
            scope.spawn(move || reader.read(&url, gone, |_| showed.send(name).is_err()));
        }
        drop((heard, showed));
        let mut waiting = BTreeSet::from(READERS);
        for name in shown.iter().take(PATIENCE) {
            waiting.remove(name);
            if waiting.is_empty() {
                break;
            }
        }
        for _ in 0..more {
            shown.recv().unwrap();
        }
        served.crash();
        over.send_replace(true);
        // Should the new one have the port of the old, whoever is there stops now.
        drop((count, shown));
        assert!(waiting.is_empty(), "nothing came to {waiting:?}");
    });
}

/// All messages of the record, by recipient: positions and ids.
fn record(served: &Served) -> BTreeMap<String, Vec<(u64, String)>> {
    let token = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let (mut found, mut after) = (BTreeMap::<_, Vec<_>>::new(), String::new());
    loop {
        let request = ureq::get(format!("{}/v1/audit/entries?limit=1000{after}", served.url));
        let mut answer = request.header("authorization", format!("Bearer {}", token.trim())).call().unwrap();
        let page: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        for entry in page["entries"].as_array().unwrap() {
            let effect = &entry["effect"];
            if effect["entry"] == "accepted" {
                let to = effect["to"][0].as_str().unwrap().to_owned();
                let id = effect["id"].as_str().unwrap().to_owned();
                found.entry(to).or_default().push((entry["position"].as_u64().unwrap(), id));
            }
        }
        if page["entries"].as_array().unwrap().is_empty() {
            return found;
        }
        after = format!("&after={}", page["next"]);
    }
}

/// Each has seen what the record has for it, all of it in order and once; and so what was answered.
fn check(served: &Served, senders: &BTreeMap<&str, Sender>, readers: &[Reader]) {
    let record = record(served);
    for Reader { name, seen, .. } in readers {
        assert!(seen.is_sorted_by(|one, next| one.0 < next.0), "{name} saw something twice or out of order");
        assert_eq!(Some(seen), record.get(*name), "{name}");
    }
    let all: BTreeSet<_> = readers.iter().flat_map(|reader| reader.seen.iter().cloned()).collect();
    for (name, sender) in senders {
        for (position, number) in &sender.answered {
            assert!(all.contains(&(*position, format!("MSG-{name}-{number:06}"))), "{name} was told {position}");
        }
    }
}

#[test]
fn what_was_answered_is_seen_once_through_every_kill_however_it_is_read() {
    let mut served = Served::start();
    let reader = |(name, way)| Reader { name, way, token: served.admit(&[name]), mark: None, seen: Vec::new() };
    let mut readers: Vec<_> = READERS.into_iter().zip(WAYS).map(reader).collect();
    let mut senders: BTreeMap<_, _> =
        SENDERS.map(|name| (name, Sender::admit(&served, name, &READERS))).into_iter().collect();
    for number in 0..CYCLES {
        cycle(&mut served, &mut senders, &mut readers, answers(number));
    }
    // What is left is read to its end.
    let record = record(&served);
    let (_over, gone) = watch::channel(false);
    for reader in &mut readers {
        let last = record[reader.name].last().unwrap().0;
        if reader.mark.as_ref().is_none_or(|mark| mark.position() < last) {
            reader.read(&served.url, gone.clone(), |position| position >= last);
        }
    }
    check(&served, &senders, &readers);
    served.stop();
    sound(&served);
}
