//! What agents can do (sections 4.8, 4.9 and 9): three kinds of question, three kinds of answer.

mod answer;
mod question;

pub use answer::{Action, Answer, Capabilities, InformCapabilities, Success};
pub use question::{ActionDetails, Known, MatchType, Query, QueryCapabilities, QueryType, Specific};
