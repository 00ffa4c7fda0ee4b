//! Many messages over one connection.

use crate::house::{House, cap};
use futures_util::StreamExt as _;
use futures_util::stream;
use legation_client::{Error, Status};

#[tokio::test]
async fn answers_come_in_order_each_with_its_own_receipt() {
    let house = House::open().await;
    let (ann, _bob) = (house.admit("ann").await, house.admit("bob").await);
    let mut messages: Vec<_> = (0..600).map(|n| cap("ann", "bob", &n.to_string())).collect();
    messages[100] = "{}".to_owned();
    messages[200] = cap("ann", "nobody", "x");
    let answers: Vec<_> = ann.send_many(stream::iter(messages.clone())).collect().await;
    assert_eq!(answers.len(), 600);
    for (index, answer) in answers.iter().enumerate() {
        match (index, answer) {
            (100, Err(Error::Message(_))) => {}
            (200, Err(Error::Refused(refused))) => assert_eq!(refused.code, "unknown_recipient"),
            (_, Ok(sent)) => assert_eq!(sent.status, Status::Accepted),
            (_, other) => panic!("{index}: {other:?}"),
        }
    }
    let again: Vec<_> = ann.send_many(stream::iter(vec![messages[0].clone()])).collect().await;
    assert_eq!(again[0].as_ref().unwrap().status, Status::Duplicate);
}

#[tokio::test]
async fn nothing_to_send_is_sent() {
    let house = House::open().await;
    let ann = house.admit("ann").await;
    assert!(ann.send_many(stream::iter(Vec::<String>::new())).next().await.is_none());
}
