//! An exchange in memory that says what a test wants it to say, over connections that need no network,
//! so that time can stand still around it.

use crate::address::Address;
use crate::client::Client;
use crate::dial::Dial;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use legation_exchange::record::{Committed, Frame, Opening, Receipt, Seal};
use legation_protocol::Received;
use legation_protocol::json::Doc;
use legation_protocol::negotiation::Hello;
use legation_protocol::sign::SecretKey;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

/// What was asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) at: Instant,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) body: Bytes,
}

/// What is answered: a status and a body, or nothing at all.
pub(crate) type Answer = Option<(u16, Value)>;

pub(crate) type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// All that was asked, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Asked>>>);

impl Log {
    /// What was asked of paths that begin like this.
    pub(crate) fn of(&self, method: &Method, path: &str) -> Vec<Asked> {
        let log = self.0.lock().unwrap();
        log.iter().filter(|asked| asked.method == *method && asked.path.starts_with(path)).cloned().collect()
    }

    /// When, in seconds after the first.
    pub(crate) fn times(&self, method: &Method, path: &str) -> Vec<f64> {
        let asked = self.of(method, path);
        asked.iter().map(|one| (one.at - asked[0].at).as_secs_f64()).collect()
    }
}

pub(crate) fn exchange_key() -> SecretKey {
    SecretKey::from_seed(&[42; 32])
}

pub(crate) fn agent_key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32])
}

/// A client of an exchange that answers by this function, and takes sockets by that.
pub(crate) fn client(
    answer: impl FnMut(&Asked) -> Answer + Send + 'static,
    sockets: Option<mpsc::UnboundedSender<(String, Socket)>>,
) -> (Client, Log) {
    greeting(None, answer, sockets)
}

/// The same, with a hello on its sockets.
pub(crate) fn greeting(
    hello: Option<Hello>,
    answer: impl FnMut(&Asked) -> Answer + Send + 'static,
    sockets: Option<mpsc::UnboundedSender<(String, Socket)>>,
) -> (Client, Log) {
    let (taken, mut connections) = mpsc::unbounded_channel();
    let log = Log::default();
    let (answer, kept) = (Arc::new(Mutex::new(answer)), log.clone());
    tokio::spawn(async move {
        while let Some(stream) = connections.recv().await {
            let (answer, log, sockets) = (Arc::clone(&answer), kept.clone(), sockets.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let (answer, log, sockets) = (Arc::clone(&answer), log.clone(), sockets.clone());
                async move { served(request, answer, log, sockets).await }
            });
            let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(connection.with_upgrades());
        }
    });
    (dialling(taken, hello), log)
}

fn dialling(taken: mpsc::UnboundedSender<tokio::io::DuplexStream>, hello: Option<Hello>) -> Client {
    let builder = Client::builder("http://localhost").agent("bob").token("lgt_x").key(agent_key(2));
    let builder = if let Some(hello) = hello { builder.hello(hello) } else { builder };
    builder.dialling(Address::parse("http://localhost", false).unwrap(), Dial::memory(taken)).unwrap()
}

/// A client of an exchange that takes connections and says nothing.
pub(crate) fn unanswering(taken: mpsc::UnboundedSender<tokio::io::DuplexStream>) -> Client {
    dialling(taken, None)
}

/// The answer to a request; an error cuts the connection.
async fn served(
    request: Request<Incoming>,
    answer: Arc<Mutex<impl FnMut(&Asked) -> Answer>>,
    log: Log,
    sockets: Option<mpsc::UnboundedSender<(String, Socket)>>,
) -> Result<Response<Full<Bytes>>, &'static str> {
    let path = request.uri().path_and_query().unwrap().to_string();
    if let (true, Some(sockets)) = (path.starts_with("/vcp/ws"), sockets) {
        return Ok(upgraded(request, path, sockets));
    }
    let (head, body) = request.into_parts();
    let header = |name: &str| head.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let (idempotency_key, session) = (header("idempotency-key"), header("legation-session"));
    let body = body.collect().await.unwrap().to_bytes();
    let asked = Asked { at: Instant::now(), method: head.method.clone(), path, idempotency_key, session, body };
    log.0.lock().unwrap().push(asked.clone());
    let own = match asked.path.as_str() {
        "/.well-known/legation/keys" => {
            Some((200, json!({"keys": [{"public": exchange_key().public(), "state": "ACTIVE"}]})))
        }
        "/v1/audit/head" => Some((200, json!({"epochs": [{"epoch": 1, "first": 0, "restore": null}]}))),
        path if path.starts_with("/vcp/ws") => Some((404, json!({"error": "not_found"}))),
        _ => (answer.lock().unwrap())(&asked),
    };
    let (status, body) = own.ok_or("cut")?;
    Ok(Response::builder().status(status).body(Full::new(body.to_string().into())).unwrap())
}

