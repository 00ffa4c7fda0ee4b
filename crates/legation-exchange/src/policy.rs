//! What an operator may set. Everything has a value that works.

use crate::quota::Quotas;
use crate::rules::Voice;
use crate::rules::acl;
use crate::rules::cap::{Narrowing, Oversight, Silence};
use crate::rules::scan::Holding;
use crate::rules::vlp::Strictness;
use std::time::Duration;

/// The settings the rules ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Policy {
    /// The name of the record.
    pub realm: String,
    /// Whether anybody may register an agent: so on loopback with nothing configured.
    pub open_registration: bool,
    /// Whether VCP messages must be signed. Only an in-process exchange may do without.
    pub signed_vcp: bool,
    /// How old a VCP message may be (messaging 1.2, section 7.4).
    pub past: Duration,
    /// How far ahead of our clock it may be.
    pub future: Duration,
    /// How long after it can no longer be accepted a message's id is remembered.
    pub dedup_margin: Duration,
    /// How long ids of dialects without a freshness rule are remembered.
    pub dedup_window: Duration,
    /// What becomes of an emergency that comes too late.
    pub stale_emergency: StaleEmergency,
    /// How many messages may wait for one agent.
    pub mailbox_limit: usize,
    /// Unread items of all mailboxes together. Half of them anybody may send; of the other half each quota family has an
    /// equal share.
    pub unread_limit: u64,
    /// How long a message waits.
    pub time_to_live: Duration,
    /// How long a key counts beside the one that takes over from it.
    pub key_grace: Duration,
    /// How long a key counts that an agent gave to one below it without saying.
    pub child_key_life: Duration,
    /// How many agents there may be.
    pub agents_limit: usize,
    /// How long a person has to decide on what is held.
    pub review_time: Duration,
    /// Whether recipients of a released message, and senders of a rejected one, are told the name of the person who
    /// decided; otherwise the person's role.
    pub show_reviewer_names: bool,
    /// How much of what VLP's truth rules find waits for a person.
    pub truth: Strictness,
    /// How much of what a scan of texts finds waits for a person.
    pub scan_holds: Holding,
    /// How far an overseer's word is asked for.
    pub oversight: Oversight,
    /// What a handed-on task leaves of its holder's rights.
    pub narrowing: Narrowing,
    /// What it means that the judge of delegations says nothing; without it there is no judge.
    pub judge: Option<Silence>,
    /// How long a task may take whose delegation does not say.
    pub task_deadline: Duration,
    /// How long things take in conversations.
    pub talks: acl::Times,
    /// Whether acts are taken that the ElizaOS agent language only plans: `CANCEL`.
    pub extended_acl: bool,
    /// How much of one agent's may be open at once.
    pub shares: Shares,
    /// How much agents and their families may have.
    pub quotas: Quotas,
    /// The key the exchange speaks with. Without one its VCP messages are not signed.
    pub voice: Option<Voice>,
}

/// What becomes of a signed emergency whose timestamp is stale and whose id is new to the record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StaleEmergency {
    /// It is refused, and the sender's parent and the operators are told of it.
    #[default]
    Alert,
    /// It is accepted once, marked, and suspends its sender.
    Suspend,
}

/// How much of one agent's may be open at once, so that none takes the room of all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Sessions it has halted, with its instances.
    pub halts: usize,
    /// Messages of it that wait for a person or an overseer; never more than a mailbox takes.
    pub held: usize,
    /// Conversations it has opened.
    pub conversations: usize,
    /// Sessions it owns that are not over.
    pub sessions: usize,
}

impl Default for Shares {
    fn default() -> Self {
        Shares { halts: 64, held: 1000, conversations: 10_000, sessions: 10_000 }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            realm: "local".to_owned(),
            open_registration: false,
            signed_vcp: true,
            past: Duration::from_mins(5),
            future: Duration::from_secs(30),
            dedup_margin: Duration::from_mins(10),
            dedup_window: Duration::from_hours(1),
            stale_emergency: StaleEmergency::default(),
            mailbox_limit: 100_000,
            unread_limit: 4_000_000,
            time_to_live: Duration::from_hours(168),
            key_grace: Duration::from_hours(24),
            child_key_life: Duration::from_hours(720),
            agents_limit: 100_000,
            review_time: Duration::from_hours(24),
            show_reviewer_names: true,
            truth: Strictness::Standard,
            scan_holds: Holding::default(),
            oversight: Oversight::default(),
            narrowing: Narrowing::default(),
            judge: None,
            task_deadline: Duration::from_hours(168),
            talks: acl::Times::default(),
            extended_acl: false,
            shares: Shares::default(),
            quotas: Quotas::default(),
            voice: None,
        }
    }
}
