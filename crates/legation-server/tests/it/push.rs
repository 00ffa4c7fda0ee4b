//! Messages brought to agents' own endpoints.

use crate::endpoint::Endpoint;
use crate::house::{House, path_of};
use crate::words::Party;
use base64::Engine as _;
use legation_engine::Settings;
use legation_exchange::Policy;
use legation_exchange::record::Receipt;
use legation_out::{Courier, Options};
use legation_protocol::Received;
use legation_protocol::sign::PublicKey;
use serde_json::{Value, json};
use std::sync::Arc;

/// A house that may bring messages to these endpoints.
pub(crate) fn house(endpoints: &[&Endpoint]) -> House {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let allow = endpoints.iter().map(|endpoint| endpoint.address.to_string().parse().unwrap()).collect();
    let courier = Courier::new(Options { allow, ..Options::default() }).unwrap();
    let policy = Policy { open_registration: true, ..Policy::default() };
    let settings = Settings { policy, carrier: Some(Arc::new(courier)), ..Settings::on(data.path()) };
    House::with(data, settings, legation_server::Settings::default())
}

fn pushed_to(house: &House, party: &Party, url: &str) {
    let body = json!({"push": {"url": url}}).to_string();
    let agent = house.ask("PUT", path_of(&party.id)).by(&party.token).json(body).ok();
    assert_eq!(agent["agent"]["push"], json!({"url": url}));
}

/// Waits until a message has left its mailbox, and tells what became of it.
fn steps(house: &House, position: &str, until: &str) -> Vec<String> {
    let mut size = 0;
    loop {
        let path = format!("/v1/messages/{position}/explain");
        let told = house.ask("GET", path).by(&house.operator).get().ok();
        let says: Vec<_> =
            told["steps"].as_array().unwrap().iter().map(|step| step["says"].as_str().unwrap().to_owned()).collect();
        if says.iter().any(|text| text.contains(until)) {
            return says;
        }
        let path = format!("/v1/audit/entries?wait=60&after={size}");
        let entries = house.ask("GET", path).by(&house.operator).get().ok();
        size = entries["next"].as_u64().unwrap();
    }
}

#[test]
fn a_message_goes_to_the_endpoint_byte_for_byte_and_is_acknowledged_by_its_answer() {
    let endpoint = Endpoint::new(|_| 200);
    let house = house(&[&endpoint]);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    pushed_to(&house, &bob, &endpoint.url());
    let message = ann.vcp("bob", "hello");
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let sent = house.ask("POST", "/.well-known/vcp/messages").header("traceparent", trace).json(&message);
    assert_eq!(sent.status, 200, "{sent:?}");
    let (position, receipt) = (&sent.headers["legation-position"], &sent.headers["legation-receipt"]);
    let posted = endpoint.next();
    assert_eq!((posted.path.as_str(), posted.body.as_str()), ("/in", message.as_str()));
    assert_eq!(posted.header("legation-position"), position.to_str().ok());
    assert_eq!(posted.header("legation-attempt"), Some("1"));
    assert_eq!(posted.header("content-type"), Some("application/json; charset=utf-8"));
    assert!(posted.header("traceparent").unwrap().starts_with(&trace[..35]));
    let decoded = |text: &[u8]| -> Value {
        serde_json::from_slice(&base64::engine::general_purpose::STANDARD.decode(text).unwrap()).unwrap()
    };
    let (theirs, ours) = (decoded(posted.header("legation-receipt").unwrap().as_bytes()), decoded(receipt.as_bytes()));
    assert_eq!((&theirs["position"], &theirs["leaf"]), (&ours["position"], &ours["leaf"]));
    let told = steps(&house, position.to_str().unwrap(), "took it at attempt 1");
    assert!(told.iter().any(|text| text == "The endpoint of \"bob\" took it at attempt 1, with 200."), "{told:?}");
    assert_eq!(house.inbox(&bob, "")["messages"], json!([]));
}

#[test]
fn an_endpoint_that_fails_once_is_tried_again_with_the_same_bytes() {
    let failed = std::sync::atomic::AtomicBool::new(false);
    let endpoint =
        Endpoint::new(move |_| if failed.swap(true, std::sync::atomic::Ordering::SeqCst) { 200 } else { 503 });
    let house = house(&[&endpoint]);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    pushed_to(&house, &bob, &endpoint.url());
    let answer = house.send(&ann, &ann.vcp("bob", "hello")).ok();
    let (first, second) = (endpoint.next(), endpoint.next());
    assert_eq!(first.body, second.body);
    assert_eq!((first.header("legation-attempt"), second.header("legation-attempt")), (Some("1"), Some("2")));
    let told = steps(&house, &answer["position"].to_string(), "took it at attempt 2");
    assert!(told.iter().any(|text| text.contains("Attempt 1") && text.contains("failed: 503")), "{told:?}");
}

