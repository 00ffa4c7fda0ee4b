//! VCP-X-Relational: how the relation between somebody and those who serve them stands. Trust follows from
//! the sessions they had; standing, norms and reports of the self are said.

mod act;
mod kept;
mod model;
mod norm;

pub use act::{Act, BeginSession, PutNorm, RemoveNorm, SetPrivacy, SetStanding};
pub use kept::{Change, Kept, Relation};
pub use model::{Model, Report, ReportSelf, Scaffold, Trend};
pub use norm::{Norm, Origin};

use super::words::words;
use serde::{Deserialize, Serialize};

words!(
    /// How far a relation has come.
    Trust {
        /// Under 5 sessions.
        Initial = "INITIAL" | "initial",
        /// Under 20.
        Developing = "DEVELOPING" | "developing",
        /// Under 100.
        Established = "ESTABLISHED" | "established",
        /// 100 and more.
        Deep = "DEEP" | "deep",
    }
);

impl Trust {
    /// The trust after so many sessions.
    pub const fn after(sessions: u64) -> Trust {
        match sessions {
            0..5 => Trust::Initial,
            5..20 => Trust::Developing,
            20..100 => Trust::Established,
            100.. => Trust::Deep,
        }
    }
}

words!(
    /// How much an AI has to say in a relation, or in a deliberation.
    Standing {
        /// Nothing.
        None = "NONE" | "none",
        /// It is heard.
        Advisory = "ADVISORY" | "advisory",
        /// It works with the others.
        Collaborative = "COLLABORATIVE" | "collaborative",
        /// It is one of two sides.
        Bilateral = "BILATERAL" | "bilateral",
    }
);

words!(
    /// Who is told of a field.
    Privacy {
        /// Nobody else.
        Private = "PRIVATE" | "private",
        /// Others are told that it is there, never what it is.
        Attestable = "ATTESTABLE" | "attestable",
        /// Whoever asks.
        Public = "PUBLIC" | "public",
    }
);

/// A part of a relation that others may be told of or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// How far it has come, with the number of sessions.
    Trust,
    /// How much an AI has to say.
    Standing,
    /// The last report of the self.
    SelfModel,
    /// What was agreed on.
    Norms,
}

impl Field {
    /// All of them.
    pub const ALL: [Field; 4] = [Field::Trust, Field::Standing, Field::SelfModel, Field::Norms];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Field::Trust => "trust",
            Field::Standing => "standing",
            Field::SelfModel => "self_model",
            Field::Norms => "norms",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Standing, Trust};

    #[test]
    fn trust_follows_the_number_of_sessions() {
        let table = [
            (0, Trust::Initial),
            (4, Trust::Initial),
            (5, Trust::Developing),
            (19, Trust::Developing),
            (20, Trust::Established),
            (99, Trust::Established),
            (100, Trust::Deep),
            (u64::MAX, Trust::Deep),
        ];
        for (sessions, want) in table {
            assert_eq!(Trust::after(sessions), want, "{sessions}");
        }
    }

    #[test]
    fn standing_rises_from_none_to_bilateral() {
        assert!(Standing::ALL.is_sorted() && Standing::None < Standing::Bilateral);
    }
}
