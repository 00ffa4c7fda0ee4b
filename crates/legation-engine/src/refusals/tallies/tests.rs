use super::{ALONE, CHUNK, ClosedCounts, MOST, Source, Tallies};
use legation_exchange::TallyBatch;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

fn source(number: u32) -> Source {
    Source::Address(IpAddr::V4(Ipv4Addr::from_bits(number)))
}

fn all(closed: Option<ClosedCounts>) -> Vec<legation_exchange::Tally> {
    closed.into_iter().flat_map(|closed| closed.batches).flat_map(|batch| batch.refusals).collect()
}

#[test]
fn refusals_of_one_kind_from_one_place_are_one_count() {
    let tallies = Tallies::default();
    for number in 0..1000 {
        tallies.count_stranger("bad_json", source(number % 2), Some(number.to_string()));
        tallies.count_stranger("too_large", source(0), None);
    }
    // One whose body was not read does not hide what was.
    tallies.count_stranger("bad_json", source(0), None);
    let counts: Vec<_> =
        all(tallies.close(0)).into_iter().map(|tally| (tally.code, tally.source, tally.count, tally.digest)).collect();
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
    assert!(tallies.close(0).is_none());
}

#[test]
fn however_many_places_there_are_the_counts_are_few() {
    let tallies = Tallies::default();
    for number in 0..30_000 {
        tallies.count_stranger("bad_json", source(number), None);
    }
    tallies.count_known("bad_json", "agent ann", None);
    let closed = tallies.close(0).unwrap();
    assert!(closed.batches.iter().all(|batch| batch.refusals.len() <= CHUNK));
    let counts = all(Some(closed));
    assert_eq!((counts.len(), counts.iter().map(|tally| tally.count).sum::<u64>()), (MOST + 2, 30_001));
    assert!(counts.iter().any(|tally| tally.source == "others" && tally.count == 20_000));
    assert!(counts.iter().any(|tally| tally.by.as_deref() == Some("agent ann") && tally.count == 1));
}

#[test]
fn a_principal_has_so_many_entries_of_one_code_in_a_minute() {
    let tallies = Tallies::default();
    let alone = |code, by| (0..2 * ALONE).filter(|_| tallies.may_stand_alone(code, by)).count();
    let most = usize::try_from(ALONE).unwrap();
    assert_eq!((alone("bad_json", "agent ann"), alone("bad_json", "agent bob")), (most, most));
    assert_eq!((alone("too_large", "agent ann"), alone("bad_json", "agent ann")), (most, 0));
}

/// A record that outlives the process.
#[derive(Default)]
struct Record(Vec<TallyBatch>);

impl Record {
    fn from(&self, position: u64) -> BTreeSet<String> {
        let entries = self.0.iter().skip(usize::try_from(position).unwrap());
        entries.filter_map(|batch| batch.batch.clone()).collect()
    }

    fn sums(&self) -> BTreeMap<(String, Option<String>), u64> {
        let mut sums = BTreeMap::new();
        for tally in self.0.iter().flat_map(|batch| &batch.refusals) {
            *sums.entry((tally.code.clone(), tally.by.clone())).or_default() += tally.count;
        }
        sums
    }
}

/// Brings as many batches into the record as are given, and then is killed or has no room.
fn write(tallies: &Tallies, record: &mut Record, mut most: usize) {
    let mut closed = tallies.closed.try_lock().unwrap();
    closed.extend(tallies.close(record.0.len() as u64));
    while let Some(counts) = closed.front_mut() {
        while let Some(batch) = counts.batches.front() {
            if most == 0 {
                return;
            }
            most -= 1;
            record.0.push(batch.clone());
            counts.batches.pop_front();
        }
        if most == 0 {
            return;
        }
        closed.pop_front().unwrap().remove_file();
    }
}

fn started(folder: &Path, record: &Record) -> Tallies {
    let tallies = Tallies::in_folder(folder.to_owned());
    tallies.take_over(record.0.len() as u64, |from| record.from(from));
    tallies
}

#[derive(Clone, Debug)]
enum Step {
    Known(u8, u8),
    Stranger(u8, u32),
    /// Other entries come into the record.
    Grow,
    /// Counts are written: so many batches, and then it is killed or has no room.
    Write(usize, bool),
    Kill,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..3u8, 0..3u8).prop_map(|(code, agent)| Step::Known(code, agent)),
        6 => (0..3u8, 0..5u32).prop_map(|(code, place)| Step::Stranger(code, place)),
        1 => Just(Step::Grow),
        2 => (0..4usize, any::<bool>()).prop_map(|(most, kill)| Step::Write(most, kill)),
        1 => Just(Step::Kill),
    ]
}

const CODES: [&str; 3] = ["bad_json", "not_allowed", "too_large"];

proptest! {
    /// Whenever it is killed, however far the counts have come into the record: each rejection that was counted is on the
    /// record once, in the end.
    #[test]
    fn the_sums_agree_whenever_the_process_is_killed(steps in proptest::collection::vec(step(), 1..60)) {
        let folder = tempfile::tempdir().unwrap();
        let (mut record, mut want) = (Record::default(), BTreeMap::new());
        let mut tallies = started(folder.path(), &record);
        for step in steps {
            match step {
                Step::Known(code, agent) => {
                    let (code, by) = (CODES[usize::from(code)], format!("agent {agent}"));
                    tallies.count_known(code, &by, None);
                    *want.entry((code.to_owned(), Some(by))).or_default() += 1;
                }
                Step::Stranger(code, place) => {
                    let code = CODES[usize::from(code)];
                    tallies.count_stranger(code, source(place), None);
                    *want.entry((code.to_owned(), None)).or_default() += 1;
                }
                Step::Grow => record.0.push(TallyBatch::default()),
                Step::Write(most, false) => write(&tallies, &mut record, most),
                Step::Write(most, true) => {
                    write(&tallies, &mut record, most);
                    tallies = started(folder.path(), &record);
                }
                Step::Kill => tallies = started(folder.path(), &record),
            }
        }
        tallies = started(folder.path(), &record);
        write(&tallies, &mut record, usize::MAX);
        prop_assert_eq!(record.sums(), want);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
