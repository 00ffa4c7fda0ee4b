//! Receiving: verified, acknowledged after the handler, once.

use crate::house::{House, cap};
use legation_client::protocol::Message;
use legation_client::protocol::vcp::{Context, ContextShare, CreedUri, Envelope};
use legation_client::{Call, Client, Error, Method, Transport, Verified};
use legation_server::Limits;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Handles so many messages and ends; what `refuse` says yes to fails once more.
async fn handled(agent: &Client, count: usize, mut refuse: impl FnMut(u64) -> bool) -> Result<Vec<String>, Error> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (enough, over) = oneshot::channel::<()>();
    let mut enough = Some(enough);
    let told = Arc::clone(&seen);
    let handler = move |incoming: legation_client::Incoming| {
        let refused = refuse(incoming.position);
        let mut seen = told.lock().unwrap();
        let Message::Cap(_) = incoming.message() else { panic!("{incoming:?}") };
        assert_eq!(incoming.verified, Verified::Vouched);
        if !refused {
            seen.push(incoming.message().id().unwrap());
        }
        if seen.len() == count {
            drop(enough.take());
        }
        async move { if refused { Err("not now") } else { Ok(()) } }
    };
    agent.inbox().until(async { drop(over.await) }).handle(handler).await?;
    let seen = seen.lock().unwrap().clone();
    Ok(seen)
}

#[tokio::test]
async fn what_was_handled_is_taken_out_and_nothing_else() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let mut sent = Vec::new();
    for n in 0..5 {
        sent.push(ann.send(cap("ann", "bob", &n.to_string())).await.unwrap());
    }
    let ids: Vec<_> = sent.iter().map(|sent| sent.message_id.clone()).collect();
    assert_eq!(handled(&bob, 3, |_| false).await.unwrap()[..], ids[..3]);
    // Another process has the rest.
    let token = house.operator.clone();
    let other = Client::builder(house.url()).token(token).agent("bob").build().unwrap();
    let mut rest = other.inbox().deliveries().await.unwrap();
    for sent in &sent[3..] {
        let incoming = rest.next().await.unwrap().unwrap();
        assert_eq!((incoming.position, incoming.received_at.unwrap().micros()), (sent.position, sent.stated.at));
        rest.ack(&incoming).await.unwrap();
    }
    rest.close().await.unwrap();
}

#[tokio::test]
async fn one_that_fails_comes_again_and_holds_up_no_other() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(ann.send(cap("ann", "bob", &n.to_string())).await.unwrap().message_id);
    }
    let mut failed = false;
    let seen = handled(&bob, 3, |_| !std::mem::replace(&mut failed, true)).await.unwrap();
    assert_eq!(seen, [&*ids[1], &*ids[2], &*ids[0]]);
}

#[tokio::test]
async fn a_reader_finds_its_exchange_again() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let (told, mut seen) = mpsc::unbounded_channel();
    let reader = tokio::spawn(async move {
        let handler = move |incoming: legation_client::Incoming| {
            told.send(incoming.message().id().unwrap()).unwrap();
            async { Ok::<_, Error>(()) }
        };
        bob.inbox().transport(Transport::LongPoll).handle(handler).await
    });
    let first = ann.send(cap("ann", "bob", "1")).await.unwrap();
    assert_eq!(seen.recv().await.unwrap(), first.message_id);
    let _house = house.restart().await;
    let second = ann.send(cap("ann", "bob", "2")).await.unwrap();
    assert_eq!(seen.recv().await.unwrap(), second.message_id);
    reader.abort();
}

#[tokio::test]
async fn a_mailbox_of_another_is_refused_and_ends_it() {
    let house = House::open().await;
    let ann = house.admit("ann").await;
    house.admit("bob").await;
    let token = ann.register(&legation_client::Registration::new("ann").rotate_token()).await.unwrap().token.unwrap();
    let eve = Client::builder(house.url()).token(token.as_str()).agent("bob").build().unwrap();
    let handled = eve.inbox().handle(|_| async { Ok::<_, Error>(()) }).await;
    let Err(Error::Refused(refused)) = handled else { panic!("{handled:?}") };
    assert_eq!(refused.status, Some(403));
}

/// How many sockets the exchange has open.
async fn open_sockets(house: &House) -> String {
    let operator = Client::builder(house.url()).token(house.operator.clone()).build().unwrap();
    let page = operator.call(Call::get("/metrics")).await.unwrap();
    let page = String::from_utf8(page.body.to_vec()).unwrap();
    page.lines().find_map(|line| line.strip_prefix("legation_websockets_open ")).unwrap().to_owned()
}

#[tokio::test]
async fn whoever_falls_behind_gets_all_of_it_once_though_its_socket_is_broken() {
    let house = House::limited(Limits { stall_time: Duration::from_millis(500), ..Limits::default() }).await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    // Far more than is read ahead and than the buffers in between hold.
    let (large, mut sent) = ("x".repeat(200_000), Vec::new());
    for _ in 0..100 {
        sent.push(ann.send(cap("ann", "bob", &large)).await.unwrap().position);
    }
    let mut slow = bob.inbox().transport(Transport::WebSocket).deliveries().await.unwrap();
    while open_sockets(&house).await != "1" {}
    while open_sockets(&house).await != "0" {}
    let mut seen = Vec::new();
    for _ in &sent {
        let incoming = slow.next().await.unwrap().unwrap();
        seen.push(incoming.position);
        slow.ack(&incoming).await.unwrap();
    }
    assert_eq!(seen, sent);
    slow.close().await.unwrap();
}

