//! Tools, called through the exchange. A call is on the record before anything is sent, and what came of it before anybody
//! is told. Whoever asked may be gone by then: the entries are made all the same.

mod bound;
mod gateway;
mod late;
mod places;
mod seen;

pub use bound::{Bound, BoundServer, Described, ServerTools};
pub use gateway::{Calling, Fault, Gateway, Listing, Reply, Tool};
pub use seen::{CallQuery, SeenAnswer, SeenCall};

use places::{Place, Places};

use crate::exchange::{Error, Exchange};
use crate::refusals::Source;
use legation_exchange::record::Receipt;
use legation_exchange::rules::Finding;
use legation_exchange::tool::{Outcome, told};
use legation_exchange::{Answer, Call, Effect, Input, Verdict, Who};
use legation_protocol::json::{Digest, Doc, Node, canonical};
use legation_protocol::{Code, Rejection};
use std::sync::Arc;
use tokio::sync::watch;

/// A call that somebody wants made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The server, by the id that manifests have.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, as received: a JSON object.
    pub arguments: Box<str>,
    /// The task it is made in.
    pub task: Option<String>,
    /// The scopes it needs.
    pub scopes: Vec<String>,
}

/// What a tool answered.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// The entry of the call.
    pub call: u64,
    /// The entry of the answer.
    pub position: u64,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// What it answered and which it is, in canonical form.
    pub told: Box<str>,
    /// What was found in it.
    pub findings: Vec<Finding>,
    /// That the exchange was answered this, signed by it.
    pub receipt: Option<Receipt>,
}

/// The gateway in use.
pub(crate) struct Tools {
    gateway: Arc<dyn Gateway>,
    places: Arc<Places>,
    /// Whether answers are waited for no longer.
    ending: watch::Sender<bool>,
    /// How many answers came that the record had no room for.
    late: watch::Sender<usize>,
}

impl Tools {
    pub(crate) fn new(gateway: Arc<dyn Gateway>) -> Tools {
        let (ending, late) = (watch::Sender::new(false), watch::Sender::new(0));
        Tools { gateway, places: Arc::new(Places::default()), ending, late }
    }

    /// Calls a tool, and waits until it answers or answers are waited for no longer: then there is nothing.
    async fn call(&self, server: &str, tool: &str, arguments: Arc<str>) -> Option<Result<Reply, Fault>> {
        let mut ending = self.ending.subscribe();
        let ends = ending.wait_for(|ending| *ending);
        tokio::select! {
            came = self.gateway.call(server, tool, arguments) => Some(came),
            _ = ends => None,
        }
    }

    fn knows(&self, server: &str) -> bool {
        self.gateway.servers().iter().any(|known| known == server)
    }
}

impl Exchange {
    /// Calls a tool for an agent, once. To be run apart from whoever asked: what is begun is to be written down.
    pub async fn call_tool(&self, call: ToolCall, who: Who) -> Result<Result<ToolAnswer, Rejection>, Error> {
        let tools = self.tools.as_deref();
        let place = match self.place_of(&who) {
            Ok(place) => place,
            Err(rejection) => {
                self.note_rejection(&who, &rejection, Source::InProcess, None).recorded().await;
                return Ok(Err(rejection));
            }
        };
        let (server, tool, arguments) = (call.server.clone(), call.tool.clone(), Arc::from(&*call.arguments));
        let is_known = tools.is_some_and(|tools| tools.knows(&server));
        let asked = match asked(call, is_known) {
            Ok(asked) => Input::Call { call: Box::new(asked), who },
            Err(rejection) => return Ok(Err(rejection)),
        };
        let (call, tools) = match (self.ask(asked).await?, tools) {
            (Verdict::Accepted { position, .. }, Some(tools)) => (position, tools),
            (Verdict::Refused(rejection), _) => return Ok(Err(rejection)),
            (Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. }, _) => {
                return Err(Error::Closed);
            }
        };
        tracing::debug!(call, server, tool, "a tool is called");
        let answer = match tools.call(&server, &tool, arguments).await {
            Some(came) => self.upshot(call, (&server, &tool), came),
            None => interrupted(call),
        };
        // It may have gone out: whatever fails from here on, nobody is told to try again.
        Ok(self.told_of(answer, &server, place).await.unwrap_or_else(|error| {
            tracing::error!(call, error = %error, "what came of a call could not be kept");
            Err(unkept(&server, call))
        }))
    }

    /// A place for a call that somebody makes now: at the pace of messages.
    fn place_of(&self, who: &Who) -> Result<Option<Place>, Rejection> {
        let (Some(tools), Who::Agent(agent)) = (self.tools.as_deref(), who) else { return Ok(None) };
        let taken = self.pace.take(agent, tokio::time::Instant::now());
        taken.map_err(|_| Rejection::because(Code::RateLimited, "this is more than one may say in that time"))?;
        self.place_for(tools, agent).map(Some)
    }

    /// A place for an agent, which has those of whoever it is an instance of.
    fn place_for(&self, tools: &Tools, agent: &str) -> Result<Place, Rejection> {
        let family = self.state().registry().agent(agent).map(|agent| agent.family().to_owned());
        tools.places.take(family.as_deref().unwrap_or(agent))
    }

    /// Answers of tools are waited for no longer: the record says so of all calls under way.
    pub fn end_tool_calls(&self) {
        if let Some(tools) = &self.tools {
            tools.ending.send_replace(true);
        }
    }

    /// What came of a call, for the record.
    fn upshot(&self, call: u64, (server, tool): (&str, &str), came: Result<Reply, Fault>) -> Answer {
        let ended = |outcome, why: Option<String>| Answer { call, outcome, why, body: None, scanned: Vec::new() };
        match came {
            Ok(Reply::Result(result)) => match told(server, tool, &result) {
                Some(told) => {
                    let outcome = if says_error(&result) { Outcome::Error } else { Outcome::Result };
                    let scanned = self.scan_json(&told);
                    Answer { call, outcome, why: None, body: Some(told.into()), scanned }
                }
                None => ended(Outcome::Unusable, Some("its result is more than a message could carry".to_owned())),
            },
            Ok(Reply::Refused(error)) => {
                let scanned = self.scan_json(error.as_bytes());
                let body = Some(error.into_string().into_bytes().into());
                Answer { call, outcome: Outcome::Refused, why: None, body, scanned }
            }
            Err(Fault::Unreached(why)) => ended(Outcome::Unreached, Some(why)),
            Err(Fault::Unusable(why)) => ended(Outcome::Unusable, Some(why)),
            Err(Fault::Silent) => ended(Outcome::Silent, None),
            Err(Fault::Broken(why)) => ended(Outcome::Broken, Some(why)),
        }
    }

    /// Puts it on the record, and then says it. What the record has no room for is told to nobody, and tried again until
    /// it is there.
    async fn told_of(
        &self,
        answer: Answer,
        server: &str,
        place: Option<Place>,
    ) -> Result<Result<ToolAnswer, Rejection>, Error> {
        let settled = self.enqueue(Input::Answer(Box::new(answer.clone()))).await?.settled().await?;
        let (call, outcome) = (answer.call, answer.outcome);
        let (verdict, receipt) = if outcome.is_answer() { settled.receipted()? } else { (settled.verdict(), None) };
        let position = match verdict {
            Verdict::Accepted { position, .. } => position,
            Verdict::Refused(rejection) if rejection.code() == Code::StorageFull => {
                self.keep_late(answer, place);
                return Ok(Err(unkept(server, call)));
            }
            Verdict::Refused(rejection) => return Ok(Err(rejection)),
            Verdict::Held { .. } | Verdict::Duplicate { .. } => return Err(Error::Closed),
        };
        let Answer { why, body, scanned, .. } = answer;
        if !outcome.is_answer() {
            let words = body.filter(|_| scanned.is_empty());
            return Ok(Err(refusal(server, (call, outcome), why, words.as_deref())));
        }
        let told = String::from_utf8(body.map(Vec::from).unwrap_or_default()).map_err(|_| Error::Entry { position })?;
        let findings = self.findings_at(position)?;
        let is_error = outcome == Outcome::Error;
        Ok(Ok(ToolAnswer { call, position, is_error, told: told.into(), findings, receipt }))
    }

    fn findings_at(&self, position: u64) -> Result<Vec<Finding>, Error> {
        match self.entry(position)?.map(|entry| entry.effect) {
            Some(Effect::Answered(answered)) => Ok(answered.findings),
            Some(_) | None => Err(Error::Entry { position }),
        }
    }
}

