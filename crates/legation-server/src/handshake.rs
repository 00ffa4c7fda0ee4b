//! The handshake (VCP capability negotiation 3.1), whichever way a hello comes: who asked too often is told
//! to wait, an exchange that has lost a core feature says so, and everything else is the protocol's.
//!
//! Every door that takes hellos calls [`Shared::greet`] and sends its one answer. What it returns is an
//! [`Agreement`]: the ack as sent, the terms, and whom the identity token named. Whatever belongs to an
//! extension asks [`Agreement::must_have`] first, each time.

mod counted;
pub(crate) mod door;
mod sessions;

pub(crate) use counted::Open;
pub(crate) use sessions::{Holder, Negotiated, Sessions, recognise};

use crate::guest::Guest;
use crate::mcp::Desk;
use crate::noted::Unrecorded;
use crate::refusal::Refusal as Refused;
use crate::settings::Limits;
use crate::shared::Shared;
use legation_engine::{Identified, Limiter};
use legation_exchange::{QuotaFamily, Who};
use legation_protocol::json::{Digest, Doc};
use legation_protocol::negotiation::{
    Ack, Answered, CoreFeatures, ErrorCode, ExtensionName, Observed, Refusal, Registry, Terms, answer,
};
use legation_protocol::{Code, Findings, Format, Violation};
use std::sync::{OnceLock, Weak};
use tokio::sync::watch;
use tokio::time::Instant;

/// What handshakes share.
#[derive(Debug)]
pub(crate) struct Handshakes {
    /// How often somebody may greet: by who they have proven to be, or else by where they are.
    pace: Limiter<String>,
    pub(crate) sessions: Sessions,
    /// How the core features stand.
    standing: watch::Sender<Features>,
    counted: counted::Counted,
    /// Where hosts of models are served.
    pub(crate) hosts: OnceLock<Weak<Desk>>,
}

/// How the core features stand, and how often one of them was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Features {
    observed: Observed,
    losses: u64,
}

/// What was agreed on in a handshake.
#[derive(Debug)]
pub(crate) struct Agreement {
    /// As it was sent.
    pub(crate) ack: Ack,
    pub(crate) terms: Terms,
    /// Whom the identity token named.
    pub(crate) identity: Option<Identified>,
    /// How often a core feature had been lost by then: what comes back later brings no session back.
    losses: u64,
}

impl Handshakes {
    pub(crate) fn new(limits: &Limits, observed: Observed) -> Handshakes {
        let standing = watch::Sender::new(Features { observed, losses: 0 });
        let (pace, sessions) = (Limiter::new(limits.hellos), Sessions::default());
        Handshakes { pace, sessions, standing, counted: counted::Counted::default(), hosts: OnceLock::new() }
    }

    /// Holds everybody to other limits from now on.
    pub(crate) fn take_over(&self, limits: &Limits) {
        self.pace.set(limits.hellos);
    }

    /// Takes note of how the core features stand now.
    pub(crate) fn observe(&self, observed: Observed) {
        self.standing.send_if_modified(|standing| {
            let before = std::mem::replace(&mut standing.observed, observed);
            let lost = observed.lost().find(|name| !before.lost().any(|known| known == *name));
            if let Some(feature) = lost {
                tracing::error!(feature, "a core feature has failed: negotiated sessions end, and none begins");
            }
            let was_on = CoreFeatures::observe(&before);
            standing.losses += u64::from(CoreFeatures::observe(&observed).lost_since(was_on).next().is_some());
            before != observed
        });
    }

    /// Tells how the core features stand from now on.
    pub(crate) fn features(&self) -> watch::Receiver<Features> {
        self.standing.subscribe()
    }

    /// How they stand now.
    pub(crate) fn standing(&self) -> Features {
        *self.standing.borrow()
    }
}

impl Shared {
    /// The quota family that a principal's sessions count for. A stranger belongs to that of the agents which were
    /// registered from its address without a token.
    pub(crate) fn quota_family(&self, guest: &Guest, who: &Who) -> String {
        match who {
            Who::Agent(id) => self.exchange.quota_family(id),
            Who::Person { .. } => who.to_string(),
            Who::Nobody => QuotaFamily::Source(&guest.source.key().to_string()).to_string(),
        }
    }

    /// Answers a hello: what is agreed on, or the one error. A refusal is on the record once this returns.
    pub(crate) async fn greet(&self, guest: &Guest, who: &Who, hello: &[u8]) -> Result<Agreement, Refusal> {
        let agreed = self.agree(guest, who, hello).inspect(|_| self.handshakes.count_ack());
        if let Err(refusal) = &agreed {
            self.handshakes.count_error(&refusal.code);
            let digest = Some(Digest::of_bytes(hello).to_string());
            match code_of(&refusal.code) {
                // Counted, whoever it is: a flood is no reason to let the record grow.
                Code::RateLimited => self.exchange.count_refusal(Code::RateLimited, guest.source.into(), digest),
                code => self.note(guest, Unrecorded { code, digest }).await,
            }
        }
        agreed
    }

