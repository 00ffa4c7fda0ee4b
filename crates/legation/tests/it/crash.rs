//! `kill -9` under load, again and again: what was answered is there afterwards, once.

mod readers;
mod rules;
mod ways;

use crate::served::Served;
use legation_store::verify::{Options, verify};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc;
use std::thread;

/// `cargo xtask crash --cycles N` sets it.
const CYCLES: &str = "LEGATION_CRASH_CYCLES";
const SENDERS: [&str; 4] = ["ann", "ben", "cat", "dov"];
const READER: &str = "zoe";

/// What one sender knows of its messages.
#[derive(Default)]
struct Sender {
    token: String,
    /// To whom, in turn.
    readers: &'static [&'static str],
    /// Numbers of messages that were answered, by position.
    answered: BTreeMap<u64, u64>,
    /// The next number. The message before it may be in doubt: it is sent again first.
    next: u64,
}

fn claim(sender: &str, reader: &str, number: u64) -> String {
    format!(
        r#"{{"id":"MSG-{sender}-{number:06}","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"{sender}","receiver":"{reader}","content":"{number}","confidence":0.5}}"#
    )
}

impl Sender {
    fn admit(served: &Served, name: &str, readers: &'static [&'static str]) -> Sender {
        Sender { token: served.admit(&[name]), readers, ..Sender::default() }
    }

    fn next_claim(&self, name: &str) -> String {
        let turn = usize::try_from(self.next).unwrap() % self.readers.len();
        claim(name, self.readers[turn], self.next)
    }

    /// Sends until nobody answers any more. Each answer is told to whoever counts them.
    fn send(&mut self, name: &str, url: &str, heard: &mpsc::Sender<()>) {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        loop {
            let request = agent.post(format!("{url}/v1/messages")).content_type("application/json");
            let sent = request.header("authorization", format!("Bearer {}", self.token)).send(self.next_claim(name));
            let Ok(Ok(text)) = sent.map(|mut answer| answer.body_mut().read_to_string()) else { return };
            let answer: Value = serde_json::from_str(&text).unwrap();
            let status = answer["status"].as_str().unwrap_or_else(|| panic!("{text}"));
            assert!(["accepted", "duplicate"].contains(&status), "{text}");
            let before = self.answered.insert(answer["position"].as_u64().unwrap(), self.next);
            assert_eq!(before, None, "two messages at one position: {text}");
            self.next += 1;
            if heard.send(()).is_err() {
                return;
            }
        }
    }
}

/// Lets all senders send, and kills the exchange after so many answers.
fn cycle(served: &mut Served, senders: &mut BTreeMap<&str, Sender>, answers: u64) {
    let (heard, count) = mpsc::channel();
    let url = served.url.clone();
    thread::scope(move |scope| {
        for (name, sender) in senders {
            let (heard, url) = (heard.clone(), url.clone());
            scope.spawn(move || sender.send(name, &url, &heard));
        }
        drop(heard);
        for _ in 0..answers {
            count.recv().unwrap();
        }
        served.crash();
        // Should the new one have the port of the old, whoever sends there stops now.
        drop(count);
    });
}

/// Reads the whole inbox: positions with sender and number of the message there.
fn inbox(url: &str, token: &str) -> Vec<(u64, (String, u64))> {
    let agent = ureq::Agent::new_with_defaults();
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let url = format!("{url}/v1/agents/{READER}/inbox?limit=1000{after}");
        let mut answer = agent.get(url).header("authorization", format!("Bearer {token}")).call().unwrap();
        let page: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        let messages = page["messages"].as_array().unwrap();
        found.extend(messages.iter().map(|item| {
            let (sender, number) = (&item["message"]["sender"], &item["message"]["content"]);
            let what = (sender.as_str().unwrap().to_owned(), number.as_str().unwrap().parse().unwrap());
            (item["position"].as_u64().unwrap(), what)
        }));
        if messages.is_empty() {
            return found;
        }
        after = format!("&after={}", page["next"]);
    }
}

/// Everything answered is there at the position told, nothing twice, each sender's in order.
fn check(served: &Served, reader: &str, senders: &BTreeMap<&str, Sender>) {
    let found = inbox(&served.url, reader);
    let there: BTreeMap<_, _> = found.iter().cloned().collect();
    let once: BTreeSet<_> = found.iter().map(|(_, what)| what).collect();
    assert_eq!(once.len(), found.len(), "something is there twice");
    for (name, sender) in senders {
        for (position, number) in &sender.answered {
            assert_eq!(there.get(position), Some(&((*name).to_owned(), *number)), "{name} was told {position}");
        }
        let numbers: Vec<_> = found.iter().filter(|(_, what)| what.0 == *name).map(|(_, what)| what.1).collect();
        assert!(numbers.is_sorted(), "{name}'s messages are out of order");
    }
}

/// After how many answers a cycle ends: 1 to 64, without a pattern, the same in every run.
fn answers(cycle: u64) -> u64 {
    let mixed = (cycle + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    1 + (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) % 64
}

fn sound(served: &Served) {
    let report = verify(&served.data().join("record"), &Options::default(), &mut |_| ()).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn what_was_answered_survives_being_killed_under_load() {
    let cycles = std::env::var(CYCLES).map_or(50, |text| text.parse().unwrap());
    let mut served = Served::start();
    let reader = served.admit(&[READER]);
    let mut senders: BTreeMap<_, _> =
        SENDERS.map(|name| (name, Sender::admit(&served, name, &[READER]))).into_iter().collect();
    for number in 0..cycles {
        cycle(&mut served, &mut senders, answers(number));
        if number % 10 == 9 {
            check(&served, &reader, &senders);
            sound(&served);
        }
    }
    check(&served, &reader, &senders);
    served.stop();
    sound(&served);
}
