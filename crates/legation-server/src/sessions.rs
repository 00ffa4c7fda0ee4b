//! Who is signed in with a browser, and the codes that sign somebody in once. Both are in memory alone and
//! as hashes: they end with the process, and what is kept opens nothing.

use legation_engine::{Error, Exchange, Token};
use legation_exchange::{TokenHash, Who};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a code can be used.
pub(crate) const CODE_TIME: Duration = Duration::from_mins(10);
/// How long a session lasts at most.
pub(crate) const SESSION_TIME: Duration = Duration::from_hours(12);
/// How long it lasts without being used.
const IDLE_TIME: Duration = Duration::from_hours(2);
/// Most codes, and most sessions. Beyond it the one that would end first ends.
const MOST: usize = 1000;

/// A person, for as long as a token counts that was theirs when they were told of here.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    name: String,
    tokens: Vec<TokenHash>,
}

impl Subject {
    /// The person of this name.
    pub(crate) fn named(exchange: &Exchange, name: &str) -> Option<Subject> {
        let person = exchange.person(name)?;
        Some(Subject { name: person.name, tokens: person.tokens.iter().collect() })
    }

    /// The person who holds a token.
    pub(crate) fn holding(exchange: &Exchange, token: &str) -> Option<Subject> {
        match exchange.who(token).ok()? {
            Who::Person { name, .. } => Some(Subject { name, tokens: vec![Token::hash_of(token)] }),
            Who::Agent(_) | Who::Nobody => None,
        }
    }

    /// The person as they are now; none once no such token counts.
    pub(crate) fn who(&self, exchange: &Exchange) -> Option<Who> {
        let person = exchange.person(&self.name)?;
        person.tokens.iter().any(|token| self.tokens.contains(&token)).then(|| person.who())
    }
}

/// Somebody signed in.
#[derive(Clone, Debug)]
pub(crate) struct SignedIn {
    pub(crate) who: Who,
    /// What the session is kept by.
    pub(crate) key: TokenHash,
    /// What a page of ours sends along to change something, and no other page knows.
    pub(crate) csrf: Token,
}

/// All codes and sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    codes: Mutex<Kept<Subject>>,
    sessions: Mutex<Kept<Open>>,
}

/// A session.
#[derive(Clone, Debug)]
struct Open {
    subject: Subject,
    csrf: Token,
    used: Instant,
}

impl Sessions {
    /// Lets a code sign somebody in.
    pub(crate) fn offer(&self, code: &Token, subject: Subject, now: Instant) {
        lock(&self.codes).put(code.hash(), subject, CODE_TIME, now);
    }

    /// Whom a code signs in. It does so once.
    pub(crate) fn redeem(&self, code: &str, now: Instant) -> Option<Subject> {
        lock(&self.codes).take(&Token::hash_of(code), now)
    }

    /// A new session's secret.
    pub(crate) fn open(&self, subject: Subject, now: Instant) -> Result<Token, Error> {
        let (secret, csrf) = (Token::fresh()?, Token::fresh()?);
        lock(&self.sessions).put(secret.hash(), Open { subject, csrf, used: now }, SESSION_TIME, now);
        Ok(secret)
    }

    /// Who is signed in with a secret. A session ends when its person's token does.
    pub(crate) fn signed_in(&self, exchange: &Exchange, secret: &str, now: Instant) -> Option<SignedIn> {
        let key = Token::hash_of(secret);
        let csrf = lock(&self.sessions).used(&key, now)?;
        self.still(exchange, &key, now).map(|who| SignedIn { who, key, csrf })
    }

    /// Who a session is of, as long as it lasts. To ask does not use it.
    pub(crate) fn still(&self, exchange: &Exchange, key: &TokenHash, now: Instant) -> Option<Who> {
        let Open { subject, used, .. } = lock(&self.sessions).get(key, now).cloned()?;
        let who = Some(subject).filter(|_| now < used + IDLE_TIME).and_then(|subject| subject.who(exchange));
        if who.is_none() {
            lock(&self.sessions).take(key, now);
        }
        who
    }

