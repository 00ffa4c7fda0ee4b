//! The handshake on a socket, from its opening on: a hello in time, something else first, or nothing. One
//! agreement is all a socket gets; until then there are three tries.

use super::close::Close;
use super::session::Speech;
use super::wire::Wire;
use crate::guest::Guest;
use crate::handshake::{Agreement, Open};
use crate::negotiation::HelloRule;
use crate::shared::Shared;
use legation_exchange::Who;
use legation_protocol::Code;
use legation_protocol::json::Limits;
use legation_protocol::negotiation::{ErrorCode, Handshake, Refusal};
use std::pin::Pin;
use std::sync::Arc;
use tokio::time::{Instant, Sleep, sleep_until};

/// How many hellos may fail.
const TRIES: u8 = 3;

/// How far a socket has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing has come yet.
    Awaited,
    /// So many hellos have failed: another may come, and nothing else.
    Failed(u8),
    /// It is one of version 1.0.
    Legacy,
    /// It is agreed what it is.
    Agreed,
}

pub(crate) struct Greeting {
    stage: Stage,
    rule: HelloRule,
    due: Pin<Box<Sleep>>,
    pub(crate) agreement: Option<Arc<Agreement>>,
    /// Counts it while the socket is open.
    open: Option<Open>,
}

impl Greeting {
    /// Of a socket that opens now.
    pub(crate) fn new(shared: &Shared) -> Greeting {
        let settings = shared.settings();
        let due = Box::pin(sleep_until(Instant::now() + settings.negotiation.wait));
        Greeting { stage: Stage::Awaited, rule: settings.negotiation.hello, due, agreement: None, open: None }
    }

    /// Whether a hello may still come.
    pub(crate) fn is_open(&self) -> bool {
        match self.stage {
            Stage::Awaited | Stage::Failed(_) => true,
            Stage::Legacy | Stage::Agreed => false,
        }
    }

    /// Whether anything is delivered yet. Who asked for `legation.v1` is understood without a hello.
    pub(crate) fn may_deliver(&self, speech: Speech) -> bool {
        match self.stage {
            Stage::Awaited => self.rule == HelloRule::Optional && speech == Speech::Framed,
            Stage::Failed(_) => false,
            Stage::Legacy | Stage::Agreed => true,
        }
    }

    /// Ready when no hello came in time.
    pub(crate) async fn due(&mut self) {
        self.due.as_mut().await;
    }

    /// Something else came, or nothing in time.
    pub(crate) fn without_hello(&mut self, shared: &Shared) -> Result<(), Close> {
        match (self.stage, self.rule) {
            (Stage::Agreed | Stage::Legacy, _) => Ok(()),
            (Stage::Awaited, HelloRule::Optional) => {
                self.stage = Stage::Legacy;
                shared.handshakes.count_legacy();
                Ok(())
            }
            // There is no way back to version 1.0 after an error.
            (Stage::Awaited, HelloRule::Required) | (Stage::Failed(_), _) => Err(Close::Policy(Code::HelloRequired)),
        }
    }

    /// Answers a hello, once.
    pub(crate) async fn hear(
        &mut self,
        shared: &Shared,
        guest: &Guest,
        who: &Who,
        wire: &mut Wire,
        hello: &str,
    ) -> Result<(), Close> {
        let failed = match self.stage {
            Stage::Awaited => 1,
            Stage::Failed(before) => before + 1,
            Stage::Legacy | Stage::Agreed => {
                let refusal = Refusal::hello_invalid("this connection is past its handshake: open another");
                shared.handshakes.count_error(&refusal.code);
                wire.put_json(&Handshake::Error(refusal))?;
                return Err(Close::Handshake);
            }
        };
        let refusal = match shared.greet(guest, who, hello.as_bytes()).await {
            Ok(agreement) => {
                wire.put_json(&agreement.ack)?;
                self.stage = Stage::Agreed;
                self.open = Some(shared.handshakes.on_socket());
                self.agreement = Some(Arc::new(agreement));
                return Ok(());
            }
            Err(refusal) => refusal,
        };
        wire.put_json(&refusal)?;
        if refusal.code == ErrorCode::IdentityInvalid {
            shared.sources.failed(guest);
        }
        self.stage = Stage::Failed(failed);
        self.due.as_mut().reset(Instant::now() + shared.settings().negotiation.wait);
        after(&refusal.code, failed, hello.len())
    }
}

/// Whether another try is left after this error.
fn after(code: &ErrorCode, failed: u8, length: usize) -> Result<(), Close> {
    match code {
        ErrorCode::HelloInvalid if length > Limits::HANDSHAKE.bytes => Err(Close::TooLarge),
        ErrorCode::HelloInvalid => Err(Close::Handshake),
        ErrorCode::RateLimited => Err(Close::Policy(Code::RateLimited)),
        ErrorCode::InternalError | ErrorCode::Other(_) => Err(Close::Unfit),
        ErrorCode::VersionUnsupported
        | ErrorCode::IdentityRequired
        | ErrorCode::IdentityInvalid
        | ErrorCode::ExtensionConflict => {
            if failed < TRIES {
                Ok(())
            } else {
                Err(Close::Handshake)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Close, Code, ErrorCode, after};

    #[test]
    fn which_errors_leave_another_try() {
        for code in [
            ErrorCode::VersionUnsupported,
            ErrorCode::IdentityRequired,
            ErrorCode::IdentityInvalid,
            ErrorCode::ExtensionConflict,
        ] {
            assert_eq!([1, 2, 3].map(|failed| after(&code, failed, 9)), [Ok(()), Ok(()), Err(Close::Handshake)]);
        }
        for (code, length, want) in [
            (ErrorCode::HelloInvalid, 65_536, Close::Handshake),
            (ErrorCode::HelloInvalid, 65_537, Close::TooLarge),
            (ErrorCode::RateLimited, 9, Close::Policy(Code::RateLimited)),
            (ErrorCode::InternalError, 9, Close::Unfit),
        ] {
            assert_eq!(after(&code, 1, length), Err(want));
        }
    }
}
