//! What comes back over HTTP, taken apart: one message of JSON, or events with one each.

use legation_client::{Download, Error};
use serde_json::Value;

/// The messages of an answer, as they come.
pub(super) struct Messages {
    download: Download,
    is_events: bool,
    /// What came and is no whole line yet.
    rest: Vec<u8>,
    is_over: bool,
    first: Option<Value>,
}

impl Messages {
    pub(super) fn of(download: Download) -> Messages {
        let kind = download.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        let is_events = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
        Messages { download, is_events, rest: Vec::new(), is_over: false, first: None }
    }

    /// With a message in front that was read already.
    pub(super) fn with_first(mut self, message: Value) -> Messages {
        self.first = Some(message);
        self
    }

    /// The next message; nothing after the last.
    pub(super) async fn next(&mut self) -> Result<Option<Value>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            while let Some(line) = self.line() {
                if let Some(message) = read(&line) {
                    return Ok(Some(message));
                }
            }
            if self.is_over {
                return Ok(None);
            }
            match self.download.next().await? {
                Some(bytes) => self.rest.extend_from_slice(&bytes),
                None => self.is_over = true,
            }
        }
    }

    /// The next whole line. JSON that is no event is one line whatever stands in it.
    fn line(&mut self) -> Option<Vec<u8>> {
        let end = self.rest.iter().position(|byte| self.is_events && *byte == b'\n').map(|end| end + 1);
        let end = end.or_else(|| (self.is_over && !self.rest.is_empty()).then_some(self.rest.len()))?;
        Some(self.rest.drain(..end).collect())
    }
}

fn read(line: &[u8]) -> Option<Value> {
    let text = line.strip_prefix(b"data:").unwrap_or(line);
    serde_json::from_slice(text).ok().filter(Value::is_object)
}
