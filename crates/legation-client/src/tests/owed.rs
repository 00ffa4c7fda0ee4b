//! Acknowledgements of escalations that outlive whoever handled them.

use crate::error::Error;
use crate::fake::{self, Log, Socket, agent_key, alarm, ann, item, receipt, taken, vcp};
use crate::{Client, Incoming};
use futures_util::SinkExt as _;
use http::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

const ACK: &str = "/v1/agents/bob/ack";
const MESSAGES: &str = "/v1/messages";
/// By a clock that goes on only when nobody has anything to do.
const PATIENCE: Duration = Duration::from_hours(1);

/// An exchange with sockets that takes messages once it is well. It is said when the first was taken.
struct Sickbed {
    client: Client,
    log: Log,
    opened: mpsc::UnboundedReceiver<(String, Socket)>,
    is_well: Arc<AtomicBool>,
    taken: oneshot::Receiver<()>,
}

impl Sickbed {
    fn new() -> Sickbed {
        let (sockets, opened) = mpsc::unbounded_channel();
        let (told, first) = oneshot::channel();
        let (is_well, mut told) = (Arc::new(AtomicBool::new(false)), Some(told));
        let well = Arc::clone(&is_well);
        let (client, log) = fake::client(
            move |asked| match asked.path.as_str() {
                MESSAGES if well.load(Ordering::SeqCst) => {
                    drop(told.take());
                    let message = str::from_utf8(&asked.body).unwrap();
                    Some((200, taken(message, 2, &receipt(message, 2, &fake::exchange_key()))))
                }
                MESSAGES => Some((503, json!({"error": "busy", "retryable": true}))),
                ACK => Some((200, json!({"status": "accepted", "position": 1}))),
                _ => Some((200, ann(&agent_key(1)))),
            },
            Some(sockets),
        );
        Sickbed { client, log, opened, is_well, taken: first }
    }

    /// The messages that were sent and what was taken out of the mailbox, as far as is known by now.
    fn sent(&self) -> (Vec<bytes::Bytes>, usize) {
        let bodies = self.log.of(&Method::POST, MESSAGES).into_iter().map(|asked| asked.body).collect();
        (bodies, self.log.of(&Method::POST, ACK).len())
    }
}

fn framed() -> Message {
    frame(item(&alarm(1, &agent_key(1)), 1))
}

fn frame(mut item: Value) -> Message {
    item["type"] = "item".into();
    Message::text(item.to_string())
}

fn fenced() -> Message {
    Message::Close(Some(CloseFrame { code: CloseCode::Policy, reason: "fenced".into() }))
}

/// Counts what is handled.
fn counting(calls: &Arc<AtomicUsize>) -> impl FnMut(Incoming) -> std::future::Ready<Result<(), Error>> + use<> {
    let calls = Arc::clone(calls);
    move |_| {
        calls.fetch_add(1, Ordering::SeqCst);
        std::future::ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn an_escalation_is_acknowledged_though_handling_ended_before_that_could_be_sent() {
    let mut bed = Sickbed::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let first = tokio::spawn(bed.client.inbox().handle(counting(&calls)));
    let (_, mut socket) = bed.opened.recv().await.unwrap();
    socket.send(framed()).await.unwrap();
    socket.send(fenced()).await.unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    let (sent, acked) = bed.sent();
    assert_eq!((sent.len(), acked), (4, 0));
    // The next is given the same, and does not ask its handler again.
    bed.is_well.store(true, Ordering::SeqCst);
    let over = std::mem::replace(&mut bed.taken, oneshot::channel().1);
    let inbox = bed.client.inbox().until(async { drop(over.await) });
    let next = tokio::spawn(inbox.handle(counting(&calls)));
    let (path, mut socket) = bed.opened.recv().await.unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob&after=0");
    drop(socket.send(framed()).await);
    timeout(PATIENCE, next).await.expect("it is sent").unwrap().unwrap();
    let (sent, acked) = bed.sent();
    assert!(sent.len() == 5 && sent.iter().all(|body| *body == sent[0]), "{sent:#?}");
    assert_eq!((acked, calls.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_clone_that_handles_already_acknowledges_what_another_left() {
    let mut bed = Sickbed::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let first = tokio::spawn(bed.client.inbox().handle(counting(&calls)));
    let (_, mut socket) = bed.opened.recv().await.unwrap();
    socket.send(framed()).await.unwrap();
    let over = std::mem::replace(&mut bed.taken, oneshot::channel().1);
    let inbox = bed.client.clone().inbox().until(async { drop(over.await) });
    let second = tokio::spawn(inbox.handle(counting(&calls)));
    let (_, _other) = bed.opened.recv().await.unwrap();
    socket.send(fenced()).await.unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    bed.is_well.store(true, Ordering::SeqCst);
    timeout(PATIENCE, second).await.expect("it is sent").unwrap().unwrap();
    assert_eq!((bed.sent().1, calls.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn what_comes_again_elsewhere_stays_until_its_escalation_is_acknowledged() {
    let mut bed = Sickbed::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let over = std::mem::replace(&mut bed.taken, oneshot::channel().1);
    let inbox = bed.client.inbox().until(async { drop(over.await) });
    let handled = tokio::spawn(inbox.handle(counting(&calls)));
    let (_, mut socket) = bed.opened.recv().await.unwrap();
    let mut again = item(&alarm(1, &agent_key(1)), 1);
    again["position"] = 2.into();
    socket.send(framed()).await.unwrap();
    socket.send(frame(again)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!((bed.sent().1, calls.load(Ordering::SeqCst)), (0, 1), "who raised it has heard nothing yet");
    bed.is_well.store(true, Ordering::SeqCst);
    timeout(PATIENCE, handled).await.expect("it is sent").unwrap().unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    let acked: Vec<_> = bed.log.of(&Method::POST, ACK).into_iter().map(|asked| asked.body).collect();
    assert_eq!(acked, [&br#"{"epoch":1,"positions":[1,2],"restore":null}"#[..]]);
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_escalations_to_its_handler_leaves_what_another_owes() {
    let mut bed = Sickbed::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let first = tokio::spawn(bed.client.inbox().handle(counting(&calls)));
    let (_, mut socket) = bed.opened.recv().await.unwrap();
    socket.send(framed()).await.unwrap();
    socket.send(fenced()).await.unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    bed.is_well.store(true, Ordering::SeqCst);
    let (told, over) = oneshot::channel::<()>();
    let (mut told, inbox) = (Some(told), bed.client.inbox().leave_alarms().until(async { drop(over.await) }));
    let second = tokio::spawn(inbox.handle(move |incoming: Incoming| {
        assert_eq!(incoming.position, 2, "the other was taken");
        drop(told.take());
        std::future::ready(Ok::<_, Error>(()))
    }));
    let (_, mut socket) = bed.opened.recv().await.unwrap();
    socket.send(framed()).await.unwrap();
    socket.send(frame(item(&vcp(2, "x", &agent_key(1)), 2))).await.unwrap();
    timeout(PATIENCE, second).await.expect("it is handled").unwrap().unwrap();
    let (sent, acked) = bed.sent();
    assert_eq!((sent.len(), acked), (4, 1), "only its own is taken out");
    // One that answers them sends it.
    let over = std::mem::replace(&mut bed.taken, oneshot::channel().1);
    let inbox = bed.client.inbox().until(async { drop(over.await) });
    timeout(PATIENCE, inbox.handle(counting(&calls))).await.expect("it is sent").unwrap();
    let (sent, acked) = bed.sent();
    assert_eq!((sent.len(), acked, calls.load(Ordering::SeqCst)), (5, 2, 1));
}
