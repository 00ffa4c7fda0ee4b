//! Sending: what is on the record is proven to be, by whichever way it came.

use crate::house::{House, cap, fresh_key};
use legation_client::protocol::id::AgentId;
use legation_client::protocol::vcp::{Context, ContextShare, CreedUri, Envelope};
use legation_client::{Client, Error, ReceiptFault, Registration, Status};

fn share(from: &Client, to: &str) -> Envelope {
    let context = Context::parse("⏰🌅|📍🏡").unwrap();
    let share = ContextShare::new(context, CreedUri::parse("creed://creed.space/family.safe.guide@1.2.0").unwrap());
    Envelope::to(AgentId::vcp(to).unwrap(), from.origin().unwrap(), share)
}

#[tokio::test]
async fn a_message_is_on_the_record_once_and_its_receipt_verified() {
    let house = House::open().await;
    let (ann, _bob) = (house.admit("ann").await, house.admit("bob").await);
    for message in [cap("ann", "bob", "Go on."), serde_json::to_string(&share(&ann, "bob")).unwrap()] {
        let first = ann.send(&message).await.unwrap();
        assert_eq!(first.status, Status::Accepted);
        assert_eq!((first.stated.position, &first.stated.message_id), (first.position, &first.message_id));
        let again = ann.send(&message).await.unwrap();
        assert_eq!((again.status, again.position, again.receipt), (Status::Duplicate, first.position, first.receipt));
    }
}

#[tokio::test]
async fn without_a_token_a_key_is_enough_to_send_in_every_dialect() {
    let house = House::open().await;
    let key = fresh_key();
    let stranger = Client::builder(house.url()).build().unwrap();
    stranger.register(&Registration::new("ann").key(&key.public())).await.unwrap();
    house.admit("bob").await;
    let ann = Client::builder(house.url()).key(key).agent("ann").build().unwrap();
    ann.send(share(&ann, "bob")).await.unwrap();
    ann.send(cap("ann", "bob", "Go on.")).await.unwrap();
    // Nobody else's key will do.
    let eve = Client::builder(house.url()).key(fresh_key()).agent("ann").build().unwrap();
    let Err(Error::Refused(refused)) = eve.send(cap("ann", "bob", "Go on.")).await else { panic!("taken") };
    assert_eq!((refused.code.as_str(), refused.status), ("signature_invalid", Some(401)));
}

#[tokio::test]
async fn a_message_without_an_id_is_sent_again_under_a_key_of_the_callers() {
    let house = House::open().await;
    let (ann, _bob) = (house.admit("ann").await, house.admit("bob").await);
    let message = r#"{"type":"message","task_id":"T1","sender_id":"ann","recipient_id":"bob","content":"Go on."}"#;
    let first = ann.send_keyed(message, "job-1").await.unwrap();
    let again = ann.send_keyed(message, "job-1").await.unwrap();
    assert_eq!((again.status, again.position), (Status::Duplicate, first.position));
    let other = ann.send(message).await.unwrap();
    assert_eq!(other.status, Status::Accepted);
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_and_where() {
    let house = House::open().await;
    let ann = house.admit("ann").await;
    let Err(Error::Refused(refused)) = ann.send(cap("ann", "nobody", "Go on.")).await else { panic!("taken") };
    assert_eq!((refused.code.as_str(), refused.status, refused.retryable), ("unknown_recipient", Some(404), false));
    let Err(Error::Message(rejection)) = ann.send(r#"{"type":"message"}"#).await else { panic!("taken") };
    assert!(!rejection.to_string().is_empty());
}

#[tokio::test]
async fn a_receipt_under_another_key_than_the_one_pinned_is_an_error() {
    let house = House::open().await;
    let ann = house.admit("ann").await;
    house.admit("bob").await;
    let own = ann.exchange_keys().await.unwrap()[0].clone();
    let message = cap("ann", "bob", "Go on.");
    let check = |key| Client::builder(house.url()).token(house.operator.clone()).exchange_key(key).build().unwrap();
    let sent = check(own).call(legation_client::Call::get("/healthz")).await.unwrap();
    assert!(sent.is_success());
    let token_less = Client::builder(house.url()).exchange_key(fresh_key().public());
    let secret = fresh_key();
    ann.add_key(&secret.public(), None).await.unwrap();
    let wary = token_less.key(secret).agent("ann").build().unwrap();
    let error = wary.send(&message).await.unwrap_err();
    assert!(matches!(error, Error::Receipt(ReceiptFault::Bad(_))), "{error:?}");
}

#[tokio::test]
async fn nobody_there_is_told_as_such() {
    let gone = Client::builder("http://127.0.0.1:1").build().unwrap();
    let error = gone.find("ann").await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}
