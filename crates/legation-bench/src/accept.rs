//! Durable accept of signed messages over plain requests, against the bare handler.

use crate::child::Served;
use crate::http::request;
use crate::letters::{SIGNERS, Signed, secret, signed};
use crate::load::play;
use crate::rounds::{ROUNDS, Rounds};
use crate::{Plan, Row, Scenario, Watch, bare, crowd};
use anyhow::Context as _;
use std::path::Path;
use std::sync::Arc;

/// How many mailboxes the messages go to.
pub(crate) const RECIPIENTS: usize = 64;
/// Messages on each connection before anything is measured, for a first guess at the speed.
const WARM_UP: u64 = 16;

/// The same messages as requests to either side.
pub(crate) struct Requests {
    pub(crate) exchange: Arc<[Box<[u8]>]>,
    bare: Arc<[Box<[u8]>]>,
}

pub(crate) async fn measure(plan: &Plan, place: &Path, watch: Watch<'_>) -> anyhow::Result<Vec<Row>> {
    let exchange = Served::exchange(&plan.program, &place.join("exchange"))?;
    let bare = Served::bare(&plan.program)?;
    crowd::register_signers(&exchange).await?;
    crowd::register(&exchange, "recipient", RECIPIENTS).await?;
    let first = WARM_UP * plan.connections as u64;
    let warm_up = sign(0, first, &|_| ())?;
    let speed = play(bare.address, &warm_up.bare, plan.connections).await?;
    play(exchange.address, &warm_up.exchange, plan.connections).await?;
    let count = enough(speed, plan);
    let mut rounds = Rounds::default();
    for round in 0..u64::from(ROUNDS) {
        let step = |what: &str, done| watch(&format!("accept, round {} of {ROUNDS}: {what}", round + 1), done, count);
        let requests = sign(first + round * count, count, &|done| step("signing", done))?;
        step("bare handler", 0);
        let theirs = play(bare.address, &requests.bare, plan.connections).await?;
        step("exchange", 0);
        let ours = play(exchange.address, &requests.exchange, plan.connections).await?;
        rounds.add(ours, theirs);
    }
    let measured = format!("signed VCP, 1 KiB, durable, {} connections", plan.connections);
    Ok(vec![rounds.row(Scenario::Accept, &measured, "bare axum handler", 0.7)])
}

/// Messages that keep the bare handler busy for its part of the time.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate is small and positive")]
fn enough(speed: f64, plan: &Plan) -> u64 {
    ((speed * plan.time.as_secs_f64() / f64::from(ROUNDS)) as u64).max(plan.connections as u64 * 4)
}

/// Signs messages with numbers from `first` on.
pub(crate) fn sign(first: u64, count: u64, watch: &dyn Fn(u64)) -> anyhow::Result<Requests> {
    let keys: Vec<_> = (0..SIGNERS).map(|signer| (signer, secret(signer))).collect();
    let (mut exchange, mut bare) = (Vec::new(), Vec::new());
    for (number, (signer, key)) in (first..first + count).zip(keys.iter().cycle()) {
        let recipient = format!("recipient-{}", number % RECIPIENTS as u64);
        let message = signed(number, key, *signer, &recipient).context("cannot write a message")?;
        exchange.push(request("POST", PATH, &[], message.body.as_bytes()));
        bare.push(to_bare(&message));
        if number % 1024 == 0 {
            watch(number - first);
        }
    }
    Ok(Requests { exchange: exchange.into(), bare: bare.into() })
}

const PATH: &str = "/.well-known/vcp/messages";

fn to_bare(message: &Signed) -> Box<[u8]> {
    let signer = message.signer.to_string();
    let headers = [(bare::SIGNATURE, message.outer.as_str()), (bare::SIGNER, signer.as_str())];
    request("POST", PATH, &headers, message.body.as_bytes())
}
