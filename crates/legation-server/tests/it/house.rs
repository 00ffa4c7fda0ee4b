//! An exchange behind a server on a port of its own, and somebody to speak to it.

use crate::words::Party;
use legation_engine::{Exchange, Settings};
use legation_exchange::Policy;
use legation_server::{Limits, Listeners, Reloaded};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// A running server. It ends, in good order, when this is dropped.
pub(crate) struct House {
    data: Arc<TempDir>,
    policy: Policy,
    pub(crate) address: SocketAddr,
    pub(crate) operator: String,
    client: ureq::Agent,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: ureq::http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()
    }

    /// Makes sure it is the error body, whole, with this status and code.
    #[track_caller]
    pub(crate) fn refused(self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, body["error"].as_str()), (status, Some(code)), "{self:?}");
        // Which message it was is told where one was read.
        let members = body.as_object().unwrap().keys().map(String::as_str);
        let members: Vec<_> = members.filter(|name| *name != "digest").collect();
        assert_eq!(members, ["at", "error", "message", "retryable", "spec"]);
        assert_eq!(self.headers.contains_key("www-authenticate"), status == 401);
        body
    }
}

/// A request in the making.
pub(crate) struct Ask<'h> {
    house: &'h House,
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
}

impl Ask<'_> {
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn by(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub(crate) fn json(self, body: impl AsRef<[u8]>) -> Answer {
        self.header("content-type", "application/json").send(body.as_ref())
    }

    pub(crate) fn lines(self, body: impl AsRef<[u8]>) -> Answer {
        self.header("content-type", "application/x-ndjson").send(body.as_ref())
    }

    pub(crate) fn form(self, body: &str) -> Answer {
        self.header("content-type", "application/x-www-form-urlencoded").send(body.as_bytes())
    }

    pub(crate) fn get(self) -> Answer {
        self.send(b"")
    }

    pub(crate) fn send(self, body: &[u8]) -> Answer {
        let url = format!("http://{}{}", self.house.address, self.path);
        let mut request = ureq::http::Request::builder().method(self.method).uri(url);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let mut response = self.house.client.run(request.body(body).unwrap()).unwrap();
        let bytes = response.body_mut().with_config().limit(64 << 20).read_to_vec().unwrap();
        // An archive is no text; what is told of it is.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Answer { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }
}

impl House {
    /// With open registration, as on loopback with nothing configured.
    pub(crate) fn open() -> House {
        House::under(Policy { open_registration: true, ..Policy::default() })
    }

    pub(crate) fn under(policy: Policy) -> House {
        House::on(Arc::new(tempfile::tempdir().unwrap()), policy)
    }

    /// Stops, and starts again on the same data at another port.
    pub(crate) fn restart(mut self) -> House {
        self.stop();
        House::on(Arc::clone(&self.data), self.policy.clone())
    }

    fn on(data: Arc<TempDir>, policy: Policy) -> House {
        let settings = Settings { policy, ..Settings::on(data.path()) };
        House::with(data, settings, legation_server::Settings::default())
    }

    /// With open registration and these limits.
    pub(crate) fn limited(limits: Limits) -> House {
        House::told(legation_server::Settings { limits, ..legation_server::Settings::default() })
    }

    /// With open registration and a server that was told this.
    pub(crate) fn told(server: legation_server::Settings) -> House {
        let data = Arc::new(tempfile::tempdir().unwrap());
        let policy = Policy { open_registration: true, ..Policy::default() };
        let settings = Settings { policy, ..Settings::on(data.path()) };
        House::with(data, settings, server)
    }

    pub(crate) fn with(data: Arc<TempDir>, settings: Settings, server: legation_server::Settings) -> House {
        House::listening(data, settings, server, Listeners::from)
    }

    /// With open registration, and whatever listens beside its port or in its stead.
    pub(crate) fn at(
        server: impl Into<Reloaded>,
        listen: impl FnOnce(TcpListener) -> Listeners + Send + 'static,
    ) -> House {
        let data = Arc::new(tempfile::tempdir().unwrap());
        let policy = Policy { open_registration: true, ..Policy::default() };
        let settings = Settings { policy, ..Settings::on(data.path()) };
        House::listening(data, settings, server, listen)
    }

    fn listening(
        data: Arc<TempDir>,
        settings: Settings,
        server: impl Into<Reloaded>,
        listen: impl FnOnce(TcpListener) -> Listeners + Send + 'static,
    ) -> House {
        let server = server.into();
        let policy = settings.policy.clone();
        let (ready, told) = std::sync::mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let opened = Exchange::open(settings).unwrap();
                let operator = std::fs::read_to_string(&opened.operator_token).unwrap();
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let listeners = listen(listener);
                ready.send((address, operator.trim().to_owned())).unwrap();
                let shutdown = async { drop(stopped.await) };
                legation_server::run(listeners, opened.exchange, server, shutdown).await;
                // The record is free for the next once the decider has let go of it.
                opened.ended.await.unwrap().unwrap();
            });
        });
        let (address, operator) = told.recv().unwrap();
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .allow_non_standard_methods(true);
        let client = config.build().new_agent();
        House { data, policy, address, operator, client, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn ask(&self, method: &'static str, path: impl Into<String>) -> Ask<'_> {
        Ask { house: self, method, path: path.into(), headers: Vec::new() }
    }

    /// Registers an agent of this name with its key, and remembers its token.
    pub(crate) fn admit(&self, id: &str) -> Party {
        let mut party = Party::new(id);
        let body = format!(r#"{{"keys":["{}"]}}"#, party.key.public());
        let answer = self.ask("PUT", path_of(id)).json(body);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["token"].as_str().unwrap().clone_into(&mut party.token);
        party
    }

    /// Gives a person a token, and tells it.
    pub(crate) fn grant(&self, name: &str, role: &str) -> String {
        let body = format!(r#"{{"role":"{role}"}}"#);
        let answer = self.ask("PUT", format!("/v1/tokens/{name}")).by(&self.operator).json(body).ok();
        answer["token"].as_str().unwrap().to_owned()
    }

    pub(crate) fn send(&self, party: &Party, message: &str) -> Answer {
        self.ask("POST", "/v1/messages").by(&party.token).json(message)
    }

    pub(crate) fn inbox(&self, party: &Party, query: &str) -> Value {
        self.ask("GET", format!("{}/inbox{query}", path_of(&party.id))).by(&party.token).get().ok()
    }

    /// A metric without labels.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.ask("GET", "/metrics").get().text;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
        value.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
    }

    /// Writes bytes to a fresh socket and gives back what comes, until the other side closes or a
    /// whole head of an answer is there.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut socket = self.connect();
        socket.write_all(bytes).unwrap();
        let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
        while !all.windows(4).any(|end| end == b"\r\n\r\n") {
            match socket.read(&mut buffer).unwrap() {
                0 => break,
                read => all.extend_from_slice(&buffer[..read]),
            }
        }
        String::from_utf8(all).unwrap()
    }

    /// Where everything lies.
    pub(crate) fn data(&self) -> &std::path::Path {
        self.data.path()
    }

    /// The ring on the disk loses the key that the record is sealed with, as where an older one is put in its place. Says
    /// what it was.
    pub(crate) fn lose_key(&self) -> Vec<u8> {
        let ring = self.data().join("keys").join("ring");
        let kept = std::fs::read(&ring).unwrap();
        std::fs::write(&ring, "").unwrap();
        kept
    }

    /// The ring is as it was.
    pub(crate) fn bring_key(&self, kept: &[u8]) {
        std::fs::write(self.data().join("keys").join("ring"), kept).unwrap();
    }

    /// The exchange's own secret key, which nobody else has.
    pub(crate) fn exchange_pem(&self) -> String {
        std::fs::read_to_string(self.data().join("exchange.pem")).unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// What comes until the other side closes.
    pub(crate) fn read_all(mut socket: TcpStream) -> String {
        let mut all = Vec::new();
        // A socket that was reset has nothing more to say.
        drop(socket.read_to_end(&mut all));
        String::from_utf8(all).unwrap()
    }

    /// Tells the server to stop, and waits until it has.
    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in the server's thread has been printed already.
            drop(thread.join());
        }
    }
}

/// The path of an agent's own resource.
pub(crate) fn path_of(id: &str) -> String {
    format!("/v1/agents/{}", encoded(id))
}

/// A text as one part of a path.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}