/// What whoever called is told where the record has no room for what came, or cannot be written.
fn unkept(server: &str, call: u64) -> Rejection {
    let text = "the record cannot take what came of it now; nothing can be told of what the tool did before it has";
    Rejection::because(Code::ToolTimeout, format!("{server:?} was asked, and {text} (call {call})"))
}

fn interrupted(call: u64) -> Answer {
    Answer { call, outcome: Outcome::Interrupted, why: None, body: None, scanned: Vec::new() }
}

/// The call as it is decided on.
fn asked(call: ToolCall, is_known: bool) -> Result<Call, Rejection> {
    let ToolCall { server, tool, arguments, task, scopes } = call;
    let digest = Digest::of_bytes(&canonical(Doc::parse(arguments.as_bytes())?.root())).to_string();
    Ok(Call { server, tool, task, scopes, arguments: arguments.into_boxed_bytes(), digest, is_known })
}

/// Whether a result says that the tool failed.
fn says_error(result: &str) -> bool {
    let doc = Doc::parse(result.as_bytes()).ok();
    doc.and_then(|doc| doc.root().get("isError").and_then(Node::boolean)).unwrap_or(false)
}

/// How many characters of a server's own words are passed on.
const WORDS: usize = 500;

/// What whoever called is told when there is no result.
fn refusal(server: &str, (call, outcome): (u64, Outcome), why: Option<String>, words: Option<&[u8]>) -> Rejection {
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let unknown = "nothing is known of what the tool did";
    let (code, text) = match outcome {
        Outcome::Unreached => {
            (Code::ToolUnavailable, format!("{server:?} could not be reached{why}; nothing was sent"))
        }
        Outcome::Silent => (Code::ToolTimeout, format!("{server:?} was asked and did not answer in time; {unknown}")),
        Outcome::Broken => (Code::ToolTimeout, format!("{server:?} was asked and has not answered{why}; {unknown}")),
        Outcome::Interrupted => (Code::ToolTimeout, format!("the exchange ended before an answer; {unknown}")),
        Outcome::Unusable => (Code::ToolFailed, format!("{server:?} answered with no result that can be used{why}")),
        Outcome::Refused => (Code::ToolFailed, format!("{server:?} answered with an error{}", said(words))),
        Outcome::Result | Outcome::Error => (Code::ToolFailed, format!("{server:?} answered")),
    };
    Rejection::because(code, format!("{text} (call {call})"))
}

/// The words of a server's error, if nothing suspicious was found in them.
fn said(error: Option<&[u8]>) -> String {
    let doc = error.and_then(|error| Doc::parse(error).ok());
    let message = doc.as_ref().and_then(|doc| doc.root().get("message")).and_then(Node::text);
    match message {
        Some(message) => format!(": {}", message.chars().take(WORDS).collect::<String>()),
        None => "; its words are on the record".to_owned(),
    }
}
