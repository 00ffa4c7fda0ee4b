//! The ElizaOS agent communication language 0.1: ten communicative acts in one wrapper. It calls
//! itself MCP; here it is ACL, and MCP means the Model Context Protocol. An eleventh, `CANCEL`, is only planned: as a
//! document it is none, and an exchange that extends the language takes it.
//!
//! Agents speak through a [`Head`], which opens an exchange, and a [`Reply`], which answers a
//! message and so cannot forget to name it.
//!
//! ```
//! use legation_protocol::acl::{Head, Message, MessageId, Ontology, TaskAccept, TaskRequest};
//! use legation_protocol::{Timestamp, build, id::AgentId, parse};
//! use std::time::Duration;
//!
//! let head = Head {
//!     message_id: MessageId::parse("5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10")?,
//!     sender: AgentId::named("Eddy")?,
//!     receiver: AgentId::named("Jules")?,
//!     timestamp: Timestamp::utc("2025-06-18T09:14:05Z")?,
//! };
//! let tidy = TaskRequest::new("tidy_up", "Tidy the scratch directory.", Default::default());
//! let request = build(&head.request_about(tidy, Ontology::parse("elizaos:ontology:files/tidy_request")?))?;
//!
//! let received: Message = parse(request.text().as_bytes())?.value;
//! let reply = received.reply(
//!     MessageId::parse("e07b5d42-91c8-4f6a-b3d1-2c84f9a06e57")?,
//!     Timestamp::utc("2025-06-18T09:14:06Z")?,
//! );
//! let accept = reply.with(TaskAccept::within(Duration::from_mins(5)))?;
//! assert!(accept.answers(&received).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capabilities;
mod content;
mod estimate;
mod glimpse;
mod head;
mod language;
mod message;
mod ontology;
mod outcome;
mod performative;
mod query;
mod reply;
mod task;

pub use capabilities::{
    Action, ActionDetails, Answer, Capabilities, InformCapabilities, Known, MatchType, Query, QueryCapabilities,
    QueryType, Specific, Success,
};
pub use content::{Answering, Content, Opening};
pub use estimate::{BadDuration, Estimate, IsoDuration};
pub use glimpse::Glimpse;
pub use head::{Head, NoTerm};
pub use language::{BadLanguage, Language};
pub use message::{BadMessageId, Message, MessageId, Party, Version};
pub use ontology::{BadOntology, Ontology, Parts, Term};
pub use outcome::{Artifact, Failed, Failure, InformResult, Misunderstanding, NotUnderstood, TaskStatus};
pub use performative::Performative;
pub use query::{QueryIf, QueryRef};
pub use reply::{Ambiguous, Misfit, Reply, Tie};
pub use task::{Accepted, Cancel, DebugCode, Priority, Rejected, TaskAccept, TaskReject, TaskRequest};
