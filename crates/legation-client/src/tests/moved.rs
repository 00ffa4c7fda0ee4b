//! Messages that come again at another position, because they were taken back while their sender was stopped.

use crate::error::Error;
use crate::fake::{self, Log, Socket, agent_key, ann, exchange_key, item, receipt, vcp};
use crate::{Client, Incoming};
use futures_util::SinkExt as _;
use http::Method;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

const ACK: &str = "/v1/agents/bob/ack";
/// By a clock that goes on only when nobody has anything to do: longer than a second attempt waits, and shorter than a socket
/// may be silent.
const PATIENCE: Duration = Duration::from_secs(20);
const CAP: &str =
    r#"{"type":"message","task_id":"T1","sender_id":"ann","recipient_id":"bob","message_id":"m-1","content":"x"}"#;

/// A message as it lies at a position, held by an entry of the record.
fn framed(message: &str, entry: u64, position: u64) -> Message {
    let mut frame = item(message, position);
    frame["receipt"] = serde_json::to_value(receipt(message, entry, &exchange_key())).unwrap();
    frame["type"] = "item".into();
    Message::text(frame.to_string())
}

fn fenced() -> Message {
    Message::Close(Some(CloseFrame { code: CloseCode::Policy, reason: "fenced".into() }))
}

/// An exchange with sockets that takes acknowledgements and knows ann.
fn exchange() -> (Client, Log, mpsc::UnboundedReceiver<(String, Socket)>) {
    let (sockets, opened) = mpsc::unbounded_channel();
    let (client, log) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    (client, log, opened)
}

/// A position that was handed over, and what says whether that is taken.
type Handed = (u64, oneshot::Sender<Result<(), &'static str>>);

/// Hands what comes to the test.
fn handling(client: &Client) -> (JoinHandle<Result<(), Error>>, mpsc::UnboundedReceiver<Handed>) {
    let (told, seen) = mpsc::unbounded_channel();
    let handler = move |incoming: Incoming| {
        let (say, said) = oneshot::channel();
        told.send((incoming.position, say)).unwrap();
        async { said.await.unwrap_or(Err("gone")) }
    };
    (tokio::spawn(client.inbox().handle(handler)), seen)
}

async fn next(seen: &mut mpsc::UnboundedReceiver<Handed>) -> Handed {
    timeout(PATIENCE, seen.recv()).await.expect("it is handed over").unwrap()
}

/// All positions that were acknowledged.
fn acknowledged(log: &Log) -> BTreeSet<u64> {
    let bodies =
        log.of(&Method::POST, ACK).into_iter().map(|asked| serde_json::from_slice::<Value>(&asked.body).unwrap());
    bodies.flat_map(|body| body["positions"].as_array().unwrap().clone()).map(|at| at.as_u64().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_handled_again_after_it_was_taken_though_an_attempt_from_elsewhere_waits() {
    for message in [CAP.to_owned(), vcp(1, "x", &agent_key(1))] {
        let (client, log, mut opened) = exchange();
        let (_handled, mut seen) = handling(&client);
        let (_, mut socket) = opened.recv().await.unwrap();
        socket.send(framed(&message, 1, 1)).await.unwrap();
        next(&mut seen).await.1.send(Err("not now")).unwrap();
        // It waits for its second attempt, and comes again elsewhere meanwhile.
        socket.send(framed(&message, 1, 2)).await.unwrap();
        next(&mut seen).await.1.send(Ok(())).unwrap();
        let again = timeout(PATIENCE, seen.recv()).await;
        assert!(again.is_err(), "it was taken, and is handed over again");
        assert_eq!(acknowledged(&log), [1, 2].into());
        // Nor when it comes a third time.
        socket.send(framed(&message, 1, 3)).await.unwrap();
        assert!(timeout(PATIENCE, seen.recv()).await.is_err());
        assert_eq!(acknowledged(&log), [1, 2, 3].into());
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_is_with_one_handler_at_a_time_wherever_it_lies() {
    let (client, log, mut opened) = exchange();
    let (_first, mut of_first) = handling(&client);
    let (_, mut old) = opened.recv().await.unwrap();
    old.send(framed(CAP, 1, 1)).await.unwrap();
    let (_, say) = next(&mut of_first).await;
    // A clone reads on while the first is at it.
    let (_second, mut of_second) = handling(&client.clone());
    let (_, mut socket) = opened.recv().await.unwrap();
    socket.send(framed(CAP, 1, 2)).await.unwrap();
    socket.send(framed(&vcp(3, "x", &agent_key(1)), 3, 3)).await.unwrap();
    let (position, take) = next(&mut of_second).await;
    assert_eq!(position, 3, "another is at the one before");
    take.send(Ok(())).unwrap();
    say.send(Err("not now")).unwrap();
    let (position, say) = next(&mut of_first).await;
    assert_eq!((position, acknowledged(&log)), (1, [3].into()), "whoever failed tries again");
    say.send(Ok(())).unwrap();
    sleep(PATIENCE).await;
    assert!(of_first.is_empty() && of_second.is_empty());
    assert_eq!(acknowledged(&log), [1, 2, 3].into());
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_one_that_ends_goes_to_a_clone_that_reads_on() {
    let (client, log, mut opened) = exchange();
    let (first, mut of_first) = handling(&client);
    let (_, mut old) = opened.recv().await.unwrap();
    old.send(framed(CAP, 1, 1)).await.unwrap();
    next(&mut of_first).await.1.send(Err("not now")).unwrap();
    let (_second, mut of_second) = handling(&client.clone());
    let (_, mut socket) = opened.recv().await.unwrap();
    socket.send(framed(CAP, 1, 2)).await.unwrap();
    socket.send(framed(&vcp(3, "x", &agent_key(1)), 3, 3)).await.unwrap();
    let (position, take) = next(&mut of_second).await;
    assert_eq!(position, 3, "the first is to try the other again");
    take.send(Ok(())).unwrap();
    old.send(fenced()).await.unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    let (path, mut socket) = timeout(PATIENCE, opened.recv()).await.expect("it reads again").unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob&after=0");
    socket.send(framed(CAP, 1, 2)).await.unwrap();
    let (position, take) = next(&mut of_second).await;
    assert_eq!(position, 2);
    take.send(Ok(())).unwrap();
    sleep(PATIENCE).await;
    assert!(of_second.is_empty());
    assert_eq!(acknowledged(&log), [1, 2, 3].into());
}
