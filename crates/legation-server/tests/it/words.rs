//! Who speaks in the tests, and what they say: valid messages of every dialect, made now.

use legation_protocol::json::Doc;
use legation_protocol::sign::SecretKey;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// A registered agent.
pub(crate) struct Party {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) key: SecretKey,
}

/// Tells messages and keys of one run apart.
static NEXT: AtomicU64 = AtomicU64::new(1);

fn fresh() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn fresh_id() -> String {
    format!("019502a4-ad0f-7000-8000-{:012x}", fresh())
}

/// The time so much from now, as messages write it.
pub(crate) fn time_from_now(seconds: i64) -> String {
    let now = OffsetDateTime::now_utc();
    let span = Duration::from_secs(seconds.unsigned_abs());
    let at = if seconds < 0 { now - span } else { now + span };
    at.replace_nanosecond(0).unwrap().format(&Rfc3339).unwrap()
}

impl Party {
    pub(crate) fn new(id: &str) -> Party {
        let mut seed = [7; 32];
        seed[..8].copy_from_slice(&fresh().to_le_bytes());
        Party { id: id.to_owned(), token: String::new(), key: SecretKey::from_seed(&seed) }
    }

    pub(crate) fn signed(&self, message: &str) -> String {
        self.key.sign_in_place(&Doc::parse(message.as_bytes()).unwrap()).unwrap()
    }

    /// A signed VCP message.
    pub(crate) fn vcp(&self, to: &str, says: &str) -> String {
        self.signed(&self.unsigned_vcp(to, says, &fresh_id(), 0))
    }

    /// A VCP message made so many seconds from now.
    pub(crate) fn unsigned_vcp(&self, to: &str, says: &str, id: &str, seconds: i64) -> String {
        format!(
            r#"{{"vcp_message":"1.2","type":"constitution_announce","message_id":"{id}","sender":"{}","recipient":"{to}","timestamp":"{}","payload":{{"constitution_ref":"creed://creed.space/family.safe.guide@1.2.0","manifest_hash":"sha256:7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069","scope":{{"purposes":["{says}"]}}}}}}"#,
            self.id,
            time_from_now(seconds)
        )
    }

    /// A signed escalation that asks for an acknowledgement.
    pub(crate) fn alarm(&self, to: &str, severity: &str, id: &str) -> String {
        self.escalation(to, severity, "the reactor", id, true)
    }

    /// A signed acknowledgement of an escalation.
    pub(crate) fn acks(&self, to: &str, severity: &str, of: &str) -> String {
        self.escalation(to, severity, &format!("ACK:{of}"), &fresh_id(), false)
    }

    /// A signed escalation made so many seconds from now.
    pub(crate) fn escalation_at(&self, to: &str, severity: &str, reason: &str, id: &str, seconds: i64) -> String {
        let now = self.unsigned_escalation(to, severity, reason, id, true);
        let mut message: serde_json::Value = serde_json::from_str(&now).unwrap();
        message["timestamp"] = time_from_now(seconds).into();
        self.signed(&message.to_string())
    }

    fn escalation(&self, to: &str, severity: &str, reason: &str, id: &str, ack: bool) -> String {
        self.signed(&self.unsigned_escalation(to, severity, reason, id, ack))
    }

    /// An alarm of this severity that says this.
    pub(crate) fn unsigned_alarm(&self, to: &str, severity: &str, reason: &str) -> String {
        self.unsigned_escalation(to, severity, reason, &fresh_id(), true)
    }

    fn unsigned_escalation(&self, to: &str, severity: &str, reason: &str, id: &str, ack: bool) -> String {
        format!(
            r#"{{"vcp_message":"1.2","type":"escalation","message_id":"{id}","sender":"{}","recipient":"{to}","timestamp":"{}","payload":{{"severity":"{severity}","reason":"{reason}","context":"⏰🌅|📍🏡","requires_ack":{ack}}}}}"#,
            self.id,
            time_from_now(0)
        )
    }

    /// A signed word that lets a child go on.
    pub(crate) fn resume(&self, child: &str, of: &str) -> String {
        self.signed(&format!(
            r#"{{"vcp_message":"1.2","type":"constraint_propagate","message_id":"{}","sender":"{}","recipient":"{child}","timestamp":"{}","payload":{{"constraints":[{{"type":"resume","value":{{"escalation_id":"{of}"}},"source_constitution_ref":"creed://creed.space/family.safe.guide@1.2.0"}}],"propagation_mode":"merge"}}}}"#,
            fresh_id(),
            self.id,
            time_from_now(0)
        ))
    }

    /// A signed VCP message to all peers.
    pub(crate) fn broadcast(&self) -> String {
        self.signed(&format!(
            r#"{{"vcp_message":"1.2","type":"context_share","message_id":"{}","sender":"{}","recipient":"broadcast","timestamp":"{}","payload":{{"context":"⏰🌅|📍🏡","constitution_ref":"creed://creed.space/family.safe.guide@1.2.0"}}}}"#,
            fresh_id(),
            self.id,
            time_from_now(0)
        ))
    }

    pub(crate) fn cap(&self, to: &str, says: &str) -> String {
        format!(
            r#"{{"type":"message","task_id":"T1","sender_id":"{}","recipient_id":"{to}","content":"{says}","message_id":"m-{}"}}"#,
            self.id,
            fresh()
        )
    }

    pub(crate) fn acl(&self, to: &str) -> String {
        format!(
            r#"{{"mcp_version":"0.1.0","message_id":"{}","performative":"QUERY_REF","sender":{{"agent_id":"{}"}},"receiver":{{"agent_id":"{to}"}},"language":"en","ontology":"elizaos:general_query","timestamp":"{}","payload":{{"reference":"latest_commit_hash"}}}}"#,
            fresh_id(),
            self.id,
            time_from_now(0)
        )
    }

    pub(crate) fn vlp(&self, to: &str) -> String {
        format!(
            r#"{{"id":"MSG-{:06x}-0001","protocol":"VLP/1.1","type":"claim","timestamp":"{}","sender":"{}","receiver":"{to}","content":"Water boils at 100 °C here.","confidence":0.5}}"#,
            fresh(),
            time_from_now(0),
            self.id
        )
    }
}
