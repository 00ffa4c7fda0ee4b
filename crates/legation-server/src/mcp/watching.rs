//! Watching a mailbox or a task for a host. The record says when to look again; whether something is different
//! is seen as the host itself would see it, so nobody hears of what they may not read.

use super::host::Asking;
use super::resources;
use std::sync::Arc;
use std::time::Duration;

/// However much is committed, a host is told of it so often at most.
const PAUSE: Duration = Duration::from_millis(200);

pub(super) struct Watch {
    asking: Arc<Asking>,
    uri: String,
    /// As it was when it was last looked at.
    seen: Option<String>,
    size: u64,
}

impl Watch {
    /// Begins, if this is something to be watched and to be seen by the one who asks.
    pub(super) async fn begin(asking: Arc<Asking>, uri: String) -> Option<Watch> {
        if !resources::watched(&uri) {
            return None;
        }
        let mut watch = Watch { asking, uri, seen: None, size: 0 };
        watch.look().await;
        watch.seen.is_some().then_some(watch)
    }

    pub(super) fn uri(&self) -> &str {
        &self.uri
    }

    /// Ready when it is different. False when there is nothing to be seen any more.
    pub(super) async fn changed(&mut self) -> bool {
        loop {
            let before = self.seen.clone();
            let Asking { desk, greeting, .. } = &*self.asking;
            let shared = &desk.shared;
            tokio::select! {
                () = desk.lost(greeting) => return false,
                () = shared.exchange.beyond(self.size) => {}
                () = shared.stopping.cancelled() => return false,
            }
            tokio::time::sleep(PAUSE).await;
            self.look().await;
            match &self.seen {
                None => return false,
                now if *now != before => return true,
                Some(_) => {}
            }
        }
    }

    async fn look(&mut self) {
        self.size = self.asking.desk.shared.exchange.head().size;
        let read = resources::read(&self.asking, &self.uri).await;
        self.seen = read.ok().and_then(|read| serde_json::to_string(&read.contents).ok());
    }
}
