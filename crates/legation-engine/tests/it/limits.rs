//! What is larger than the record takes: refused by itself, and nothing else with it.

use legation_engine::Ledger;
use legation_exchange::{
    Input, Moment, Policy, Proof, Quotas, Registration, Said, SpareId, State, Tally, TallyBatch, TokenHash, Verdict,
    Verified, Who,
};
use legation_protocol::{Code, Received};
use legation_store::{Disk, EFFECT_MAX, Known, Log, Options, Ring, verify};
use serde_json::json;
use std::fs::File;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// A registration that makes an effect of about this size.
fn register(number: u8, bytes: usize) -> Input {
    let capabilities = Said::To(json!({"topics": [".".repeat(bytes)]}));
    let registration = Registration { capabilities, ..Registration::default() };
    let (id, token) = (format!("agent-{number}"), TokenHash([number; 32]));
    Input::Register { id, registration: Box::new(registration), who: Who::operator(), token }
}

/// Something whose effect is much larger than it looks.
fn unforeseen(bytes: usize) -> Input {
    let (code, source) = ("busy".to_owned(), ".".repeat(bytes));
    let refusals = vec![Tally { code, source, count: 1, ..Tally::default() }];
    Input::Tally(TallyBatch { refusals, ..TallyBatch::default() })
}

fn ring() -> Arc<Ring> {
    Arc::new(Ring::fixed([1; 32]))
}

fn ledger(log: Log) -> Ledger {
    let quotas = Quotas::UNLIMITED;
    Ledger::open(log, State::deciding(), Policy { quotas, ..Policy::default() }).unwrap()
}

/// What came of each input: a position, or the code it was refused with.
fn outcomes(ledger: &mut Ledger, inputs: Vec<Input>) -> Vec<std::result::Result<u64, Code>> {
    let verdicts = ledger.batch(inputs, Moment::from_micros(1)).unwrap().verdicts;
    let outcome = |verdict| match verdict {
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Accepted { position, .. } => Ok(position),
        other @ (Verdict::Held { .. } | Verdict::Duplicate { .. }) => panic!("{other:?}"),
    };
    verdicts.into_iter().map(outcome).collect()
}

#[test]
fn an_effect_larger_than_the_record_takes_is_refused_alone() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = ledger(Log::open(dir.path(), ring()).unwrap().0);
    let inputs = vec![register(0, 10), register(1, EFFECT_MAX), register(2, 10)];
    assert_eq!(outcomes(&mut ledger, inputs), [Ok(0), Err(Code::TooLarge), Ok(1)]);
    assert!(ledger.state().registry().agent("agent-1").is_none());
    assert_eq!(outcomes(&mut ledger, vec![register(1, 10)]), [Ok(2)]);
}

#[test]
fn decisions_that_come_to_more_than_one_batch_takes_are_committed_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let mut ledger = ledger(Log::open(dir.path(), ring()).unwrap().0);
    let inputs = (0..6).map(|number| register(number, EFFECT_MAX - 1024)).collect();
    assert_eq!(outcomes(&mut ledger, inputs), [Ok(0), Ok(1), Ok(2), Ok(3), Ok(4), Ok(5)]);
    drop(ledger);
    let report = verify::verify(dir.path(), &verify::Options::default(), &mut |_| {}).unwrap();
    assert!(report.is_sound() && report.to == 6, "{report:?}");
}

/// A disk with so much room.
#[derive(Debug)]
struct Small(AtomicU64);

impl Disk for Small {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> Result<()> {
        let grown = (offset + bytes.len() as u64).saturating_sub(file.metadata()?.len());
        let took = self.0.fetch_update(SeqCst, SeqCst, |room| room.checked_sub(grown));
        took.map_err(|_| ErrorKind::StorageFull)?;
        file.write_all_at(bytes, offset)
    }
}

#[test]
fn where_only_a_part_finds_room_the_rest_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(Small(AtomicU64::new(80 << 20)));
    let options = Options { disk: Arc::<Small>::clone(&disk), ..Options::with(ring()) };
    let mut ledger = ledger(options.open(dir.path(), &Known::start()).unwrap().0);
    let inputs = (0..6).map(|_| unforeseen(EFFECT_MAX - 1024)).collect();
    let full = Err(Code::StorageFull);
    assert_eq!(outcomes(&mut ledger, inputs), [Ok(0), Ok(1), Ok(2), Ok(3), full, full]);
    assert_eq!((ledger.state().next(), ledger.size()), (4, 4));
    disk.0.store(80 << 20, SeqCst);
    assert_eq!(outcomes(&mut ledger, vec![register(4, 10)]), [Ok(4)]);
}

const OTHERS: u8 = 60;

/// A message that nobody reads, and that is given up some day.
fn claim(to: u8) -> Input {
    let text = json!({
        "protocol": "VLP/1.1", "id": format!("CLM{to:03}"), "type": "claim", "sender": "agent-0",
        "receiver": format!("agent-{to}"), "timestamp": "2026-01-01T00:00:00Z", "content": "It rains.",
        "confidence": 0.5, "provenance": [{"type": "document", "ref": "https://example.org/rain"}],
    });
    let text = text.to_string();
    Input::Message(Box::new(Verified {
        received: Received::read(text.as_bytes()).unwrap(),
        proof: Proof::Bearer(Who::Agent("agent-0".to_owned())),
        spare_id: SpareId::Fresh("spare".to_owned()),
        trace: None,
        found: Vec::new(),
        searched: None,
        opinion: None,
        scanned: Vec::new(),
    }))
}

#[test]
fn what_falls_due_on_a_full_disk_waits_for_room_and_is_not_overtaken() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(Small(AtomicU64::new(8 << 20)));
    let options = Options { disk: Arc::<Small>::clone(&disk), ..Options::with(ring()) };
    let mut ledger = ledger(options.open(dir.path(), &Known::start()).unwrap().0);
    let inputs = (0..OTHERS).map(|number| register(number, 10)).chain((1..OTHERS).map(claim)).collect();
    assert!(outcomes(&mut ledger, inputs).iter().all(std::result::Result::is_ok));
    disk.0.store(0, SeqCst);
    while outcomes(&mut ledger, vec![unforeseen(100_000)]) != [Err(Code::StorageFull)] {}
    while outcomes(&mut ledger, vec![unforeseen(1000)]) != [Err(Code::StorageFull)] {}
    let (size, late) = (ledger.size(), Moment::from_micros(400 * 86_400_000_000));
    ledger.fall_due(late).unwrap();
    assert!(!ledger.has_more(), "nothing is folded in that would have to go back");
    disk.0.store(80 << 20, SeqCst);
    ledger.decide(register(OTHERS, 10), late).unwrap();
    let overtakes = ledger.commit().unwrap().verdicts;
    assert!(matches!(&overtakes[..], [Verdict::Refused(why)] if why.code() == Code::StorageFull), "{overtakes:?}");
    ledger.fall_due(late).unwrap();
    ledger.decide(register(OTHERS, 10), late).unwrap();
    let after = ledger.commit().unwrap().verdicts;
    assert!(matches!(&after[..], [Verdict::Accepted { .. }]), "{after:?}");
    assert!(ledger.size() > size + 1, "it falls due once there is room");
}
