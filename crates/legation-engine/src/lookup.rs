//! The look-up before a decision: messages that a new one names and that lie too far back for the state to
//! know. The index says where; what they are is read from the record.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::vlp::{Beyond, beyond};
use legation_exchange::{Earlier, Effect, Entry};
use legation_protocol::{Format, Message};
use legation_store::index::{Finder, Query, What};
use std::collections::BTreeSet;

/// Two that a name leads to are as good as many: they are not told apart.
const TWO: usize = 2;

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
