//! What was refused. Refusals to those who proved who they are go into the record one by one, and
//! nobody waits for that; those to strangers are counted by code, source and minute, so that nobody
//! makes the record grow by knocking.

use crate::decider::Job;
use crate::exchange::{Error, Exchange};
use legation_exchange::{Input, Refused, Tally, Who};
use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How many pairs of code and source are told apart within a minute.
const MOST: usize = 10_000;
/// How often counts go into the record.
const OFTEN: Duration = Duration::from_mins(1);

/// Where something came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// From a machine.
    Address(IpAddr),
    /// From this process.
    #[default]
    InProcess,
}

/// Counts of a minute.
#[derive(Debug, Default)]
pub(crate) struct Tallies(Mutex<BTreeMap<(&'static str, Option<Source>), Counted>>);

#[derive(Debug, Default)]
struct Counted {
    count: u64,
    digest: Option<String>,
}

impl Tallies {
    pub(crate) fn count(&self, code: Code, source: Source, digest: Option<String>) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (code.as_str(), Some(source));
        let key = if counts.len() < MOST || counts.contains_key(&key) { key } else { (code.as_str(), None) };
        let counted = counts.entry(key).or_default();
        counted.count += 1;
        counted.digest = digest.or(counted.digest.take());
    }

    fn take(&self) -> Vec<Tally> {
        let counts = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let tally = |((code, source), counted): ((&str, Option<Source>), Counted)| {
            let source = match source {
                Some(Source::Address(address)) => address.to_string(),
                Some(Source::InProcess) => "in process".to_owned(),
                None => "others".to_owned(),
            };
            Tally { code: code.to_owned(), source, count: counted.count, digest: counted.digest }
        };
        counts.into_iter().map(tally).collect()
    }
}

impl Exchange {
    /// Notes that something was refused before it came to a decision. `digest` is that of what was
    /// asked, if it was read.
    pub fn note_refusal(&self, who: &Who, code: Code, source: Source, digest: Option<String>) {
        let by = who.to_string();
        self.note_refused(
            who,
            code,
            source,
            Refused { by, code: code.as_str().to_owned(), digest, ..Refused::default() },
        );
    }

    /// The same, with what they were told.
    pub(crate) fn note_rejection(&self, who: &Who, rejection: &Rejection, source: Source, digest: Option<String>) {
        let refused = Refused { digest, ..Refused::of(who.to_string(), rejection) };
        self.note_refused(who, rejection.code(), source, refused);
    }

    fn note_refused(&self, who: &Who, code: Code, source: Source, refused: Refused) {
        if *who == Who::Nobody {
            return self.tallies.count(code, source, refused.digest);
        }
        // A queue that is full has better things to do than this.
        self.ask_unheard(Input::Refusal(refused));
    }

    /// Writes what was counted into the record.
    pub async fn write_tallies(&self) -> Result<(), Error> {
        match self.tallies.take() {
            none if none.is_empty() => Ok(()),
            tallies => self.ask(Input::Tally(tallies)).await.map(drop),
        }
    }
}

/// Writes counts each minute until nobody asks anything any more.
pub(crate) async fn keep(jobs: mpsc::WeakSender<Job>, tallies: Arc<Tallies>) {
    loop {
        tokio::time::sleep(OFTEN).await;
        let Some(jobs) = jobs.upgrade() else { return };
        let counted = tallies.take();
        let nothing = counted.is_empty();
        let (answer, _) = oneshot::channel();
        let job = Job::of_exchange(Input::Tally(counted), answer);
        if !nothing && jobs.send(job).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Source, Tallies};
    use legation_protocol::Code;
    use std::net::{IpAddr, Ipv4Addr};

    fn source(number: u32) -> Source {
        Source::Address(IpAddr::V4(Ipv4Addr::from_bits(number)))
    }

    #[test]
    fn refusals_of_one_kind_from_one_place_are_one_count() {
        let tallies = Tallies::default();
        for number in 0..1000 {
            tallies.count(Code::BadJson, source(number % 2), Some(number.to_string()));
            tallies.count(Code::TooLarge, source(0), None);
        }
        // One whose body was not read does not hide what was.
        tallies.count(Code::BadJson, source(0), None);
        let counts: Vec<_> =
            tallies.take().into_iter().map(|tally| (tally.code, tally.source, tally.count, tally.digest)).collect();
        let count = |code: &str, source: &str, count, digest: Option<&str>| {
            (code.to_owned(), source.to_owned(), count, digest.map(str::to_owned))
        };
        assert_eq!(
            counts,
            [
                count("bad_json", "0.0.0.0", 501, Some("998")),
                count("bad_json", "0.0.0.1", 500, Some("999")),
                count("too_large", "0.0.0.0", 1000, None),
            ]
        );
        assert!(tallies.take().is_empty());
    }

    #[test]
    fn however_many_places_there_are_the_counts_are_few() {
        let tallies = Tallies::default();
        for number in 0..30_000 {
            tallies.count(Code::BadJson, source(number), None);
        }
        let counts = tallies.take();
        assert_eq!((counts.len(), counts.iter().map(|tally| tally.count).sum::<u64>()), (MOST + 1, 30_000));
        assert!(counts.iter().any(|tally| tally.source == "others" && tally.count == 20_000));
    }
}
