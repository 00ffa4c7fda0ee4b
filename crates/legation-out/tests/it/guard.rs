//! Nothing leaves for where it may not go: a listener is there, and nobody comes.

use crate::endpoint::{Fickle, parcel};
use legation_engine::{Carrier as _, Reach};
use legation_exchange::{Lost, Outcome};
use legation_out::{Allow, Courier, Options};
use legation_protocol::Code;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn courier(allow: &[String], resolver: &Arc<Fickle>) -> Courier {
    let allow = allow.iter().map(|entry| entry.parse::<Allow>().unwrap()).collect();
    let resolver = Arc::<Fickle>::clone(resolver);
    Courier::new(Options { allow, resolver, ..Options::default() }).unwrap()
}

/// A listener where nobody must come.
struct Trap(TcpListener);

impl Trap {
    fn at(address: &str) -> Trap {
        let listener = TcpListener::bind(address).unwrap();
        listener.set_nonblocking(true).unwrap();
        Trap(listener)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    #[track_caller]
    fn is_empty(&self) {
        // A connection to this machine is in the queue as soon as the one who connects has it.
        let came = self.0.accept();
        assert!(came.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "{came:?}");
    }
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_or_its_network_gets_nothing() {
    let trap = Trap::at("127.0.0.1:0");
    for answer in [
        &["127.0.0.1"][..],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["169.254.169.254"],
        &["10.1.2.3"],
        &["64:ff9b::7f00:1"],
        // One good address does not make up for a bad one.
        &["203.0.114.1", "127.0.0.1"],
        &["127.0.0.1", "203.0.114.1"],
    ] {
        let courier = courier(&[], &Fickle::saying(&[answer]));
        let url = format!("https://agent.example:{}/in", trap.port());
        assert_eq!(courier.check(&url).unwrap(), Reach::Far);
        let reply = courier.post(&url, parcel()).await;
        assert_eq!(reply.outcome, Outcome::Lost(Lost::Forbidden), "{answer:?}");
        trap.is_empty();
    }
}

#[tokio::test]
async fn a_literal_of_this_machine_gets_nothing_however_it_is_written() {
    let trap = Trap::at("127.0.0.1:0");
    let resolver = Fickle::saying(&[&["127.0.0.1"]]);
    let courier = courier(&[], &resolver);
    for host in [
        "127.0.0.1",
        "0.0.0.0",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "a.localhost",
        "user@127.0.0.1",
        "169.254.169.254",
        "[fd00:ec2::254]",
    ] {
        for scheme in ["http", "https", "gopher", "ftp"] {
            let url = format!("{scheme}://{host}:{}/in", trap.port());
            assert_eq!(courier.check(&url).unwrap_err().code(), Code::UrlForbidden, "{url}");
            let reply = courier.post(&url, parcel()).await;
            assert_eq!(reply.outcome, Outcome::Lost(Lost::Forbidden), "{url}");
            trap.is_empty();
        }
    }
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_the_second_time_gets_nothing_then() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let hangs_up = tokio::spawn(async move { drop(listener.accept().await.unwrap()) });
    let trap = Trap::at(&format!("127.0.0.2:{port}"));
    let resolver = Fickle::saying(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let courier = courier(&[format!("127.0.0.1:{port}")], &resolver);
    let url = format!("https://agent.example:{port}/in");
    // The first answer is allowed: somebody is there, who speaks no TLS. The second is not.
    assert_eq!(courier.post(&url, parcel()).await.outcome, Outcome::Lost(Lost::Untrusted));
    hangs_up.await.unwrap();
    assert_eq!(courier.post(&url, parcel()).await.outcome, Outcome::Lost(Lost::Forbidden));
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 2, "a connection goes to what was judged");
    trap.is_empty();
}

#[test]
fn whoever_is_refused_is_told_what_to_write() {
    let courier = Courier::new(Options::default()).unwrap();
    for (url, line) in [
        ("http://127.0.0.1:9000/in", "allow = [\"127.0.0.1:9000\"]"),
        ("https://[::1]/in", "allow = [\"[::1]:443\"]"),
        ("http://localhost:9000/", "allow = [\"localhost:9000\"]"),
    ] {
        let told = courier.check(url).unwrap_err().first().message.clone();
        assert!(told.contains(line) && told.contains("[push]"), "{told}");
    }
    let allow = ["127.0.0.1:9000", "localhost:9000", "10.0.0.0/8:443"].map(|entry| entry.parse().unwrap()).to_vec();
    let courier = Courier::new(Options { allow, ..Options::default() }).unwrap();
    assert_eq!(courier.check("http://127.0.0.1:9000/in").unwrap(), Reach::Near);
    assert_eq!(courier.check("http://localhost:9000/in").unwrap(), Reach::Near);
    assert_eq!(courier.check("https://10.9.8.7/in").unwrap(), Reach::Far);
}
