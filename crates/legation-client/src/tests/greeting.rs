//! The client's half of the handshake, against an exchange that says what a test wants.

use crate::client::Client;
use crate::error::Error;
use crate::fake::{self, Answer, agent_key, item, vcp};
use crate::http::Call;
use crate::session::PATIENCE;
use crate::warning::Warning;
use futures_util::{SinkExt as _, StreamExt as _};
use http::Method;
use legation_protocol::negotiation::{CoreFeatures, ErrorCode, ExtensionName, Hello, Version};
use legation_protocol::parse;
use serde_json::{Value, json};
use std::collections::VecDeque;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

const PATH: &str = "/v1/hello";

fn hello() -> Hello {
    Hello::asking_for(Version::V3_1, [ExtensionName::CONSENSUS, ExtensionName::INTENT])
}

fn ack(supported: &[&str]) -> Value {
    let features = serde_json::to_value(CoreFeatures::ALL).unwrap();
    let unsupported: Vec<_> =
        ["VCP-X-Consensus", "VCP-X-Intent"].into_iter().filter(|name| !supported.contains(name)).collect();
    let capabilities: serde_json::Map<_, _> = supported
        .iter()
        .map(|name| ((*name).to_owned(), json!({"personal_signals": false, "ai_standing": true, "new": 1})))
        .collect();
    json!({"type": "vcp-ack", "version": "3.1", "supported": supported, "unsupported": unsupported,
        "capabilities": capabilities, "core_features": features, "session_id": "ses_1", "unknown": {"a": 1}})
}

fn error(code: &str, retry_after: Option<u64>) -> Value {
    json!({"type": "vcp-error", "code": code, "message": "VCP-X-A and VCP-X-B", "retry_after": retry_after,
        "supported_versions": ["3.1"]})
}

/// A client of an exchange that gives these answers to hellos, one after the other, and yes to all else.
fn client(answers: impl IntoIterator<Item = Answer>) -> (Client, fake::Log) {
    let mut answers: VecDeque<_> = answers.into_iter().collect();
    fake::client(
        move |asked| if asked.path == PATH { answers.pop_front().unwrap_or(None) } else { Some((200, json!({}))) },
        None,
    )
}

#[tokio::test(start_paused = true)]
async fn what_was_granted_is_known_and_what_was_not_is_refused_before_it_is_sent() {
    let (client, log) = client([Some((200, ack(&["VCP-X-Consensus"])))]);
    let session = client.greet(&hello()).await.unwrap();
    assert_eq!(session.terms().active, [ExtensionName::CONSENSUS]);
    assert_eq!((session.unsupported(), session.warnings()), (vec![ExtensionName::INTENT], &[][..]));
    let call = || Call::get("/v1/extensions/x");
    session.call(&ExtensionName::CONSENSUS, call()).await.unwrap();
    for name in [ExtensionName::INTENT, ExtensionName::TORCH] {
        assert!(matches!(session.call(&name, call()).await, Err(Error::NotGranted(other)) if other == name));
        assert!(session.capabilities(&name).is_none());
    }
    let asked = log.of(&Method::GET, "/v1/extensions");
    assert_eq!(asked.iter().map(|asked| asked.session.as_deref()).collect::<Vec<_>>(), [Some("ses_1")]);
    let sent = log.of(&Method::POST, PATH);
    assert_eq!(parse::<Hello>(&sent[0].body).unwrap().value, hello());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_not_there_is_inferred_and_features_that_are_not_named_are_off() {
    let mut short = ack(&["VCP-X-Consensus"]);
    short.as_object_mut().unwrap().remove("unsupported");
    let old = json!({"type": "vcp-ack", "version": "2.0", "supported": [], "capabilities": {}});
    let (client, _) = client([Some((200, short)), Some((200, old))]);
    assert_eq!(client.greet(&hello()).await.unwrap().unsupported(), [ExtensionName::INTENT]);
    let session = client.greet(&hello()).await.unwrap();
    assert_eq!(session.features(), CoreFeatures::default());
    assert!(session.terms().active.is_empty() && session.warnings().contains(&Warning::Unencrypted));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_waited_for_ten_seconds_each_time() {
    let (sender, mut connections) = mpsc::unbounded_channel();
    let client = fake::unanswering(sender);
    let held = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Some(stream) = connections.recv().await {
            held.push(stream);
        }
    });
    let start = Instant::now();
    assert!(matches!(client.greet(&hello()).await, Err(Error::Timeout(PATIENCE))));
    // Eight tries, and pauses of 1, 2, 4, 8, 16, 30 and 30 seconds, each half of that more or less.
    let pauses = start.elapsed().as_secs_f64() - 80.0;
    assert!((45.0..=137.0).contains(&pauses), "{pauses}");
    held.abort();
}

#[tokio::test(start_paused = true)]
async fn who_is_told_to_wait_waits() {
    let (client, log) = client([
        Some((429, error("RATE_LIMITED", Some(20)))),
        Some((503, error("INTERNAL_ERROR", None))),
        None,
        Some((200, ack(&[]))),
    ]);
    client.greet(&hello()).await.unwrap();
    let times = log.times(&Method::POST, PATH);
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses[0] >= 20.0, "{pauses:?}");
    assert!((1.0..=3.01).contains(&pauses[1]), "{pauses:?}");
    assert!((2.0..=6.01).contains(&pauses[2]), "{pauses:?}");
}