    /// Ends a session.
    pub(crate) fn end(&self, secret: &str, now: Instant) {
        lock(&self.sessions).take(&Token::hash_of(secret), now);
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is kept for a time, never more than [`MOST`].
#[derive(Debug)]
struct Kept<T>(BTreeMap<TokenHash, (T, Instant)>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(BTreeMap::new())
    }
}

impl<T> Kept<T> {
    fn put(&mut self, key: TokenHash, value: T, time: Duration, now: Instant) {
        self.0.retain(|_, (_, end)| *end > now);
        if self.0.len() >= MOST {
            let first = self.0.iter().min_by_key(|(_, (_, end))| *end).map(|(key, _)| *key);
            first.map(|first| self.0.remove(&first));
        }
        self.0.insert(key, (value, now + time));
    }

    fn get(&self, key: &TokenHash, now: Instant) -> Option<&T> {
        self.0.get(key).filter(|(_, end)| *end > now).map(|(value, _)| value)
    }

    fn take(&mut self, key: &TokenHash, now: Instant) -> Option<T> {
        self.0.remove(key).filter(|(_, end)| *end > now).map(|(value, _)| value)
    }
}

impl Kept<Open> {
    /// Uses a session, and tells what its pages show.
    fn used(&mut self, key: &TokenHash, now: Instant) -> Option<Token> {
        let (open, _) = self.0.get_mut(key).filter(|(open, end)| *end > now && now < open.used + IDLE_TIME)?;
        open.used = now;
        Some(open.csrf.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{CODE_TIME, IDLE_TIME, Kept, MOST, SESSION_TIME, Sessions, Subject};
    use legation_engine::Token;
    use legation_exchange::TokenHash;
    use std::time::Duration;
    use tokio::time::Instant;

    const TICK: Duration = Duration::from_millis(1);

    fn rita() -> Subject {
        Subject { name: "rita".to_owned(), tokens: Vec::new() }
    }

    #[test]
    fn a_code_is_good_once_and_not_for_long() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let codes = [Token::fresh().unwrap(), Token::fresh().unwrap()];
        for code in &codes {
            sessions.offer(code, rita(), start);
        }
        let redeem = |code: &Token, after| sessions.redeem(code.reveal(), start + after).map(|found| found.name);
        assert_eq!(redeem(&codes[0], CODE_TIME.saturating_sub(TICK)).as_deref(), Some("rita"));
        assert_eq!(redeem(&codes[0], CODE_TIME.saturating_sub(TICK)), None);
        assert_eq!(redeem(&codes[1], CODE_TIME), None);
        assert!(sessions.redeem("lgt_guess", start).is_none());
    }

    #[test]
    fn a_session_ends_after_its_time_or_when_it_is_told_to() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let secret = sessions.open(rita(), start).unwrap();
        let is_there = |after| super::lock(&sessions.sessions).get(&secret.hash(), start + after).is_some();
        assert!(is_there(SESSION_TIME.saturating_sub(TICK)) && !is_there(SESSION_TIME));
        sessions.end(secret.reveal(), start);
        assert!(!is_there(Duration::ZERO));
    }

    #[test]
    fn a_session_that_nobody_uses_ends_sooner() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let secret = sessions.open(rita(), start).unwrap();
        let used = |after| super::lock(&sessions.sessions).used(&secret.hash(), start + after).is_some();
        let almost = IDLE_TIME.saturating_sub(TICK);
        assert!(used(almost) && used(almost * 2) && !used(almost * 2 + IDLE_TIME));
        // Used or not, it never lasts longer than its time.
        assert!((0..100).all(|n| n * almost >= SESSION_TIME || used(n * almost)) || !used(SESSION_TIME));
    }

    #[test]
    fn no_more_is_kept_than_fits_and_the_oldest_goes() {
        let (mut kept, start) = (Kept::default(), Instant::now());
        let key = |n: usize| {
            TokenHash([u8::try_from(n / 250).unwrap(), u8::try_from(n % 250).unwrap()].repeat(16).try_into().unwrap())
        };
        for n in 0..=MOST {
            kept.put(key(n), n, SESSION_TIME, start + TICK * u32::try_from(n).unwrap());
        }
        assert_eq!((kept.0.len(), kept.get(&key(0), start), kept.get(&key(1), start)), (MOST, None, Some(&1)));
        kept.put(key(0), 0, SESSION_TIME, start + SESSION_TIME * 2);
        assert_eq!(kept.0.len(), 1);
    }
}
