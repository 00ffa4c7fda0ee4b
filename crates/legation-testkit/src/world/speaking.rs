//! Letters that rules ask about: alarms and answers to them, tasks and their results, conversations, claims. What
//! they are about is looked up in the exchange, so that they fit now and then.

use super::World;
use crate::house::{NAMES, ORCHESTRATOR, SERVER, TOOLS, known};
use crate::letter::{Draft, Says, To};
use legation_exchange::State;
use legation_exchange::rules::acl::Talk;
use legation_exchange::rules::cap::Task;
use legation_protocol::Format;
use legation_protocol::vcp::Severity;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::PoisonError;

/// Sessions of VLP.
const SESSIONS: [&str; 3] = ["S-1", "S-2", "S-3"];
const CREED: &str = "creed://creed.space/family.safe.guide@1.2.0";

impl World {
    /// A letter that a rule asks about, if there is anything to say.
    pub(super) fn draft(&mut self) -> Option<Draft> {
        let committed = self.ledger.as_ref()?.committed();
        let state = committed.read().unwrap_or_else(PoisonError::into_inner);
        match self.rng.below(100) {
            0..16 => self.alarm(&state),
            16..26 => self.ack(&state),
            26..30 => self.pass_on(&state),
            30..40 => self.resume(&state),
            40..43 => self.constrain(&state),
            43..56 => Some(self.delegate(&state)),
            56..62 => self.show(&state),
            62..71 => self.finish(&state),
            71..79 => self.decide(&state),
            79..81 => self.fail(&state),
            81..88 => self.answer(&state),
            _ => Some(self.claim(&state)),
        }
    }

