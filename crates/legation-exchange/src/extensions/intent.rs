//! VCP-X-Intent: what somebody is after, concluded by rules that anybody can read. The same words give the
//! same answer, with the rules that made it; and whoever it is about has the last word.

mod infer;
mod kept;
mod rules;

pub use infer::{Fired, Guess, Heard, Inference, infer};
pub use kept::{Change, Intention, Kept};

use super::words::words;
use super::{Asker, Extension, bounds};
use crate::moment::Moment;
use legation_protocol::{Code, Rejection};
use serde::Deserialize;

/// Most bytes of a text.
const TEXT: usize = 16_384;

words!(
    /// What somebody may be after.
    Category {
        /// To know something for their work.
        ProfessionalInquiry = "PROFESSIONAL_INQUIRY" | "professional_inquiry",
        /// To have something done at once.
        UrgentTask = "URGENT_TASK" | "urgent_task",
        /// To find out about themselves.
        PersonalExploration = "PERSONAL_EXPLORATION" | "personal_exploration",
        /// To come to terms with what they feel.
        EmotionalProcessing = "EMOTIONAL_PROCESSING" | "emotional_processing",
        /// To know how their health is.
        HealthCheck = "HEALTH_CHECK" | "health_check",
        /// To talk.
        CasualConversation = "CASUAL_CONVERSATION" | "casual_conversation",
        /// To be helped out of great need.
        CrisisSupport = "CRISIS_SUPPORT" | "crisis_support",
        /// To make something.
        CreativeWork = "CREATIVE_WORK" | "creative_work",
        /// To learn.
        Learning = "LEARNING" | "learning",
        /// To see that all is well.
        RoutineCheck = "ROUTINE_CHECK" | "routine_check",
    }
);

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// To conclude it from words.
    Infer(Infer),
    /// To say what it is.
    Correct(Correct),
}

/// To conclude it from words. The words are not kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Infer {
    /// In which session.
    pub session_id: String,
    /// What was said.
    pub text: String,
    /// What it is about, where that was said.
    pub topic: Option<String>,
    /// The ontology it was said in.
    pub ontology: Option<String>,
}

/// To say what it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correct {
    /// In which session.
    pub session_id: String,
    /// What it is.
    pub category: Category,
}

/// Which session is meant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its id.
    pub session_id: String,
}

/// Decides on what is asked.
pub(super) fn decide(kept: &super::Kept, asker: &Asker, now: Moment, act: &Act) -> Result<Change, Rejection> {
    match act {
        Act::Infer(Infer { session_id, text, topic, ontology }) => {
            bounds::text(session_id, bounds::NAME, "/session_id")?;
            bounds::count(text.len(), 1, TEXT, "/text")?;
            for (said, at) in [(topic, "/topic"), (ontology, "/ontology")] {
                said.iter().try_for_each(|said| bounds::text(said, bounds::NAME, at))?;
            }
            kept.intent.has_room(&asker.subject)?;
            let personal = asker.active.contains(&Extension::Personal);
            let signals = kept.personal.of(&asker.subject).filter(|_| personal);
            let heard = Heard { text, topic: topic.as_deref(), ontology: ontology.as_deref() };
            let inference = infer(heard, personal.then(|| signals.collect()), now);
            Ok(Change::Inferred { session_id: session_id.clone(), inference })
        }
        Act::Correct(Correct { session_id, category }) => {
            if kept.intent.of(&asker.subject, session_id).is_none() {
                let text = "nothing was concluded in this session";
                return Err(Rejection::because(Code::NotFound, text).at("/session_id"));
            }
            Ok(Change::Corrected { session_id: session_id.clone(), category: *category })
        }
    }
}
