//! What the server may be told. Everything has a value that works.

use crate::demo::Demo;
use crate::negotiation::Negotiation;
use crate::proxy::Proxy;
use legation_engine::{Rate, Token};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// What the server may be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Host names it answers to, beside those of this machine itself.
    pub hosts: Vec<String>,
    /// Proxies whose word is taken for where a request came from.
    pub proxy: Proxy,
    /// How long what is under way may take once the server is told to stop.
    pub drain: Duration,
    /// How often the files of a certificate are looked at.
    pub look_every: Duration,
    /// How much may come at once.
    pub limits: Limits,
    /// How handshakes go.
    pub negotiation: Negotiation,
    /// A code that signs the operator in at the page, once.
    pub code: Option<Token>,
    /// What plays the demo for somebody who asks for it at the page.
    pub demo: Option<Demo>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            hosts: Vec::new(),
            proxy: Proxy::default(),
            drain: Duration::from_secs(10),
            look_every: Duration::from_secs(5),
            limits: Limits::default(),
            negotiation: Negotiation::default(),
            code: None,
            demo: None,
        }
    }
}

/// How much may come at once, and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most connections open at a time.
    pub connections: usize,
    /// Most of them on which nobody has proven to be anybody.
    pub unproven_connections: usize,
    /// How long a request that shows no credential may take, from its head to the last byte of its answer.
    pub unproven_request_time: Duration,
    /// The bytes per second at which the body of such a request must come, on average.
    pub unproven_body_rate: u64,
    /// How long it may take to agree on TLS.
    pub handshake_time: Duration,
    /// Most bytes of a request's head.
    pub head_bytes: usize,
    /// How long a head may take to come.
    pub head_time: Duration,
    /// How long a connection may stay open with nothing asked; no less than a head may take.
    pub idle_time: Duration,
    /// How long a client may leave an answer unread.
    pub stall_time: Duration,
    /// How often a stream with nothing to tell shows that it is alive.
    pub heartbeat: Duration,
    /// Most sockets of one agent.
    pub sockets_per_agent: usize,
    /// How long a challenge may go unanswered.
    pub socket_bind: Duration,
    /// How often a socket is asked whether the other side is there.
    pub socket_ping: Duration,
    /// After how long with nothing heard it is closed.
    pub socket_silence: Duration,
    /// How often a source may fail to prove who asks, or ask in vain without saying who.
    pub failures: Option<Rate>,
    /// How often a source may register agents without saying who asks.
    pub registrations: Option<Rate>,
    /// How often somebody may begin a handshake: whoever they have proven to be, or else all at one address.
    pub hellos: Option<Rate>,
    /// Most negotiated sessions of each kind: over plain HTTP, of MCP hosts, and of MCP hosts that have no session.
    pub negotiated_sessions: usize,
    /// Most of them of one quota family.
    pub negotiated_sessions_per_family: usize,
}

impl Limits {
    /// How many of the connections may be sockets: the rest is left for requests, so that those who send, ask how it
    /// is and put things right find a way in beside any number of sockets.
    pub(crate) fn sockets(&self) -> usize {
        self.connections.saturating_sub(self.kept()).max(1)
    }

    /// How many of the connections are kept for operators and for those who have shown no credential yet, health checks
    /// among them: agents give them up again where others come.
    pub(crate) fn kept(&self) -> usize {
        (self.connections / 16).max(1)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connections: 12_000,
            unproven_connections: 1000,
            unproven_request_time: Duration::from_secs(30),
            unproven_body_rate: 1024,
            handshake_time: Duration::from_secs(10),
            head_bytes: 16 << 10,
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(75),
            stall_time: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            sockets_per_agent: 16,
            socket_bind: Duration::from_secs(10),
            socket_ping: Duration::from_secs(30),
            socket_silence: Duration::from_mins(1),
            failures: Some(Rate::per_minute(300)),
            registrations: Some(Rate::per_minute(600)),
            hellos: Some(Rate::per_minute(120)),
            negotiated_sessions: 10_000,
            negotiated_sessions_per_family: 2000,
        }
    }
}

/// Settings that may change while the server runs. Whoever depends on them holds a clone and looks.
#[derive(Clone, Debug)]
pub struct Reloaded {
    now: watch::Receiver<Arc<Settings>>,
    /// Those that everything goes by.
    taken: watch::Sender<Arc<Settings>>,
}

/// Changes the settings of a server that runs.
#[derive(Debug)]
pub struct Tuner {
    next: watch::Sender<Arc<Settings>>,
    taken: watch::Receiver<Arc<Settings>>,
}

impl Reloaded {
    /// Settings to begin with, and what changes them.
    pub fn starting_with(settings: Settings) -> (Tuner, Reloaded) {
        let first = Arc::new(settings);
        let (next, now) = watch::channel(Arc::clone(&first));
        let (taken, told) = watch::channel(first);
        (Tuner { next, taken: told }, Reloaded { now, taken })
    }

    /// The settings as they are now.
    pub fn now(&self) -> Arc<Settings> {
        Arc::clone(&self.now.borrow())
    }

    /// The next settings, once there are any. They are to be handed on to all who do not look themselves, and then
    /// told as [taken](Reloaded::is_taken).
    pub(crate) async fn next(&mut self) -> Arc<Settings> {
        if self.now.changed().await.is_err() {
            // Nobody is left who could change them.
            pending::<()>().await;
        }
        Arc::clone(&self.now.borrow_and_update())
    }

    /// Everything goes by these from now on.
    pub(crate) fn is_taken(&self, settings: Arc<Settings>) {
        self.taken.send_replace(settings);
    }
}

impl Tuner {
    /// Changes the settings, and returns when everything goes by them.
    pub async fn change(&mut self, change: impl FnOnce(&Settings) -> Settings) {
        let settings = Arc::new(change(&self.next.borrow()));
        self.next.send_replace(Arc::clone(&settings));
        // It fails when the server is gone, and then nothing goes by anything.
        drop(self.taken.wait_for(|taken| Arc::ptr_eq(taken, &settings)).await);
    }
}

impl From<Settings> for Reloaded {
    /// Settings that stay.
    fn from(settings: Settings) -> Self {
        Reloaded::starting_with(settings).1
    }
}
