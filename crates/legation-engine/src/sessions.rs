//! Reading sessions, and letting one go on. Whoever has no part in one is told that there is none.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::vlp::{Order, Session};
use legation_exchange::{Directive, Input, PRINCIPALS, Role, State, Verdict, Who};

/// How many sessions are looked at for one page.
const LOOKED_AT: usize = 10_000;

/// A session with its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// The session.
    pub session: Session,
}

/// Which sessions are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Those this one has a part in.
    pub party: Option<String>,
    /// Those that are halted.
    pub halted: bool,
    /// Those beyond this id.
    pub after: Option<String>,
    /// How many at most.
    pub limit: usize,
}

/// Sessions by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionView>,
    /// Beyond which id to go on, if there may be more.
    pub next: Option<String>,
}

impl Exchange {
    /// Sessions that this one may see, by id.
    pub fn sessions(&self, wanted: &Wanted, who: &Who) -> SessionPage {
        let state = self.state();
        let (kept, after) = (&state.rules().vlp.sessions, wanted.after.as_deref());
        let (mut sessions, mut last) = (Vec::new(), None);
        let all: Box<dyn Iterator<Item = (&str, &Session)>> = if wanted.halted {
            Box::new(kept.halted().filter(|(id, _)| after.is_none_or(|after| *id > after)))
        } else {
            Box::new(kept.after(after))
        };
        for (count, (id, session)) in all.enumerate() {
            if sessions.len() == wanted.limit || count == LOOKED_AT {
                return SessionPage { sessions, next: last };
            }
            last = Some(id.to_owned());
            let has_party = wanted.party.as_ref().is_none_or(|party| session.parties.contains_key(party));
            if has_party && may_see(&state, session, who) {
                sessions.push(SessionView { id: id.to_owned(), session: seen(&state, session, who) });
            }
        }
        SessionPage { sessions, next: None }
    }

    /// How many sessions are halted.
    pub fn sessions_halted(&self) -> usize {
        self.state().rules().vlp.sessions.halted_len()
    }

    /// How many agents may not go on, each with its instances.
    pub fn agents_stopped(&self) -> usize {
        self.state().rules().vcp.standing.stopped_len()
    }

    /// A session, if this one may see it.
    pub fn session(&self, id: &str, who: &Who) -> Option<SessionView> {
        let state = self.state();
        let session = state.rules().vlp.sessions.get(id).filter(|session| may_see(&state, session, who))?;
        Some(SessionView { id: id.to_owned(), session: seen(&state, session, who) })
    }

    /// The entry that began a session, if an agent has a part in it. What was said before under its name was said in another.
    pub(crate) fn part_since(&self, session: &str, who: &Who) -> Option<u64> {
        let state = self.state();
        let session = state.rules().vlp.sessions.get(session).filter(|_| matches!(who, Who::Agent(_)))?;
        may_see(&state, session, who).then_some(session.first)
    }

    /// Lets a halted session go on.
    pub async fn release_session(&self, session: String, why: String, who: Who) -> Result<Verdict, Error> {
        let order = Box::new(Directive::Vlp(Order::Release { session, why }));
        self.ask(Input::Order { order, who }).await
    }
}

/// A session as far as somebody may know of it: what is held counts for its sender and for those who decide.
fn seen(state: &State, session: &Session, who: &Who) -> Session {
    let party = match who {
        Who::Person { role: Role::Operator | Role::Auditor | Role::Reviewer, .. } => return session.clone(),
        Who::Person { role, .. } => PRINCIPALS.into_iter().find(|name| role.speaks_as(name)).unwrap_or_default(),
        Who::Agent(id) => id.as_str(),
        Who::Nobody => "",
    };
    state.rules().vlp.sessions.as_seen_by(party, session)
}

/// Parties see their sessions; operators, auditors and reviewers, who release them, see all.
fn may_see(state: &State, session: &Session, who: &Who) -> bool {
    match who {
        Who::Person { role: Role::Operator | Role::Auditor | Role::Reviewer, .. } => true,
        Who::Person { role, .. } => {
            PRINCIPALS.iter().any(|name| role.speaks_as(name) && session.parties.contains_key(*name))
        }
        Who::Agent(id) => {
            let since = state.registry().agent(id).map(|agent| agent.since);
            session.parties.get(id).is_some_and(|party| Some(party.since) == since)
        }
        Who::Nobody => false,
    }
}
