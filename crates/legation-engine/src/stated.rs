//! Which of the checkpoints that were signed are kept: the newest all, of the older ever fewer, and the first.

use legation_exchange::record::SignedCheckpoint;

/// The most that are kept, and how many of the newest are never thinned out.
const MOST: usize = 200;
const NEWEST: usize = 50;

/// Checkpoints, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Stated(Vec<SignedCheckpoint>);

impl Stated {
    pub(crate) fn keep(&mut self, signed: SignedCheckpoint) {
        self.0.push(signed);
        if self.0.len() > MOST {
            let (mut index, old) = (0, self.0.len() - NEWEST);
            self.0.retain(|_| {
                index += 1;
                index > old || index % 2 == 1
            });
        }
    }

    pub(crate) fn newest_first(&self) -> Vec<SignedCheckpoint> {
        self.0.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, NEWEST, Stated};
    use legation_exchange::record::{Checkpoint, Hash};
    use legation_protocol::sign::SecretKey;

    #[test]
    fn the_first_and_the_newest_stay_however_many_there_are() {
        let (mut stated, key) = (Stated::default(), SecretKey::from_seed(&[7; 32]));
        for size in 1..=5000 {
            let (root, chain) = (Hash::of(&[]), Hash::of(&[]));
            let (realm, restore) = ("local".to_owned(), None);
            stated.keep(Checkpoint { realm, epoch: 1, restore, size, root, chain, at: size }.sign(&key));
            assert!(stated.0.len() <= MOST);
        }
        let sizes: Vec<_> = stated.newest_first().iter().map(|signed| signed.unverified().size).collect();
        assert_eq!(sizes.last(), Some(&1));
        assert!(sizes.is_sorted_by(|later, earlier| later > earlier));
        assert_eq!(sizes[..NEWEST], (0..).map(|n| 5000 - n).take(NEWEST).collect::<Vec<_>>());
    }
}
