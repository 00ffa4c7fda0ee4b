//! The ways to an exchange other than plain TCP: TLS that is trusted, and a socket in the file system.

use crate::house::{House, cap};
use legation_client::{Client, Error, Registration};
use legation_server::{Listener, Tls, TlsFiles};
use rcgen::{CertificateParams, KeyPair};
use std::sync::Arc;
use tokio::net::{TcpListener, UnixListener};

/// Registers, sends and receives by this way.
async fn speak(builder: impl Fn() -> legation_client::Builder) {
    let operator = builder().build().unwrap();
    let mut agents = Vec::new();
    for id in ["ann", "bob"] {
        let token = operator.register(&Registration::new(id)).await.unwrap().token.unwrap();
        agents.push(builder().token(token.as_str()).agent(id).build().unwrap());
    }
    let (ann, bob) = (&agents[0], &agents[1]);
    let sent = bob.send(cap("bob", "ann", "Go on.")).await.unwrap();
    let mut deliveries = ann.inbox().deliveries().await.unwrap();
    assert_eq!(deliveries.next().await.unwrap().unwrap().position, sent.position);
    deliveries.close().await.unwrap();
}

#[tokio::test]
async fn a_socket_in_the_file_system_leads_there_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("exchange.sock");
    let house = House::at(vec![Listener::Unix(UnixListener::bind(&path).unwrap())]);
    speak(|| Client::builder(format!("unix:{}", path.display())).token(house.operator.clone())).await;
}

#[tokio::test]
async fn tls_is_spoken_with_whom_the_caller_trusts_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let pair = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()]).unwrap().self_signed(&pair).unwrap().pem();
    let files = TlsFiles { cert: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&files.cert, &certificate).unwrap();
    std::fs::write(&files.key, pair.serialize_pem()).unwrap();
    std::fs::set_permissions(&files.key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let house = House::at(vec![Listener::Tls(listener, Arc::new(Tls::load(files).unwrap()))]);
    speak(|| Client::builder(&url).token(house.operator.clone()).authority(&certificate)).await;
    let wary = Client::builder(&url).build().unwrap();
    let error = wary.call(legation_client::Call::get("/healthz")).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
}
