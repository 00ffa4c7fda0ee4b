//! What was revoked, and staples, which prove that something was not. Nothing here counts unless the exchange's
//! own key signed it.

use crate::client::Client;
use crate::clock;
use crate::error::Error;
use crate::http::{Call, Reply, encoded};
use crate::registry::path;
use legation_exchange::Moment;
use legation_exchange::record::Hash;
use legation_exchange::revocation::{BadStaple, List, Of, SKEW, Signed, Staple, key_hash};
use legation_protocol::sign::{PublicKey, Signature};
use std::time::Duration;

const LIST: &str = "/.well-known/legation/revocations";
const SIGNATURE: &str = "legation-signature";

impl Client {
    /// Everything that was revoked, as the exchange says it. [`List::parse`] reads the statement, once
    /// [`verified`](Client::revoked) here or elsewhere.
    pub async fn revocations(&self) -> Result<Signed, Error> {
        signed(self.call(Call::get(LIST)).await?)
    }

    /// Everything that was revoked, if the exchange signed that, it is not overdue, and this client has seen no newer
    /// list before.
    pub async fn revoked(&self) -> Result<List, Error> {
        let known = *self.newest_list();
        let signed = self.revocations().await?;
        let keys = self.exchange_keys().await?;
        let list = keys.iter().any(|key| signed.is_by(key)).then(|| List::parse(&signed.statement)).flatten();
        let list = list.ok_or(Error::Revocations)?;
        if !is_current(&list, known, Moment::of(&clock::now()?)) {
            return Err(Error::OldRevocations);
        }
        let mut newest = self.newest_list();
        *newest = (*newest).max((list.epoch, list.sequence));
        drop(newest);
        Ok(list)
    }

    /// A staple for an agent's key, to show to others.
    pub async fn staple_key(&self, agent: &str, key: &PublicKey) -> Result<Signed, Error> {
        let path = format!("{}/keys/{}/staple", path(agent), encoded(&key.to_string()));
        signed(self.call(Call::get(path)).await?)
    }

    /// A staple for an identity token, by the token's hash.
    pub async fn staple_identity(&self, hash: &Hash) -> Result<Signed, Error> {
        signed(self.call(Call::get(format!("/v1/identities/{hash}/staple"))).await?)
    }

    /// What a staple that somebody showed says of an agent's key, if the exchange signed it at most so long before
    /// `now`. Only the exchange's keys are asked for, once.
    pub async fn verify_staple(
        &self,
        staple: &Signed,
        (agent, key): (&str, &PublicKey),
        now: Moment,
        max_age: Duration,
    ) -> Result<Staple, Error> {
        let about = (Of::Key, key_hash(agent, key));
        verify_staple(staple, self.exchange_keys().await?, about, now, max_age).map_err(Error::Staple)
    }
}

/// Whether a list may be relied on now, by somebody who has seen the one with this epoch and number.
fn is_current(list: &List, known: (u32, u64), now: Moment) -> bool {
    now <= list.next_update.plus(SKEW) && known <= (list.epoch, list.sequence)
}

/// What a staple says, if one of these keys signed it, it is about this one, and it is at most so old now.
pub fn verify_staple(
    staple: &Signed,
    keys: &[PublicKey],
    about: (Of, Hash),
    now: Moment,
    max_age: Duration,
) -> Result<Staple, BadStaple> {
    let signer = keys.iter().find(|key| staple.is_by(key)).ok_or(BadStaple::Signature)?;
    Staple::verify(staple, signer, about, now, max_age)
}

/// A statement and the signature beside it, which nobody has checked yet.
fn signed(reply: Reply) -> Result<Signed, Error> {
    let reply = reply.accepted()?;
    let signature = reply.headers.get(SIGNATURE).and_then(|text| text.to_str().ok());
    let signature = signature.and_then(|text| Signature::parse(text).ok()).ok_or(Error::Answer(None))?;
    let statement = String::from_utf8(reply.body.into()).map_err(|_| Error::Answer(None))?;
    Ok(Signed { statement, signature })
}

#[cfg(test)]
mod tests {
    use super::{List, Moment, SKEW, is_current};
    use std::time::Duration;

    #[test]
    fn an_overdue_list_and_one_older_than_another_are_not_relied_on() {
        let issued_at = Moment::from_micros(1_790_000_000_000_000);
        let next_update = issued_at.plus(Duration::from_hours(1));
        let list = List { realm: "local".to_owned(), epoch: 2, sequence: 7, issued_at, next_update, entries: vec![] };
        let late = next_update.plus(SKEW);
        for (known, now, want) in [
            ((0, 0), issued_at, true),
            ((2, 7), late, true),
            ((2, 7), late.plus(Duration::from_millis(1)), false),
            ((2, 8), issued_at, false),
            ((1, 100), issued_at, true),
            ((3, 0), issued_at, false),
        ] {
            assert_eq!(is_current(&list, known, now), want, "{known:?} {now}");
        }
    }
}
