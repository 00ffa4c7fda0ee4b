//! One tool server: how it is greeted, in either generation of its protocol, and asked. A call goes out once.

use super::http::Http;
use super::rpc::{self, KNOWN, WITHOUT};
use super::stdio::Stdio;
use super::wire::{Heads, Mark, Trouble, Wire};
use super::{ToolServer, Way};
use legation_engine::{Fault, Tool, ToolReply as Reply};
use legation_protocol::json::{Doc, Node};
use serde_json::json;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;

/// How many pages of tools are asked for, and how many tools are told.
const PAGES: usize = 16;
const TOOLS: usize = 1000;

pub(super) struct Server {
    settings: ToolServer,
    line: Mutex<Option<Arc<Line>>>,
}

/// A server that was greeted.
struct Line {
    wire: Wire,
    heads: Heads,
    /// Whether there are sessions, or each request stands for itself.
    has_session: bool,
}

impl Server {
    pub(super) fn new(settings: ToolServer) -> Server {
        Server { settings, line: Mutex::default() }
    }

    fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    /// Calls a tool, once.
    pub(super) async fn call(&self, tool: &str, arguments: &str) -> Result<Reply, Fault> {
        let mark = Mark::default();
        let called = tokio::time::timeout(self.timeout(), self.called(tool, arguments, &mark)).await;
        match called {
            Ok(Ok(reply)) => Ok(reply),
            Ok(Err(trouble)) => Err(fault(trouble, &mark)),
            Err(_) if mark.is_set() => Err(Fault::Silent),
            Err(_) => Err(Fault::Unreached("it was not reached in time".to_owned())),
        }
    }

