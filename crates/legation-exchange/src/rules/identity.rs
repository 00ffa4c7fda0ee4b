//! Identity tokens that were issued, and what became of them. The state knows every token by its hash until
//! the token ends by itself: one that it does not know, or knows as revoked, counts for nothing. A token opens
//! what extensions keep of its subject; nobody speaks by one.

use super::revocation::{check_reason, shortened};
use super::vcp::may_act;
use super::{At, Change as Ruled, Ruling};
use crate::decide::alike;
use crate::extensions::Subject;
use crate::moment::Moment;
use crate::names::NameIndex;
use crate::policy::Policy;
use crate::quota::{Resource, UsageChanges, check_known_family, same_family};
use crate::state::State;
use crate::token::TokenHash;
use crate::who::Who;
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The longest a token may last.
pub const LONGEST: Duration = Duration::from_hours(24);
/// How many of one subject may count at a time.
pub const LIVE_TOKENS: usize = 64;
/// How many of one subject are remembered, those that were revoked too.
pub const KNOWN_TOKENS: usize = 1024;

/// A token that was issued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// The subject it names, with its kind.
    pub subject: Subject,
    /// Since when.
    pub at: Moment,
    /// Until when.
    pub expires: Moment,
    /// Who asked for it.
    pub by: String,
    /// That it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Revoked>,
}

/// That a token was revoked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revoked {
    /// When.
    pub at: Moment,
    /// By whom.
    pub by: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Issued {
    /// The agent that asked for it, unless an operator did.
    fn issuer(&self) -> Option<&str> {
        self.by.strip_prefix("agent ")
    }

    /// Whether it counts at a time.
    pub fn counts(&self, now: Moment) -> bool {
        now < self.expires && self.revoked.is_none()
    }
}

/// Every token that has not ended by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identities {
    tokens: BTreeMap<TokenHash, Issued>,
    /// External subjects that tokens were issued for: their state outlasts the tokens.
    names: NameIndex,
    /// Changes of how many tokens agents have asked for that were not counted yet.
    #[serde(skip)]
    usage: UsageChanges,
}

/// What is asked of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// To issue one.
    Issue {
        /// Its hash.
        token: TokenHash,
        /// The subject it names: written out with its kind, or a bare name (see [`subject_of`]).
        subject: String,
        /// Until when.
        expires: Moment,
    },
    /// To revoke some.
    Revoke {
        /// Which.
        which: Which,
        /// Why.
        why: Option<String>,
    },
}

/// Which tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The one with this hash.
    Token(TokenHash),
    /// All of a subject. A bare name means every kind of it.
    Of(String),
}

/// What changes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// One was issued.
    Issued {
        /// Its hash.
        token: TokenHash,
        /// The subject it names, with its kind; without one in entries written before subjects had kinds.
        subject: String,
        /// Until when.
        expires: Moment,
        /// Who asked for it.
        by: String,
    },
    /// Some were revoked.
    Revoked {
        /// Their hashes.
        tokens: Vec<TokenHash>,
        /// Who asked for that.
        by: String,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}

impl Identities {
    /// The token with this hash, as long as it has not ended by itself.
    pub fn get(&self, token: &TokenHash) -> Option<&Issued> {
        self.tokens.get(token)
    }

    /// All of them, by hash.
    pub fn iter(&self) -> impl Iterator<Item = (&TokenHash, &Issued)> {
        self.tokens.iter()
    }

    /// External subjects that tokens were issued for.
    pub(crate) fn names(&self) -> &NameIndex {
        &self.names
    }

    /// The state of these subjects was erased. The name of one that has a token stays.
    pub(crate) fn forget_names(&mut self, subjects: &BTreeSet<Subject>) {
        let unused = |subject: &&Subject| subject.is_external() && self.known(subject) == 0;
        let unused: Vec<_> = subjects.iter().filter(unused).collect();
        for subject in unused {
            self.names.remove(subject.bare());
        }
    }

    /// Those of a subject that count.
    fn live<'s>(&'s self, subject: &'s Subject, now: Moment) -> impl Iterator<Item = TokenHash> + 's {
        let own = self.tokens.iter().filter(move |(_, issued)| issued.subject == *subject && issued.counts(now));
        own.map(|(token, _)| *token)
    }

    fn known(&self, subject: &Subject) -> usize {
        self.tokens.values().filter(|issued| issued.subject == *subject).count()
    }

    /// The agents that asked for tokens, once for each.
    pub(crate) fn usage(&self) -> impl Iterator<Item = &str> {
        self.tokens.values().filter_map(Issued::issuer)
    }

