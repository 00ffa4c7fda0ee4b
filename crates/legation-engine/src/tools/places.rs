//! How many calls are under way at once, of one agent with all its instances, and of all: a tool that hangs keeps others from
//! nothing, and nobody gets more places by being many.

use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many calls one agent has under way, and all of them.
const OF_ONE: usize = 8;
const IN_ALL: usize = 64;

/// Who has how many calls under way.
#[derive(Debug, Default)]
pub(crate) struct Places(Mutex<BTreeMap<String, usize>>);

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<Places>,
    agent: String,
}

impl Places {
    /// Takes a place for a call, if there is one.
    pub(crate) fn take(self: &Arc<Places>, agent: &str) -> Result<Place, Rejection> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(agent).copied().unwrap_or_default();
        let full = |count: usize, whose: &str| {
            Err(Rejection::because(Code::RateLimited, format!("{count} calls {whose} are under way already")))
        };
        if own >= OF_ONE {
            return full(own, "of this agent");
        }
        if taken.values().sum::<usize>() >= IN_ALL {
            return full(IN_ALL, "of tools");
        }
        taken.insert(agent.to_owned(), own + 1);
        Ok(Place { places: Arc::clone(self), agent: agent.to_owned() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.agent) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(taken.remove(&self.agent)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{IN_ALL, OF_ONE, Places};
    use legation_protocol::Code;
    use std::sync::Arc;

    #[test]
    fn nobody_has_more_calls_under_way_than_there_are_places() {
        let places = Arc::new(Places::default());
        let mut one: Vec<_> = (0..OF_ONE).map(|_| places.take("a").unwrap()).collect();
        assert_eq!(places.take("a").unwrap_err().code(), Code::RateLimited);
        let _others: Vec<_> = (OF_ONE..IN_ALL).map(|number| places.take(&format!("b{number}")).unwrap()).collect();
        assert_eq!(places.take("c").unwrap_err().code(), Code::RateLimited);
        one.pop();
        let _c = places.take("c").unwrap();
        assert_eq!(places.take("a").unwrap_err().code(), Code::RateLimited);
        drop(one);
        places.take("a").unwrap();
    }
}
