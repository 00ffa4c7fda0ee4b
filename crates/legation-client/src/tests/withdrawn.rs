//! Keys that are withdrawn while somebody reads (a message by such a key is not verified, whoever knew the key before).

use crate::error::Error;
use crate::fake::{self, Asked, Log, agent_key, ann, item, vcp};
use crate::inbox::Unverified;
use crate::reader::Transport;
use crate::verified::{Doubt, Verified};
use crate::{Client, Incoming};
use http::Method;
use legation_exchange::KeyState;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const ANN: &str = "/v1/agents/ann";
const DEAD: Verified = Verified::Unverified(Doubt::DeadKey(KeyState::Compromised));

/// An exchange that lists these messages of ann's at once, and whether her key is in other hands.
fn listing(numbers: std::ops::RangeInclusive<u8>) -> (Client, Log, Arc<AtomicBool>) {
    let items: Vec<_> = numbers.map(|n| item(&vcp(n, "x", &agent_key(1)), u64::from(n))).collect();
    let mut items = Some(items);
    let stolen = Arc::new(AtomicBool::new(false));
    let is_stolen = Arc::clone(&stolen);
    let answer = move |asked: &Asked| match asked.path.as_str() {
        ANN => Some((200, shown(is_stolen.load(Ordering::Relaxed)))),
        path if path.contains("/inbox") => match items.take() {
            Some(items) => Some((200, json!({"messages": items, "epoch": 1}))),
            None => Some((503, json!({"error": "busy", "retryable": true}))),
        },
        _ => Some((200, json!({"status": "accepted"}))),
    };
    let (client, log) = fake::client(answer, None);
    (client, log, stolen)
}

fn shown(stolen: bool) -> Value {
    let mut shown = ann(&agent_key(1));
    if stolen {
        shown["keys"][0]["state"] = "COMPROMISED".into();
    }
    shown
}

#[tokio::test(start_paused = true)]
async fn a_key_compromised_a_second_ago_verifies_nothing_though_it_was_known() {
    let (client, _, stolen) = listing(1..=2);
    let inbox = client.inbox().transport(Transport::LongPoll).unverified(Unverified::HandOver);
    let mut deliveries = inbox.deliveries().await.unwrap();
    let first = deliveries.next().await.unwrap().unwrap();
    assert_eq!(first.verified, Verified::Signed(agent_key(1).public()));
    // The second was read with the first, and is handed over later.
    stolen.store(true, Ordering::Relaxed);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(deliveries.next().await.unwrap().unwrap().verified, DEAD);
}

#[tokio::test(start_paused = true)]
async fn a_message_its_handler_failed_on_is_judged_again_before_it_comes_again() {
    let (client, _, stolen) = listing(1..=1);
    let (told, doubts) = tokio::sync::oneshot::channel();
    let (mut told, tries) = (Some(told), Arc::new(Mutex::new(0)));
    let counted = Arc::clone(&tries);
    let handler = move |_: Incoming| {
        *counted.lock().unwrap() += 1;
        stolen.store(true, Ordering::Relaxed);
        async { Err::<(), _>("not now") }
    };
    let inbox = client.inbox().transport(Transport::LongPoll);
    let inbox = inbox.on_withheld(move |withheld| drop(told.take().unwrap().send(withheld.doubt)));
    let reading = tokio::spawn(inbox.handle(handler));
    assert_eq!(doubts.await.unwrap(), Doubt::DeadKey(KeyState::Compromised));
    assert_eq!(*tries.lock().unwrap(), 1);
    reading.abort();
}

#[tokio::test(start_paused = true)]
async fn keys_are_asked_for_once_in_half_a_second_however_much_comes() {
    let (client, log, _) = listing(1..=20);
    let mut deliveries = client.inbox().transport(Transport::LongPoll).deliveries().await.unwrap();
    for _ in 0..20 {
        deliveries.next().await.unwrap().unwrap();
    }
    assert_eq!(log.of(&Method::GET, ANN).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_waited_while_the_exchange_is_away_is_handed_over_when_it_can_be_asked_again() {
    let mut items = Some(vec![item(&vcp(1, "x", &agent_key(1)), 1)]);
    let mut asked_for = 0;
    let answer = move |asked: &Asked| match asked.path.as_str() {
        ANN => {
            asked_for += 1;
            (asked_for == 1 || asked_for > 8).then(|| (200, shown(false)))
        }
        _ => items.take().map(|items| (200, json!({"messages": items, "epoch": 1}))),
    };
    let (client, _) = fake::client(answer, None);
    let mut deliveries = client.inbox().transport(Transport::LongPoll).deliveries().await.unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let waited = deliveries.next().await.unwrap();
    assert!(matches!(waited, Ok(Incoming { verified: Verified::Signed(_), .. })), "{:?}", waited.map_err(|e: Error| e));
}