    /// The changes of that which were not counted yet.
    pub(crate) const fn usage_changes(&mut self) -> &mut UsageChanges {
        &mut self.usage
    }

    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        // What has ended by itself needs nobody's word any more.
        self.tokens.retain(|_, issued| {
            let lasts = at.at < issued.expires;
            if let Some(issuer) = issued.issuer().filter(|_| !lasts) {
                self.usage.add(issuer, Resource::IdentityTokens, -1);
            }
            lasts
        });
        match change {
            Change::Issued { token, subject, expires, by } => {
                let (subject, by) = (Subject::of_token(subject, by), by.clone());
                if subject.is_external() {
                    self.names.insert(subject.bare());
                }
                let issued = Issued { subject, at: at.at, expires: *expires, by, revoked: None };
                issued.issuer().into_iter().for_each(|issuer| self.usage.add(issuer, Resource::IdentityTokens, 1));
                let before = self.tokens.insert(*token, issued);
                if let Some(issuer) = before.as_ref().and_then(Issued::issuer) {
                    self.usage.add(issuer, Resource::IdentityTokens, -1);
                }
            }
            Change::Revoked { tokens, by, why } => {
                let revoked =
                    Revoked { at: at.at, by: by.clone(), why: why.as_deref().map(|why| shortened(why).to_owned()) };
                for token in tokens {
                    self.revoke(token, &revoked);
                }
            }
        }
    }

    fn revoke(&mut self, token: &TokenHash, revoked: &Revoked) {
        if let Some(issued) = self.tokens.get_mut(token).filter(|issued| issued.revoked.is_none()) {
            issued.revoked = Some(revoked.clone());
        }
    }

    /// An agent is gone, and whoever has its name next is another.
    pub(crate) fn removed(&mut self, agent: &str, at: Moment) {
        let revoked = Revoked { at, by: "the exchange".to_owned(), why: Some("the agent was removed".to_owned()) };
        for token in self.live(&Subject::agent(agent), at).collect::<Vec<_>>() {
            self.revoke(&token, &revoked);
        }
    }
}

pub(crate) fn order(
    state: &State,
    policy: &Policy,
    now: Moment,
    order: &Order,
    who: &Who,
) -> Result<Ruling, Rejection> {
    let change = match order {
        Order::Issue { token, subject, expires } => issue(state, policy, now, (*token, subject, *expires), who)?,
        Order::Revoke { which, why } => revoke(state, now, which, why.as_deref(), who)?,
    };
    Ok(Ruling { changes: vec![Ruled::Identity(change)], ..Ruling::default() })
}

fn issue(
    state: &State,
    policy: &Policy,
    now: Moment,
    wish: (TokenHash, &str, Moment),
    who: &Who,
) -> Result<Change, Rejection> {
    let (token, subject, expires) = wish;
    let subject = &subject_of(state, subject, who)?;
    if let Who::Agent(agent) = who {
        may_act(state, agent)?;
    }
    if expires <= now || expires > now.plus(LONGEST) {
        let message = "an identity token lasts at least a second, and 24 hours at most";
        return Err(Rejection::because(Code::OutOfRange, message).at("/seconds"));
    }
    let identities = &state.rules().identities;
    // It would be the same token, also where that was revoked.
    if identities.get(&token).is_some() {
        return Err(Rejection::because(Code::Busy, "the same was issued just now: ask again"));
    }
    if identities.live(subject, now).count() >= LIVE_TOKENS || identities.known(subject) >= KNOWN_TOKENS {
        let message =
            format!("{LIVE_TOKENS} tokens of this subject count already: revoke some, or wait until they end");
        return Err(Rejection::because(Code::RateLimited, message).at("/subject"));
    }
    if let Who::Agent(agent) = who {
        family_has_room(state, policy, now, agent)?;
    }
    Ok(Change::Issued { token, subject: subject.to_string(), expires, by: who.to_string() })
}

/// Checks the quota of an agent's family. Expired tokens are counted until the next change: only a family that seems
/// to have reached its quota is counted token by token.
fn family_has_room(state: &State, policy: &Policy, now: Moment, agent: &str) -> Result<(), Rejection> {
    check_known_family(state, policy, agent, Resource::IdentityTokens).or_else(|rejection| {
        if rejection.code() != Code::QuotaExceeded {
            return Err(rejection);
        }
        let lasting = state.rules().identities.tokens.values().filter(|issued| now < issued.expires);
        let own = lasting.filter_map(Issued::issuer).filter(|issuer| same_family(state, issuer, agent));
        let most = policy.quotas.family.of(Resource::IdentityTokens);
        if (own.count() as u64) < most { Ok(()) } else { Err(rejection) }
    })
}

