//! Where an agent's messages are brought to, and what came of bringing them.

use crate::said::Said;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where an agent's messages are brought to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Push {
    /// The address they are posted to.
    pub url: String,
}

/// What a registration says of where messages are brought to.
pub type Pushing = Said<Push>;

/// How messages were brought to an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pushed {
    /// Whose they were.
    pub agent: String,
    /// Those its endpoint took: they are acknowledged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delivered: Vec<Try>,
    /// Those that will be tried again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Try>,
    /// Those that will not. They wait in the mailbox.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given_up: Vec<Try>,
    /// Where those were routed that had been given up and go once more. It comes before the rest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<u64>,
}

impl Pushed {
    /// All attempts, each with what became of the message by it.
    pub fn tries(&self) -> impl Iterator<Item = (Fate, &Try)> {
        let all = [(Fate::Delivered, &self.delivered), (Fate::Failed, &self.failed), (Fate::GivenUp, &self.given_up)];
        all.into_iter().flat_map(|(fate, tries)| tries.iter().map(move |tried| (fate, tried)))
    }

    /// Adds an attempt.
    pub fn add(&mut self, fate: Fate, tried: Try) {
        match fate {
            Fate::Delivered => self.delivered.push(tried),
            Fate::Failed => self.failed.push(tried),
            Fate::GivenUp => self.given_up.push(tried),
        }
    }

    /// How many messages it tells of, as often as it does.
    pub fn len(&self) -> usize {
        self.delivered.len() + self.failed.len() + self.given_up.len() + self.again.len()
    }

    /// Whether it changes which messages are brought at all.
    pub fn is_turn(&self) -> bool {
        !self.given_up.is_empty() || !self.again.is_empty()
    }

    /// Whether it tells of none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What became of a message by an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its agent has it.
    Delivered,
    /// Another attempt follows.
    Failed,
    /// None follows.
    GivenUp,
}

/// Where a message stands that could not be brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Given up. It goes once more when its endpoint takes others again.
    GivenUp,
    /// It goes once more.
    Again,
    /// Given up for the second time. It goes again only where somebody asks for that.
    Spent,
    /// Older than what is sent to other machines: it does not go again.
    TooOld,
}

impl Standing {
    /// Whether it is brought.
    pub const fn goes(self) -> bool {
        match self {
            Standing::Again => true,
            Standing::GivenUp | Standing::Spent | Standing::TooOld => false,
        }
    }

    /// Whether it goes again where somebody asks for that.
    pub const fn may_go(self) -> bool {
        match self {
            Standing::GivenUp | Standing::Spent => true,
            Standing::Again | Standing::TooOld => false,
        }
    }

    /// Where a message stands once it is given up.
    pub(crate) fn given_up(before: Option<Standing>, outcome: Outcome) -> Standing {
        if outcome == Outcome::Lost(Lost::TooOld) {
            return Standing::TooOld;
        }
        match before {
            None | Some(Standing::GivenUp) => Standing::GivenUp,
            Some(Standing::Again | Standing::Spent) => Standing::Spent,
            Some(Standing::TooOld) => Standing::TooOld,
        }
    }
}

/// One attempt, in the record `[position, number, outcome]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u8, Outcome)", into = "(u64, u8, Outcome)")]
pub struct Try {
    /// Where the message was routed.
    pub position: u64,
    /// Which attempt it was, from 1; 0 where none was made.
    pub number: u8,
    /// What came of it.
    pub outcome: Outcome,
}

impl From<(u64, u8, Outcome)> for Try {
    fn from((position, number, outcome): (u64, u8, Outcome)) -> Try {
        Try { position, number, outcome }
    }
}

impl From<Try> for (u64, u8, Outcome) {
    fn from(tried: Try) -> (u64, u8, Outcome) {
        (tried.position, tried.number, tried.outcome)
    }
}

/// What came of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    /// The endpoint answered with this status.
    Status(u16),
    /// It did not answer.
    Lost(Lost),
}

