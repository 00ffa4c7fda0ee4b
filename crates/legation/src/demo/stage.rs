//! Where stories are played: agents enter, speak and are answered, and what the exchange says is told.

use crate::Outcome;
use crate::cli::RemoteArgs;
use crate::remote::{Parcel, Remote, encoded, text};
use anyhow::{Context as _, bail};
use legation_client::{Client, Error, Sent, Status};
use legation_protocol::sign::SecretKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::thread;
use std::time::Duration;

/// Between two messages.
const PACE: Duration = Duration::from_millis(900);

/// How a message should fare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fares<'f> {
    /// It goes on its way.
    Accepted,
    /// It waits for somebody's word.
    Held,
    /// It is refused with this code.
    Refused(&'f str),
}

pub(super) struct Stage {
    remote: Remote,
    url: String,
    fast: bool,
    /// Part of every id, so that a story can be played again.
    pub(super) run: String,
    cast: BTreeMap<String, Client>,
    sent: usize,
    held: usize,
    refused: usize,
    ids: u32,
    /// Where the last message lies.
    last: u64,
}

impl Stage {
    pub(super) fn new(args: &RemoteArgs, fast: bool) -> anyhow::Result<Stage> {
        let remote = Remote::new(args)?;
        let mut drawn = [0; 4];
        getrandom::fill(&mut drawn).context("the system has no random bytes")?;
        let run = format!("{:08x}", u32::from_le_bytes(drawn));
        let url = args.url.clone();
        Ok(Stage { remote, url, fast, run, cast: BTreeMap::new(), sent: 0, held: 0, refused: 0, ids: 0, last: 0 })
    }

    /// A title.
    pub(super) fn act(title: &str) -> io::Result<()> {
        writeln!(io::stdout(), "\n{title}")
    }

    /// What is to be seen.
    pub(super) fn tell(says: &str) -> io::Result<()> {
        writeln!(io::stdout(), "    {says}")
    }

    /// An agent comes in, registered by whoever plays. One of an earlier run gets a new token and key.
    pub(super) fn enter(&mut self, id: &str, what: Value) -> anyhow::Result<()> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).context("the system has no random bytes")?;
        let key = SecretKey::from_seed(&seed);
        let mut what = what;
        if let Some(members) = what.as_object_mut() {
            members.insert("keys".to_owned(), json!([key.public().to_string()]));
            members.insert("rotate_token".to_owned(), Value::Bool(true));
        }
        let registered = self.ask("PUT", &format!("/v1/agents/{}", encoded(id)), &what)?;
        let token = text(&registered, "token");
        let client = Client::builder(&self.url).agent(id).token(token).key(key).build()?;
        self.cast.insert(id.to_owned(), client);
        Ok(())
    }

    /// Something is asked as whoever plays.
    pub(super) fn ask(&self, method: &str, path: &str, body: &Value) -> anyhow::Result<Value> {
        let bytes = serde_json::to_vec(body)?;
        let parcel = if method == "GET" { Parcel::default() } else { Parcel::json(&bytes) };
        let reply = self.remote.ask(method, path, &parcel)?;
        let value = reply.value()?;
        if !reply.is_accepted() {
            bail!("{method} {path}: {}", text(&value, "message"));
        }
        Ok(value)
    }

    /// An id nobody has used.
    pub(super) fn id(&mut self, prefix: &str) -> String {
        self.ids += 1;
        format!("{prefix}-{}-{:04}", self.run, self.ids)
    }

    /// A UUID of version 7.
    pub(super) fn uuid(&self, who: &str) -> anyhow::Result<String> {
        Ok(self.client(who)?.origin()?.message_id.to_string())
    }

    /// What time it is.
    pub(super) fn time(&self, who: &str) -> anyhow::Result<String> {
        Ok(self.client(who)?.origin()?.timestamp.to_string())
    }

    fn client(&self, who: &str) -> anyhow::Result<&Client> {
        self.cast.get(who).with_context(|| format!("{who} is not on stage"))
    }

    /// Somebody speaks. Whoever is not on stage is a person, whom the player's own token lets speak.
    pub(super) fn says(
        &mut self,
        who: &str,
        gist: &str,
        message: &Value,
        fares: Fares<'_>,
    ) -> anyhow::Result<Option<u64>> {
        if !self.fast {
            thread::sleep(PACE);
        }
        let client = self.cast.get(who).unwrap_or(&self.remote.client);
        let answer = self.remote.wait(client.send(message.to_string()));
        let (outcome, position, line) = match &answer {
            Ok(Sent { status: Status::Held, position, .. }) => (Fares::Held, Some(*position), "held".to_owned()),
            Ok(Sent { position, .. }) => (Fares::Accepted, Some(*position), "accepted".to_owned()),
            Err(Error::Refused(why)) => (Fares::Refused(why.code.as_str()), None, format!("refused: {}", why.code)),
            Err(_) => {
                answer.context("the exchange gave no answer")?;
                return Ok(None);
            }
        };
        self.last = position.unwrap_or(self.last);
        writeln!(io::stdout(), "  {who}: {gist}  [{line}]")?;
        match outcome {
            Fares::Accepted => self.sent += 1,
            Fares::Held => self.held += 1,
            Fares::Refused(_) => self.refused += 1,
        }
        if outcome != fares {
            bail!("{who} should have been {fares:?} and was {line}");
        }
        Ok(position)
    }

    /// A person approves what is held.
    pub(super) fn approves(&mut self, position: u64, why: &str) -> anyhow::Result<()> {
        if !self.fast {
            thread::sleep(PACE);
        }
        let path = format!("/v1/reviews/{position}");
        let review = self.ask("GET", &path, &Value::Null)?;
        let body = json!({"decision": "approve", "digest": text(&review, "digest"), "reason": why});
        self.ask("POST", &path, &body)?;
        writeln!(io::stdout(), "  a person: approved. {why}")?;
        Ok(())
    }

    /// What waits for an agent.
    pub(super) fn inbox(&self, who: &str) -> anyhow::Result<Vec<Value>> {
        self.listed(who, "limit=1000")
    }

    /// What an agent hears because of what was said last. Some of it comes a moment later.
    pub(super) fn hears(&self, who: &str) -> anyhow::Result<Vec<Value>> {
        self.listed(who, &format!("limit=1000&wait=5&after={}", self.last))
    }

    fn listed(&self, who: &str, query: &str) -> anyhow::Result<Vec<Value>> {
        let listed = self.ask("GET", &format!("/v1/agents/{}/inbox?{query}", encoded(who)), &Value::Null)?;
        Ok(listed.get("messages").and_then(Value::as_array).cloned().unwrap_or_default())
    }

    /// How it all went.
    pub(super) fn summary(self) -> anyhow::Result<Outcome> {
        let mut out = io::stdout().lock();
        writeln!(out, "\n{} accepted, {} held for somebody's word, {} refused.", self.sent, self.held, self.refused)?;
        writeln!(out, "All of it lies in the record, the last in entry {}. Look at it:", self.last)?;
        writeln!(out, "  legation messages, legation task list, legation review list, legation explain {}", self.last)?;
        Ok(Outcome::Fine)
    }
}
