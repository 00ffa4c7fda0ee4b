//! Calls of tools through the gateway: whether one is made, and what came of it. The first is on the record before anything
//! is sent, the second before anybody is told.

use super::{Decided, Decision, Desk, Verdict};
use crate::effect::Effect;
use crate::rules::{cap, scan, vcp};
use crate::tool::{Answered, Called, Outcome};
use crate::who::Who;
use legation_protocol::json::Digest;
use legation_protocol::{Code, Rejection};
use legation_scan::Found;

/// A call that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The server, by the id that manifests have.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The task it is made in, by its id.
    pub task: Option<String>,
    /// The scopes it needs.
    pub scopes: Vec<String>,
    /// The arguments as received: a JSON object.
    pub arguments: Box<[u8]>,
    /// SHA-256 of their canonical form.
    pub digest: String,
    /// Whether the exchange calls this server at all.
    pub is_known: bool,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The entry of the call.
    pub call: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// More of that, in words of ours.
    pub why: Option<String>,
    /// What the server said: for a result, [`told`](crate::tool::told).
    pub body: Option<Box<[u8]>>,
    /// What was found in that.
    pub scanned: Vec<Found>,
}

impl Desk<'_> {
    pub(super) fn call(&self, call: Call, who: &Who) -> Decided {
        let agent = match who {
            Who::Agent(id) => self.state.registry.agent(id),
            Who::Person { .. } => {
                return Err(Rejection::because(Code::NotAllowed, "agents call tools: this takes an agent's token"));
            }
            Who::Nobody => None,
        };
        let unknown = || Rejection::because(Code::Unauthenticated, "this takes an agent's token");
        let agent = agent.ok_or_else(unknown)?;
        let task = cap::may_call(self.state, self.policy, agent, &call)?;
        if !call.is_known {
            let text = format!("no tool server {:?} is set up here", call.server);
            return Err(Rejection::because(Code::UnknownTool, text).at("/server_id"));
        }
        let Call { server, tool, task: thread, scopes, arguments, digest, .. } = call;
        let agent = agent.id.clone();
        let called = Called { agent, server, tool, task, thread, scopes, digest };
        Ok(self.accepted(String::new(), true, Effect::Called(called), Some(arguments)))
    }

    /// Whatever came of a call is on the record; of one that was erased meanwhile, no more than how it ended. Whoever is
    /// suspended by then, or gone, is not told.
    pub(super) fn answer(&self, answer: Answer) -> Decided {
        let Answer { call, outcome, why, mut body, mut scanned } = answer;
        let is_erased = self.state.rules.cap.calls.is_erased(call);
        if is_erased {
            (body, scanned) = (None, Vec::new());
        }
        let Some(open) = self.state.rules.cap.calls.open(call) else {
            return Err(Rejection::because(Code::NotFound, format!("no call is under way in entry {call}")));
        };
        let Called { agent, server, tool, thread, .. } = open.clone();
        let digest = body.as_deref().filter(|_| outcome.is_answer()).map(|told| Digest::of_bytes(told).to_string());
        let findings = scan::marks(&scanned).collect();
        let caller = self.state.registry.agent(&agent).filter(|agent| agent.since < call);
        let gone = || Rejection::because(Code::Unauthenticated, "whoever called was removed meanwhile");
        let erased =
            || Rejection::because(Code::NotFound, "the call was erased meanwhile, and with it what came of it");
        let may_hear = caller.ok_or_else(gone).and_then(|caller| vcp::may_be_heard(self.state, caller));
        let may_hear = may_hear.and_then(|()| if is_erased { Err(erased()) } else { Ok(()) });
        let answered = Answered { call, agent, server, tool, thread, outcome, why, digest, findings };
        let Decision { verdict, entries } = self.accepted(String::new(), true, Effect::Answered(answered), body);
        Ok(Decision { verdict: may_hear.map_or_else(Verdict::Refused, |()| verdict), entries })
    }
}
