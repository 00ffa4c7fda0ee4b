//! A reader across a restore: the exchange goes on from a copy, lost its end, and counts on from there.

use crate::house::{House, cap};
use legation_client::{Client, Error, Incoming, Mark, Transport};
use tokio::sync::mpsc;

/// Reads until it ends, and tells of every message.
fn reading(client: Client, transport: Transport) -> mpsc::UnboundedReceiver<(String, Mark)> {
    let (told, seen) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let handler = move |incoming: Incoming| {
            drop(told.send((incoming.message().id().unwrap(), incoming.mark())));
            async { Ok::<_, Error>(()) }
        };
        client.inbox().transport(transport).handle(handler).await
    });
    seen
}

#[tokio::test]
async fn a_live_reader_gets_what_the_restored_record_takes() {
    for transport in [Transport::WebSocket, Transport::LongPoll] {
        let house = House::open().await;
        let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
        let (house, copy) = house.copied().await;
        let mut seen = reading(bob, transport);
        let mut last = 0;
        for n in 0..5 {
            let sent = ann.send(cap("ann", "bob", &format!("lost {n}"))).await.unwrap();
            assert_eq!(seen.recv().await.unwrap().0, sent.message_id, "{transport:?}");
            last = sent.position;
        }
        let _house = house.restored(copy).await;
        for n in 0..3 {
            let sent = ann.send(cap("ann", "bob", &format!("new {n}"))).await.unwrap();
            assert!(sent.position <= last, "its position was another's before");
            let (id, mark) = seen.recv().await.unwrap();
            assert_eq!((id, mark.position(), mark.epoch()), (sent.message_id, sent.position, 2), "{transport:?}");
        }
    }
}

#[tokio::test]
async fn a_mark_of_before_a_restore_is_not_resumed_after() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let kept = ann.send(cap("ann", "bob", "kept")).await.unwrap();
    let (house, copy) = house.copied().await;
    ann.send(cap("ann", "bob", "lost")).await.unwrap();
    let mut seen = reading(bob.clone(), Transport::LongPoll);
    let mark = [seen.recv().await.unwrap().1, seen.recv().await.unwrap().1].into_iter().next_back().unwrap();
    let house = house.restored(copy).await;
    let new = ann.send(cap("ann", "bob", "new")).await.unwrap();
    // Another process, which has stored the mark.
    let token = house.operator.clone();
    let other = Client::builder(house.url()).token(token).agent("bob").build().unwrap();
    let ended = other.inbox().in_order().resume_after(mark).deliveries().await;
    let Err(Error::Restored { kept: Some(rest) }) = ended else { panic!("{ended:?}") };
    assert_eq!(rest.epoch(), 2);
    assert!((kept.position..new.position).contains(&rest.position()), "{rest:?}");
    let mut deliveries = other.inbox().in_order().resume_after(rest).deliveries().await.unwrap();
    let incoming = deliveries.next().await.unwrap().unwrap();
    assert_eq!(incoming.message().id().unwrap(), new.message_id);
}
