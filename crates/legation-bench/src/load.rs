//! Load: requests over many connections, one under way on each.

use crate::clock::instant;
use crate::http::Connection;
use anyhow::{Context as _, bail};
use memchr::memmem::Finder;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// Sends every request once, and gives back how many a second were accepted. One that is not is an
/// error.
pub(crate) async fn play(address: SocketAddr, requests: &Arc<[Box<[u8]>]>, connections: usize) -> anyhow::Result<f64> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        open.push(Connection::open(address).await?);
    }
    let next = Arc::new(AtomicUsize::new(0));
    let start = instant();
    let clients: Vec<_> =
        open.into_iter().map(|client| tokio::spawn(lane(client, Arc::clone(requests), Arc::clone(&next)))).collect();
    for client in clients {
        client.await.context("a client broke")??;
    }
    Ok(rate(requests.len() as u64, start.elapsed()))
}

async fn lane(mut connection: Connection, requests: Arc<[Box<[u8]>]>, next: Arc<AtomicUsize>) -> anyhow::Result<()> {
    while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
        let answer = connection.ask(request).await?;
        if !is_accepted(answer) {
            bail!("not accepted: {}", String::from_utf8_lossy(answer));
        }
    }
    Ok(())
}

pub(crate) fn is_accepted(answer: &[u8]) -> bool {
    static ACCEPTED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""status":"accepted""#));
    ACCEPTED.find(answer).is_some()
}

/// So many in this time, a second.
#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
pub(crate) fn rate(count: u64, time: std::time::Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}