/// Where what waits for somebody lies.
async fn waiting(house: &House, agent: &str) -> Vec<u64> {
    let operator = Client::builder(house.url()).token(house.operator.clone()).build().unwrap();
    let listed = operator.call(Call::get(format!("/v1/agents/{agent}/inbox"))).await.unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.body).unwrap();
    listed["messages"].as_array().unwrap().iter().map(|item| item["position"].as_u64().unwrap()).collect()
}

/// The sender is stopped and goes on: what nobody has taken yet goes its way anew.
async fn stop_and_go(house: &House, sender: &str) {
    let operator = Client::builder(house.url()).token(house.operator.clone()).build().unwrap();
    for order in ["suspend", "resume"] {
        let call = Call::json(Method::POST, format!("/v1/agents/{sender}/{order}"), r#"{"reason":"a look"}"#);
        operator.call(call).await.unwrap().accepted().unwrap();
    }
}

#[tokio::test]
async fn what_was_handled_while_its_sender_was_stopped_does_not_come_again() {
    for transport in [Transport::WebSocket, Transport::LongPoll] {
        let house = House::open().await;
        let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
        let sent = ann.send(cap("ann", "bob", "once")).await.unwrap();
        let mut deliveries = bob.inbox().transport(transport).deliveries().await.unwrap();
        let first = deliveries.next().await.unwrap().unwrap();
        assert_eq!(first.position, sent.position);
        // It comes at another position before it is done with.
        stop_and_go(&house, "ann").await;
        while waiting(&house, "bob").await.first().is_none_or(|position| *position == first.position) {}
        deliveries.ack(&first).await.unwrap();
        let last = ann.send(cap("ann", "bob", "last")).await.unwrap();
        let next = deliveries.next().await.unwrap().unwrap();
        assert_eq!(next.position, last.position);
        deliveries.ack(&next).await.unwrap();
        deliveries.close().await.unwrap();
        assert_eq!(waiting(&house, "bob").await, Vec::<u64>::new());
    }
}

#[tokio::test]
async fn what_failed_before_its_sender_was_stopped_is_taken_once() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let sent = ann.send(cap("ann", "bob", "once")).await.unwrap();
    let (told, mut seen) = mpsc::unbounded_channel();
    let (enough, over) = oneshot::channel::<()>();
    let (mut enough, mut last, mine) = (Some(enough), 0, sent.message_id.clone());
    let mut tries = 0;
    let handler = move |incoming: legation_client::Incoming| {
        let is_mine = incoming.message().id().unwrap() == mine;
        tries += usize::from(is_mine);
        last += usize::from(!is_mine);
        told.send(is_mine).unwrap();
        // The other fails twice, so a second attempt at the first is over before its third.
        let fails = if is_mine { tries == 1 } else { last < 3 };
        if last == 3 {
            drop(enough.take());
        }
        async move { if fails { Err("not now") } else { Ok(()) } }
    };
    let inbox = bob.inbox().until(async { drop(over.await) });
    let reading = tokio::spawn(inbox.handle(handler));
    assert!(seen.recv().await.unwrap());
    stop_and_go(&house, "ann").await;
    ann.send(cap("ann", "bob", "last")).await.unwrap();
    reading.await.unwrap().unwrap();
    let mut attempts = 1;
    while let Some(is_mine) = seen.recv().await {
        attempts += usize::from(is_mine);
    }
    assert_eq!((attempts, waiting(&house, "bob").await), (2, vec![]), "one that failed, and one");
}

#[tokio::test]
async fn what_went_to_very_many_is_handled_once_with_its_receipt() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    for n in 0..40 {
        house.admit(&format!("worker-{n}-{}", "x".repeat(200))).await;
    }
    let creed = CreedUri::parse("creed://creed.space/family.safe.guide@1.2.0").unwrap();
    let share = ContextShare::new(Context::parse("⏰🌅|📍🏡").unwrap(), creed);
    let sent = ann.send(Envelope::broadcast(ann.origin().unwrap(), share)).await.unwrap();
    assert!(sent.receipt.to_json().len() > 6 << 10);
    let last = ann.send(cap("ann", "bob", "the last")).await.unwrap();
    let mut deliveries = bob.inbox().transport(Transport::WebSocket).deliveries().await.unwrap();
    let incoming = deliveries.next().await.unwrap().unwrap();
    assert_eq!((incoming.position, incoming.receipt.as_deref()), (sent.position, Some(&sent.receipt)));
    assert_eq!(incoming.verified, Verified::Signed(ann.public_key().unwrap()));
    deliveries.ack(&incoming).await.unwrap();
    assert_eq!(deliveries.next().await.unwrap().unwrap().position, last.position);
    deliveries.close().await.unwrap();
    let listed: serde_json::Value = bob.call(Call::get("/v1/agents/bob/inbox")).await.unwrap().read().unwrap();
    let left: Vec<_> = listed["messages"].as_array().unwrap().iter().map(|item| item["position"].as_u64()).collect();
    assert_eq!(left, [Some(last.position)], "the first is taken out");
}
