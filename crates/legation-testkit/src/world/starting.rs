//! Stopping in all ways, and starting again.

use super::{Arc, Bench, Ledger, State, Way, World, audit};
use legation_engine::{Error, snapshots};
use legation_store::{Known, Options, Snapshots};

impl World {
    /// Starts the exchange on what the disk has. A start can be interrupted too; one that nothing
    /// interrupts must succeed, and then everything is checked.
    pub(super) fn start(&mut self) -> Result<(), String> {
        if self.rng.chance(15) {
            self.plan_fault(4);
            if self.open().is_err() {
                self.summary.crashes += 1;
                self.stop_machine()?;
            }
            self.disk.calm();
        }
        let ledger = self.open()?;
        // As the engine: by the machine's clock, and never before the record's last.
        self.record = self.clock.max(ledger.state().now());
        self.summary.starts += 1;
        self.model = audit(&self.asked, &self.policy, &ledger, self.dir.path())?;
        self.bench = Bench::left(ledger.state().rules().cap.calls().all_open().map(|(call, _)| call));
        self.asked.stopped.extend(self.bench.all_left());
        self.ledger = Some(ledger);
        self.way = Way::default();
        Ok(())
    }

    fn open(&mut self) -> Result<Ledger, String> {
        let snapshot = if self.rng.chance(50) { self.latest_snapshot()? } else { None };
        let (known, state) = snapshot.unwrap_or_else(|| (Known::start(), State::deciding()));
        let disk = Arc::<super::Flaky>::clone(&self.disk);
        let options = Options { segment: self.segment, disk, ring: Arc::clone(&self.ring) };
        let (log, _) = options.open(self.dir.path(), &known).map_err(|error| format!("no start: {error}"))?;
        Ledger::open(log, state, self.policy.clone()).map_err(|error| format!("no start: {error}"))
    }

    fn latest_snapshot(&self) -> Result<Option<(Known, State)>, String> {
        let snapshots = Snapshots::open(self.dir.path(), Arc::clone(&self.ring)).map_err(|error| error.to_string())?;
        snapshots::latest(&snapshots).map_err(|error| error.to_string())
    }

    /// The exchange stops in the middle. What is there afterwards is one of these states: a batch is
    /// there or it is not.
    pub(super) fn crash(&mut self, may_be: &[State]) -> Result<(), String> {
        self.summary.crashes += 1;
        self.ledger = None;
        if self.rng.chance(70) {
            self.stop_machine()?;
        } else {
            // Only the process ended: what it wrote is still on its way to the disk.
            self.disk.calm();
        }
        let ledger = self.open()?;
        if may_be.contains(ledger.state()) {
            return Ok(());
        }
        let sizes: Vec<_> = may_be.iter().map(State::next).collect();
        Err(format!("{} entries lead to a state that never was; there should be one of {sizes:?}", ledger.size()))
    }

    pub(super) fn stop_cleanly(&mut self) -> Result<(), String> {
        let was = self.ledger()?.state().clone();
        self.ledger = None;
        self.disk.calm();
        let ledger = self.open()?;
        if *ledger.state() == was { Ok(()) } else { Err("the record does not lead to the state there was".to_owned()) }
    }

    fn stop_machine(&mut self) -> Result<(), String> {
        self.disk.restart().map_err(|error| format!("the simulated disk failed: {error}"))?;
        if self.rng.chance(20) {
            // A segment in the making; a log that ends in order takes it away.
            let _ = std::fs::write(self.dir.path().join("log/spare.tmp"), [0; 100]);
        }
        Ok(())
    }

    /// Keeps the state as it is now for later starts, as the engine does.
    pub(super) fn take_snapshot(&mut self) -> Result<(), String> {
        let ledger = self.ledger()?;
        let (known, reader) = (ledger.log().known(), ledger.reader());
        let disk = Arc::<super::Flaky>::clone(&self.disk);
        let Ok(kept) = Snapshots::on(self.dir.path(), disk, Arc::clone(&self.ring)) else { return Ok(()) };
        match snapshots::write(&kept, &reader, &known) {
            // Where the disk fails, there is no snapshot: that costs a slower start and nothing else.
            Ok(()) | Err(Error::Record(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}