    fn agree(&self, guest: &Guest, who: &Who, hello: &[u8]) -> Result<Agreement, Refusal> {
        let name = match who {
            Who::Person { .. } | Who::Agent(_) => who.to_string(),
            Who::Nobody => guest.source.key().to_string(),
        };
        self.handshakes.pace.take(&name, Instant::now()).map_err(Refusal::rate_limited)?;
        let Features { observed, losses } = self.handshakes.standing();
        if let Some(feature) = observed.lost().next() {
            return Err(Refusal::internal_error(format!("{feature} has failed")));
        }
        let server = self.settings().negotiation.server(CoreFeatures::observe(&observed));
        let mut identity = None;
        let Answered { outcome, warnings } = answer(hello, &server, |token| {
            identity = self.exchange.identify(token);
            identity.is_some()
        });
        warn(&warnings);
        let (_, ack) = outcome?;
        let ack = Ack { session_id: Some(sessions::fresh_id()?), ..ack };
        Ok(Agreement { terms: Terms::from(&ack), ack, identity, losses })
    }
}

impl Agreement {
    /// Lets data of an extension through that is active, and of whose subject it is known who they are.
    pub(crate) fn must_have(&self, shared: &Shared, extension: &ExtensionName) -> Result<(), Refused> {
        if !self.terms.allows(extension) {
            return Err(Refused::because(
                Code::ExtensionInactive,
                format!("{extension} is not active in this session"),
            ));
        }
        let bears_state = Registry::v3_1().offered(extension).is_some_and(|known| known.bears_state);
        let counts = match &self.identity {
            // Whatever is asked in its name takes an identity that stands, also what needs none.
            Some(identity) => shared.exchange.still_identifies(identity),
            None => !bears_state,
        };
        if !counts {
            let message = "the identity token of this session no longer counts: send a new hello with a new one";
            return Err(Refused::because(Code::Unauthenticated, message));
        }
        Ok(())
    }

    /// Whether everything is on that the ack said was, and has been ever since.
    pub(crate) fn holds_under(&self, standing: Features) -> bool {
        let now = CoreFeatures::observe(&standing.observed);
        standing.losses == self.losses && now.lost_since(self.ack.features()).next().is_none()
    }

    /// Ready when it holds no longer.
    pub(crate) async fn is_lost(&self, features: &mut watch::Receiver<Features>) {
        if features.wait_for(|standing| !self.holds_under(*standing)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Whether a text is meant as a part of a handshake: by its type, or, where it is no JSON that two readers
/// would take for the same, by the word.
pub(crate) fn is_handshake(text: &str) -> bool {
    if !text.contains("vcp-") {
        return false;
    }
    match Doc::parse(text.as_bytes()) {
        Ok(doc) => Format::detect(doc.root(), &mut Findings::new()) == Some(Format::Hello),
        Err(_) => text.contains("\"vcp-hello\""),
    }
}

/// What of a hello was ignored is told by code: its text is the client's.
fn warn(warnings: &[Violation]) {
    for code in [Code::ExtensionName, Code::DuplicateExtension, Code::TooManyExtensions, Code::IdentityForm] {
        let count = warnings.iter().filter(|warning| warning.code == code).count();
        if count > 0 {
            tracing::warn!(%code, count, "part of a hello was ignored");
        }
    }
}

/// What a failed handshake is on the record as.
fn code_of(code: &ErrorCode) -> Code {
    match code {
        ErrorCode::VersionUnsupported => Code::UnsupportedVersion,
        ErrorCode::IdentityRequired | ErrorCode::IdentityInvalid => Code::Unauthenticated,
        ErrorCode::ExtensionConflict => Code::ExtensionInactive,
        ErrorCode::RateLimited => Code::RateLimited,
        ErrorCode::InternalError | ErrorCode::Other(_) => Code::CoreFeatureLost,
        ErrorCode::HelloInvalid => Code::SchemaInvalid,
    }
}

#[cfg(test)]
mod tests {
    use super::is_handshake;

    #[test]
    fn a_hello_is_told_by_its_type_and_when_broken_by_its_name() {
        for (text, want) in [
            (r#"{"type":"vcp-hello"}"#, true),
            (r#"{"type":"vcp-ack","version":"3.1"}"#, true),
            (r#"{"version":"3.1","type":"vcp-hello","version":"3.0"}"#, true),
            (r#"{"type":"vcp-hello","version":"3.1""#, true),
            (r#"{"type":"message","content":"vcp-hello"}"#, false),
            (r#"{"vcp_message":"1.2","type":"vcp-hello"}"#, false),
            (r#"["vcp-hello"]"#, false),
            ("vcp-hello", false),
            ("{}", false),
        ] {
            assert_eq!(is_handshake(text), want, "{text}");
        }
    }
}
