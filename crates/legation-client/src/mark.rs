//! Where a reader stands: a position, and the epoch it was counted in. A record that was restored from a
//! copy counts on from there, so a position alone says nothing.

use crate::client::Client;
use crate::error::Error;
use crate::http::Call;
use serde::{Deserialize, Serialize};

/// The epoch positions are counted in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Epoch {
    pub(crate) epoch: u32,
    /// Two records that go on from the same copy differ in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) restore: Option<String>,
}

/// How far a mailbox has been read: what to store with an effect that must happen once. Any form of serde's
/// keeps it. [`Incoming::mark`](crate::Incoming::mark) gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    #[serde(flatten)]
    pub(crate) epoch: Epoch,
    pub(crate) position: u64,
}

impl Mark {
    /// The position.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The epoch it was counted in, from 1; each restore of the record begins another.
    pub fn epoch(&self) -> u32 {
        self.epoch.epoch
    }

    /// How far this leads in a record with these epochs, oldest first: all that it still has of what lies before
    /// the mark. Nothing where the mark is of a record that shares nothing known with it.
    fn kept(&self, epochs: &[Begun]) -> Option<Mark> {
        let own = epochs.iter().position(|begun| begun.epoch == self.epoch)?;
        let lost = epochs.get(own + 1).map(|next| next.first);
        let position = lost.map_or(Some(self.position), |lost| Some(self.position.min(lost.checked_sub(1)?)))?;
        Some(Mark { epoch: epochs.last()?.epoch.clone(), position })
    }
}

/// An epoch, and where it began.
#[derive(Clone, Debug, Deserialize)]
struct Begun {
    #[serde(flatten)]
    epoch: Epoch,
    first: u64,
}

#[derive(Deserialize)]
struct Head {
    epochs: Vec<Begun>,
}

impl Client {
    /// The epoch the record is in.
    pub(crate) async fn epoch(&self) -> Result<Epoch, Error> {
        let Head { epochs } = self.call(Call::get("/v1/audit/head")).await?.read()?;
        epochs.last().map(|begun| begun.epoch.clone()).ok_or(Error::Answer(None))
    }

    /// That a mark was made in the epoch the record is in.
    pub(crate) async fn must_count(&self, mark: &Mark) -> Result<(), Error> {
        let Head { epochs } = self.ask(Call::get("/v1/audit/head")).await?;
        if epochs.last().is_some_and(|begun| begun.epoch == mark.epoch) {
            return Ok(());
        }
        Err(Error::Restored { kept: mark.kept(&epochs) })
    }
}

#[cfg(test)]
mod tests {
    use super::{Begun, Epoch, Mark};

    fn epoch(epoch: u32, restore: &str) -> Epoch {
        Epoch { epoch, restore: Some(restore.to_owned()).filter(|restore| !restore.is_empty()) }
    }

    #[test]
    fn of_a_mark_what_lies_before_the_restore_is_kept() {
        let begun = |number, restore, first| Begun { epoch: epoch(number, restore), first };
        let epochs = [begun(1, "", 0), begun(2, "aa", 10), begun(3, "bb", 15)];
        let check = |number, restore, position, want: Option<u64>| {
            let kept = Mark { epoch: epoch(number, restore), position }.kept(&epochs);
            assert_eq!(kept, want.map(|position| Mark { epoch: epoch(3, "bb"), position }), "{number} {position}");
        };
        check(1, "", 7, Some(7));
        check(1, "", 22, Some(9));
        check(2, "aa", 22, Some(14));
        check(2, "cc", 12, None);
        check(3, "bb", 22, Some(22));
    }

    #[test]
    fn a_mark_is_stored_and_read_again() {
        for (mark, text) in [
            (Mark { epoch: epoch(1, ""), position: 7 }, r#"{"epoch":1,"position":7}"#),
            (Mark { epoch: epoch(2, "aa"), position: 7 }, r#"{"epoch":2,"restore":"aa","position":7}"#),
        ] {
            assert_eq!(serde_json::to_string(&mark).unwrap(), text);
            assert_eq!(serde_json::from_str::<Mark>(text).unwrap(), mark);
        }
    }
}
