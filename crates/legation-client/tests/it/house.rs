//! An exchange behind a server on a port of its own, and agents that speak to it.

use legation_client::protocol::sign::SecretKey;
use legation_client::{Client, Registration};
use legation_engine::{Backup, Exchange, Gateway, Settings, begin_epoch};
use legation_exchange::Policy;
use legation_server::{Limits, Listener, Listeners};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running server.
pub(crate) struct House {
    data: TempDir,
    pub(crate) address: SocketAddr,
    pub(crate) operator: String,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

/// Tells messages and keys of one run apart.
static NEXT: AtomicU64 = AtomicU64::new(1);

pub(crate) fn fresh() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn fresh_key() -> SecretKey {
    let mut seed = [9; 32];
    seed[..8].copy_from_slice(&fresh().to_le_bytes());
    SecretKey::from_seed(&seed)
}

impl House {
    /// With open registration, as on loopback with nothing configured.
    pub(crate) async fn open() -> House {
        House::on(tempfile::tempdir().unwrap(), "127.0.0.1:0").await
    }

    /// With other limits.
    pub(crate) async fn limited(limits: Limits) -> House {
        let settings = legation_server::Settings { limits, ..legation_server::Settings::default() };
        House::told(tempfile::tempdir().unwrap(), "127.0.0.1:0", settings).await
    }

    async fn on(data: TempDir, listen: &str) -> House {
        House::told(data, listen, legation_server::Settings::default()).await
    }

    async fn told(data: TempDir, listen: &str, settings: legation_server::Settings) -> House {
        let listener = TcpListener::bind(listen).await.unwrap();
        let address = listener.local_addr().unwrap();
        House::with(data, address, listener, settings)
    }

    /// Reached by these ways.
    pub(crate) fn at(listeners: Vec<Listener>) -> House {
        let settings = legation_server::Settings::default();
        House::with(tempfile::tempdir().unwrap(), ([0, 0, 0, 0], 0).into(), listeners, settings)
    }

    /// With somebody who calls tools.
    pub(crate) async fn with_tools(tools: Arc<dyn Gateway>) -> House {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let settings = legation_server::Settings::default();
        House::set(tempfile::tempdir().unwrap(), address, listener, (settings, Some(tools)))
    }

    fn with(
        data: TempDir,
        address: SocketAddr,
        listeners: impl Into<Listeners>,
        settings: legation_server::Settings,
    ) -> House {
        House::set(data, address, listeners, (settings, None))
    }

    fn set(
        data: TempDir,
        address: SocketAddr,
        listeners: impl Into<Listeners>,
        (settings, tools): (legation_server::Settings, Option<Arc<dyn Gateway>>),
    ) -> House {
        let listeners = listeners.into();
        let policy = Policy { open_registration: true, ..Policy::default() };
        let opened = Exchange::open(Settings { policy, tools, ..Settings::on(data.path()) }).unwrap();
        let operator = std::fs::read_to_string(&opened.operator_token).unwrap().trim().to_owned();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(async move {
            let shutdown = async { drop(stopped.await) };
            legation_server::run(listeners, opened.exchange, settings, shutdown).await;
            opened.ended.await.unwrap().unwrap();
        });
        House { data, address, operator, stop, served }
    }

    /// Stops, and starts again on the same data and port.
    pub(crate) async fn restart(self) -> House {
        let (data, address) = self.stopped().await;
        House::on(data, &address.to_string()).await
    }

    async fn stopped(self) -> (TempDir, SocketAddr) {
        drop(self.stop);
        self.served.await.unwrap();
        (self.data, self.address)
    }

    /// A copy of all it has now. It stops for that, and starts again.
    pub(crate) async fn copied(self) -> (House, TempDir) {
        let ((data, address), copy) = (self.stopped().await, tempfile::tempdir().unwrap());
        copy_all(data.path(), copy.path());
        (House::on(data, &address.to_string()).await, copy)
    }

    /// Stops, and goes on from a copy, on the same port.
    pub(crate) async fn restored(self, copy: TempDir) -> House {
        let (_, address) = self.stopped().await;
        let backup = Backup::of_stopped(copy.path(), &copy.path().join("keys/ring"), true).unwrap();
        let checkpoint = backup.manifest.checkpoint.clone();
        drop(backup);
        begin_epoch(copy.path(), &checkpoint, &[]).unwrap();
        House::on(copy, &address.to_string()).await
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Registers an agent with a key of its own, and gives its client.
    pub(crate) async fn admit(&self, id: &str) -> Client {
        self.admit_as(Registration::new(id)).await
    }

    pub(crate) async fn admit_as(&self, registration: Registration) -> Client {
        let key = fresh_key();
        let operator = Client::builder(self.url()).token(self.operator.clone()).build().unwrap();
        let id = registration.id().to_owned();
        let registered = operator.register(&registration.key(&key.public())).await.unwrap();
        let token = registered.token.unwrap().to_string();
        Client::builder(self.url()).token(token).key(key).agent(id).build().unwrap()
    }
}

fn copy_all(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&place).unwrap();
            copy_all(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}

pub(crate) fn cap(from: &str, to: &str, says: &str) -> String {
    format!(
        r#"{{"type":"message","task_id":"T1","sender_id":"{from}","recipient_id":"{to}","content":"{says}","message_id":"m-{}"}}"#,
        fresh()
    )
}
