//! Messages on their way through the exchange to endpoints of their recipients, all of this machine.

use crate::child::Served;
use crate::clock::instant;
use crate::letters::{SIGNERS, secret, signed};
use crate::load::{play, rate};
use crate::{Amount, Bound, Plan, Row, Scenario, Watch, crowd, http};
use anyhow::Context as _;
use axum::Router;
use axum::routing::post;
use axum::serve::ListenerExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// How many endpoints there are.
const ENDPOINTS: usize = 100;
/// How many messages a second should come to them.
const ASKED: f64 = 2000.0;

/// What all endpoints have taken.
#[derive(Debug, Default)]
struct Taken {
    count: AtomicU64,
    more: Notify,
}

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let taken = Arc::new(Taken::default());
    let mut places = Vec::with_capacity(ENDPOINTS);
    for _ in 0..ENDPOINTS {
        places.push(endpoint(Arc::clone(&taken)).await?);
    }
    let config = place.join("legation.toml");
    std::fs::write(&config, format!("[push]\nallow = {places:?}\n")).context("cannot write a configuration")?;
    let exchange = Served::configured(&plan.program, &place.join("exchange"), &config)?;
    crowd::register_signers(&exchange).await?;
    crowd::register_pushed(&exchange, &places).await?;
    let count = count(plan);
    let requests = requests(count)?;
    watch("push: sending", 0, count);
    let start = instant();
    let accepted = play(exchange.address, &requests, plan.connections).await?;
    while taken.count.load(Ordering::SeqCst) < count {
        let more = taken.more.notified();
        watch("push: arriving", taken.count.load(Ordering::SeqCst), count);
        if taken.count.load(Ordering::SeqCst) < count {
            more.await;
        }
    }
    let arrived = rate(count, start.elapsed());
    let row = |measured: String, amount, bound| Row {
        scenario: Scenario::Push,
        measured,
        legation: Amount::PerSecond(amount),
        against: None,
        ratio: None,
        bound,
        rounds: Vec::new(),
    };
    let bound = Bound { asked: format!("≥ {ASKED}"), held: arrived >= ASKED };
    Ok(vec![
        row("signed VCP, 1 KiB, accepted while pushing".to_owned(), accepted, None),
        row(format!("the same at {ENDPOINTS} endpoints"), arrived, Some(bound)),
    ])
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is small and positive")]
fn count(plan: &Plan) -> u64 {
    ((ASKED * plan.time.as_secs_f64()) as u64).max(ENDPOINTS as u64)
}

/// Takes everything, and gives back where it is.
async fn endpoint(taken: Arc<Taken>) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
    let address = listener.local_addr().context("cannot listen")?.to_string();
    let take = move || {
        let taken = Arc::clone(&taken);
        async move {
            taken.count.fetch_add(1, Ordering::SeqCst);
            taken.more.notify_waiters();
        }
    };
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    drop(tokio::spawn(axum::serve(listener, Router::new().route("/in", post(take))).into_future()));
    Ok(address)
}

fn requests(count: u64) -> anyhow::Result<Arc<[Box<[u8]>]>> {
    let keys: Vec<_> = (0..SIGNERS).map(|signer| (signer, secret(signer))).collect();
    let made = (0..count).zip(keys.iter().cycle()).map(|(number, (signer, key))| {
        let recipient = crowd::pushed_name(usize::try_from(number).unwrap_or_default() % ENDPOINTS);
        let message = signed(number, key, *signer, &recipient).context("cannot write a message")?;
        Ok(http::request("POST", "/.well-known/vcp/messages", &[], message.body.as_bytes()))
    });
    made.collect()
}
