//! The lines of an answer, as they come.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

/// The longest line: an answer with the receipt of a message to very many.
const LONGEST: usize = 8 << 20;

/// The lines of an answer, as they come.
pub(crate) struct Lines {
    body: Incoming,
    rest: BytesMut,
    /// How much of the rest is known to hold no end of a line.
    searched: usize,
}

impl Lines {
    pub(crate) fn new(body: Incoming) -> Lines {
        Lines { body, rest: BytesMut::new(), searched: 0 }
    }

    /// The next line, without its end. May be given up and asked again: nothing is lost. An answer that ends
    /// before its line does is broken off.
    pub(crate) async fn next(&mut self) -> Result<Bytes, Box<dyn std::error::Error + Send + Sync>> {
        loop {
            let fresh = self.rest.get(self.searched..).unwrap_or_default();
            if let Some(end) = fresh.iter().position(|byte| *byte == b'\n') {
                let mut line = self.rest.split_to(self.searched + end + 1);
                line.truncate(self.searched + end);
                self.searched = 0;
                return Ok(line.freeze());
            }
            self.searched = self.rest.len();
            if self.searched > LONGEST {
                return Err("a line of the answer is too long".into());
            }
            let frame = self.body.frame().await.ok_or("the answer ended")??;
            self.rest.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
        }
    }
}
