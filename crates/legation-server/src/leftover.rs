//! What nobody has read of a body. Many clients write all of a request before they read the answer; if
//! the rest of a refused request met a closed socket, they would see a broken connection in place of
//! the reason. So what is left over is read and thrown away, to a limit, while the answer goes out.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use futures_util::StreamExt as _;
use http_body::{Frame, SizeHint};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::runtime::Handle;

const MOST: usize = 32 << 20;
const LONGEST: Duration = Duration::from_secs(5);

/// A request whose body does not mind being left unread.
pub(crate) async fn kept(request: Request) -> Request {
    request.map(|body| if http_body::Body::is_end_stream(&body) { body } else { Body::new(Kept { body, over: false }) })
}

struct Kept {
    body: Body,
    /// Whether its end has been seen.
    over: bool,
}

impl http_body::Body for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(None | Some(Err(_))) = polled {
            self.over = true;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.over || http_body::Body::is_end_stream(&self.body) {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let body = mem::take(&mut self.body);
        runtime.spawn(tokio::time::timeout(LONGEST, throw_away(body)));
    }
}

async fn throw_away(body: Body) {
    let (mut rest, mut read) = (body.into_data_stream(), 0);
    while let (true, Some(Ok(chunk))) = (read < MOST, rest.next().await) {
        read += chunk.len();
    }
}