#[test]
fn only_the_agent_itself_or_an_operator_says_where() {
    let endpoint = Endpoint::new(|_| 200);
    let house = house(&[&endpoint]);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let push = |url: &str| json!({"push": {"url": url}}).to_string();
    let at = |token: &str, body: &str| house.ask("PUT", path_of("bob")).by(token).json(body);
    at(&ann.token, &push(&endpoint.url())).refused(403, "not_allowed");
    at(&bob.token, &push(&endpoint.url())).ok();
    at(&house.operator, &push(&endpoint.url())).ok();
    // A parent does not say it for its child.
    let child = json!({"parent": "ann", "push": {"url": endpoint.url()}}).to_string();
    house.ask("PUT", path_of("cid")).by(&ann.token).json(child).refused(403, "not_allowed");
    // Where messages go is for those alone who may know it.
    let seen = |token: &str| house.ask("GET", path_of("bob")).by(token).get().ok()["push"].clone();
    assert_eq!(seen(&bob.token)["url"], endpoint.url());
    assert_eq!(seen(&house.operator)["url"], endpoint.url());
    assert_eq!(seen(&ann.token), Value::Null);
    let gone = at(&bob.token, r#"{"push":null}"#).ok();
    assert_eq!(gone["agent"].get("push"), None);
    let kept = at(&bob.token, r#"{"model":"m"}"#).ok();
    assert_eq!(kept["agent"].get("push"), None);
}

#[test]
fn addresses_that_are_not_allowed_are_refused_and_nothing_is_sent_there() {
    let trap = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let (house, port) = (house(&[]), trap.local_addr().unwrap().port());
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    for host in
        ["127.0.0.1", "[::1]", "localhost", "0x7f000001", "2130706433", "169.254.169.254", "10.0.0.1", "u@127.0.0.1"]
    {
        for scheme in ["http", "https", "gopher", "file"] {
            let body = json!({"push": {"url": format!("{scheme}://{host}:{port}/in")}}).to_string();
            let refused = house.ask("PUT", path_of("bob")).by(&bob.token).json(body).refused(422, "url_forbidden");
            assert_eq!(refused["at"], "/push/url");
        }
    }
    let body = json!({"push": {"url": format!("http://127.0.0.1:{port}/in")}}).to_string();
    let told = house.ask("PUT", path_of("bob")).by(&bob.token).json(body).refused(422, "url_forbidden");
    let line = format!("allow = [\"127.0.0.1:{port}\"]");
    assert!(told["message"].as_str().unwrap().contains(&line), "{told}");
    house.send(&ann, &ann.vcp("bob", "hello")).ok();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    assert_eq!(trap.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn each_of_a_broadcasts_peers_is_tried_on_its_own() {
    let (good, bad) = (Endpoint::new(|_| 200), Endpoint::new(|_| 404));
    let house = house(&[&good, &bad]);
    let (ann, bob, cat) = (house.admit("ann"), house.admit("bob"), house.admit("cat"));
    pushed_to(&house, &bob, &good.url());
    pushed_to(&house, &cat, &bad.url());
    let answer = house.send(&ann, &ann.broadcast()).ok();
    assert_eq!(good.next().body, bad.next().body);
    let position = answer["position"].to_string();
    let told = steps(&house, &position, "\"cat\" failed: 404. It waits");
    assert!(!told.is_empty());
    steps(&house, &position, "The endpoint of \"bob\" took it");
    assert_eq!(house.inbox(&cat, "")["messages"].as_array().unwrap().len(), 1);
    assert_eq!(house.inbox(&bob, "")["messages"], json!([]));
}

#[test]
fn a_receipt_that_is_too_large_for_a_header_is_had_where_another_says() {
    let endpoint = Endpoint::new(|_| 200);
    let house = house(&[&endpoint]);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    pushed_to(&house, &bob, &endpoint.url());
    // The receipt of a broadcast names everybody it went to.
    let long = "x".repeat(200);
    for number in 0..40 {
        house.admit(&format!("worker-{number}-{long}"));
    }
    let message = ann.broadcast();
    let answer = house.send(&ann, &message).ok();
    let posted = endpoint.next();
    assert_eq!(posted.header("legation-receipt"), None);
    let path = posted.header("legation-receipt-at").unwrap();
    assert_eq!(path, format!("/v1/messages/{}", answer["position"]));
    steps(&house, &answer["position"].to_string(), "The endpoint of \"bob\" took it");
    let told = house.ask("GET", path).by(&bob.token).get().ok();
    let receipt = Receipt::parse(&told["receipt"].to_string()).unwrap();
    let keys = house.ask("GET", "/.well-known/legation/keys").get().ok();
    let key = PublicKey::parse(keys["keys"][0]["public"].as_str().unwrap()).unwrap();
    let stated = receipt.verify(&key).unwrap();
    assert_eq!(stated.message_id, answer["message_id"].as_str().unwrap());
    assert!(stated.is_about(Received::read(message.as_bytes()).unwrap().digest()));
}
