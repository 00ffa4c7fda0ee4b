//! Receiving from an exchange that fails, lies, or comes and goes.

use crate::deliveries::Deliveries;
use crate::error::Error;
use crate::fake::{self, Asked, Log, agent_key, alarm, ann, item, receipt, taken, vcp};
use crate::inbox::Unverified;
use crate::mark::{Epoch, Mark};
use crate::reader::Transport;
use crate::verified::{Doubt, Verified};
use crate::{Client, Incoming};
use http::Method;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

const INBOX: &str = "/v1/agents/bob/inbox";
const ACK: &str = "/v1/agents/bob/ack";
const ANN: &str = "/v1/agents/ann";

#[expect(clippy::unnecessary_wraps, reason = "it is an answer among others")]
fn listing(items: &[Value]) -> Option<(u16, Value)> {
    Some((200, json!({"messages": items, "next": 0, "epoch": 1})))
}

fn is(asked: &Asked, path: &str) -> bool {
    asked.path.starts_with(path)
}

fn mark(position: u64) -> Mark {
    Mark { epoch: Epoch { epoch: 1, restore: None }, position }
}

async fn reading(client: &Client) -> Deliveries {
    client.inbox().transport(Transport::LongPoll).deliveries().await.unwrap()
}

/// An exchange that lists these at first and then nothing, and knows ann by this key.
fn listed(items: Vec<Value>) -> (Client, Log) {
    let mut items = Some(items);
    fake::client(
        move |asked| match asked {
            asked if is(asked, INBOX) => match items.take() {
                Some(items) => listing(&items),
                None => Some((503, json!({"error": "busy", "retryable": true}))),
            },
            asked if is(asked, ACK) => Some((200, json!({"status": "accepted", "position": 1}))),
            _ => Some((200, ann(&agent_key(1)))),
        },
        None,
    )
}

