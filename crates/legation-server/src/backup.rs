//! A copy of everything, told while it is read: what an exchange needs to go on elsewhere.

use crate::body;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use legation_engine::{Backup, Error, Target};
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc;

/// About how many bytes follow, for those who show how far they are.
const LENGTH: &str = "legation-backup-bytes";
/// How many bytes go out at once, and how many such pieces wait to be taken.
const PIECE: usize = 256 << 10;
const WAITING: usize = 4;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    keys: bool,
}

/// `POST /v1/backup`
pub(crate) async fn take(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let by = caller.must_be_operator()?;
    let Wanted { keys } = body::object(&headers, body).await?;
    let backup = shared.exchange.backup(keys, caller.0.clone()).await??;
    tracing::info!(by, keys, size = backup.manifest.checkpoint.unverified().size, "a backup is taken");
    let length = backup.bytes.to_string();
    let (sender, mut receiver) = mpsc::channel(WAITING);
    // Ends by itself when nobody takes what it reads.
    drop(tokio::task::spawn_blocking(move || copy(backup, &sender)));
    // What cannot even begin is said in words.
    let first = receiver.recv().await.transpose()?;
    let rest = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    let pieces = futures_util::stream::iter(first.map(Ok)).chain(rest);
    let pieces = pieces.map(|piece| piece.map_err(|_: Error| io::Error::other("the copy broke off")));
    let about = [(CONTENT_TYPE.as_str(), "application/x-tar"), (LENGTH, length.as_str())];
    Ok((about, Body::from_stream(pieces)).into_response())
}

/// What cannot be read breaks the answer off, so that nobody takes half a copy for a whole one.
fn copy(backup: Backup, sender: &mpsc::Sender<Result<Bytes, Error>>) {
    let mut out = io::BufWriter::with_capacity(PIECE, Outgoing(sender));
    let copied = backup.write(Target::Tar(&mut out), &mut |_| ());
    let flushed = io::Write::flush(&mut out);
    if let Err(error) = copied {
        tracing::warn!(error = &error as &dyn std::error::Error, "a backup broke off");
        drop(sender.blocking_send(Err(error)));
    } else if flushed.is_err() {
        tracing::info!("nobody took the rest of a backup");
    }
}

struct Outgoing<'s>(&'s mpsc::Sender<Result<Bytes, Error>>);

impl io::Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
        self.0.blocking_send(Ok(Bytes::copy_from_slice(bytes))).map_err(gone)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