    fn anybody(&mut self) -> &'static str {
        self.rng.pick(&NAMES).copied().unwrap_or_default()
    }

    fn anybody_but(&mut self, other: &str) -> &'static str {
        let others: Vec<_> = NAMES.into_iter().filter(|name| *name != other).collect();
        self.rng.pick(&others).copied().unwrap_or_default()
    }

    fn alarm(&mut self, state: &State) -> Option<Draft> {
        let sender = self.anybody();
        let severity = match self.rng.below(10) {
            0 => Severity::Info,
            1..4 => Severity::Warning,
            4..7 => Severity::Critical,
            _ => Severity::Emergency,
        };
        let wants_ack = severity.is_grave() || self.rng.chance(60);
        let above = state.registry().agent(sender)?.parent.as_deref();
        let to = match above.and_then(known) {
            _ if self.rng.chance(8) => To::One(self.anybody_but(sender)),
            Some(above) => To::One(above),
            None => To::Exchange,
        };
        let says = Says::Alarm { severity, wants_ack };
        Some(escalation(sender, to, says, (severity, wants_ack), "something is wrong"))
    }

    /// One who was told of an open alarm answers, now and then with another severity.
    fn ack(&mut self, state: &State) -> Option<Draft> {
        let told: Vec<_> = state
            .rules()
            .vcp
            .alarms
            .open()
            .flat_map(|(_, alarm)| alarm.told.iter().map(move |told| (alarm.severity, told)))
            .filter(|(_, told)| !told.acked)
            .filter_map(|(severity, told)| Some((severity, known(told.to.as_deref()?)?, &told.by, told.id.as_ref()?)))
            .collect();
        let (severity, sender, by, id) = *self.rng.pick(&told)?;
        let to = known(by).map_or(To::Exchange, To::One);
        let severity = if self.rng.chance(8) { Severity::Info } else { severity };
        Some(escalation(sender, to, Says::Ack, (severity, false), &format!("ACK:{id}")))
    }

    /// One who was told of an alarm tells whoever stands above.
    fn pass_on(&mut self, state: &State) -> Option<Draft> {
        let open: Vec<_> = state.rules().vcp.alarms.open().map(|(_, alarm)| alarm).collect();
        let alarm = *self.rng.pick(&open)?;
        let told: Vec<_> = alarm.told.iter().filter_map(|told| known(told.to.as_deref()?)).collect();
        let sender = *self.rng.pick(&told)?;
        let above = state.registry().agent(sender)?.parent.as_deref();
        let to = above.and_then(known).map_or(To::Exchange, To::One);
        let says = Says::Alarm { severity: alarm.severity, wants_ack: true };
        // Not everybody names what is passed on.
        let named = format!("PROPAGATED:{}: from below", alarm.id);
        let reason = match self.rng.below(10) {
            0..2 => "it burns here too".to_owned(),
            2..4 => "something is wrong".to_owned(),
            _ => named,
        };
        Some(escalation(sender, to, says, (alarm.severity, true), &reason))
    }

    /// Whoever stands above a stopped agent lets it go on; or somebody else tries to.
    fn resume(&mut self, state: &State) -> Option<Draft> {
        let open: Vec<_> = state.rules().vcp.alarms.open().map(|(_, alarm)| alarm).collect();
        let alarm = *self.rng.pick(&open)?;
        let child = known(&alarm.from)?;
        let above = state.registry().agent(child)?.parent.as_deref().and_then(known);
        let sender = if self.rng.chance(12) { self.anybody_but(child) } else { above? };
        let named = json!({"escalation_id": alarm.id});
        if self.rng.chance(15) {
            return Some(rule(sender, child, "look_closer", &named, Says::Constrains));
        }
        Some(rule(sender, child, "resume", &named, Says::Resumes { of: alarm.id.clone() }))
    }

    fn constrain(&mut self, state: &State) -> Option<Draft> {
        let child = self.anybody();
        let above = state.registry().agent(child)?.parent.as_deref().and_then(known)?;
        Some(rule(above, child, "token_limit", &json!(100 + self.rng.below(400)), Says::Constrains))
    }

    /// A task: a part of one that is held, or a new one; to whom it may be handed, or to anybody.
    fn delegate(&mut self, state: &State) -> Draft {
        let sender = if self.rng.chance(35) { ORCHESTRATOR } else { self.anybody() };
        let kept = &state.rules().cap;
        let held: Vec<_> = kept.held(sender).filter_map(|number| kept.task(number)).collect();
        let number = self.asked.letters.len();
        let id = match self.rng.pick(&held) {
            Some(held) if self.rng.chance(85) => format!("{}.{number}", held.id),
            _ => format!("W{number}"),
        };
        let agent = state.registry().agent(sender);
        let rights = agent.and_then(|agent| kept.rights(agent));
        let allowed: Vec<_> =
            rights.iter().flat_map(|rights| rights.allowed.keys()).filter_map(|name| known(name)).collect();
        let to = match self.rng.pick(&allowed) {
            Some(allowed) if self.rng.chance(80) => allowed,
            _ => self.anybody_but(sender),
        };
        let (mut body, mut tools, mut deadline) = (json!({"context_summary": "do it"}), None, None);
        if self.rng.chance(60) {
            let some: BTreeSet<_> = TOOLS.into_iter().filter(|_| self.rng.chance(60)).map(str::to_owned).collect();
            set(&mut body, "grants", json!({ "tools": some }));
            tools = Some(some);
        }
        if self.rng.chance(60) {
            let until = self.clock.plus(std::time::Duration::from_secs(self.rng.below(5 * 3600)));
            // As messages write it.
            let until = legation_exchange::Moment::from_micros(until.micros() / 1000 * 1000);
            set(&mut body, "deadline", until.to_string().into());
            deadline = Some(until);
        }
        let says = Says::Delegates { tools, deadline };
        Draft { sender, to: To::One(to), dialect: Format::Cap, kind: "delegation_notice", body, says, thread: Some(id) }
    }

    fn task<'s>(&mut self, state: &'s State, fits: impl Fn(&Task) -> bool) -> Option<&'s Task> {
        let tasks: Vec<_> = state.rules().cap.tasks().map(|(_, task)| task).filter(|task| fits(task)).collect();
        self.rng.pick(&tasks).copied()
    }

    fn show(&mut self, state: &State) -> Option<Draft> {
        let task = self.task(state, Task::is_open)?;
        let (sender, to) = (known(&task.assignee)?, known(&task.delegator)?);
        let tool = *self.rng.pick(&TOOLS)?;
        let result = format!("rows {}", self.asked.letters.len());
        let shown = json!({"type": "tool_call_result", "server_id": SERVER, "tool": tool, "result": result});
        let body = json!({"content": "look", "attachments": [shown]});
        // A name that is nobody's gives nothing either.
        let thread = Some(if self.rng.chance(80) { task.id.clone() } else { "nobodys".to_owned() });
        let (to, says) = (To::One(to), Says::Shows { tool });
        Some(Draft { sender, to, dialect: Format::Cap, kind: "message", body, says, thread })
    }

    fn finish(&mut self, state: &State) -> Option<Draft> {
        let task = self.task(state, |task| task.is_open() && !task.is_in_review())?;
        let (sender, to, thread) = (known(&task.assignee)?, To::One(known(&task.delegator)?), Some(task.id.clone()));
        let body = json!({"content": format!("done {}", self.asked.letters.len()), "final": true});
        Some(Draft { sender, to, dialect: Format::Cap, kind: "message", body, says: Says::Final, thread })
    }

    /// A word on work that waits: by whose it is to give, or by another.
    fn decide(&mut self, state: &State) -> Option<Draft> {
        let task = self.task(state, Task::is_in_review)?;
        let review = task.reviews.values().next()?;
        let overseer = review.overseer.as_deref().and_then(known)?;
        let sender = if self.rng.chance(12) { self.anybody() } else { overseer };
        let decision = *self.rng.pick(&["approve", "approve", "revise", "reject"])?;
        let to = known(&task.assignee).filter(|to| *to != sender)?;
        let body = json!({"content": "seen", "decision": decision, "digest": review.digest});
        let (to, says, thread) =
            (To::One(to), Says::Decides { approves: decision == "approve" }, Some(task.id.clone()));
        Some(Draft { sender, to, dialect: Format::Cap, kind: "message", body, says, thread })
    }

    fn fail(&mut self, state: &State) -> Option<Draft> {
        let task = self.task(state, Task::is_open)?;
        let (sender, to, thread) = (known(&task.assignee)?, To::One(known(&task.delegator)?), Some(task.id.clone()));
        let body = json!({"error_code": 500, "error_message": "it broke"});
        Some(Draft { sender, to, dialect: Format::Cap, kind: "error_response", body, says: Says::Fails, thread })
    }

    /// An answer in a conversation, in turn or out of turn.
    fn answer(&mut self, state: &State) -> Option<Draft> {
        let open: Vec<_> =
            state.rules().acl.after(None, None).map(|(_, talk)| talk).filter(|talk| talk.stage.is_open()).collect();
        let talk: &Talk = self.rng.pick(&open).copied()?;
        let sender = talk.opening.offered.iter().find_map(|name| known(name))?;
        let to = To::One(known(&talk.opening.requester)?);
        let within = self.rng.chance(50).then(|| 1 + self.rng.below(7200));
        let accept = json!({"status": "accepted", "estimated_completion_time": within});
        let (kind, payload) = match (talk.assignee.is_some(), self.rng.below(10)) {
            (false, 0..7) | (true, 0) => ("TASK_ACCEPT", if within.is_some() { accept } else { plain_accept() }),
            (false, _) => ("TASK_REJECT", json!({"status": "rejected", "reason_code": "busy"})),
            (true, 1..4) => ("FAILURE", json!({"status": "failure", "error_code": "crash", "error_text": "It broke."})),
            (true, _) => {
                ("INFORM_RESULT", json!({"task_status": "success", "result_summary": "Done.", "result_details": {}}))
            }
        };
        let body = json!({"payload": payload, "beside": {"in_reply_to": talk.opening.id}});
        let says = Says::Answers { within: within.filter(|_| kind == "TASK_ACCEPT") };
        Some(Draft { sender, to, dialect: Format::Acl, kind, body, says, thread: None })
    }

    /// A claim: sure of itself without a source, for a person to see, in a session, about another, or to stop one.
    fn claim(&mut self, state: &State) -> Draft {
        let (sender, thread) = self.seat(state);
        let mut to = To::One(self.anybody_but(sender));
        let (mut body, says) = match self.rng.below(11) {
            0..4 => (json!({"confidence": 0.95}), Says::Claims { waits: true }),
            4..6 => (json!({"safety": {"level": "review"}}), Says::Claims { waits: true }),
            6 | 10 => (json!({"safety": {"level": "block"}}), Says::Blocks),
            7 => (json!({"confidence": 0.95, "provenance": ["a log"]}), Says::Claims { waits: false }),
            _ => (json!({}), Says::Claims { waits: false }),
        };
        if matches!(says, Says::Claims { .. })
            && let Some(named) = self.rng.chance(60).then(|| self.said_before()).flatten()
        {
            set(&mut body, "refers_to", named.into());
        }
        if let Some(session) = &thread {
            set(&mut body, "session_id", session.as_str().into());
            if self.rng.chance(30) {
                to = To::Session;
            }
        }
        Draft { sender, to, dialect: Format::Vlp, kind: "claim", body, says, thread }
    }

    /// The id of something that was said in VLP lately, taken or not.
    fn said_before(&mut self) -> Option<String> {
        let said = self.asked.letters.iter().rev().filter(|letter| matches!(letter.says, Says::Claims { .. }));
        let ids: Vec<_> = said.filter_map(|letter| letter.id.clone()).take(4).collect();
        self.rng.pick(&ids).cloned()
    }

    /// Somebody in a session that goes on, mostly; or anybody, in one or outside.
    fn seat(&mut self, state: &State) -> (&'static str, Option<String>) {
        let sessions = state.rules().vlp.sessions.after(None);
        let open = sessions.filter(|(id, session)| SESSIONS.contains(id) && session.halted.is_none());
        let seats =
            open.flat_map(|(id, session)| session.parties.keys().map(move |party| (known(party), id.to_owned())));
        let seats: Vec<_> = seats.filter_map(|(party, id)| Some((party?, id))).collect();
        if let Some((party, id)) = self.rng.pick(&seats).cloned().filter(|_| self.rng.chance(60)) {
            return (party, Some(id));
        }
        let sender = self.anybody();
        (sender, self.rng.chance(70).then(|| self.rng.pick(&SESSIONS).map(|id| (*id).to_owned())).flatten())
    }
}

fn set(body: &mut Value, name: &str, value: Value) {
    if let Some(body) = body.as_object_mut() {
        body.insert(name.to_owned(), value);
    }
}

fn plain_accept() -> Value {
    json!({"status": "accepted"})
}

fn escalation(sender: &'static str, to: To, says: Says, how: (Severity, bool), reason: &str) -> Draft {
    let (severity, ack) = how;
    let body = json!({"severity": severity.as_str(), "reason": reason, "context": "🧠😰", "requires_ack": ack});
    Draft { sender, to, dialect: Format::Vcp, kind: "escalation", body, says, thread: None }
}

fn rule(sender: &'static str, to: &'static str, name: &str, value: &Value, says: Says) -> Draft {
    let one = json!({"type": name, "value": value, "source_constitution_ref": CREED});
    let body = json!({"constraints": [one], "propagation_mode": "merge"});
    Draft { sender, to: To::One(to), dialect: Format::Vcp, kind: "constraint_propagate", body, says, thread: None }
}
