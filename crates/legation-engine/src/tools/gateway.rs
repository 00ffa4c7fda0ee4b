//! What calls tools. The engine knows neither HTTP nor processes: whoever starts it hands over somebody who does.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Calls tools of the servers it knows, and of no others.
pub trait Gateway: Debug + Send + Sync {
    /// The servers it knows, by the ids that manifests have, in order.
    fn servers(&self) -> Vec<String>;

    /// Calls a tool once, and never again by itself: whoever asks cannot know what a second call would do. It ends in
    /// bounded time.
    fn call(&self, server: &str, tool: &str, arguments: Arc<str>) -> Calling;

    /// What tools a server has. It ends in bounded time.
    fn tools(&self, server: &str) -> Listing;
}

/// A call under way.
pub type Calling = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send>>;

/// A question for tools under way.
pub type Listing = Pin<Box<dyn Future<Output = Result<Vec<Tool>, Fault>> + Send>>;

/// What a server answered to a call: JSON that has passed the front door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A result, as it was sent.
    Result(Box<str>),
    /// Its error, as it was sent.
    Refused(Box<str>),
}

/// Why there is no answer, in words without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server was not reached, and nothing was sent.
    Unreached(String),
    /// It answered with what cannot be used.
    Unusable(String),
    /// It was asked, and did not answer in time.
    Silent,
    /// It was asked, and the way to it broke before it answered.
    Broken(String),
}

/// A tool as its server tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, in the server's words.
    pub description: Option<String>,
    /// A JSON Schema of its arguments, as JSON.
    pub input_schema: Option<Box<str>>,
}
