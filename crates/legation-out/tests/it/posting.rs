//! One post: what is sent, what is made of the answer, and that it always ends.

use crate::endpoint::{Endpoint, Fickle, parcel};
use legation_engine::Carrier as _;
use legation_exchange::{Lost, Outcome};
use legation_out::{Courier, Options};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;

fn courier_to(address: SocketAddr) -> Courier {
    Courier::new(Options { allow: vec![address.to_string().parse().unwrap()], ..Options::default() }).unwrap()
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

#[tokio::test]
async fn the_bytes_go_out_as_they_are_and_over_one_connection() {
    let endpoint = Endpoint::answering(OK);
    let address = endpoint.serve().await;
    let courier = courier_to(address);
    for _ in 0..3 {
        let reply = courier.post(&format!("http://{address}/in?to=me"), parcel()).await;
        assert_eq!((reply.outcome, reply.retry_after), (Outcome::Status(200), None));
    }
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(endpoint.connections.load(Ordering::SeqCst), 1);
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "{\"a\": 1}");
    for line in [
        "POST /in?to=me HTTP/1.1".to_owned(),
        format!("host: {address}"),
        "content-type: application/json; charset=utf-8".to_owned(),
        format!("user-agent: legation/{}", env!("CARGO_PKG_VERSION")),
        "legation-position: 7".to_owned(),
    ] {
        assert!(head.lines().any(|own| own == line), "{line}: {head}");
    }
}

#[tokio::test]
async fn no_redirect_is_followed_and_no_endless_answer_is_read() {
    let elsewhere = Endpoint::answering(OK);
    let other = elsewhere.serve().await;
    for status in [301, 302, 303, 307, 308] {
        let endpoint = Endpoint::answering(&format!(
            "HTTP/1.1 {status} x\r\nlocation: http://{other}/\r\ncontent-length: 0\r\n\r\n"
        ));
        let address = endpoint.serve().await;
        let allow = [address, other].map(|address| address.to_string().parse().unwrap()).to_vec();
        let courier = Courier::new(Options { allow, ..Options::default() }).unwrap();
        let reply = courier.post(&format!("http://{address}/"), parcel()).await;
        assert_eq!(reply.outcome, Outcome::Status(status));
    }
    assert!(elsewhere.requests().is_empty());
    let endless =
        Endpoint::answering(&format!("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n{}", "x".repeat(1 << 20)));
    let address = endless.serve().await;
    let reply = courier_to(address).post(&format!("http://{address}/"), parcel()).await;
    assert_eq!(reply.outcome, Outcome::Status(200));
}

#[tokio::test]
async fn an_endpoint_may_say_when_to_come_again() {
    let endpoint = Endpoint::answering("HTTP/1.1 429 x\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n");
    let address = endpoint.serve().await;
    let reply = courier_to(address).post(&format!("http://{address}/"), parcel()).await;
    assert_eq!((reply.outcome, reply.retry_after), (Outcome::Status(429), Some(Duration::from_secs(3))));
}

#[tokio::test(start_paused = true)]
async fn whatever_the_other_side_does_a_post_ends() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = silent.local_addr().unwrap();
    let start = tokio::time::Instant::now();
    let reply = courier_to(address).post(&format!("http://{address}/"), parcel()).await;
    assert_eq!(reply.outcome, Outcome::Lost(Lost::Timeout));
    assert_eq!(start.elapsed().as_secs(), 10);
    drop(silent);
}

