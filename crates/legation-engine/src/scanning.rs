//! The scan of what messages say, before they are decided: on whatever thread brought the bytes, never on the
//! decider's. What is looked for can change while the exchange runs.

use crate::exchange::Exchange;
use legation_exchange::Registration;
use legation_protocol::Received;
use legation_protocol::negotiation::Feature;
use legation_scan::{BadPattern, Found, Scanner};
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};

/// How texts are scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanSettings {
    /// Whether they are.
    pub enabled: bool,
    /// What is looked for.
    pub patterns: legation_scan::Settings,
}

impl Default for ScanSettings {
    fn default() -> Self {
        ScanSettings { enabled: true, patterns: legation_scan::Settings::default() }
    }
}

/// Whether texts are scanned, now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanState {
    /// Whether the settings ask for it.
    pub enabled: bool,
    /// How many patterns are looked for.
    pub patterns: usize,
    /// Whether texts whose findings are known were judged right, when the patterns were made ready.
    pub works: bool,
}

impl ScanState {
    /// Whether every message is scanned, by patterns that work.
    pub const fn is_running(self) -> bool {
        self.enabled && self.works && self.patterns > 0
    }

    /// The same as a core feature.
    pub(crate) const fn observed(self) -> Feature {
        match (self.enabled, self.is_running()) {
            (_, true) => Feature::On,
            (true, false) => Feature::Lost,
            (false, false) => Feature::Off,
        }
    }
}

/// The scanner in use.
#[derive(Debug, Default)]
pub(crate) struct Scanning(RwLock<InUse>);

#[derive(Clone, Debug, Default)]
struct InUse {
    scanner: Option<Arc<Scanner>>,
    state: ScanState,
}

impl Scanning {
    /// One that scans by these settings.
    pub(crate) fn by(settings: &ScanSettings) -> Result<Scanning, BadPattern> {
        let scanning = Scanning::default();
        scanning.set(settings)?;
        Ok(scanning)
    }

    /// Scans by these settings from now on. Patterns that cannot be used leave nothing that scans.
    pub(crate) fn set(&self, settings: &ScanSettings) -> Result<(), BadPattern> {
        let ScanSettings { enabled, patterns } = settings;
        let scanner = enabled.then(|| Scanner::new(patterns)).transpose();
        let (in_use, answer) = match scanner {
            Ok(scanner) => {
                let (patterns, works) =
                    scanner.as_ref().map_or((0, false), |scanner| (scanner.patterns(), scanner.works()));
                let state = ScanState { enabled: *enabled, patterns, works };
                (InUse { scanner: scanner.map(Arc::new), state }, Ok(()))
            }
            Err(bad) => {
                (InUse { scanner: None, state: ScanState { enabled: *enabled, ..ScanState::default() } }, Err(bad))
            }
        };
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = in_use;
        answer
    }

    fn scanner(&self) -> Option<Arc<Scanner>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).scanner.clone()
    }
}

impl Exchange {
    /// Whether texts are scanned, now.
    pub fn scanning(&self) -> ScanState {
        self.scanning.0.read().unwrap_or_else(PoisonError::into_inner).state
    }

    /// Scans by other settings from now on.
    pub fn set_scanning(&self, settings: &ScanSettings) -> Result<(), BadPattern> {
        self.scanning.set(settings)
    }

    /// What is found in a message.
    pub(crate) fn scan(&self, received: &Received) -> Vec<Found> {
        self.scan_json(received.bytes())
    }

    /// What is found in the texts of a JSON document.
    pub(crate) fn scan_json(&self, bytes: &[u8]) -> Vec<Found> {
        let Some(scanner) = self.scanning.scanner() else { return Vec::new() };
        let found = scanner.body(bytes);
        self.stats.scanned(&found);
        found
    }

    /// Enters what is found in the texts an agent is registered with.
    pub(crate) fn scan_registration(&self, registration: &mut Registration) {
        let Some(scanner) = self.scanning.scanner() else { return };
        let found = |member: &str, value: Option<&Value>| {
            let text = value.map(Value::to_string).unwrap_or_default();
            let found = scanner.body(text.as_bytes()).into_iter();
            found.map(|found| Found { at: format!("{member}{}", found.at), ..found }).collect::<Vec<_>>()
        };
        registration.scanned = found("/manifest", registration.manifest.as_ref());
        registration.scanned.extend(found("/capabilities", registration.capabilities.value()));
        self.stats.scanned(&registration.scanned);
    }
}
