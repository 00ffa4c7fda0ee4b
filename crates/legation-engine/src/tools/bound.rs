//! Which tools there are: for an agent those it is bound to, for those who see everything all that are set up. What they do
//! is told in their servers' words, with what was found in those.

use super::{Fault, Tool, Tools};
use crate::exchange::{Error, Exchange};
use crate::refusals::Source;
use legation_exchange::Who;
use legation_exchange::rules::{Finding, scan};
use legation_protocol::Rejection;
use serde_json::json;
use std::collections::BTreeSet;

/// A server that an agent is bound to.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundServer {
    /// Its id.
    pub id: String,
    /// The scopes the agent has there.
    pub scopes: BTreeSet<String>,
    /// Why the server does not say what it has, if it does not.
    pub fault: Option<String>,
    /// The tools the agent is bound to.
    pub tools: Vec<Bound>,
}

/// A tool that an agent is bound to.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Its name.
    pub name: String,
    /// Whether the agent may call it now, without naming a task.
    pub callable: bool,
    /// The tool as its server tells it; nothing if the server does not have it, or says nothing.
    pub told: Option<Described>,
}

/// A tool in its server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The tool.
    pub tool: Tool,
    /// What was found in those words.
    pub findings: Vec<Finding>,
}

/// A server as those see it who see everything.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerTools {
    /// Its id.
    pub id: String,
    /// Its tools, or why it does not say what it has.
    pub tools: Result<Vec<Described>, String>,
}

impl Exchange {
    /// The servers that are set up and that an agent is bound to, and its tools there.
    pub async fn bound_tools(&self, agent: &str) -> Result<Result<Vec<BoundServer>, Rejection>, Error> {
        let Some(tools) = &self.tools else { return Ok(Ok(Vec::new())) };
        let place = match self.place_for(tools, agent) {
            Ok(place) => place,
            Err(rejection) => {
                let who = Who::Agent(agent.to_owned());
                self.note_rejection(&who, &rejection, Source::InProcess, None).recorded().await;
                return Ok(Err(rejection));
            }
        };
        let known = tools.gateway.servers();
        let mut bound: Vec<_> = self.bindings(agent).into_iter().filter(|server| known.contains(&server.id)).collect();
        let told = self.told_by(tools, bound.iter().map(|server| server.id.clone()).collect()).await;
        drop(place);
        for (server, told) in bound.iter_mut().zip(told) {
            match told.tools {
                Ok(all) => {
                    for tool in &mut server.tools {
                        tool.told = all.iter().find(|told| told.tool.name == tool.name).cloned();
                    }
                }
                Err(why) => server.fault = Some(why),
            }
        }
        Ok(Ok(bound))
    }

    /// All servers that are set up.
    pub async fn tool_servers(&self) -> Vec<ServerTools> {
        let Some(tools) = &self.tools else { return Vec::new() };
        self.told_by(tools, tools.gateway.servers()).await
    }

    fn bindings(&self, agent: &str) -> Vec<BoundServer> {
        let (state, policy) = (self.state(), self.policies.borrow().clone());
        let Some(agent) = state.registry().agent(agent) else { return Vec::new() };
        let Some(rights) = state.rules().cap.rights(agent) else { return Vec::new() };
        let servers = rights.bindings.iter().map(|(id, binding)| {
            let bound = |name: &String| {
                let callable = state.may_call(&policy, agent, id, name);
                Bound { name: name.clone(), callable, told: None }
            };
            let tools = binding.tools.iter().map(bound).collect();
            BoundServer { id: id.clone(), scopes: binding.scopes.clone(), fault: None, tools }
        });
        servers.collect()
    }

    /// Asks servers at the same time.
    async fn told_by(&self, tools: &Tools, servers: Vec<String>) -> Vec<ServerTools> {
        let asked: Vec<_> = servers.into_iter().map(|id| (tokio::spawn(tools.gateway.tools(&id)), id)).collect();
        let mut told = Vec::new();
        for (asked, id) in asked {
            let answer = asked.await.unwrap_or_else(|_| Err(Fault::Broken("it could not be asked".to_owned())));
            let tools = answer.map(|tools| tools.into_iter().map(|tool| self.described(tool)).collect()).map_err(why);
            told.push(ServerTools { id, tools });
        }
        told
    }

    fn described(&self, tool: Tool) -> Described {
        let schema: serde_json::Value =
            tool.input_schema.as_deref().and_then(|schema| serde_json::from_str(schema).ok()).unwrap_or_default();
        let words = json!({ "name": tool.name, "description": tool.description, "input_schema": schema });
        let findings = scan::marks(&self.scan_json(words.to_string().as_bytes())).collect();
        Described { tool, findings }
    }
}

fn why(fault: Fault) -> String {
    match fault {
        Fault::Unreached(why) | Fault::Unusable(why) | Fault::Broken(why) => why,
        Fault::Silent => "it did not answer in time".to_owned(),
    }
}
