//! Identity tokens (VCP/I): issued with the exchange's own key, on the record, and checked in one way whatever
//! is wrong with them.

use crate::exchange::{Error, Exchange};
use crate::tokens::Token;
use legation_exchange::extensions::Subject;
use legation_exchange::rules::identity::{Issued, KNOWN_TOKENS, LONGEST, Order, Which, subject_of};
use legation_exchange::{Directive, Moment, TokenHash, Verdict, Who};
use legation_protocol::token::IdentityToken;
use legation_protocol::{Code, Rejection};
use std::time::Duration;

/// Whom a token named that counts. What an extension keeps about them, this opens; it never lets anybody speak.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identified {
    /// The subject, with its kind.
    pub subject: Subject,
    /// Until when.
    pub expires: Moment,
    /// What is kept of the token.
    pub token: TokenHash,
}

impl Exchange {
    /// Issues a token that names `subject` for so long: written out with its kind, or a bare name. It is told here and
    /// never again.
    pub async fn issue_identity(
        &self,
        subject: &str,
        life: Duration,
        who: Who,
    ) -> Result<(Verdict, Option<IdentityToken>), Error> {
        let subject = subject_of(&self.state(), subject, &who);
        let subject = match subject {
            Ok(subject) => subject,
            Err(rejection) => {
                self.refuse_known(&who, &rejection).await?;
                return Ok((Verdict::Refused(rejection), None));
            }
        };
        // Whole seconds are all that a token can say; the rules see to the bounds.
        let seconds = self.latest(&self.state()).plus(life.min(LONGEST + Duration::from_secs(1))).micros() / 1_000_000;
        let Some(token) = self.fresh_identity(subject.as_str(), seconds) else {
            let message = "a subject has at least one character, and 128 at most as a token writes it";
            let rejection = Rejection::because(Code::OutOfRange, message).at("/subject");
            self.refuse_known(&who, &rejection).await?;
            return Ok((Verdict::Refused(rejection), None));
        };
        let hash = Token::hash_of(&token.reveal());
        let expires = Moment::from_micros(token.expires_at() * 1_000_000);
        let order = Order::Issue { token: hash, subject: subject.to_string(), expires };
        let verdict = self.order(Directive::Identity(order), who).await?;
        let told = matches!(verdict, Verdict::Accepted { .. });
        Ok((verdict, told.then_some(token)))
    }

    /// A token that is none of those there are. Two with the same end are the same token, and one that was revoked
    /// must not come back: so a new one ends a second earlier than its twin.
    fn fresh_identity(&self, subject: &str, seconds: u64) -> Option<IdentityToken> {
        let is_fresh =
            |token: &IdentityToken| self.state().rules().identities.get(&Token::hash_of(&token.reveal())).is_none();
        let mut token = self.notary.identity(subject, seconds)?;
        for earlier in (1..=KNOWN_TOKENS as u64).map_while(|before| seconds.checked_sub(before)) {
            if is_fresh(&token) {
                break;
            }
            token = self.notary.identity(subject, earlier)?;
        }
        Some(token)
    }

    /// Revokes tokens. From its answer on they count nowhere, also where a connection rests on them.
    pub async fn revoke_identity(&self, which: Which, why: Option<String>, who: Who) -> Result<Verdict, Error> {
        self.order(Directive::Identity(Order::Revoke { which, why }), who).await
    }

    /// Whom a token names, if it is ours, for us, and counts now. Whatever is wrong with it, the answer is the
    /// same and takes the same work: a signature, a hash and a look at the state.
    pub fn identify(&self, text: &str) -> Option<Identified> {
        let parsed = text.parse::<IdentityToken>().ok();
        let genuine = self.notary.is_own(parsed.as_ref());
        let token = Token::hash_of(text);
        let counts = self.counting(&token);
        counts.filter(|_| genuine).map(|Issued { subject, expires, .. }| Identified { subject, expires, token })
    }

    /// Whether what was identified before still counts.
    pub fn still_identifies(&self, identified: &Identified) -> bool {
        self.counting(&identified.token).is_some()
    }

    /// Returns what is known of the token that somebody was identified by, if this names it: its hash, or the token.
    pub fn presented_identity(&self, identified: &Identified, name: &str) -> Option<Issued> {
        let by_hash = TokenHash::try_from(name.to_owned()).is_ok_and(|hash| hash == identified.token);
        let state = self.state();
        let time = self.latest(&state);
        let issued = state.rules().identities.get(&identified.token).filter(|issued| time < issued.expires);
        issued.filter(|_| by_hash || Token::hash_of(name) == identified.token).cloned()
    }

    /// Every token that has not ended by itself, with what became of it: all for those who see everything, an
    /// agent's own for itself.
    pub fn identities(&self, who: &Who) -> Vec<(TokenHash, Issued)> {
        let state = self.state();
        let time = self.latest(&state);
        let visible = |issued: &Issued| match who {
            Who::Person { .. } => who.sees_all(),
            Who::Agent(id) => issued.subject == Subject::agent(id),
            Who::Nobody => false,
        };
        let all = state.rules().identities.iter().filter(|(_, issued)| time < issued.expires && visible(issued));
        all.map(|(token, issued)| (*token, issued.clone())).collect()
    }

    fn counting(&self, token: &TokenHash) -> Option<Issued> {
        let state = self.state();
        let time = self.latest(&state);
        state.rules().identities.get(token).filter(|issued| issued.counts(time)).cloned()
    }
}
