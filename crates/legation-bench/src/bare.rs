//! What nothing that takes signed messages over HTTP can do without: reading the body and verifying one
//! signature. The exchange is measured against a server that does this and no more.

use crate::letters::{SIGNERS, public};
use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use axum::serve::ListenerExt as _;
use legation_protocol::sign::{PublicKey, Signature};
use std::io::{self, Write as _};
use std::sync::Arc;
use tokio::net::TcpListener;

/// The headers that carry the signature over the body, and who made it.
pub(crate) const SIGNATURE: &str = "bench-signature";
pub(crate) const SIGNER: &str = "bench-signer";

/// Serves until the process ends, and says where.
pub fn bare(listen: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
    runtime.block_on(async {
        let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot listen at {listen}"))?;
        let address = listener.local_addr().context("cannot listen")?;
        writeln!(io::stdout(), "A bare handler listens at http://{address}")?;
        let keys: Arc<[PublicKey]> = (0..SIGNERS).map(public).collect();
        let router = Router::new().route("/.well-known/vcp/messages", post(verify)).with_state(keys);
        // As the exchange does it.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        axum::serve(listener, router).await.context("cannot take connections")
    })
}

async fn verify(
    State(keys): State<Arc<[PublicKey]>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<&'static str, StatusCode> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let key = text(SIGNER).and_then(|number| keys.get(number.parse::<usize>().ok()?));
    let signature = text(SIGNATURE).and_then(|text| Signature::parse(text).ok());
    match key.zip(signature) {
        Some((key, signature)) if key.verifies(&body, &signature) => Ok(r#"{"status":"accepted"}"#),
        Some(_) | None => Err(StatusCode::UNAUTHORIZED),
    }
}
