//! Who is there when something is said, and what happens before.

use super::{Before, OTHER, Utterance};
use crate::desk::{Desk, accepted, by, claim, key};
use crate::tasks::house::{hand, held};
use crate::translate::{EXCHANGE, acl, alarm, babel, cap, last, manifest, name, request, sent, speaking, vlp};
use legation_exchange::{Proof, Registration, Said, Voice, Who};
use legation_protocol::Format;
use serde_json::{Value, json};

/// What the ide has asked for itself.
const OWN: &str = "5b1f0c9e-3a77-4c1d-9a46-000000000006";

pub(super) fn speaker(dialect: Format) -> &'static str {
    match dialect {
        Format::Acl => "ide",
        Format::Cap => "analyst",
        Format::Vlp => "observer",
        _ => "boss",
    }
}

fn overseen(id: &str, overseer: &str) -> Value {
    let mut manifest = manifest(id);
    manifest["overseer"] = json!(overseer);
    manifest
}

/// Who says it, and one who speaks another dialect alone. An overseer asks whom it oversees, who stands above gives rules
/// to whom stands below, and who raises an alarm stands below whom it tells.
pub(super) fn stage(utterance: &Utterance, to: Format) -> Desk {
    let mut desk = babel();
    desk.policy.extended_acl = true;
    desk.policy.voice = Some(Voice::new(key(9)));
    desk.signing_agent("boss", 7);
    let other = if to == Format::Vcp { OTHER } else { "other" };
    let mut wanted = speaking(&[to]);
    wanted.aliases = (to == Format::Vcp).then(|| [(Format::Cap, "other".to_owned())].into());
    match utterance.row {
        Some("lays down rules" | "has heard an alarm") => wanted.parent = Said::To("boss".to_owned()),
        row if row == Some("asks about work") || utterance.before == Before::Review => {
            wanted.manifest = Some(overseen("other", speaker(utterance.dialect)));
        }
        _ if to == Format::Cap => wanted.manifest = Some(manifest("other")),
        _ => {}
    }
    assert_eq!(desk.register(other, wanted, Who::operator()), Ok(true));
    let mut allowed = manifest("analyst");
    allowed["allowed_agents"] = json!(["other"]);
    allowed["delegate_rules"] = json!({"other": {"when_to_delegate": "Whenever."}});
    let may = Registration { manifest: Some(allowed), ..Registration::default() };
    assert_eq!(desk.register("analyst", may, Who::operator()), Ok(false));
    if utterance.row.is_some_and(|row| row.starts_with("raises ")) {
        let below = Registration { parent: Said::To(other.to_owned()), ..Registration::default() };
        assert_eq!(desk.register("boss", below, Who::operator()), Ok(false));
    }
    desk
}

/// The other asks the speaker for work, in its own dialect; by which name the speaker knows it.
fn asked(desk: &mut Desk, from: Format, speaker: &str) -> String {
    let asks = match from {
        Format::Acl => request(1, speaker).replace("\"ide\"", "\"other\""),
        Format::Cap => cap("delegation_notice", "T1", speaker, json!({"context_summary": "Count."}))
            .replace("\"analyst\"", "\"other\""),
        _ => vlp("query", "QRY001", speaker, None, json!({})).replace("\"observer\"", "\"other\""),
    };
    sent(desk, "other", &asks);
    name(&last(desk, speaker))
}

/// The other asks the speaker a question: in CAP it oversees whom it asks.
fn questioned(desk: &mut Desk, from: Format, speaker: &str) -> String {
    let asks = if from == Format::Acl {
        acl("QUERY_REF", 1, ("other", speaker), None, &json!({"reference": "head"}))
    } else {
        let below = Registration { manifest: Some(overseen(speaker, "other")), ..Registration::default() };
        assert_eq!(desk.register(speaker, below, Who::operator()), Ok(false));
        cap("oversight_inquiry", "T1", speaker, json!({"inquiry": "Why?"})).replace("\"analyst\"", "\"other\"")
    };
    sent(desk, "other", &asks);
    name(&last(desk, speaker))
}

/// The other works on a task, and its result waits for its overseer.
fn reviewed(desk: &mut Desk, from: Format) {
    accepted(&hand(desk, "T9", "orchestrator", "other"));
    let asked = name(&last(desk, "other"));
    let done = match from {
        Format::Acl => {
            let (accept, payload) = (
                json!({"status": "accepted"}),
                json!({"task_status": "success", "result_summary": "12.", "result_details": {}}),
            );
            sent(desk, "other", &acl("TASK_ACCEPT", 1, ("other", EXCHANGE), Some(&asked), &accept));
            acl("INFORM_RESULT", 2, ("other", EXCHANGE), Some(&asked), &payload)
        }
        Format::Cap => cap("message", "T9", "orchestrator", json!({"content": "12.", "final": true}))
            .replace("\"analyst\"", "\"other\""),
        _ => vlp("response", "RSP001", EXCHANGE, Some(&asked), json!({})).replace("\"observer\"", "\"other\""),
    };
    held(&desk.send(&done, by("other")));
}

/// What happens before; what is answered then, by the name that the speaker knows.
pub(super) fn before(desk: &mut Desk, utterance: &Utterance, to: Format, other: &str) -> Option<String> {
    let me = speaker(utterance.dialect);
    match utterance.before {
        Before::Nothing => None,
        Before::Work => {
            let asked = asked(desk, to, me);
            if ["`INFORM_RESULT`", "`FAILURE`"].contains(&utterance.word) {
                let accept = json!({"status": "accepted"});
                sent(desk, me, &acl("TASK_ACCEPT", 6, ("ide", EXCHANGE), Some(&asked), &accept));
            }
            Some(asked)
        }
        Before::Question => Some(questioned(desk, to, me)),
        Before::Own => {
            sent(desk, me, &request(6, other));
            Some(OWN.to_owned())
        }
        Before::Alarm => {
            accepted(&desk.send(&alarm("info", "boss").replace("child", other), Proof::InProcess));
            None
        }
        Before::Claim => {
            desk.agent("witness");
            sent(desk, me, &claim(me, "witness", "CLM001", "Sure."));
            Some("CLM001".to_owned())
        }
        Before::Review => {
            reviewed(desk, to);
            (utterance.dialect == Format::Cap).then(|| "T9".to_owned())
        }
    }
}

/// Whether what has to happen before can happen with somebody who speaks this dialect.
pub(super) fn can_happen(utterance: &Utterance, to: Format) -> bool {
    match utterance.before {
        Before::Nothing | Before::Alarm | Before::Claim => true,
        // Nobody is asked for work in VCP, so that nothing is answered to it.
        Before::Work | Before::Own => to != Format::Vcp,
        // Only ACL and overseers have questions. What one asks in VLP is looked at from its own side.
        Before::Question => matches!(to, Format::Acl | Format::Cap),
        // An overseer asks in VLP about work in CAP.
        Before::Review => to == Format::Cap || (to != Format::Vcp && utterance.dialect == Format::Cap),
    }
}
