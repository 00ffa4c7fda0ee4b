//! Whether checkpoints can be of one record: two that cannot show that it was restored, or went on twice.

use legation_exchange::record::Checkpoint;
use serde_json::Value;

/// A checkpoint that can be relied on, the file it came from, and the epochs that were told beside it.
pub(super) struct Kept {
    pub(super) file: String,
    pub(super) checkpoint: Checkpoint,
    pub(super) epochs: Vec<(u32, u64)>,
}

/// The epochs `audit head --json` tells, with their first positions.
pub(super) fn epochs(head: &Value) -> Vec<(u32, u64)> {
    let listed = head.get("epochs").and_then(Value::as_array).into_iter().flatten();
    let epoch = |told: &Value| Some((u32::try_from(told.get("epoch")?.as_u64()?).ok()?, told.get("first")?.as_u64()?));
    listed.filter_map(epoch).collect()
}

/// Everything that does not go together, in words.
pub(super) fn disagreements(all: &[Kept]) -> Vec<String> {
    let pairs = all.iter().enumerate().flat_map(|(at, one)| all.iter().skip(at + 1).map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| disagreement(one, other)).collect()
}

fn disagreement(one: &Kept, other: &Kept) -> Option<String> {
    let (a, b) = (&one.checkpoint, &other.checkpoint);
    if a.realm != b.realm {
        return None;
    }
    let files = format!("{} and {}", one.file, other.file);
    if a.epoch != b.epoch {
        return if a.epoch < b.epoch { lost(one, other) } else { lost(other, one) };
    }
    if a.restore != b.restore {
        let epoch = a.epoch;
        return Some(format!("{files}: a fork: two records of this realm are in epoch {epoch}, by two restores"));
    }
    if a.size == b.size && (a.root, a.chain) != (b.root, b.chain) {
        return Some(format!("{files}: a fork: both have {} entries, and not the same ones", a.size));
    }
    None
}

/// What the record of the newer epoch has no more of what the older one covered.
fn lost(older: &Kept, newer: &Kept) -> Option<String> {
    let next = |(epoch, _): &&(u32, u64)| *epoch == older.checkpoint.epoch + 1;
    let first = newer.epochs.iter().find(next).map(|(_, first)| *first);
    let (size, epoch) = (older.checkpoint.size, newer.checkpoint.epoch);
    // Without the epochs, what is shorter has surely lost something.
    let first = first.or_else(|| (newer.checkpoint.size < size).then_some(newer.checkpoint.size))?;
    (first < size).then(|| {
        format!(
            "{}: the record was restored from a copy and is in epoch {epoch}: positions {first} to {} that {} covers are lost",
            newer.file,
            size - 1,
            older.file
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{Kept, disagreements};
    use legation_exchange::record::{Checkpoint, Hash};

    fn kept(epoch: u32, restore: &str, size: u64, root: &[u8], epochs: &[(u32, u64)]) -> Kept {
        let restore = (!restore.is_empty()).then(|| restore.to_owned());
        let (root, chain) = (Hash::of(&[root]), Hash::ZERO);
        let checkpoint = Checkpoint { realm: "acme".to_owned(), epoch, restore, size, root, chain, at: 0 };
        Kept { file: format!("{epoch}-{size}"), checkpoint, epochs: epochs.to_vec() }
    }

    #[track_caller]
    fn check(one: Kept, other: Kept, want: &str) {
        let found = disagreements(&[one, other]).join("\n");
        assert!(if want.is_empty() { found.is_empty() } else { found.contains(want) }, "{found:?}");
    }

    #[test]
    fn what_cannot_be_of_one_record_is_named() {
        check(kept(1, "", 5, b"a", &[]), kept(1, "", 5, b"a", &[]), "");
        check(kept(1, "", 5, b"a", &[]), kept(1, "", 7, b"b", &[]), "");
        check(kept(1, "", 5, b"a", &[]), kept(1, "", 5, b"b", &[]), "a fork");
        check(kept(2, "x", 5, b"a", &[]), kept(2, "y", 9, b"b", &[]), "by two restores");
        check(kept(1, "", 9, b"a", &[]), kept(2, "x", 20, b"b", &[(1, 0), (2, 6)]), "positions 6 to 8");
        check(kept(1, "", 6, b"a", &[]), kept(2, "x", 20, b"b", &[(1, 0), (2, 6)]), "");
        check(kept(1, "", 9, b"a", &[]), kept(2, "x", 7, b"b", &[]), "positions 7 to 8");
    }
}
