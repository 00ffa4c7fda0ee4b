//! Tool servers that agents may have called for them: over HTTP, or as processes of ours. They speak MCP; they may be
//! hostile, slow or gone, and nothing they do stalls whoever asks them.

mod events;
mod http;
mod rpc;
mod server;
mod stdio;
mod wire;

use crate::courier::Courier;
use legation_engine::{Calling, Fault, Gateway, Listing};
use server::Server;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// A tool server.
#[derive(Clone, Debug)]
pub struct ToolServer {
    /// Its id, as manifests have it.
    pub id: String,
    /// The way to it.
    pub way: Way,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

/// The way to a tool server.
#[derive(Clone)]
pub enum Way {
    /// Over HTTP.
    Http {
        /// Its address.
        url: String,
        /// What is shown there as a bearer token.
        secret: Option<Zeroizing<String>>,
        /// Who brings something there.
        courier: Courier,
    },
    /// As a process of ours.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
        /// All of its environment.
        environment: Vec<(String, Zeroizing<String>)>,
    },
}

impl fmt::Debug for Way {
    /// An address may hold a secret, as its token does, and a command and its environment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Http { .. } => f.debug_struct("Http").finish_non_exhaustive(),
            Way::Command { .. } => f.debug_struct("Command").finish_non_exhaustive(),
        }
    }
}

/// All tool servers there are.
#[derive(Clone, Default)]
pub struct Toolbox {
    servers: BTreeMap<String, Arc<Server>>,
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.servers.keys()).finish()
    }
}

impl Toolbox {
    /// A toolbox of these. Nothing is started or connected to before it is used.
    pub fn of(servers: impl IntoIterator<Item = ToolServer>) -> Toolbox {
        let servers = servers.into_iter().map(|server| (server.id.clone(), Arc::new(Server::new(server))));
        Toolbox { servers: servers.collect() }
    }
}

fn unknown() -> Fault {
    Fault::Unreached("there is no such server".to_owned())
}

impl Gateway for Toolbox {
    fn servers(&self) -> Vec<String> {
        self.servers.keys().cloned().collect()
    }

    fn call(&self, server: &str, tool: &str, arguments: Arc<str>) -> Calling {
        let (server, tool) = (self.servers.get(server).cloned(), tool.to_owned());
        Box::pin(async move { server.ok_or_else(unknown)?.call(&tool, &arguments).await })
    }

    fn tools(&self, server: &str) -> Listing {
        let server = self.servers.get(server).cloned();
        Box::pin(async move { server.ok_or_else(unknown)?.tools().await })
    }
}
