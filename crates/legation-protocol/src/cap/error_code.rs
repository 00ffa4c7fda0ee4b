//! The codes of error responses (Error Schema). The spec speaks of standard codes and lists none;
//! these have the meaning HTTP gives them.

use serde::{Serialize, Serializer};

macro_rules! error_codes {
    ($($variant:ident = $number:literal, $remedy:ident, $meaning:literal;)*) => {
        /// What went wrong, as a number (Error Schema).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ErrorCode {
            $(#[doc = concat!(stringify!($number), ": ", $meaning)] $variant,)*
            /// A number outside the list, kept as it came.
            Other(i64),
        }

        impl ErrorCode {
            /// The listed codes, in ascending order.
            pub const LISTED: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The number on the wire.
            pub const fn number(self) -> i64 {
                match self {
                    $(ErrorCode::$variant => $number,)*
                    ErrorCode::Other(number) => number,
                }
            }

            /// What the code means, for people. Numbers outside the list mean nothing we know.
            pub const fn meaning(self) -> Option<&'static str> {
                match self {
                    $(ErrorCode::$variant => Some($meaning),)*
                    ErrorCode::Other(_) => None,
                }
            }

            /// What its recipient can do about it. Unknown for numbers outside the list.
            pub const fn remedy(self) -> Option<Remedy> {
                match self {
                    $(ErrorCode::$variant => Some(Remedy::$remedy),)*
                    ErrorCode::Other(_) => None,
                }
            }
        }

        impl From<i64> for ErrorCode {
            fn from(number: i64) -> Self {
                match number {
                    $($number => ErrorCode::$variant,)*
                    other => ErrorCode::Other(other),
                }
            }
        }
    };
}

error_codes! {
    BadRequest = 400, Mend, "the request makes no sense to its recipient";
    Forbidden = 403, Escalate, "the sender lacks a permission";
    NotFound = 404, Reassign, "there is no such agent, task or tool";
    RequestTimeout = 408, Retry, "an answer was awaited too long";
    Conflict = 409, Mend, "the request does not fit the state of the task";
    TooLarge = 413, Mend, "more than the recipient takes";
    Locked = 423, Escalate, "the agent or task is paused, suspended or halted";
    TooMany = 429, Retry, "too many requests or subtasks at a time";
    Internal = 500, Retry, "a fault at the recipient";
    Unavailable = 503, Retry, "the recipient cannot work now";
    Timeout = 504, Retry, "a tool or a task did not finish in time";
}

/// What to do about an error (Observability).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Send the same again later.
    Retry,
    /// Give the task to somebody else.
    Reassign,
    /// Ask somebody with more rights.
    Escalate,
    /// Change the request: the same one will fail again.
    Mend,
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, Remedy};

    #[test]
    fn every_listed_code_has_a_number_a_meaning_and_a_remedy() {
        let numbers: Vec<_> = ErrorCode::LISTED.iter().map(|code| code.number()).collect();
        assert_eq!(numbers, [400, 403, 404, 408, 409, 413, 423, 429, 500, 503, 504]);
        for code in ErrorCode::LISTED {
            assert_eq!(ErrorCode::from(code.number()), *code);
            assert!(code.meaning().is_some() && code.remedy().is_some(), "{code:?}");
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let retried = ErrorCode::LISTED.iter().filter(|code| code.remedy() == Some(Remedy::Retry));
        assert_eq!(retried.map(|code| code.number()).collect::<Vec<_>>(), [408, 429, 500, 503, 504]);
        assert_eq!(ErrorCode::from(123), ErrorCode::Other(123));
        assert_eq!(ErrorCode::Other(123).remedy(), None);
    }
}