fn upgraded(
    mut request: Request<Incoming>,
    path: String,
    sockets: mpsc::UnboundedSender<(String, Socket)>,
) -> Response<Full<Bytes>> {
    assert_eq!(request.headers()["sec-websocket-protocol"], "legation.v1");
    assert_eq!(request.headers()["authorization"], "Bearer lgt_x");
    let accept = derive_accept_key(request.headers()["sec-websocket-key"].as_bytes());
    tokio::spawn(async move {
        let stream = TokioIo::new(hyper::upgrade::on(&mut request).await.unwrap());
        drop(sockets.send((path, WebSocketStream::from_raw_socket(stream, Role::Server, None).await)));
    });
    let response = Response::builder().status(101).header("connection", "upgrade").header("upgrade", "websocket");
    let response = response.header("sec-websocket-accept", accept).header("sec-websocket-protocol", "legation.v1");
    response.body(Full::default()).unwrap()
}

/// A receipt as an exchange with this key gives it.
pub(crate) fn receipt(message: &str, position: u64, key: &SecretKey) -> Receipt {
    let received = Received::read(message.as_bytes()).unwrap();
    let (id, sender) = (received.message().id().unwrap_or("msg_1".to_owned()), received.message().sender());
    let effect = json!({"entry": "accepted", "id": id, "sender": sender, "digest": received.digest().to_string()});
    let (at, body) = (1_790_000_000_000_000, Some(message.as_bytes().to_vec()));
    let frame =
        Frame { position, at, salt: [1; 16], effect: effect.to_string().into_bytes(), was: None, body: body.into() };
    let opening = Opening::of(&frame).unwrap();
    let committed = Committed { first: position, at, leaves: vec![opening.leaf(position, at)] };
    Seal::new("local", 1, committed, key).receipt(position, at, opening).unwrap()
}

/// The answer to a message that was taken.
pub(crate) fn taken(message: &str, position: u64, receipt: &Receipt) -> Value {
    let id = Received::read(message.as_bytes()).unwrap().message().id();
    json!({"status": "accepted", "message_id": id, "position": position, "receipt": receipt})
}

/// An element of a mailbox.
pub(crate) fn item(message: &str, position: u64) -> Value {
    let receipt = receipt(message, position, &exchange_key());
    json!({"position": position, "epoch": 1, "message": serde_json::from_str::<Value>(message).unwrap(), "receipt": receipt})
}

/// A VCP message from ann to bob, signed by this key.
pub(crate) fn vcp(number: u8, says: &str, key: &SecretKey) -> String {
    let text = format!(
        r#"{{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-0000000000{number:02x}","sender":"ann","recipient":"bob","timestamp":"2026-02-15T10:30:00Z","payload":{{"severity":"info","reason":"{says}","context":"⏰🌅|📍🏡","requires_ack":false}}}}"#
    );
    key.sign_in_place(&Doc::parse(text.as_bytes()).unwrap()).unwrap()
}

/// The same, critical, and to be acknowledged.
pub(crate) fn alarm(number: u8, key: &SecretKey) -> String {
    let mut alarm: Value = serde_json::from_str(&vcp(number, "x", key)).unwrap();
    alarm.as_object_mut().unwrap().remove("signature");
    alarm["payload"]["severity"] = "critical".into();
    alarm["payload"]["requires_ack"] = true.into();
    key.sign_in_place(&Doc::parse(alarm.to_string().as_bytes()).unwrap()).unwrap()
}

/// The agent ann as the exchange shows it.
pub(crate) fn ann(key: &SecretKey) -> Value {
    json!({"id": "ann", "state": "running", "keys": [{"public": key.public(), "state": "ACTIVE"}]})
}
