//! The way of a message, from bytes to verdict, as one function.

use crate::decider::instant;
use crate::exchange::{Error, Exchange, Pending};
use crate::refusals::Source;
use crate::tokens::{fresh_id, keyed_id};
use legation_exchange::rules::{is_alarm, passes_quotas};
use legation_exchange::{Input, Misunderstood, Proof, SpareId, Verdict, Verified, Who};
use legation_protocol::acl::{Glimpse, Performative};
use legation_protocol::json::{Digest, Doc, Form, signed_bytes};
use legation_protocol::sign::Signature;
use legation_protocol::{Code, Format, Message, Received, Rejection};

/// Bytes that arrived, and what came with them to prove who sent them.
#[derive(Clone, Debug)]
pub struct Submission {
    /// The bytes as received.
    pub bytes: Box<[u8]>,
    /// What came with them.
    pub credential: Credential,
    /// The one dialect that is taken where they came in, if it is only one.
    pub only: Option<Format>,
    /// Where they came from.
    pub source: Source,
    /// What stands for the id of a message that has none, if its sender may send it again.
    pub idempotency_key: Option<String>,
    /// The trace they belong to, as a W3C `traceparent`.
    pub trace: Option<String>,
}

impl Submission {
    /// Bytes handed over inside this process.
    pub fn in_process(bytes: impl Into<Box<[u8]>>) -> Submission {
        Submission {
            bytes: bytes.into(),
            credential: Credential::InProcess,
            only: None,
            source: Source::InProcess,
            idempotency_key: None,
            trace: None,
        }
    }
}

/// What came with a submission.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A bearer token that was looked up, or none.
    Bearer(Who),
    /// A signature beside the message, and a bearer token that was looked up, or none.
    Detached(Signature, Who),
    /// The message was handed over inside this process.
    InProcess,
}

impl Credential {
    /// Whoever was known before the message was read.
    fn who(&self) -> Who {
        match self {
            Credential::Bearer(who) | Credential::Detached(_, who) => who.clone(),
            Credential::InProcess => Who::Nobody,
        }
    }
}

fn crowded() -> Rejection {
    Rejection::because(Code::RateLimited, Error::Crowded.to_string())
}

/// Whether the message is of the one dialect that is taken, where it is only one.
fn taken_here(dialect: Format, only: Option<Format>) -> Result<(), Rejection> {
    match only.filter(|only| *only != dialect) {
        None => Ok(()),
        Some(only) => {
            let message = format!("only {only} messages are taken here, and this is {dialect}");
            Err(Rejection::because(Code::UnknownDialect, message))
        }
    }
}

impl Exchange {
    /// Takes a submission through the corridor: limit, parse, validate, verify, look up, scan, decide, commit.
    /// The answer comes after the commit, so what is called accepted is on disk.
    pub async fn receive(&self, submission: Submission) -> Result<Verdict, Error> {
        self.submit(submission).await?.answer().await
    }

