//! Sending to an exchange that fails, or lies.

use crate::error::{Error, ReceiptFault};
use crate::fake::{self, Answer, agent_key, exchange_key, receipt, taken, vcp};
use http::Method;
use legation_exchange::record::BadReceipt;
use serde_json::{Value, json};

const MESSAGES: &str = "/v1/messages";

fn near(times: &[f64], want: &[f64]) -> bool {
    times.len() == want.len() && times.iter().zip(want).all(|(time, want)| (time - want).abs() <= want * 0.1 + 0.01)
}

#[tokio::test(start_paused = true)]
async fn the_same_bytes_are_sent_again_until_they_are_taken() {
    let idless = r#"{"type":"message","task_id":"T1","sender_id":"bob","recipient_id":"ann","content":"Go on."}"#;
    for message in [vcp(1, "x", &agent_key(1)), idless.to_owned()] {
        let mut failures =
            vec![Some((503, json!({"error": "busy", "retryable": true}))), None, Some((500, Value::Null))];
        let answer = taken_as(&message);
        let (client, log) = fake::client(move |_| failures.pop().unwrap_or_else(|| answer.clone()), None);
        client.send(&message).await.unwrap();
        let asked = log.of(&Method::POST, MESSAGES);
        assert!(near(&log.times(&Method::POST, MESSAGES), &[0.0, 1.0, 3.0, 7.0]), "{asked:?}");
        assert!(asked.iter().all(|one| one.body == message.as_bytes()), "{asked:?}");
        assert!(asked.iter().all(|one| one.idempotency_key == asked[0].idempotency_key));
        assert_eq!(asked[0].idempotency_key.is_some(), message == idless);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it is an answer among others")]
fn taken_as(message: &str) -> Answer {
    let mut answer = taken(message, 7, &receipt(message, 7, &exchange_key()));
    if answer["message_id"].is_null() {
        answer["message_id"] = "msg_1".into();
    }
    Some((200, answer))
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_stays_away_is_given_up_after_four_attempts() {
    let (client, log) = fake::client(|_| None, None);
    let error = client.send(vcp(1, "x", &agent_key(1))).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(near(&log.times(&Method::POST, MESSAGES), &[0.0, 1.0, 3.0, 7.0]));
}

#[tokio::test]
async fn a_receipt_that_lies_is_an_error() {
    let (message, other) = (vcp(1, "x", &agent_key(1)), vcp(2, "y", &agent_key(1)));
    let own = receipt(&message, 7, &exchange_key());
    let check = async |answer: Value, want: ReceiptFault| {
        let (client, _) = fake::client(move |_| Some((200, answer.clone())), None);
        match client.send(&message).await {
            Err(Error::Receipt(fault)) => assert_eq!(fault, want),
            other => panic!("{want:?}: {other:?}"),
        }
    };
    let foreign = receipt(&message, 7, &agent_key(9));
    check(taken(&message, 7, &foreign), ReceiptFault::Bad(BadReceipt::Signature)).await;
    check(taken(&message, 7, &receipt(&other, 7, &exchange_key())), ReceiptFault::OtherMessage).await;
    check(taken(&message, 8, &own), ReceiptFault::OtherPosition).await;
    check(json!({"status": "accepted", "message_id": "x", "position": 7, "receipt": own}), ReceiptFault::OtherMessage)
        .await;
    check(json!({"status": "accepted", "message_id": "x", "position": 7}), ReceiptFault::Absent).await;
}

#[tokio::test]
async fn a_proxys_own_words_are_a_refusal_by_its_status() {
    let (client, _) = fake::client(|_| Some((413, Value::Null)), None);
    let Err(Error::Refused(refused)) = client.send(vcp(1, "x", &agent_key(1))).await else { panic!("taken") };
    assert_eq!((refused.code.as_str(), refused.status), ("http_413", Some(413)));
}
