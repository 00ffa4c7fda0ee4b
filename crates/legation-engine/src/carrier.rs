//! What brings bytes out of this process. The engine knows no HTTP: whoever starts it hands over somebody
//! who does.

use legation_exchange::Outcome;
use legation_protocol::Rejection;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Brings bytes to addresses outside, and to none it may not.
pub trait Carrier: Debug + Send + Sync {
    /// Judges an address as it is written; what its name leads to is judged each time it is used.
    fn check(&self, url: &str) -> Result<Reach, Rejection>;

    /// Posts once. It ends in bounded time, and follows no redirect.
    fn post(&self, url: &str, parcel: Parcel) -> Posting;

    /// The same, for whoever wants to know what the answer says. It ends within this time.
    fn ask(&self, url: &str, parcel: Parcel, within: Duration) -> Asking;
}

/// Where somebody sits who brings bytes out. Another may sit there from one moment to the next.
#[derive(Clone, Debug)]
pub(crate) struct Seat(Arc<RwLock<Arc<dyn Carrier>>>);

impl Seat {
    pub(crate) fn of(carrier: Arc<dyn Carrier>) -> Seat {
        Seat(Arc::new(RwLock::new(carrier)))
    }

    /// Who sits there now.
    pub(crate) fn now(&self) -> Arc<dyn Carrier> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn give_to(&self, carrier: Arc<dyn Carrier>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = carrier;
    }
}

/// How far away an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// On this machine.
    Near,
    /// Anywhere else.
    Far,
}

/// A post under way.
pub type Posting = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// A question under way: what was answered with a 2xx, or why nothing was.
pub type Asking = Pin<Box<dyn Future<Output = Result<Box<[u8]>, Outcome>> + Send>>;

/// What is posted.
#[derive(Clone, Debug)]
pub struct Parcel {
    /// Headers, beside those every post has.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Arc<[u8]>,
}

/// What came of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The answer's status, or why there is none.
    pub outcome: Outcome,
    /// How long the other side asks to be left alone.
    pub retry_after: Option<Duration>,
}
