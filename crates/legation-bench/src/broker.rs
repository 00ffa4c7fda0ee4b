//! NATS `JetStream`, the broker an exchange is compared with: a server of its own with a stream on disk.

use crate::child::Served;
use crate::clock::instant;
use crate::crowd::Agent;
use crate::letters::Letters;
use crate::load::rate;
use anyhow::Context as _;
use async_nats::jetstream::{self, Context, stream};
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::Duration;

const SUBJECT: &str = "bench.message";

/// When a message is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Before it is acknowledged.
    Always,
    /// Up to two minutes after, as it comes.
    Lazy,
}

/// A server and a client of it.
pub(crate) struct Broker {
    client: Context,
    _served: Served,
}

impl Broker {
    pub(crate) async fn start(program: &Path, place: &Path, sync: Sync) -> anyhow::Result<Broker> {
        let (name, sync) = match sync {
            Sync::Always => ("always", "sync_interval: always"),
            Sync::Lazy => ("lazy", ""),
        };
        let config = place.join(format!("{name}.conf"));
        // Its strings are JSON's.
        let store = serde_json::to_string(&place.join(name).to_string_lossy())?;
        let text = format!(
            "listen: \"127.0.0.1:-1\"\njetstream {{\n  store_dir: {store}\n  max_file_store: 64GB\n  {sync}\n}}\n"
        );
        fs::write(&config, text).with_context(|| format!("cannot write {}", config.display()))?;
        let served = Served::nats(program, &config)?;
        let client = async_nats::connect(served.address.to_string()).await.context("cannot connect to NATS")?;
        let client = jetstream::new(client);
        let stream = stream::Config {
            name: "bench".to_owned(),
            subjects: vec![SUBJECT.to_owned()],
            storage: stream::StorageType::File,
            num_replicas: 1,
            ..stream::Config::default()
        };
        client.create_stream(stream).await.context("NATS makes no stream")?;
        Ok(Broker { client, _served: served })
    }

    /// Publishes for so long with so many unacknowledged, and gives back how many were acknowledged a
    /// second.
    pub(crate) async fn take(&self, recipients: &[Agent], window: usize, time: Duration) -> anyhow::Result<f64> {
        let mut letters = Letters::new("sender", recipients.iter().map(|agent| agent.name.as_str()), 0);
        let (mut unanswered, mut acknowledged) = (VecDeque::with_capacity(window), 0);
        let start = instant();
        while start.elapsed() < time {
            let mut letter = Vec::with_capacity(1024);
            letters.write(&mut letter);
            unanswered.push_back(self.client.publish(SUBJECT, letter.into()).await.context("NATS takes no message")?);
            if unanswered.len() < window {
                continue;
            }
            if let Some(oldest) = unanswered.pop_front() {
                oldest.await.context("NATS acknowledges nothing")?;
                acknowledged += 1;
            }
        }
        for last in unanswered {
            last.await.context("NATS acknowledges nothing")?;
            acknowledged += 1;
        }
        Ok(rate(acknowledged, start.elapsed()))
    }
}