    /// The same as far as the decider's queue, for whoever has more to submit before the first
    /// answer: what one sender submits is decided in the order in which this returned.
    pub async fn submit(&self, submission: Submission) -> Result<Pending, Error> {
        let since = instant();
        let Submission { bytes, credential, only, source, idempotency_key, trace } = submission;
        let who = credential.who();
        // limit, parse, validate: one pass over the bytes, then the rules of the dialect.
        let read = Received::read_or_back(bytes).and_then(|received| self.in_language(received));
        let received = match read.and_then(|received| self.signed_for_sender(received, &credential)) {
            Ok(received) => received,
            Err((rejection, bytes)) => {
                let digest = Digest::of_bytes(&bytes);
                return match self.puzzling(&credential, only, &bytes) {
                    Some((agent, id)) => {
                        let misunderstood = Misunderstood { agent, id, digest: digest.to_string(), rejection };
                        self.enqueue_since(Input::Misunderstood(Box::new(misunderstood)), since).await
                    }
                    None => Ok(self.refuse(None, &who, source, &digest, rejection)),
                };
            }
        };
        let dialect = received.message().dialect();
        // verify: who says this. How much its sender may say is asked once that is known.
        let proof = taken_here(dialect, only).and_then(|()| self.prove(&received, &credential));
        let proof = match proof.and_then(|proof| self.paced(received.message(), proof)) {
            Ok(proof) => proof,
            Err(rejection) => return Ok(self.refuse(Some(dialect), &who, source, &received.digest(), rejection)),
        };
        // decide and commit: serial, and durable before the answer.
        let stranger = (proof == Proof::Bearer(Who::Nobody)).then(|| received.digest().to_string());
        let spare_id = match idempotency_key {
            Some(key) => SpareId::Keyed(keyed_id(&key)),
            None if received.message().has_id() => SpareId::Fresh(String::new()),
            None => SpareId::Fresh(fresh_id()?),
        };
        // look up: what it names that lies further back than the state knows.
        let found = match stranger {
            Some(_) => Vec::new(),
            None => self.look_up(received.message()).await?,
        };
        let searched = match stranger {
            Some(_) => None,
            None => match self.search_id(received.message()).await? {
                Ok(searched) => searched,
                Err(rejection) => return Ok(self.refuse(Some(dialect), &who, source, &received.digest(), rejection)),
            },
        };
        let (found, searched) = match searched {
            Some((copies, searched)) => (copies, Some(searched)),
            None => (found, None),
        };
        // scan: what its texts may try to do to whoever reads them.
        let scanned = if stranger.is_some() { Vec::new() } else { self.scan(&received) };
        let (passes, digest) = (stranger.is_some() || is_alarm(received.message()), received.digest());
        let verified = Box::new(Verified { received, proof, spare_id, trace, found, searched, opinion: None, scanned });
        let pending = if passes || !self.court.sits() {
            self.enqueue_since(Input::Message(verified), since).await
        } else {
            // judge: whether a delegation meets the rule it rests on, where somebody outside is to say.
            self.enqueue_judged(verified, since).await
        };
        let pending = match pending {
            Err(Error::Crowded) => return Ok(self.refuse(Some(dialect), &who, source, &digest, crowded())),
            pending => pending?,
        };
        Ok(match stranger {
            Some(digest) => pending.counted(self, source, digest),
            None => pending,
        })
    }

    /// What the language only plans cannot be read where the exchange does not extend it.
    fn in_language(&self, received: Received) -> Result<Received, (Rejection, Box<[u8]>)> {
        match received.beyond_language().filter(|_| !self.policies.borrow().extended_acl) {
            Some(rejection) => Err((rejection, received.into_bytes())),
            None => Ok(received),
        }
    }

    /// Whose message cannot be read, and what it calls itself. Nothing if it is not that agent's own, or says itself
    /// that something was not understood: that is never answered so.
    fn puzzling(&self, credential: &Credential, only: Option<Format>, bytes: &[u8]) -> Option<(String, String)> {
        taken_here(Format::Acl, only).ok()?;
        let Glimpse { id, sender: named, performative } = Glimpse::of(bytes)?;
        let sender = match &named {
            Some(named) => self.state().registry().resolve(named).map(|agent| agent.id.clone()),
            None => self.speaks_acl(credential),
        }?;
        let is_own = match credential {
            Credential::Bearer(Who::Agent(id)) | Credential::Detached(_, Who::Agent(id)) => *id == sender,
            Credential::Detached(signature, Who::Person { .. } | Who::Nobody) => self.signed(&sender, bytes, signature),
            Credential::Bearer(Who::Person { .. } | Who::Nobody) | Credential::InProcess => false,
        };
        let is_answer = performative.as_deref() == Some(Performative::NotUnderstood.as_str());
        let in_pace = || self.pace.take(&sender, tokio::time::Instant::now()).is_ok();
        (is_own && !is_answer && in_pace()).then_some((sender.clone(), id))
    }

    /// Who is connected, where that is an agent that speaks ACL. Bytes that end before they say whose they are, are
    /// nobody else's.
    fn speaks_acl(&self, credential: &Credential) -> Option<String> {
        let (Credential::Bearer(Who::Agent(id)) | Credential::Detached(_, Who::Agent(id))) = credential else {
            return None;
        };
        let state = self.state();
        let dialects = &state.registry().agent(id)?.dialects;
        (dialects.is_empty() || dialects.contains(&Format::Acl)).then(|| id.clone())
    }

