//! One reader a mailbox, over the exchange's own sockets and polls.

use crate::house::{House, cap};
use legation_client::{Client, Error, Transport};
use tokio::sync::mpsc;

/// Reads until it ends, and tells of every message.
fn reading(
    client: Client,
    transport: Transport,
) -> (tokio::task::JoinHandle<Result<(), Error>>, mpsc::UnboundedReceiver<u64>) {
    let (told, seen) = mpsc::unbounded_channel();
    let reading = tokio::spawn(async move {
        let handler = move |incoming: legation_client::Incoming| {
            told.send(incoming.position).unwrap();
            async { Ok::<_, Error>(()) }
        };
        client.inbox().transport(transport).handle(handler).await
    });
    (reading, seen)
}

#[tokio::test]
async fn whoever_comes_later_takes_over_and_the_first_ends() {
    for (first, second) in [
        (Transport::WebSocket, Transport::WebSocket),
        (Transport::LongPoll, Transport::WebSocket),
        (Transport::WebSocket, Transport::LongPoll),
    ] {
        let house = House::open().await;
        let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
        let (ended, mut seen) = reading(bob.clone(), first);
        let one = ann.send(cap("ann", "bob", "1")).await.unwrap();
        assert_eq!(seen.recv().await, Some(one.position), "{first:?}");
        let (other, mut theirs) = reading(bob, second);
        let end = ended.await.unwrap();
        assert!(matches!(end, Err(Error::Fenced)), "{first:?} {second:?}: {end:?}");
        let two = ann.send(cap("ann", "bob", "2")).await.unwrap();
        assert_eq!(theirs.recv().await, Some(two.position), "{second:?}");
        other.abort();
    }
}

#[tokio::test]
async fn a_socket_finds_its_exchange_again() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let (reader, mut seen) = reading(bob, Transport::WebSocket);
    let first = ann.send(cap("ann", "bob", "1")).await.unwrap();
    assert_eq!(seen.recv().await, Some(first.position));
    let _house = house.restart().await;
    let second = ann.send(cap("ann", "bob", "2")).await.unwrap();
    assert_eq!(seen.recv().await, Some(second.position));
    reader.abort();
}