#[tokio::test(start_paused = true)]
async fn what_takes_another_hello_is_returned_at_once() {
    for code in ["VERSION_UNSUPPORTED", "IDENTITY_REQUIRED", "IDENTITY_INVALID", "EXTENSION_CONFLICT", "HELLO_INVALID"]
    {
        let (client, log) = client([Some((401, error(code, None)))]);
        let Err(Error::Handshake(refusal)) = client.greet(&hello()).await else { panic!("{code}") };
        assert_eq!(refusal.code, ErrorCode::from(code.to_owned()));
        assert_eq!(log.of(&Method::POST, "").len(), 1, "nothing follows an error");
    }
    let (client, log) = client([Some((429, error("RATE_LIMITED", Some(3600))))]);
    assert!(matches!(client.greet(&hello()).await, Err(Error::Handshake(_))));
    assert_eq!(log.of(&Method::POST, "").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_ack_that_does_not_answer_the_hello_is_none() {
    let mut beyond = ack(&[]);
    beyond["version"] = "3.2".into();
    let mut unasked = ack(&[]);
    unasked["supported"] = json!(["VCP-X-Torch"]);
    unasked["capabilities"] = json!({"VCP-X-Torch": {"degraded": true}});
    for wrong in [beyond, unasked] {
        let (client, _) = client([Some((200, wrong))]);
        assert!(matches!(client.greet(&hello()).await, Err(Error::Disagreed(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn what_shrinks_between_two_handshakes_is_told() {
    let before = ack(&["VCP-X-Consensus", "VCP-X-Intent"]);
    let mut after = ack(&["VCP-X-Consensus"]);
    after["core_features"]["encryption"] = false.into();
    after["capabilities"]["VCP-X-Consensus"] = json!({"personal_signals": false, "ai_standing": false});
    let lost = |capability: &str| Warning::CapabilityLost {
        extension: ExtensionName::CONSENSUS,
        capability: capability.to_owned(),
    };
    let want = [
        Warning::Unencrypted,
        Warning::FeatureLost("encryption"),
        Warning::ExtensionLost(ExtensionName::INTENT),
        lost("ai_standing"),
        lost("new"),
    ];
    let (client, _) = client([Some((200, before)), Some((200, after.clone())), Some((200, after))]);
    assert_eq!(client.greet(&hello()).await.unwrap().warnings(), []);
    assert_eq!(client.greet(&hello()).await.unwrap().warnings(), want);
    assert_eq!(client.greet(&hello()).await.unwrap().warnings(), [Warning::Unencrypted]);
}

#[tokio::test(start_paused = true)]
async fn on_a_socket_the_hello_is_the_first_frame_and_what_comes_meanwhile_is_kept() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::greeting(Some(hello()), |_| Some((200, fake::ann(&agent_key(1)))), Some(sockets));
    let exchange = tokio::spawn(async move {
        let (_, mut socket) = opened.recv().await.unwrap();
        let first = socket.next().await.unwrap().unwrap();
        assert_eq!(parse::<Hello>(first.to_text().unwrap().as_bytes()).unwrap().value, hello());
        let mut early = item(&vcp(1, "x", &agent_key(1)), 1);
        early["type"] = "item".into();
        socket.send(Message::text(early.to_string())).await.unwrap();
        socket.send(Message::text(ack(&[]).to_string())).await.unwrap();
        socket
    });
    let mut deliveries = client.inbox().deliveries().await.unwrap();
    assert_eq!(deliveries.next().await.unwrap().unwrap().position, 1);
    drop(exchange.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn after_an_error_on_a_socket_nothing_more_is_sent_and_nothing_read_another_way() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let empty = |_: &fake::Asked| Some((200, json!({"messages": [], "next": 0})));
    let (client, log) = fake::greeting(Some(hello()), empty, Some(sockets));
    let exchange = tokio::spawn(async move {
        let (_, mut socket) = opened.recv().await.unwrap();
        drop(socket.next().await);
        socket.send(Message::text(error("IDENTITY_INVALID", None).to_string())).await.unwrap();
        let mut rest = Vec::new();
        while let Some(Ok(frame)) = socket.next().await {
            rest.push(frame);
        }
        rest
    });
    let mut deliveries = client.inbox().deliveries().await.unwrap();
    assert!(matches!(deliveries.next().await, Some(Err(Error::Handshake(_)))));
    assert!(exchange.await.unwrap().iter().all(Message::is_close));
    assert_eq!(log.of(&Method::GET, "/v1/agents/bob/inbox").len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_remembers_the_last_ack_is_told_what_shrank_since() {
    let before = parse::<legation_protocol::negotiation::Ack>(ack(&["VCP-X-Intent"]).to_string().as_bytes()).unwrap();
    let (client, _) = client([Some((200, ack(&[])))]);
    client.memory().judge(&before.value);
    let session = client.greet(&hello()).await.unwrap();
    assert_eq!(session.warnings(), [Warning::ExtensionLost(ExtensionName::INTENT)]);
}
