//! Asking a judge whether a delegation meets the rule it rests on. The answer becomes part of what is decided, so
//! that deciding stays pure; whoever sent the delegation waits for it, and nobody else.

mod lanes;

use crate::carrier::{Carrier, Parcel};
use crate::exchange::Exchange;
use crate::receipt::Notary;
use lanes::Lanes;
use legation_exchange::rules::cap::{Judged, Opinion, Question, Word};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

/// How many questions are asked at a time.
const AT_ONCE: usize = 64;
/// How much of a reason is kept.
const REASON: usize = 1000;

/// Who judges delegations.
#[derive(Clone)]
pub struct JudgeSettings {
    /// The address that is asked.
    pub url: String,
    /// Whose address it is, for the record.
    pub name: String,
    /// What is shown there as a bearer token.
    pub secret: Option<Zeroizing<String>>,
    /// How long an answer is waited for.
    pub timeout: Duration,
    /// Who asks.
    pub carrier: Arc<dyn Carrier>,
}

impl fmt::Debug for JudgeSettings {
    /// An address may hold a secret, as its token does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeSettings")
            .field("name", &self.name)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Where delegations are judged: whoever does it now, and those who wait. The judge may be another from one
/// moment to the next; who waits keeps its place.
pub(crate) struct Court {
    judge: RwLock<Option<Arc<Judge>>>,
    /// Whether there has been a judge. Where there never was, nobody looks for one.
    sits: AtomicBool,
    lanes: Lanes,
}

/// Somebody who is asked.
pub(crate) struct Judge {
    settings: JudgeSettings,
    notary: Arc<Notary>,
    at_once: Semaphore,
}

/// The message a question is about.
#[derive(Default, Serialize)]
pub(crate) struct About {
    pub(crate) message_id: Option<String>,
    pub(crate) digest: Option<String>,
}

#[derive(Serialize)]
struct Asked<'q> {
    realm: &'q str,
    #[serde(flatten)]
    question: &'q Question,
    #[serde(flatten)]
    about: About,
}

#[derive(Deserialize)]
struct Answered {
    verdict: Says,
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Says {
    Allow,
    Veto,
}

impl Court {
    pub(crate) fn of(judge: Option<JudgeSettings>, notary: &Arc<Notary>) -> Court {
        let court = Court { judge: RwLock::default(), sits: AtomicBool::new(false), lanes: Lanes::default() };
        court.appoint(judge, notary);
        court
    }

    fn appoint(&self, judge: Option<JudgeSettings>, notary: &Arc<Notary>) {
        let judge = judge.map(|settings| Arc::new(Judge::new(settings, Arc::clone(notary))));
        self.sits.fetch_or(judge.is_some(), Ordering::AcqRel);
        *self.judge.write().unwrap_or_else(PoisonError::into_inner) = judge;
    }

    /// Whether somebody may have to be waited for.
    pub(crate) fn sits(&self) -> bool {
        self.sits.load(Ordering::Acquire)
    }

    /// Who judges now.
    pub(crate) fn judge(&self) -> Option<Arc<Judge>> {
        self.judge.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Judge {
    fn new(settings: JudgeSettings, notary: Arc<Notary>) -> Judge {
        Judge { settings, notary, at_once: Semaphore::new(AT_ONCE) }
    }

    /// Asks once, and waits no longer than it may take.
    pub(crate) async fn ask(&self, question: Question, about: About) -> Opinion {
        let answered = tokio::time::timeout(self.settings.timeout, self.answer(&question, about)).await;
        let (word, reason) = match answered.unwrap_or_else(|_| Err("it did not answer in time".to_owned())) {
            Ok(Answered { verdict: Says::Allow, reason }) => (Word::Allow, reason),
            Ok(Answered { verdict: Says::Veto, reason }) => (Word::Veto, reason),
            Err(why) => {
                tracing::warn!(judge = self.settings.name, why, "a delegation could not be judged");
                (Word::Unheard, Some(why))
            }
        };
        let reason = reason.filter(|reason| !reason.trim().is_empty());
        let reason = reason.map(|reason| reason.chars().take(REASON).collect());
        let Question { delegate, rule, .. } = question;
        Opinion { delegate, rule, judged: Judged { by: self.settings.name.clone(), word, reason } }
    }

    async fn answer(&self, question: &Question, about: About) -> Result<Answered, String> {
        let JudgeSettings { url, secret, timeout, carrier, .. } = &self.settings;
        let asked = Asked { realm: &self.notary.realm, question, about };
        let body = serde_json::to_vec(&asked).map_err(|error| error.to_string())?;
        let mut headers = vec![("legation-signature", self.notary.sign_bytes(&body).to_string())];
        headers.extend(secret.as_ref().map(|secret| ("authorization", format!("Bearer {}", secret.trim()))));
        let _place = self.at_once.acquire().await.map_err(|error| error.to_string())?;
        let answer = carrier.ask(url, Parcel { headers, body: body.into() }, *timeout).await;
        let answer = answer.map_err(|outcome| format!("it could not be asked: {outcome}"))?;
        serde_json::from_slice(&answer).map_err(|_| "it answered with neither allow nor veto".to_owned())
    }
}

impl Exchange {
    /// What a judge says, if there is one.
    pub(crate) async fn opinion(&self, question: Option<Question>) -> Option<Opinion> {
        let (judge, question) = self.court.judge().zip(question)?;
        Some(judge.ask(question, About::default()).await)
    }

    /// Lets another judge delegations from now on, or nobody. What its silence means is said by
    /// [`retune`](Exchange::retune), after this.
    pub fn set_judge(&self, judge: Option<JudgeSettings>) {
        self.court.appoint(judge, &self.notary);
    }
}