    async fn called(&self, tool: &str, arguments: &str, mark: &Mark) -> Result<Reply, Trouble> {
        let params = format!(r#""name":{},"arguments":{arguments}"#, json!(tool));
        let line = self.line().await?;
        match line.ask("tools/call", Some(tool), &params, mark).await {
            Ok(reply) => Ok(reply),
            // It has forgotten the session, and so has done nothing in it: that is what the status says.
            Err(Trouble::Status(404, _)) if line.heads.session.is_some() => {
                self.hang_up(&line).await;
                self.line().await?.ask("tools/call", Some(tool), &params, mark).await
            }
            // The error stands beside the status.
            Err(Trouble::Status(400..=499, Some(error))) => Ok(Reply::Refused(error)),
            Err(trouble) => Err(trouble),
        }
    }

    /// What tools it has.
    pub(super) async fn tools(&self) -> Result<Vec<Tool>, Fault> {
        let told = tokio::time::timeout(self.timeout(), self.listed()).await;
        told.unwrap_or(Err(Trouble::Way("it did not answer in time".to_owned())))
            .map_err(|trouble| fault(trouble, &Mark::default()))
    }

    async fn listed(&self) -> Result<Vec<Tool>, Trouble> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..PAGES {
            let params = cursor.map(|cursor: String| format!(r#""cursor":{}"#, json!(cursor))).unwrap_or_default();
            let page = match self.page(&params).await? {
                Reply::Result(page) => page,
                Reply::Refused(_) => return Err(Trouble::Unusable("it does not tell its tools".to_owned())),
            };
            tools.extend(tools_of(&page)?);
            cursor = rpc::text(&page, "nextCursor");
            if cursor.is_none() || tools.len() > TOOLS {
                break;
            }
        }
        tools.truncate(TOOLS);
        Ok(tools)
    }

    async fn page(&self, params: &str) -> Result<Reply, Trouble> {
        let line = self.line().await?;
        match line.ask("tools/list", None, params, &Mark::default()).await {
            Err(Trouble::Status(404, _)) if line.heads.session.is_some() => {
                self.hang_up(&line).await;
                self.line().await?.ask("tools/list", None, params, &Mark::default()).await
            }
            answer => answer,
        }
    }

    /// The server, greeted if it was not, or is another since.
    async fn line(&self) -> Result<Arc<Line>, Trouble> {
        let mut line = self.line.lock().await;
        if let Some(line) = line.as_ref().filter(|line| line.wire.is_open()) {
            return Ok(Arc::clone(line));
        }
        *line = None;
        let greeted = Arc::new(Line::greet(self.wire()?).await?);
        Ok(Arc::clone(line.insert(greeted)))
    }

    async fn hang_up(&self, old: &Arc<Line>) {
        let mut line = self.line.lock().await;
        if line.as_ref().is_some_and(|line| Arc::ptr_eq(line, old)) {
            *line = None;
        }
    }

    fn wire(&self) -> Result<Wire, Trouble> {
        match &self.settings.way {
            Way::Http { url, secret, courier } => {
                let http = Http::to(courier, url, secret.as_ref());
                http.map(|http| Wire::Http(Box::new(http)))
                    .ok_or_else(|| Trouble::Way("its address cannot be used".to_owned()))
            }
            Way::Command { command, environment } => {
                Stdio::start(&self.settings.id, command, environment, self.timeout()).map(Wire::Stdio)
            }
        }
    }
}

impl Line {
    /// Greets a server as those are that have sessions, and if it will have none of that, as those that have not.
    async fn greet(wire: Wire) -> Result<Line, Trouble> {
        let mark = Mark::default();
        let hello = rpc::request(0, "initialize", &rpc::hello());
        let refused = match wire.ask(0, hello, &Heads::default(), &mark).await {
            Ok((Reply::Result(result), heads)) => return Line::with_session(wire, &result, heads).await,
            Ok((Reply::Refused(_), _)) | Err(Trouble::Status(400, _)) => "it would not be greeted",
            Err(trouble) => return Err(trouble),
        };
        let line = Line { wire, heads: Heads { version: Some(WITHOUT), ..Heads::default() }, has_session: false };
        match line.ask("server/discover", None, "", &mark).await {
            Ok(Reply::Result(_)) => Ok(line),
            Ok(Reply::Refused(_)) | Err(Trouble::Status(..)) => Err(Trouble::Unusable(refused.to_owned())),
            Err(trouble) => Err(trouble),
        }
    }

    async fn with_session(wire: Wire, result: &str, heads: Heads) -> Result<Line, Trouble> {
        let said = rpc::text(result, "protocolVersion").unwrap_or_default();
        let version = KNOWN.into_iter().find(|known| *known == said);
        let unknown = || Trouble::Unusable("it speaks no version of MCP that is spoken here".to_owned());
        let heads = Heads { version: Some(version.ok_or_else(unknown)?), ..heads };
        wire.tell(rpc::notice("notifications/initialized", "{}"), &heads).await?;
        Ok(Line { wire, heads, has_session: true })
    }

    /// Asks. Parameters are the members of an object.
    async fn ask(&self, method: &'static str, name: Option<&str>, params: &str, mark: &Mark) -> Result<Reply, Trouble> {
        let id = fresh_id()?;
        let meta = (!self.has_session).then(|| format!(r#""_meta":{}"#, rpc::meta()));
        let members: Vec<_> =
            [params, meta.as_deref().unwrap_or_default()].into_iter().filter(|one| !one.is_empty()).collect();
        let text = rpc::request(id, method, &format!("{{{}}}", members.join(",")));
        let mut heads = self.heads.clone();
        if !self.has_session {
            (heads.method, heads.name) = (Some(method), name.map(str::to_owned));
        }
        self.wire.ask(id, text, &heads, mark).await.map(|(reply, _)| reply)
    }
}

/// An id that nobody guesses: whoever makes a server say something of their own cannot make it an answer. It is a number
/// that any server keeps as it is, and not that of the greeting.
fn fresh_id() -> Result<u64, Trouble> {
    let mut drawn = [0; 8];
    getrandom::fill(&mut drawn).map_err(|_| Trouble::Way("the system has no random bytes".to_owned()))?;
    Ok((u64::from_le_bytes(drawn) >> 12) | 1)
}

/// What trouble means for a call that had gone out, or had not.
fn fault(trouble: Trouble, mark: &Mark) -> Fault {
    let says = |status: u16| format!("it answered with HTTP {status}");
    match trouble {
        Trouble::Way(why) | Trouble::Broken(why) | Trouble::Unusable(why) if !mark.is_set() => Fault::Unreached(why),
        Trouble::Status(status, _) if !mark.is_set() => Fault::Unreached(says(status)),
        // A gateway of theirs may say this of a tool that is at work.
        Trouble::Status(status @ 500.., _) => Fault::Broken(says(status)),
        Trouble::Status(status, _) => Fault::Unusable(says(status)),
        Trouble::Unusable(why) => Fault::Unusable(why),
        Trouble::Way(why) | Trouble::Broken(why) => Fault::Broken(why),
    }
}

fn tools_of(page: &str) -> Result<Vec<Tool>, Trouble> {
    let unusable = || Trouble::Unusable("what it tells of its tools cannot be used".to_owned());
    let doc = Doc::parse_within(page.as_bytes(), rpc::MOST).map_err(|_| unusable())?;
    let tools = doc.root().get("tools").ok_or_else(unusable)?;
    let text = |node: Node<'_>, member: &str| node.get(member).and_then(Node::text).map(Cow::into_owned);
    let tool = |node: Node<'_>| {
        let (name, description) = (text(node, "name")?, text(node, "description"));
        Some(Tool { name, description, input_schema: node.get("inputSchema").map(|schema| schema.raw().into()) })
    };
    Ok(tools.items().filter_map(tool).collect())
}
