//! Something to post to.

use legation_engine::Parcel;
use legation_out::{Found, Resolve};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Answers every request with the same bytes, and keeps what came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Endpoint {
    pub(crate) answer: Arc<str>,
    /// Heads and bodies, one text a request.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
    pub(crate) connections: Arc<AtomicUsize>,
}

impl Endpoint {
    pub(crate) fn answering(answer: &str) -> Endpoint {
        Endpoint { answer: answer.into(), ..Endpoint::default() }
    }

    /// Serves on a port of its own.
    pub(crate) async fn serve(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, endpoint) = (listener.local_addr().unwrap(), self.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let endpoint = endpoint.clone();
                tokio::spawn(async move { endpoint.talk(socket).await });
            }
        });
        address
    }

    pub(crate) async fn talk(&self, mut socket: impl AsyncRead + AsyncWrite + Unpin) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        while let Some(request) = request(&mut socket).await {
            self.requests.lock().unwrap().push(request);
            if socket.write_all(self.answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn request(socket: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse().unwrap() {
                return Some(text);
            }
        }
        match socket.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => all.extend_from_slice(&buffer[..read]),
        }
    }
}

/// A resolver that gives one answer after the other, the last for ever, and counts.
#[derive(Debug, Default)]
pub(crate) struct Fickle {
    pub(crate) answers: Vec<Vec<IpAddr>>,
    pub(crate) asked: AtomicUsize,
}

impl Fickle {
    pub(crate) fn saying(answers: &[&[&str]]) -> Arc<Fickle> {
        let answers = answers.iter().map(|answer| answer.iter().map(|text| text.parse().unwrap()).collect());
        Arc::new(Fickle { answers: answers.collect(), asked: AtomicUsize::new(0) })
    }
}

impl Resolve for Fickle {
    fn resolve(&self, _: &str) -> Found {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst).min(self.answers.len() - 1);
        let answer = self.answers[turn].clone();
        Box::pin(async move { Ok(answer) })
    }
}

pub(crate) fn parcel() -> Parcel {
    Parcel { headers: vec![("legation-position", "7".to_owned())], body: Arc::from(&b"{\"a\": 1}"[..]) }
}
