//! Why a socket ends, as its last frame says it.

use crate::refusal::Refusal;
use legation_engine::End;
use legation_protocol::Code;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

/// Why a socket ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// Against a rule, or a refusal.
    Policy(Code),
    /// Another takes from the mailbox; what was asked before is answered first.
    Fenced,
    /// The exchange stops; what was asked before is answered first.
    Stopping,
    /// Nothing was heard for too long.
    Silent,
    /// There is no room for those who have proven nothing.
    NoRoom,
    /// A kind of frame that is not read here.
    Binary,
    /// More than a message may have.
    TooLarge,
    /// Text that is not UTF-8.
    NotText,
    /// A handshake that failed for good, or a second one.
    Handshake,
    /// A core feature that the session began with has failed.
    Unfit,
    /// Against RFC 6455.
    Protocol,
    /// A fault of ours.
    Ours,
    /// The client has said goodbye.
    Theirs,
    /// The connection is gone.
    Lost,
}

impl Close {
    /// What a failed read means.
    pub(crate) fn of(error: &Error) -> Close {
        match error {
            Error::Capacity(_) => Close::TooLarge,
            Error::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge => Close::TooLarge,
            Error::Utf8(_) => Close::NotText,
            Error::Protocol(tokio_tungstenite::tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => {
                Close::Lost
            }
            Error::Protocol(_) => Close::Protocol,
            _ => Close::Lost,
        }
    }

    /// The last frame, where one can still be sent.
    pub(crate) fn frame(self) -> Option<CloseFrame> {
        let code = self.code()?;
        Some(CloseFrame { code, reason: self.reason().into() })
    }

    fn code(self) -> Option<CloseCode> {
        Some(match self {
            Close::Policy(_) | Close::Fenced => CloseCode::Policy,
            Close::Stopping | Close::Silent => CloseCode::Away,
            Close::NoRoom => CloseCode::Again,
            Close::Binary => CloseCode::Unsupported,
            Close::TooLarge => CloseCode::Size,
            Close::NotText => CloseCode::Invalid,
            Close::Protocol | Close::Handshake => CloseCode::Protocol,
            Close::Ours | Close::Unfit => CloseCode::Error,
            Close::Theirs | Close::Lost => return None,
        })
    }

    pub(crate) fn reason(self) -> &'static str {
        match self {
            Close::Policy(code) => code.as_str(),
            Close::Fenced => Code::Fenced.as_str(),
            Close::Stopping => "stopping",
            Close::Silent => "silent",
            Close::NoRoom | Close::Ours => Code::Busy.as_str(),
            Close::Binary => Code::UnsupportedMediaType.as_str(),
            Close::TooLarge => Code::TooLarge.as_str(),
            Close::NotText => Code::BadUnicode.as_str(),
            Close::Protocol => "protocol",
            Close::Handshake => "handshake",
            Close::Unfit => Code::CoreFeatureLost.as_str(),
            Close::Theirs => "theirs",
            Close::Lost => "lost",
        }
    }

    /// The word it is counted under.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Close::Policy(_) | Close::Fenced => "1008",
            Close::Stopping | Close::Silent => "1001",
            Close::NoRoom => "1013",
            Close::Binary => "1003",
            Close::TooLarge => "1009",
            Close::NotText => "1007",
            Close::Protocol | Close::Handshake => "1002",
            Close::Ours | Close::Unfit => "1011",
            Close::Theirs => "theirs",
            Close::Lost => "lost",
        }
    }

    /// Whether what was asked before is answered first.
    pub(crate) fn waits(self) -> bool {
        matches!(self, Close::Fenced | Close::Stopping)
    }
}

impl From<End> for Close {
    fn from(end: End) -> Self {
        match end {
            End::Fenced => Close::Fenced,
            End::Barred(rejection) => Close::Policy(rejection.code()),
            End::Failed(legation_engine::Error::Closed) => Close::Stopping,
            End::Failed(error) => {
                // Tells the log.
                drop(Refusal::from(error));
                Close::Ours
            }
        }
    }
}