#[tokio::test]
async fn a_post_that_was_taken_is_taken_though_the_rest_of_the_answer_does_not_come() {
    let slow = Endpoint::answering("HTTP/1.1 202 Accepted\r\ncontent-length: 5\r\n\r\n");
    let address = slow.serve().await;
    let start = tokio::time::Instant::now();
    let reply = courier_to(address).post(&format!("http://{address}/"), parcel()).await;
    assert_eq!(reply.outcome, Outcome::Status(202));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Somewhere at this port where connections never come to stand: as many wait to be taken as may. On another address of
/// this machine.
#[cfg(target_os = "linux")]
async fn black_hole(port: u16) -> (tokio::net::TcpListener, Vec<tokio::net::TcpStream>) {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 2], port));
    socket.bind(address).unwrap();
    let (listener, mut waiting) = (socket.listen(1).unwrap(), Vec::new());
    while let Ok(Ok(one)) =
        tokio::time::timeout(Duration::from_millis(500), tokio::net::TcpStream::connect(address)).await
    {
        waiting.push(one);
    }
    (listener, waiting)
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_address_from_which_nothing_comes_leaves_time_for_the_next() {
    let endpoint = Endpoint::answering(OK);
    let address = endpoint.serve().await;
    let _hole = black_hole(address.port()).await;
    let allow = vec![format!("agent.localhost:{}", address.port()).parse().unwrap()];
    let resolver = Fickle::saying(&[&["127.0.0.2", "127.0.0.1"]]);
    let courier = Courier::new(Options { allow, resolver, ..Options::default() }).unwrap();
    let reply = courier.post(&format!("http://agent.localhost:{}/", address.port()), parcel()).await;
    assert_eq!((reply.outcome, endpoint.requests().len()), (Outcome::Status(200), 1));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_address_that_takes_connections_and_says_nothing_leaves_time_for_the_next() {
    let (endpoint, folder) = (Endpoint::answering(OK), tempfile::tempdir().unwrap());
    let (address, file) = trusted(&endpoint, &folder).await;
    // It takes them, as all that wait to be taken are, and no hello is ever answered.
    let _mute = TcpListener::bind(SocketAddr::from(([127, 0, 0, 2], address.port()))).await.unwrap();
    let allow = ["127.0.0.1", "127.0.0.2"].map(|own| format!("{own}:{}", address.port()).parse().unwrap()).to_vec();
    let resolver = Fickle::saying(&[&["127.0.0.2", "127.0.0.1"]]);
    let courier = Courier::new(Options { allow, authorities: Some(file), resolver, ..Options::default() }).unwrap();
    let reply = courier.post(&format!("https://agent.example:{}/in", address.port()), parcel()).await;
    assert_eq!((reply.outcome, endpoint.requests().len()), (Outcome::Status(200), 1));
}

#[tokio::test]
async fn where_nobody_listens_or_nothing_is_said_nobody_answers() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let reply = courier_to(gone).post(&format!("http://{gone}/"), parcel()).await;
    assert_eq!(reply.outcome, Outcome::Lost(Lost::Unreachable));
    let rude = Endpoint::answering("NONSENSE\r\n\r\n");
    let address = rude.serve().await;
    let reply = courier_to(address).post(&format!("http://{address}/"), parcel()).await;
    assert_eq!(reply.outcome, Outcome::Lost(Lost::Broken));
}

/// An endpoint that proves by a certificate of an authority of our own to be `agent.example`.
async fn trusted(endpoint: &Endpoint, folder: &tempfile::TempDir) -> (SocketAddr, PathBuf) {
    let authority = KeyPair::generate().unwrap();
    let mut about = CertificateParams::new(Vec::new()).unwrap();
    about.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = about.self_signed(&authority).unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, root.pem()).unwrap();
    let own = KeyPair::generate().unwrap();
    let about_own = CertificateParams::new(vec!["agent.example".to_owned()]).unwrap();
    let certificate = about_own.signed_by(&own, &Issuer::new(about, authority)).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(own.serialize_der()).unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, endpoint) = (listener.local_addr().unwrap(), endpoint.clone());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            if let Ok(socket) = acceptor.accept(socket).await {
                endpoint.talk(socket).await;
            }
        }
    });
    (address, file)
}

#[tokio::test]
async fn an_endpoint_proves_who_it_is_or_gets_nothing() {
    let (endpoint, folder) = (Endpoint::answering(OK), tempfile::tempdir().unwrap());
    let (address, file) = trusted(&endpoint, &folder).await;
    let posted = async |authorities: Option<PathBuf>, name: &str| {
        let allow = vec![address.to_string().parse().unwrap()];
        let resolver = Fickle::saying(&[&["127.0.0.1"]]);
        let courier = Courier::new(Options { allow, authorities, resolver, ..Options::default() }).unwrap();
        courier.post(&format!("https://{name}:{}/in", address.port()), parcel()).await.outcome
    };
    assert_eq!(posted(Some(file.clone()), "agent.example").await, Outcome::Status(200));
    assert_eq!(posted(None, "agent.example").await, Outcome::Lost(Lost::Untrusted));
    assert_eq!(posted(Some(file), "other.example").await, Outcome::Lost(Lost::Untrusted));
    assert_eq!(endpoint.requests().len(), 1);
    let nothing = folder.path().join("empty.pem");
    std::fs::write(&nothing, "").unwrap();
    assert!(Courier::new(Options { authorities: Some(nothing), ..Options::default() }).is_err());
}
