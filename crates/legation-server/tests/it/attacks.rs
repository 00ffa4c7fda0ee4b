//! What bad inputs get. Each is refused for its reason, delivers nothing, and leaves the house standing.

mod content;
mod names;
mod numbers;
mod refusals;
mod replay;
mod sizes;
mod smuggling;
mod streams;
mod text;
mod wild;

use crate::house::{Answer, House};
use crate::words::Party;
use serde_json::Value;

const VCP: &str = "/.well-known/vcp/messages";

/// Somebody who sends, and somebody who must not get it.
struct Scene {
    house: House,
    ann: Party,
    bob: Party,
}

impl Scene {
    fn new() -> Scene {
        let house = House::open();
        let (ann, bob) = (house.admit("ann"), house.admit("bob"));
        Scene { house, ann, bob }
    }

    /// Sends a body of any dialect as the sender, who has proven who it is.
    fn post(&self, body: impl AsRef<[u8]>) -> Answer {
        self.house.ask("POST", "/v1/messages").by(&self.ann.token).json(body)
    }

    /// Sends it by the VCP binding, where only its signature proves anything.
    fn vcp(&self, body: impl AsRef<[u8]>) -> Answer {
        self.house.ask("POST", VCP).json(body)
    }

    /// Makes sure that both doors refuse a body for this reason, and for good.
    #[track_caller]
    fn refused(&self, body: impl AsRef<[u8]>, status: u16, code: &str) -> Value {
        let body = body.as_ref();
        assert_eq!(self.vcp(body).refused(status, code)["retryable"], false);
        let refused = self.post(body).refused(status, code);
        assert_eq!(refused["retryable"], false);
        refused
    }

    fn delivered(&self) -> Vec<Value> {
        let mut listed = self.house.inbox(&self.bob, "?limit=1000");
        let Value::Array(messages) = listed["messages"].take() else { panic!("{listed}") };
        messages.into_iter().map(|mut item| item["message"].take()).collect()
    }

    /// Makes sure that nothing came of it all.
    #[track_caller]
    fn untouched(&self) {
        assert_eq!(self.delivered(), Vec::<Value>::new());
        self.house.ask("GET", "/healthz").get().ok();
    }
}
