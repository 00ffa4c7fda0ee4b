//! What the scan of a message's texts means for it: its findings stand beside it, and what is grave waits for a person.
//! The scan itself was made before the message was decided, and is part of what is decided on.

use super::hold::{Lifter, Reason};
use super::{Case, Finding, Ruling, Speaker, vcp};
use crate::policy::Policy;
use crate::who::Who;
use legation_protocol::vlp::Level;
use legation_protocol::{Code, Message, Rejection};
use legation_scan::{BUILT_IN, Found, Severity};

/// The rule that findings of the scan are by.
pub const RULE: &str = "scan";

/// Why a message waits.
pub const SUSPECTED: &str = "injection_suspected";

/// How much is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holding {
    /// What hardly ever is harmless.
    #[default]
    High,
    /// What seldom is harmless, too.
    Medium,
    /// Nothing: findings are marks.
    Never,
}

impl Holding {
    fn covers(self, severity: Severity) -> bool {
        match self {
            Holding::High => severity >= Severity::High,
            Holding::Medium => severity >= Severity::Medium,
            Holding::Never => false,
        }
    }
}

/// Puts findings beside the message. Escalations, acknowledgements, resumes, blocks and what a parent lays on its child
/// beside what it laid before are marked and never held, and nor is what a person says: what stops somebody, or binds
/// it more, does not wait for anybody.
pub(super) fn look(case: &Case<'_>, ruling: &mut Ruling) {
    ruling.findings.extend(marks(case.scanned));
    let covered = |found: &&Found| case.policy.scan_holds.covers(found.severity);
    let Some(gravest) = case.scanned.iter().filter(covered).max_by_key(|found| found.severity) else { return };
    let is_person = matches!(case.speaker, Speaker::Principal { .. });
    if is_person || stops(case.received.message()) {
        return;
    }
    let says = format!("its text may try to steer whoever reads it ({}).", gravest.pattern);
    ruling.reasons.push(Reason { code: SUSPECTED.to_owned(), says, lifts: Lifter::Person });
}

/// What was found in a text, as it stands beside it.
pub fn marks(scanned: &[Found]) -> impl Iterator<Item = Finding> {
    scanned.iter().map(|found| {
        let (rule, code, says) = (RULE.to_owned(), found.pattern.clone(), says(found));
        Finding { rule, code, says, spot: Some(found.clone().into()), ..Finding::default() }
    })
}

fn stops(message: &Message) -> bool {
    let is_block = matches!(message, Message::Vlp(message) if message.judged().declared == Level::Block);
    is_block || vcp::is_free(message) || vcp::only_binds(message)
}

/// Refuses what would be held in a message, where nobody could review it. What a person says is only marked.
pub(crate) fn must_be_harmless(policy: &Policy, scanned: &[Found], who: &Who) -> Result<(), Rejection> {
    let covered = |found: &&Found| policy.scan_holds.covers(found.severity);
    match (who, scanned.iter().filter(covered).max_by_key(|found| found.severity)) {
        (Who::Person { .. }, _) | (_, None) => Ok(()),
        (Who::Agent(_) | Who::Nobody, Some(gravest)) => {
            let Found { pattern, at, .. } = gravest;
            let says = format!("{SUSPECTED}: its text may try to steer whoever reads it ({pattern})");
            Err(Rejection::because(Code::NotAllowed, says).at(at.clone()))
        }
    }
}

/// In words, without the text.
fn says(Found { pattern, severity, at, offset, length, how }: &Found) -> String {
    let built_in = BUILT_IN.iter().find(|known| known.name == pattern);
    let what = built_in.map_or("fits a pattern of the operator's", |known| known.explains);
    format!("{severity}, {how}: {at} {what} ({length} bytes from byte {offset})")
}

/// What stands beside words of the exchange in which it quotes others: what was found in theirs. Where in the quotation
/// that is, nobody looked.
pub(super) fn quoted<'f>(found: impl IntoIterator<Item = &'f Found>) -> Vec<Finding> {
    let quoted = |found: &Found| {
        let says = format!("found in what is quoted here: {}", says(found));
        Finding { rule: RULE.to_owned(), code: found.pattern.clone(), says, ..Finding::default() }
    };
    found.into_iter().map(quoted).collect()
}

/// Those findings that are of the scan.
pub(super) fn of(findings: &[Finding]) -> Vec<Finding> {
    findings.iter().filter(|finding| finding.rule == RULE).cloned().collect()
}