/// Why nobody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// The name leads nowhere.
    Unresolved,
    /// The address is none the exchange may send to.
    Forbidden,
    /// Nobody takes connections there.
    Unreachable,
    /// It could not prove to be who it is.
    Untrusted,
    /// It took too long.
    Timeout,
    /// The connection broke.
    Broken,
    /// The message is older than what is sent to other machines.
    TooOld,
}

impl Outcome {
    /// Whether the endpoint took the message.
    pub const fn is_delivered(self) -> bool {
        matches!(self, Outcome::Status(200..=299))
    }

    /// Whether another attempt may end otherwise.
    pub const fn is_retryable(self) -> bool {
        match self {
            Outcome::Status(status) => matches!(status, 408 | 425 | 429 | 500..=599),
            Outcome::Lost(lost) => match lost {
                Lost::Unresolved | Lost::Unreachable | Lost::Untrusted | Lost::Timeout | Lost::Broken => true,
                Lost::Forbidden | Lost::TooOld => false,
            },
        }
    }
}

impl Lost {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Lost::Unresolved => "unresolved",
            Lost::Forbidden => "forbidden",
            Lost::Unreachable => "unreachable",
            Lost::Untrusted => "untrusted",
            Lost::Timeout => "timeout",
            Lost::Broken => "broken",
            Lost::TooOld => "too_old",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Status(status) => write!(f, "{status}"),
            Outcome::Lost(lost) => f.write_str(lost.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lost, Outcome, Pushed, Standing, Try};

    #[test]
    fn attempts_are_few_bytes_of_the_record() {
        let tried = |position, number, outcome| Try { position, number, outcome };
        let pushed = Pushed {
            agent: "ann".to_owned(),
            delivered: vec![tried(7, 1, Outcome::Status(200))],
            failed: vec![tried(8, 2, Outcome::Lost(Lost::Timeout))],
            ..Pushed::default()
        };
        let text = serde_json::to_string(&pushed).unwrap();
        assert_eq!(text, r#"{"agent":"ann","delivered":[[7,1,200]],"failed":[[8,2,"timeout"]]}"#);
        assert_eq!(serde_json::from_str::<Pushed>(&text).unwrap(), pushed);
    }

    #[test]
    fn what_is_given_up_twice_goes_again_only_where_somebody_asks() {
        let (failed, old) = (Outcome::Status(503), Outcome::Lost(Lost::TooOld));
        let check = |before, outcome, want| assert_eq!(Standing::given_up(before, outcome), want, "{before:?}");
        check(None, failed, Standing::GivenUp);
        // An attempt that is noted twice is one.
        check(Some(Standing::GivenUp), failed, Standing::GivenUp);
        check(Some(Standing::Again), failed, Standing::Spent);
        check(Some(Standing::Spent), failed, Standing::Spent);
        check(None, old, Standing::TooOld);
        check(Some(Standing::Again), old, Standing::TooOld);
        check(Some(Standing::TooOld), failed, Standing::TooOld);
        let all = [Standing::GivenUp, Standing::Again, Standing::Spent, Standing::TooOld];
        assert_eq!(all.map(Standing::goes), [false, true, false, false]);
        assert_eq!(all.map(Standing::may_go), [true, false, true, false]);
    }

    #[test]
    fn only_what_may_end_otherwise_is_tried_again() {
        for again in [408, 425, 429, 500, 502, 599] {
            assert!(Outcome::Status(again).is_retryable(), "{again}");
        }
        for over in [200, 204, 299, 301, 307, 400, 401, 404, 409, 410, 422, 600] {
            assert!(!Outcome::Status(over).is_retryable(), "{over}");
            assert_eq!(Outcome::Status(over).is_delivered(), over < 300, "{over}");
        }
        assert!(Outcome::Lost(Lost::Broken).is_retryable() && !Outcome::Lost(Lost::Forbidden).is_retryable());
    }
}
