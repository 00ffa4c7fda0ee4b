//! CAP: agents with declared roles who talk, hand tasks on and review each other.
//!
//! The spec numbers no sections; the docs here name them. What it leaves open (ids, times, grants,
//! decisions) is optional and ours: see `docs/conformance.md`.

mod attachment;
mod compose;
mod error_code;
mod manifest;
mod marks;
mod member;
mod message;
mod task;

pub use attachment::{Attachment, File, MAX_OBJECT, Other, PythonObject, TextSnippet, ToolCallResult};
pub use error_code::{ErrorCode, Remedy};
pub use manifest::{DelegateRule, Manifest, McpBinding, Prompt};
pub use marks::{Decision, Grants};
pub use message::{Body, Kind, Message};
pub use task::{BadTaskId, TaskId};