#[tokio::test(start_paused = true)]
async fn what_is_not_as_it_was_sent_is_withheld_and_never_acknowledged() {
    let good = vcp(1, "x", &agent_key(1));
    let forged = vcp(2, "x", &agent_key(9));
    let mut swapped = item(&vcp(3, "x", &agent_key(1)), 7);
    swapped["message"]["payload"]["reason"] = "y".into();
    let mut bare = item(&vcp(4, "x", &agent_key(1)), 8);
    bare["receipt"] = Value::Null;
    let junk = json!({"position": 9, "epoch": 1, "message": {"no": "message"}, "receipt": null});
    let (client, log) = listed(vec![item(&forged, 6), swapped, bare, junk, item(&good, 10)]);
    let doubts = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&doubts);
    let inbox = client.inbox().transport(Transport::LongPoll);
    let inbox = inbox.on_withheld(move |withheld| told.lock().unwrap().push((withheld.position, withheld.doubt)));
    let mut deliveries = inbox.deliveries().await.unwrap();
    let incoming = deliveries.next().await.unwrap().unwrap();
    assert_eq!((incoming.position, &incoming.verified), (10, &Verified::Signed(agent_key(1).public())));
    deliveries.ack(&incoming).await.unwrap();
    deliveries.close().await.unwrap();
    let doubts = doubts.lock().unwrap();
    let positions: Vec<_> = doubts.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [6, 7, 8, 9]);
    assert_eq!(doubts[0].1, Doubt::BadSignature);
    assert!(matches!((&doubts[1].1, &doubts[2].1), (Doubt::Receipt(_), Doubt::Receipt(_))), "{doubts:?}");
    assert!(matches!(doubts[3].1, Doubt::Unreadable(_)));
    let acked: Vec<_> = log.of(&Method::POST, ACK).iter().map(|asked| asked.body.clone()).collect();
    assert_eq!(acked, [&br#"{"epoch":1,"positions":[10],"restore":null}"#[..]]);
}

#[tokio::test(start_paused = true)]
async fn the_caller_may_want_what_is_not_verified_or_an_end_of_it() {
    let forged = item(&vcp(2, "x", &agent_key(9)), 6);
    let (client, _) = listed(vec![forged.clone()]);
    let inbox = client.inbox().transport(Transport::LongPoll).unverified(Unverified::HandOver);
    let incoming = inbox.deliveries().await.unwrap().next().await.unwrap().unwrap();
    assert_eq!(incoming.verified, Verified::Unverified(Doubt::BadSignature));
    let (client, _) = listed(vec![forged]);
    let inbox = client.inbox().transport(Transport::LongPoll).in_order();
    let ended = inbox.handle(|_| async { Ok::<_, Error>(()) }).await;
    assert!(matches!(ended, Err(Error::Unverified { at: Mark { position: 6, .. }, .. })), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn what_stops_a_reader_for_good_can_be_set_aside() {
    let items = vec![item(&vcp(2, "x", &agent_key(9)), 6), item(&vcp(3, "x", &agent_key(1)), 7)];
    let (client, log) = listed(items);
    let inbox = client.inbox().transport(Transport::LongPoll).in_order().set_aside(mark(6));
    let mut deliveries = inbox.deliveries().await.unwrap();
    let incoming = deliveries.next().await.unwrap().unwrap();
    assert_eq!(incoming.position, 7);
    deliveries.close().await.unwrap();
    assert_eq!(log.of(&Method::POST, ACK)[0].body, &br#"{"epoch":1,"positions":[6],"restore":null}"#[..]);
}

#[tokio::test(start_paused = true)]
async fn a_key_that_is_not_known_yet_is_asked_for_once() {
    let (old, new) = (agent_key(1), agent_key(3));
    let messages = [vcp(1, "x", &old), vcp(2, "x", &new), vcp(3, "x", &new)];
    let mut items =
        Some(messages.iter().zip(5..).map(|(message, position)| item(message, position)).collect::<Vec<_>>());
    let mut asked_for = 0;
    let (client, log) = fake::client(
        move |asked| {
            if is(asked, INBOX) {
                return items.take().map(|items| (200, json!({"messages": items, "epoch": 1})));
            }
            asked_for += 1;
            Some((200, ann(&agent_key(if asked_for == 1 { 1 } else { 3 }))))
        },
        None,
    );
    let mut deliveries = reading(&client).await;
    for key in [&old, &new, &new] {
        let incoming = deliveries.next().await.unwrap().unwrap();
        assert_eq!(incoming.verified, Verified::Signed(key.public()));
    }
    assert_eq!(log.of(&Method::GET, ANN).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_reader_comes_back_after_1_2_4_up_to_30_seconds() {
    let (told, mut counted) = mpsc::unbounded_channel();
    let (client, log) = fake::client(
        move |asked| {
            if is(asked, INBOX) {
                let _ = told.send(());
            }
            None
        },
        None,
    );
    let _deliveries = reading(&client).await;
    for _ in 0..7 {
        counted.recv().await.unwrap();
    }
    let times = log.times(&Method::GET, INBOX);
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (pause, want) in pauses.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0, 30.0]) {
        assert!((pause - want).abs() <= want * 0.1 + 0.01, "{pauses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_handled_twice_though_it_is_listed_again_and_again() {
    // Acknowledgements get lost at first, and so do connections: the exchange lists the same again.
    let (mut lists, mut acks) = (0, 0);
    let items: Vec<_> = (1..=3).map(|n| item(&vcp(n, "x", &agent_key(1)), u64::from(n))).collect();
    let (told, mut acked) = mpsc::unbounded_channel();
    let (client, _) = fake::client(
        move |call| match call {
            call if is(call, INBOX) => {
                lists += 1;
                if lists % 2 == 1 { listing(&items) } else { None }
            }
            call if is(call, ACK) => {
                acks += 1;
                if acks < 6 {
                    return None;
                }
                drop(told.send(call.body.clone()));
                Some((200, json!({"status": "accepted"})))
            }
            _ => Some((200, ann(&agent_key(1)))),
        },
        None,
    );
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let handled = tokio::spawn(async move {
        let handler = move |_: Incoming| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Ok::<_, Error>(()) }
        };
        client.inbox().transport(Transport::LongPoll).handle(handler).await
    });
    for _ in 0..4 {
        acked.recv().await.unwrap();
    }
    assert_eq!(calls.load(Ordering::Relaxed), 3);
    handled.abort();
}

#[tokio::test(start_paused = true)]
async fn only_what_its_handler_took_is_acknowledged() {
    let items: Vec<_> = (1..=2).map(|n| item(&vcp(n, "x", &agent_key(1)), u64::from(n))).collect();
    for (in_order, want) in [(false, vec![1, 2, 1, 1]), (true, vec![1, 1, 1, 2])] {
        let (client, log) = listed(items.clone());
        let order = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&order);
        let (enough, over) = tokio::sync::oneshot::channel::<()>();
        let (mut enough, acked) = (Some(enough), log.clone());
        let handler = move |incoming: Incoming| {
            let mut order = seen.lock().unwrap();
            order.push(incoming.position);
            let tries = order.iter().filter(|position| **position == 1).count();
            let acked =
                acked.of(&Method::POST, ACK).iter().any(|asked| asked.body.windows(3).any(|part| part == b"[1]"));
            assert!(!acked, "acknowledged before it was taken");
            if order.len() == 4 {
                drop(enough.take());
            }
            async move { if incoming.position == 1 && tries < 3 { Err("not now") } else { Ok(()) } }
        };
        let inbox = client.inbox().transport(Transport::LongPoll).until(async { drop(over.await) });
        let inbox = if in_order { inbox.in_order() } else { inbox };
        inbox.handle(handler).await.unwrap();
        assert_eq!(*order.lock().unwrap(), want);
        assert!(!log.of(&Method::POST, ACK).is_empty());
    }
}

#[tokio::test]
async fn a_reader_that_is_fenced_ends_and_does_not_fight() {
    let (client, log) = fake::client(|_| Some((409, json!({"error": "fenced", "retryable": false}))), None);
    let ended = client.inbox().handle(|_| async { Ok::<_, Error>(()) }).await;
    assert!(matches!(ended, Err(Error::Fenced)), "{ended:?}");
    assert_eq!(log.of(&Method::GET, INBOX).len(), 1);
}

#[tokio::test]
async fn resuming_says_that_all_before_is_done() {
    let (client, log) = listed(vec![item(&vcp(1, "x", &agent_key(1)), 5), item(&vcp(2, "x", &agent_key(1)), 9)]);
    let inbox = client.inbox().transport(Transport::LongPoll).resume_after(mark(7));
    let incoming = inbox.deliveries().await.unwrap().next().await.unwrap().unwrap();
    assert_eq!(incoming.position, 9);
    assert_eq!(log.of(&Method::POST, ACK)[0].body, &br#"{"epoch":1,"position":7,"restore":null}"#[..]);
    assert!(log.of(&Method::GET, INBOX)[0].path.ends_with("&after=7"));
}

/// The bodies of what a reader sends for an alarm, until `answer` is given the number of one and takes it.
async fn acknowledgements(mut answer: impl FnMut(usize) -> Option<Option<Value>> + Send + 'static) -> Vec<String> {
    let (mut items, mut sent) = (Some(vec![item(&alarm(1, &agent_key(1)), 1)]), 0);
    let (told, over) = tokio::sync::oneshot::channel::<()>();
    let mut told = Some(told);
    let (client, log) = fake::client(
        move |asked| match asked {
            asked if is(asked, INBOX) => items.take().map(|items| (200, json!({"messages": items, "epoch": 1}))),
            asked if is(asked, "/v1/messages") => {
                sent += 1;
                if let Some(refusal) = answer(sent)? {
                    return Some((422, refusal));
                }
                drop(told.take());
                let message = str::from_utf8(&asked.body).unwrap();
                Some((200, taken(message, 2, &receipt(message, 2, &fake::exchange_key()))))
            }
            asked if is(asked, ACK) => Some((200, json!({"status": "accepted", "position": 1}))),
            _ => Some((200, ann(&agent_key(1)))),
        },
        None,
    );
    let inbox = client.inbox().transport(Transport::LongPoll).until(async { drop(over.await) });
    inbox.handle(|_| async { Ok::<_, Error>(()) }).await.unwrap();
    let bodies = log.of(&Method::POST, "/v1/messages");
    bodies.iter().map(|asked| String::from_utf8(asked.body.to_vec()).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn an_escalation_is_acknowledged_by_one_message_however_often_it_is_sent() {
    // Four attempts, and those of the next time.
    let sent = acknowledgements(|number| (number > 6).then_some(None)).await;
    assert_eq!(sent.len(), 7);
    assert!(sent[0].contains("ACK:019502a4-ad0f-7000-8000-000000000001"), "{}", sent[0]);
    assert!(sent.iter().all(|body| *body == sent[0]), "{sent:#?}");
}

#[tokio::test(start_paused = true)]
async fn an_acknowledgement_that_never_arrived_and_is_too_old_now_is_written_anew() {
    let stale = json!({"error": "stale", "retryable": false});
    let sent = acknowledgements(move |number| match number {
        1..=4 => None,
        5 => Some(Some(stale.clone())),
        _ => Some(None),
    });
    let sent = sent.await;
    assert_eq!(sent.len(), 6);
    assert!(sent[..5].iter().all(|body| *body == sent[0]) && sent[5] != sent[0], "{sent:#?}");
}
