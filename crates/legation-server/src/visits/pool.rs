//! Connections by holder. The holder with the most connections gives up its oldest one first, so that nobody's
//! connections push out those of somebody who has few.

use super::{Numbered, Visit};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Weak;

/// The party that a connection is counted for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holder {
    /// A source address; `on_socket` keeps clients of the socket in the file system apart from those of the network.
    Source { address: IpAddr, on_socket: bool },
    /// A quota family of agents.
    Family(String),
    /// A person who is no operator.
    Person(String),
    /// All operators together.
    Operators,
}

impl Holder {
    pub(crate) fn source(address: IpAddr, on_socket: bool) -> Holder {
        Holder::Source { address: network_of(address), on_socket }
    }
}

/// The address that limits are counted by: one IPv4 address, or the first 64 bits of an IPv6 address.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
    }
}

/// Connections by holder.
#[derive(Debug, Default)]
pub(super) struct HolderPool {
    /// By number, so that the oldest connection comes first.
    holder_of: BTreeMap<u64, Holder>,
    holders: BTreeMap<Holder, Numbered>,
    /// The holder with the most connections last; of several with as many, the one with the oldest connection.
    ranking: BTreeSet<(usize, Reverse<u64>, Holder)>,
}

impl HolderPool {
    pub(super) fn len(&self) -> usize {
        self.holder_of.len()
    }

    pub(super) fn insert(&mut self, holder: &Holder, number: u64, visit: Weak<Visit>) {
        self.holder_of.insert(number, holder.clone());
        self.change(holder, |members| members.insert(number, visit));
    }

    /// Takes a connection out. `None` if it was not in.
    pub(super) fn remove(&mut self, number: u64) -> Option<Weak<Visit>> {
        let holder = self.holder_of.remove(&number)?;
        self.change(&holder, |members| members.remove(&number))
    }

    fn change<T>(&mut self, holder: &Holder, change: impl FnOnce(&mut Numbered) -> T) -> T {
        let members = self.holders.entry(holder.clone()).or_default();
        if let Some(rank) = rank_of(holder, members) {
            self.ranking.remove(&rank);
        }
        let changed = change(members);
        match rank_of(holder, members) {
            Some(rank) => drop(self.ranking.insert(rank)),
            None => drop(self.holders.remove(holder)),
        }
        changed
    }

    /// All connections, the oldest first.
    pub(super) fn by_age(&self) -> impl Iterator<Item = &Weak<Visit>> {
        self.holder_of.iter().filter_map(|(number, holder)| self.holders.get(holder)?.get(number))
    }

    /// The most connections that a holder has, if it is fewer than this.
    pub(super) fn largest_share(&self, below: usize) -> Option<usize> {
        self.ranking.iter().rev().map(|(count, ..)| *count).find(|count| *count < below)
    }

    /// The connections of the holders that have so many, those of the holder with the oldest one first.
    pub(super) fn with_share(&self, share: usize) -> impl Iterator<Item = &Weak<Visit>> {
        let ranked = self.ranking.iter().rev().skip_while(move |(count, ..)| *count > share);
        let holders = ranked.take_while(move |(count, ..)| *count == share);
        holders.filter_map(|(_, _, holder)| self.holders.get(holder)).flat_map(Numbered::values)
    }
}

fn rank_of(holder: &Holder, members: &Numbered) -> Option<(usize, Reverse<u64>, Holder)> {
    let (oldest, _) = members.first_key_value()?;
    Some((members.len(), Reverse(*oldest), holder.clone()))
}
