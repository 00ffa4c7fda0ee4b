//! What the exchange says of what was revoked: the list of it, and staples for what was not. Both are signed with
//! the key that signs receipts and checkpoints.

use crate::alerts::Desk;
use crate::complaint::Complaint;
use crate::exchange::{Error, Exchange};
use crate::identity::{key_file, secret_key};
use legation_exchange::record::Hash;
use legation_exchange::revocation::{List, Listed, Of, Signed, Staple, key_hash};
use legation_exchange::{KeyState, Moment, State, TokenHash};
use legation_protocol::negotiation::Feature;
use legation_protocol::sign::PublicKey;
use legation_protocol::{Code, Rejection};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// For how long a list is given out while nothing is revoked.
const FRESH: Duration = Duration::from_mins(5);
/// How long it may be relied on.
const LASTS: Duration = Duration::from_hours(1);

/// A list that was signed.
#[derive(Debug)]
pub struct Published {
    /// What it says.
    pub list: List,
    /// As it is given out.
    pub signed: Signed,
    /// What stands for it: the hash of the statement.
    pub hash: Hash,
}

/// The last list, and what was wrong with it.
#[derive(Debug)]
pub(crate) struct Register {
    last: Mutex<Option<Arc<Published>>>,
    complaint: Mutex<Complaint>,
}

impl Register {
    /// Whatever keeps it from telling is said at this desk.
    pub(crate) fn beside(desk: &Arc<Desk>) -> Register {
        let complaint = Complaint::new("what was revoked cannot be told of", Arc::clone(desk));
        Register { last: Mutex::default(), complaint: Mutex::new(complaint) }
    }
}

impl Exchange {
    /// The list of what was revoked. Whatever was revoked before it was asked for is on it.
    pub fn revocations(&self) -> Result<Arc<Published>, Error> {
        let mut last = self.register.last.lock().unwrap_or_else(PoisonError::into_inner);
        let (time, sequence) = self.revoked_last();
        let is_fresh = |published: &&Arc<Published>| {
            let List { issued_at, sequence: of, .. } = &published.list;
            *of == sequence && *issued_at <= time && time < issued_at.plus(FRESH)
        };
        if let Some(published) = last.as_ref().filter(is_fresh) {
            return Ok(Arc::clone(published));
        }
        let revoked = self.revoked_by_now();
        let signed = self.attested(revoked.to_canonical())?;
        let hash = Hash::of(&[signed.statement.as_bytes()]);
        Ok(Arc::clone(last.insert(Arc::new(Published { list: revoked, signed, hash }))))
    }

    /// That an agent's key was not withdrawn.
    pub fn key_staple(&self, agent: &str, key: &PublicKey) -> Result<Result<Signed, Rejection>, Error> {
        let staple = {
            let state = self.state();
            let listed = state.registry().agent(agent).and_then(|agent| agent.key(key));
            match (listed, state.check_standing_key(agent, key)) {
                (None, Err(rejection)) if rejection.code() == Code::KeyRevoked => return Ok(Err(rejection)),
                (None, _) => return Ok(Err(Rejection::because(Code::NotFound, "there is no agent with this key"))),
                (Some(_), Err(rejection)) => return Ok(Err(rejection)),
                (Some(found), Ok(())) => {
                    self.staple(&state, (Of::Key, key_hash(agent, key)), found.state, found.not_after)
                }
            }
        };
        self.attested(staple.to_canonical()).map(Ok)
    }

    /// That an identity token counts. Whatever keeps it from that, the answer is the same.
    pub fn identity_staple(&self, token: &TokenHash) -> Result<Result<Signed, Rejection>, Error> {
        let staple = {
            let state = self.state();
            let time = self.latest(&state);
            match state.rules().identities.get(token).filter(|issued| issued.counts(time)) {
                None => return Ok(Err(Rejection::because(Code::NotFound, "no token that counts has this hash"))),
                Some(issued) => {
                    self.staple(&state, (Of::Identity, Hash(token.0)), KeyState::Active, Some(issued.expires))
                }
            }
        };
        self.attested(staple.to_canonical()).map(Ok)
    }

    /// Whether what is revoked can be told of: the list can be signed, and verifies under the key that lies in the
    /// data directory, with which the next start would sign.
    pub(crate) fn revocation(&self) -> Feature {
        let path = key_file(&self.data);
        let checked = secret_key(&path).and_then(|kept| {
            let verifies = self.revocations()?.signed.is_by(&kept.public());
            if verifies { Ok(()) } else { Err(Error::OtherKey(path.display().to_string())) }
        });
        let mut complaint = self.register.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        match checked {
            Ok(()) if self.is_running() => {
                complaint.over();
                Feature::On
            }
            Ok(()) => Feature::Lost,
            Err(error) => {
                complaint.about(&error);
                Feature::Lost
            }
        }
    }

    /// When it is, and when something was revoked last.
    fn revoked_last(&self) -> (Moment, u64) {
        let state = self.state();
        (self.latest(&state), state.rules().revocations.sequence())
    }

    fn revoked_by_now(&self) -> List {
        let state = self.state();
        let issued_at = self.latest(&state);
        let keys = state.rules().revocations.keys().filter_map(|(agent, key, withdrawn)| {
            let hash = key_hash(agent, &PublicKey::parse(key).ok()?);
            let compromised = withdrawn.state == KeyState::Compromised;
            Some(Listed { of: Of::Key, hash, at: withdrawn.at, reason: withdrawn.why.clone(), compromised })
        });
        let tokens = state.rules().identities.iter().filter(|(_, issued)| issued_at < issued.expires);
        let tokens = tokens.filter_map(|(token, issued)| {
            let revoked = issued.revoked.as_ref()?;
            let (hash, reason) = (Hash(token.0), revoked.why.clone());
            Some(Listed { of: Of::Identity, hash, at: revoked.at, reason, compromised: false })
        });
        let mut entries: Vec<_> = keys.chain(tokens).collect();
        entries.sort_unstable();
        List {
            realm: self.realm().to_owned(),
            epoch: self.notary.epoch().epoch,
            sequence: state.rules().revocations.sequence(),
            issued_at,
            next_update: issued_at.plus(LASTS),
            entries,
        }
    }

    fn staple(&self, state: &State, about: (Of, Hash), is: KeyState, not_after: Option<Moment>) -> Staple {
        let (of, hash) = about;
        Staple {
            realm: self.realm().to_owned(),
            epoch: self.notary.epoch().epoch,
            sequence: state.rules().revocations.sequence(),
            of,
            hash,
            state: is,
            not_after,
            as_of: self.latest(state),
        }
    }

    /// Signs, and looks whether that verifies under the key that is published.
    fn attested(&self, statement: String) -> Result<Signed, Error> {
        let signature = self.notary.sign_bytes(statement.as_bytes());
        let signed = Signed { statement, signature };
        if signed.is_by(&self.public) { Ok(signed) } else { Err(Error::OtherKey("the key in use".to_owned())) }
    }
}