fn revoke(state: &State, now: Moment, which: &Which, why: Option<&str>, who: &Who) -> Result<Change, Rejection> {
    check_reason(why)?;
    let identities = &state.rules().identities;
    let tokens: Vec<_> = match which {
        Which::Token(token) => {
            let issued = identities.get(token).filter(|issued| issued.counts(now));
            // Of what is another's nobody learns whether it is there.
            issued.filter(|issued| is_for(who, &issued.subject).is_ok()).map(|_| *token).into_iter().collect()
        }
        Which::Of(subject) => {
            let meant = subjects_meant(state, subject, who)?;
            meant.iter().flat_map(|subject| identities.live(subject, now)).collect()
        }
    };
    match who {
        Who::Nobody => Err(nobody()),
        Who::Person { .. } | Who::Agent(_) if tokens.is_empty() => {
            Err(Rejection::because(Code::NotFound, "no token of yours that counts is meant by this"))
        }
        Who::Person { .. } | Who::Agent(_) => {
            Ok(Change::Revoked { tokens, by: who.to_string(), why: why.map(str::to_owned) })
        }
    }
}

/// The subject that a token is issued for. An agent has tokens for itself alone. An operator writes the kind out
/// (`agent:`, `person:`, `external:`); a bare name is an agent's, else a person's, else an external subject's.
pub fn subject_of(state: &State, name: &str, who: &Who) -> Result<Subject, Rejection> {
    let refuse = |code, message: String| Err(Rejection::because(code, message).at("/subject"));
    let own = Subject::written_out(name);
    if let Who::Agent(id) = who {
        let own = own.unwrap_or_else(|| Subject::agent(name));
        return is_for(who, &own).map(|()| Subject::agent(id));
    }
    is_for(who, &Subject::identity(name))?;
    let mut meant = Subject::all_meant(state, name);
    match (meant.next(), meant.next()) {
        (Some(subject), None) if subject.is_external() => external(state, subject),
        (Some(subject), None) if own.is_none() && state.rules.identities.names().resembling(name) == Some(name) => {
            refuse(Code::ConfusableId, format!("{name:?} is both {subject} and external:{name}: write out which"))
        }
        (Some(subject), None) => Ok(subject),
        (Some(_), Some(_)) => refuse(Code::ConfusableId, Subject::unknown(state, name)),
        (None, _) if own.is_some() => refuse(Code::UnknownAgent, format!("there is no {name}")),
        (None, _) => external(state, Subject::identity(name)),
    }
}

/// An external subject, unless it is, or looks like, somebody else.
fn external(state: &State, subject: Subject) -> Result<Subject, Rejection> {
    let (name, names) = (subject.bare(), state.rules.identities.names());
    let known = names.resembling(name);
    if known == Some(name) {
        return Ok(subject);
    }
    let agent = state.registry.resembling(name).map(|(_, taken)| ("an agent's name", taken));
    let group = || state.registry.group_resembling(name).map(|group| ("the group", group));
    let person = || state.people.resembling(name).map(|person| ("the person", person));
    let other = || known.map(|known| ("the external subject", known));
    match agent.or_else(group).or_else(person).or_else(other) {
        Some((kind, taken)) => Err(alike(name, kind, taken).at("/subject")),
        None => Ok(subject),
    }
}

/// The subjects that a name means whose tokens are to be revoked: what an operator writes without a kind means them all.
fn subjects_meant(state: &State, name: &str, who: &Who) -> Result<BTreeSet<Subject>, Rejection> {
    let written_out = Subject::written_out(name);
    if let Who::Agent(_) = who {
        let own = written_out.unwrap_or_else(|| Subject::agent(name));
        return is_for(who, &own).map(|()| BTreeSet::from([own]));
    }
    is_for(who, &Subject::identity(name))?;
    let bare = || {
        let all = [Subject::agent(name), Subject::person(name), Subject::identity(name)];
        all.into_iter().chain(Subject::all_meant(state, name)).collect()
    };
    Ok(written_out.map_or_else(bare, |subject| BTreeSet::from([subject])))
}

/// Operators have a say about every subject, an agent about itself.
fn is_for(who: &Who, subject: &Subject) -> Result<(), Rejection> {
    match who {
        _ if who.is_operator() => Ok(()),
        Who::Agent(id) if *subject == Subject::agent(id) => Ok(()),
        Who::Agent(_) => {
            Err(Rejection::because(Code::NotAllowed, "an agent has tokens for itself alone").at("/subject"))
        }
        Who::Person { .. } => Err(Rejection::because(Code::NotAllowed, "this takes an operator's token")),
        Who::Nobody => Err(nobody()),
    }
}

fn nobody() -> Rejection {
    Rejection::because(Code::Unauthenticated, "this takes the agent's token, or an operator's")
}
