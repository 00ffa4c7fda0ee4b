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
use futures_util::{Stream, StreamExt as _};
use legation_engine::{Backup, Error, Target};
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc::{self, error::SendTimeoutError};

/// About how many bytes follow, for those who show how far they are.
const LENGTH: &str = "legation-backup-bytes";
/// How many bytes go out at once, and how many such pieces wait to be taken.
const PIECE: usize = 256 << 10;
const WAITING: usize = 4;
/// How long nobody may take anything of a copy before it is given up: others wait for their turn.
const PATIENCE: Duration = Duration::from_mins(5);

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
    let pieces = futures_util::stream::iter(first.map(Ok)).chain(rest(receiver));
    let about = [(CONTENT_TYPE.as_str(), "application/x-tar"), (LENGTH, length.as_str())];
    Ok((about, Body::from_stream(pieces)).into_response())
}

/// A piece of a copy, or why there is none; an empty one is its end.
type Piece = Result<Bytes, Error>;

/// The pieces up to the end. One that does not come breaks the answer off, so that nobody takes half a copy for a whole one.
fn rest(receiver: mpsc::Receiver<Piece>) -> impl Stream<Item = io::Result<Bytes>> {
    futures_util::stream::unfold(Some(receiver), async |receiver| {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Ok(end)) if end.is_empty() => None,
            Some(Ok(piece)) => Some((Ok(piece), Some(receiver))),
            Some(Err(_)) | None => Some((Err(io::Error::other("the copy broke off")), None)),
        }
    })
}

/// Reads a copy for as long as somebody takes it.
fn copy(backup: Backup, sender: &mpsc::Sender<Piece>) {
    let mut out = io::BufWriter::with_capacity(PIECE, Outgoing { sender, patience: PATIENCE });
    let copied = backup.write(Target::Tar(&mut out), &mut |_| ());
    let flushed = io::Write::flush(&mut out);
    let last = match copied {
        Ok(()) if flushed.is_ok() => Ok(Bytes::new()),
        Ok(()) => return tracing::info!("nobody took the rest of a backup"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "a backup broke off");
            Err(error)
        }
    };
    drop(Outgoing { sender, patience: PATIENCE }.send(last));
}

struct Outgoing<'s> {
    sender: &'s mpsc::Sender<Piece>,
    patience: Duration,
}

impl Outgoing<'_> {
    fn send(&self, piece: Piece) -> io::Result<()> {
        let sent = Handle::current().block_on(self.sender.send_timeout(piece, self.patience));
        sent.map_err(|error| match error {
            SendTimeoutError::Timeout(_) => io::ErrorKind::TimedOut.into(),
            SendTimeoutError::Closed(_) => io::ErrorKind::BrokenPipe.into(),
        })
    }
}

impl io::Write for Outgoing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(Ok(Bytes::copy_from_slice(bytes)))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Outgoing, rest};
    use axum::body::Bytes;
    use futures_util::StreamExt as _;
    use std::io::{ErrorKind, Write as _};
    use std::time::Duration;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn a_copy_that_nobody_takes_is_given_up_and_breaks_off() {
        let (sender, receiver) = mpsc::channel(1);
        let given_up = tokio::task::spawn_blocking(move || {
            let mut out = Outgoing { sender: &sender, patience: Duration::from_millis(1) };
            (out.write(b"one").unwrap(), out.write(b"two").unwrap_err().kind())
        });
        assert_eq!(given_up.await.unwrap(), (3, ErrorKind::TimedOut));
        let taken: Vec<_> = rest(receiver).map(|piece| piece.map_err(|error| error.to_string())).collect().await;
        assert_eq!(taken, [Ok(Bytes::from("one")), Err("the copy broke off".to_owned())]);
    }

    #[tokio::test]
    async fn a_copy_ends_where_it_says() {
        let (sender, receiver) = mpsc::channel(2);
        for piece in ["one", ""] {
            sender.send(Ok(Bytes::from(piece))).await.unwrap();
        }
        let taken: Vec<_> = rest(receiver).map(Result::unwrap).collect().await;
        assert_eq!(taken, [Bytes::from("one")]);
    }
}
