//! A session that is gone, as when the exchange was started again, is opened again as it was: with what was watched in
//! it, and with somebody who listens. The host need not know; what it has less of now is said to stderr.

use super::bridge::{Bridge, MCP, accepted, tell};
use super::events::Messages;
use super::heads::listening;
use legation_client::{Call, Error, HeaderValue};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

/// How long to wait before listening again: twice as long each time nobody is there.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(30);

impl Bridge {
    /// Opens another session in place of this one, unless that was done meanwhile.
    pub(super) async fn reopen(&self, gone: Option<HeaderValue>) -> bool {
        let Some(gone) = gone else { return false };
        let _alone = self.reopening.lock().await;
        let (opening, before) = {
            let inner = self.state.lock();
            if inner.session.as_ref().is_some_and(|session| *session != gone) {
                return true;
            }
            (inner.opening.clone(), inner.ack.clone())
        };
        let Some(opening) = opening else { return false };
        let is_open = self.opened(&opening).await.is_ok_and(|answer| answer.get("result").is_some());
        if is_open {
            self.notify(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
            let now = self.state.lock().ack.clone();
            for what in less(before.as_ref(), now.as_ref()) {
                warn(&what);
            }
            self.reopened.notify_one();
            self.watch_again().await;
        }
        is_open
    }

    /// Watches what was watched. What changed meanwhile is not known, so the host is told to look.
    async fn watch_again(&self) {
        let watched = self.state.lock().watched.clone();
        for uri in watched {
            match self.watch(&uri).await {
                Ok(Some(answer)) if answer.get("result").is_some() => {
                    let params = json!({"uri": uri});
                    tell(&json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}));
                }
                Ok(_) | Err(_) => warn(&format!("{uri} is not watched any more")),
            }
        }
    }

    async fn watch(&self, uri: &str) -> Result<Option<Value>, Error> {
        let id = format!("legation-again-{uri}");
        let asked = json!({"jsonrpc": "2.0", "id": id, "method": "resources/subscribe", "params": {"uri": uri}});
        accepted(self.post(&asked, &self.state.session()).await?).await?.next().await
    }

    /// Tells the host what its session is told unasked, and that of the next session.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut pause = FIRST;
        loop {
            let (Some(session), version) = self.state.session() else { return };
            let call = Call { headers: listening(&session, version.as_ref()), ..Call::get(MCP) };
            match self.client.stream(call).await.map(|answer| (answer.status(), answer)) {
                Ok((200, answer)) => {
                    pause = FIRST;
                    let mut messages = Messages::of(answer);
                    while let Ok(Some(message)) = messages.next().await {
                        tell(&message);
                    }
                }
                Ok((404, _)) if self.reopen(Some(session.clone())).await => continue,
                Ok((404 | 409 | 429 | 500.., _)) | Err(_) => {}
                Ok(_) => return,
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.reopened.notified() => {}
            }
            pause = (pause * 2).min(LONGEST);
        }
    }
}

/// What a host has less of after a handshake than after the one before.
fn less(before: Option<&Value>, now: Option<&Value>) -> Vec<String> {
    let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match now {
        Some(error) if error.get("type").is_some_and(|kind| kind == "vcp-error") => {
            vec![format!("the handshake failed: {}: {}", text(error, "code"), text(error, "message"))]
        }
        Some(_) | None => {
            let active = |ack: Option<&Value>| ack?.get("supported")?.as_array().cloned();
            let now = active(now).unwrap_or_default();
            let gone = active(before).unwrap_or_default().into_iter().filter(|name| !now.contains(name));
            gone.map(|name| format!("{} is not active any more", name.as_str().unwrap_or_default())).collect()
        }
    }
}

fn warn(what: &str) {
    let _ = writeln!(io::stderr(), "legation: in the session that was opened again, {what}");
}

#[cfg(test)]
mod tests {
    use super::less;
    use serde_json::{Value, json};

    #[test]
    fn what_a_new_session_has_less_of_is_told() {
        let ack = |supported: Value| json!({"type": "vcp-ack", "supported": supported});
        let check = |before: Option<Value>, now: Option<Value>, want: &[&str]| {
            assert_eq!(less(before.as_ref(), now.as_ref()), want, "{before:?} {now:?}");
        };
        check(None, None, &[]);
        check(Some(ack(json!(["A", "B"]))), Some(ack(json!(["B", "A"]))), &[]);
        check(Some(ack(json!(["A", "B"]))), Some(ack(json!(["B"]))), &["A is not active any more"]);
        check(Some(ack(json!(["A"]))), None, &["A is not active any more"]);
        let error = json!({"type": "vcp-error", "code": "IDENTITY_INVALID", "message": "it has expired"});
        check(Some(ack(json!([]))), Some(error), &["the handshake failed: IDENTITY_INVALID: it has expired"]);
    }
}
