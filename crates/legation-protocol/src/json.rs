//! The front door for bytes: one pass that either refuses them or yields a [`Doc`], whose nodes
//! everything else reads. Nothing behind it sees a message that is not strict JSON, and nothing
//! behind it parses again.

mod canonical;
mod doc;
mod escape;
mod number;
mod owned;
mod python;
mod scan;

pub use canonical::{Digest, Form, canonical, signed_bytes};
pub use doc::{Doc, Kind, Limits, Node};
pub use escape::push_string;
pub use owned::Json;
