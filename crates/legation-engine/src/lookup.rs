//! The look-up before a decision: messages that a new one names and that lie too far back for the state to
//! know. The index says where; what they are is read from the record.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::vlp::{Beyond, beyond};
use legation_exchange::{Earlier, Effect, Entry, IdSearch, IdSearched, Refused, id_search};
use legation_protocol::{Code, Format, Message, Rejection};
use legation_store::index::{Finder, Order, Query, What};
use std::collections::BTreeSet;

/// Two that a name leads to are as good as many: they are not told apart.
const TWO: usize = 2;
/// The messages that a search for an id found, and what else it told.
type Searched = (Vec<Earlier>, IdSearched);
/// How many entries with one id are looked at.
const FEW: usize = 64;

impl Exchange {
    /// The messages that a new one may name, beyond those the state knows. Most messages need none, and those
    /// that do wait for the index only where it has not come to what the state has forgotten.
    pub(crate) async fn look_up(&self, message: &Message) -> Result<Vec<Earlier>, Error> {
        let Message::Vlp(message) = message else { return Ok(Vec::new()) };
        let Some(wanted) = beyond(&self.state(), message) else { return Ok(Vec::new()) };
        if let Some(up_to) = wanted.up_to {
            self.indexed_past(up_to).await?;
        }
        if !(wanted.digests.is_empty() && wanted.named.is_empty()) && self.index_lag() > 0 {
            // They may be those of messages of any dialect, and those the state does not know.
            self.indexed_past(self.head().size.saturating_sub(1)).await?;
        }
        let exchange = self.clone();
        self.asked(move |finder| {
            let found = find_all(finder, &wanted)?;
            found.into_iter().filter_map(|position| exchange.earlier(position).transpose()).collect()
        })
        .await
    }

    /// Messages with a VCP message's id that the dedup window may have forgotten: where the machine's clock was set back, and
    /// for an emergency that comes too late. Nothing for the many that need no search.
    pub(crate) async fn search_id(&self, message: &Message) -> Result<Result<Option<Searched>, Rejection>, Error> {
        let Some((search, id, sender)) = self.id_search(message) else { return Ok(Ok(None)) };
        let IdSearch { up_to, is_stale_emergency } = search;
        // Who replays old emergencies keeps the index from nobody.
        if is_stale_emergency && self.late.take(&sender, tokio::time::Instant::now()).is_err() {
            let text = "too many emergencies of this sender come too late: whether this one is new is not looked up";
            return Ok(Err(Rejection::because(Code::RateLimited, text)));
        }
        // People are told of an emergency once: what was refused just now counts.
        let up_to = if is_stale_emergency { self.head().size.checked_sub(1) } else { up_to };
        if let Some(up_to) = up_to {
            self.indexed_past(up_to).await?;
        }
        let exchange = self.clone();
        let found = self.asked(move |finder| exchange.find_id(finder, id, sender, is_stale_emergency));
        found.await.map(Some).map(Ok)
    }

    /// The search that a message needs, with its id and its sender's.
    fn id_search(&self, message: &Message) -> Option<(IdSearch, String, String)> {
        let Message::Vcp(_) = message else { return None };
        let state = self.state();
        let search = id_search(&state, &self.policies.borrow(), message, self.wall.now())?;
        let sender = state.registry().resolve(message.sender())?;
        Some((search, message.id()?, sender.id.clone()))
    }

    fn find_id(
        &self,
        finder: &Finder,
        id: String,
        sender: String,
        is_stale_emergency: bool,
    ) -> Result<Searched, Error> {
        let oldest = Query { id: Some(id), order: Order::Oldest, limit: FEW, ..Query::default() };
        let find = |query: &Query| finder.find(query).map_err(Error::Index);
        let by = Some(format!("agent {sender}"));
        let accepted =
            Query { what: Some(What::Accepted), dialect: Some(Format::Vcp), sender: Some(sender), ..oldest.clone() };
        let found = find(&accepted)?.into_iter().filter_map(|position| self.earlier(position).transpose());
        let found = found.collect::<Result<Vec<_>, _>>()?;
        if !is_stale_emergency || !found.is_empty() {
            return Ok((found, IdSearched::default()));
        }
        let code = Some(Code::Stale.as_str().to_owned());
        let refused = Query { what: Some(What::Refused), by, code, ..oldest };
        let entries = find(&refused)?.into_iter().filter_map(|position| self.entry(position).transpose());
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let is_told = |entry: &Entry| matches!(&entry.effect, Effect::Refused(Refused { stale_emergency: true, .. }));
        Ok((found, IdSearched { was_told: entries.iter().any(is_told) }))
    }

    fn earlier(&self, position: u64) -> Result<Option<Earlier>, Error> {
        let Some(Entry { effect: Effect::Accepted(accepted), .. }) = self.entry(position)? else { return Ok(None) };
        Ok(Some(Earlier { position, accepted, body: None }))
    }
}

fn find_all(finder: &Finder, wanted: &Beyond) -> Result<BTreeSet<u64>, Error> {
    let find = |query: &Query| finder.find(query).map_err(Error::Index);
    let mut found = BTreeSet::new();
    for id in &wanted.ids {
        for query in near_to_far(id, wanted) {
            let positions = find(&query)?;
            found.extend(positions.iter().copied());
            if !positions.is_empty() {
                break;
            }
        }
    }
    for name in &wanted.sources {
        found.extend(find(&with_id(name, wanted))?);
    }
    let what = Some(What::Accepted);
    for name in &wanted.named {
        found.extend(find(&Query { what, id: Some(name.clone()), limit: TWO, ..Query::default() })?);
    }
    for digest in &wanted.digests {
        found.extend(find(&Query { what, digest: Some(digest.clone()), limit: 1, ..Query::default() })?);
    }
    Ok(found)
}

/// In the session, between the two, anywhere.
fn near_to_far(id: &str, wanted: &Beyond) -> impl Iterator<Item = Query> {
    let session = wanted.session.clone().map(|(session, begun)| Query {
        thread: Some(session),
        after: begun.checked_sub(1),
        ..with_id(id, wanted)
    });
    let between = wanted.between.clone().map(|pair| Query { parties: pair.into(), ..with_id(id, wanted) });
    session.into_iter().chain(between).chain([with_id(id, wanted)])
}

fn with_id(id: &str, wanted: &Beyond) -> Query {
    Query {
        what: Some(What::Accepted),
        dialect: Some(Format::Vlp),
        id: Some(id.to_owned()),
        before: wanted.up_to.map(|position| position.saturating_add(1)),
        limit: TWO,
        ..Query::default()
    }
}
