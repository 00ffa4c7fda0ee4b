//! The ways to a tool server, as one: to ask it something, and to tell it something.

use super::http::Http;
use super::stdio::Stdio;
use legation_engine::ToolReply as Reply;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when something may have gone out.
#[derive(Clone, Debug, Default)]
pub(super) struct Mark(Arc<AtomicBool>);

impl Mark {
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What stands beside a message where it goes by HTTP.
#[derive(Clone, Debug, Default)]
pub(super) struct Heads {
    pub(super) version: Option<&'static str>,
    pub(super) session: Option<String>,
    /// The method and the name, where there are no sessions.
    pub(super) method: Option<&'static str>,
    pub(super) name: Option<String>,
}

impl Heads {
    pub(super) fn each(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("mcp-protocol-version", self.version),
            ("mcp-session-id", self.session.as_deref()),
            ("mcp-method", self.method),
            ("mcp-name", self.name.as_deref()),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no way to the server.
    Way(String),
    /// It answered with a status that is no success, and with an error beside it if it did.
    Status(u16, Option<Box<str>>),
    /// It answered with what cannot be used.
    Unusable(String),
    /// The way broke.
    Broken(String),
}

/// A way to a server.
pub(super) enum Wire {
    Http(Box<Http>),
    Stdio(Stdio),
}

impl Wire {
    /// Asks, and gives back the answer and what stands beside what is asked from now on.
    pub(super) async fn ask(
        &self,
        id: u64,
        text: String,
        heads: &Heads,
        mark: &Mark,
    ) -> Result<(Reply, Heads), Trouble> {
        match self {
            Wire::Http(http) => http.ask(id, text, heads, mark).await,
            Wire::Stdio(stdio) => stdio.ask(id, text, mark).await.map(|reply| (reply, heads.clone())),
        }
    }

    /// Tells something that is not answered.
    pub(super) async fn tell(&self, text: String, heads: &Heads) -> Result<(), Trouble> {
        match self {
            Wire::Http(http) => http.tell(text, heads).await,
            Wire::Stdio(stdio) => stdio.tell(text).await,
        }
    }

    /// Whether anything can be asked this way any more.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Wire::Http(_) => true,
            Wire::Stdio(stdio) => stdio.is_alive(),
        }
    }
}