    /// Whether an agent has signed bytes that are no message, by a key in use. What is no JSON cannot be signed.
    fn signed(&self, agent: &str, bytes: &[u8], signature: &Signature) -> bool {
        let Ok(doc) = Doc::parse(bytes) else { return false };
        let signed = signed_bytes(doc.root(), Form::Canonical);
        let state = self.state();
        let mut keys = state.registry().agent(agent).into_iter().flat_map(|agent| agent.live_keys(self.latest(&state)));
        keys.any(|key| key.verifies(&signed, signature))
    }

    /// Refuses what does not reach the decider.
    fn refuse(
        &self,
        dialect: Option<Format>,
        who: &Who,
        source: Source,
        digest: &Digest,
        rejection: Rejection,
    ) -> Pending {
        let recording = self.note_rejection(who, &rejection, source, Some(digest.to_string()));
        let verdict = Verdict::Refused(rejection.about(digest.to_string()));
        self.stats.verdict(dialect, &verdict);
        Pending::rejected(recording, verdict)
    }

    /// Lets a message through that its sender may send now. An alarm, an acknowledgement and a resume are never too much.
    fn paced(&self, message: &Message, proof: Proof) -> Result<Proof, Rejection> {
        if self.pace.is_idle() || passes_quotas(message) {
            return Ok(proof);
        }
        let sender = match &proof {
            Proof::Signature(_) => self.state().registry().resolve(message.sender()).map(|agent| agent.id.clone()),
            Proof::Bearer(Who::Agent(id)) => Some(id.clone()),
            Proof::Bearer(Who::Person { .. } | Who::Nobody) | Proof::InProcess => None,
        };
        match sender.map_or(Ok(()), |sender| self.pace.take(&sender, tokio::time::Instant::now())) {
            Ok(()) => Ok(proof),
            Err(_) => Err(Rejection::because(Code::RateLimited, "this agent sends more than it may")),
        }
    }

    /// Finds out who sent a message. A signature is checked under the keys of the agent the message
    /// names, and under no other.
    fn prove(&self, received: &Received, credential: &Credential) -> Result<Proof, Rejection> {
        self.must_be_its_own(received.message().sender(), credential)?;
        let carried = match credential {
            Credential::Detached(signature, _) => Some(signature),
            Credential::Bearer(_) => received.signature(),
            Credential::InProcess => None,
        };
        match (carried, credential) {
            (Some(signature), _) => self.prove_signature(received, signature),
            (None, Credential::Bearer(who)) => Ok(Proof::Bearer(who.clone())),
            (None, Credential::InProcess | Credential::Detached(..)) => Ok(Proof::InProcess),
        }
    }

    /// An agent that says who it is sends nothing in another's name, whoever signed it.
    fn must_be_its_own(&self, sender: &str, credential: &Credential) -> Result<(), Rejection> {
        let (Credential::Bearer(Who::Agent(id)) | Credential::Detached(_, Who::Agent(id))) = credential else {
            return Ok(());
        };
        match self.state().registry().resolve(sender) {
            Some(agent) if agent.id != *id => {
                let message = "the sender named is not the one who is connected";
                Err(Rejection::because(Code::SenderMismatch, message))
            }
            // A sender that is not registered is refused by the rules.
            Some(_) | None => Ok(()),
        }
    }

    fn prove_signature(&self, received: &Received, signature: &Signature) -> Result<Proof, Rejection> {
        // A signature by a key that is no longer in use is told from one by nobody's: the rules refuse it.
        let keys = self.keys_of(received.message().sender());
        let signed_by = keys.into_iter().find(|key| key.verifies(received.signed_bytes(), signature));
        signed_by.map(Proof::Signature).ok_or_else(|| {
            let message = "the signature is not by a key in use of the sender named, or something was changed";
            Rejection::because(Code::SignatureInvalid, message).at("/signature").by("VCP 7.1")
        })
    }
}
