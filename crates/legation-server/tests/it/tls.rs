//! TLS over real sockets: who is let in, who is not, and what happens when the certificate changes.

use crate::house::House;
use crate::pki::{Authority, Stream, get, shown};
use legation_server::{Limits, Listener, Settings, Tls, TlsError, TlsFiles};
use rcgen::date_time_ymd;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A server that shows a certificate for `exchange.example` and `localhost`.
struct Secured {
    house: House,
    authority: Authority,
    tls: Arc<Tls>,
    folder: tempfile::TempDir,
}

const NAMES: &[&str] = &["exchange.example", "localhost"];

impl Secured {
    fn new() -> Secured {
        Secured::told(Settings::default())
    }

    fn told(settings: Settings) -> Secured {
        let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
        let tls = Arc::new(Tls::load(authority.issue(folder.path(), NAMES)).unwrap());
        Secured::showing(authority, folder, tls, settings)
    }

    fn showing(authority: Authority, folder: tempfile::TempDir, tls: Arc<Tls>, settings: Settings) -> Secured {
        let settings = Settings { hosts: vec!["exchange.example".to_owned()], ..settings };
        let own = Arc::clone(&tls);
        let house = House::at(settings, move |listener| vec![Listener::Tls(listener, own)].into());
        Secured { house, authority, tls, folder }
    }

    fn connect(&self) -> Stream {
        self.authority.connect(self.house.address, "exchange.example").unwrap()
    }

    fn metric(&self, name: &str) -> u64 {
        let text = get(&mut self.connect(), "localhost", "/metrics");
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
    }
}

#[test]
fn both_versions_of_tls_are_spoken_and_browsers_are_told_to_stay() {
    let secured = Secured::new();
    for version in rustls::ALL_VERSIONS {
        let mut stream =
            secured.authority.connect_by(secured.house.address, NAMES[0], &[version], &[b"h2", b"http/1.1"]).unwrap();
        assert_eq!(stream.conn.protocol_version(), Some(version.version));
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
        let answer = get(&mut stream, "exchange.example", "/healthz");
        assert!(answer.starts_with("http/1.1 200 "), "{answer}");
        assert!(answer.contains("strict-transport-security: max-age=31536000\r\n"), "{answer}");
        // The same name is that of every other server on this machine.
        let near = get(&mut stream, "localhost", "/healthz");
        assert!(near.starts_with("http/1.1 200 ") && !near.contains("strict-transport-security"), "{near}");
        let strange = get(&mut stream, "evil.test", "/healthz");
        assert!(strange.starts_with("http/1.1 403 "), "{strange}");
    }
    assert!(secured.authority.connect_by(secured.house.address, NAMES[0], rustls::ALL_VERSIONS, &[b"h2"]).is_err());
    assert!(secured.authority.connect(secured.house.address, "another.example").is_err());
    assert!(Authority::new().connect(secured.house.address, NAMES[0]).is_err());
}

#[test]
fn who_signs_in_over_tls_gets_a_cookie_for_tls_alone() {
    let secured = Secured::new();
    let mut stream = secured.connect();
    let form = format!("token={}", secured.house.operator);
    let head = "POST /signin HTTP/1.1\r\nHost: exchange.example\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    write!(stream, "{head}Connection: close\r\nContent-Length: {}\r\n\r\n{form}", form.len()).unwrap();
    let mut answer = Vec::new();
    // The end may come without a word of TLS.
    drop(stream.read_to_end(&mut answer));
    let answer = String::from_utf8(answer).unwrap();
    assert!(answer.contains("__Host-legation=") && answer.contains("; Secure"), "{answer}");
}

#[test]
fn another_certificate_is_for_new_connections_and_old_ones_go_on() {
    let secured = Secured::new();
    let mut old = secured.connect();
    let first = shown(&old);
    secured.authority.issue_with(secured.folder.path(), NAMES, |params| params.not_after = date_time_ymd(2099, 1, 1));
    assert_eq!(shown(&secured.connect()), first, "it was not read yet");
    secured.tls.reload(None).unwrap();
    let new = secured.connect();
    assert_ne!(shown(&new), first);
    assert!(get(&mut old, "localhost", "/healthz").starts_with("http/1.1 200 "));
    assert_eq!(secured.metric("legation_tls_expires_seconds"), 4_070_908_800);
}

#[test]
fn files_that_change_are_noticed_also_behind_links_and_bad_ones_change_nothing() {
    let (authority, folder) = (Authority::new(), tempfile::tempdir().unwrap());
    let generation = |name: &str| {
        let inner = folder.path().join(name);
        fs::create_dir(&inner).unwrap();
        authority.issue(&inner, NAMES);
        inner
    };
    // As a cluster or certbot lays them out: a link to a folder that is replaced as a whole.
    let turn_to = |inner: &Path| {
        symlink(inner, folder.path().join("next")).unwrap();
        fs::rename(folder.path().join("next"), folder.path().join("current")).unwrap();
    };
    turn_to(&generation("one"));
    let current = folder.path().join("current");
    let files = TlsFiles { cert: current.join("tls.crt"), key: current.join("tls.key") };
    let tls = Arc::new(Tls::load(files).unwrap());
    let settings = Settings { look_every: Duration::from_millis(5), ..Settings::default() };
    let (two, three) = (generation("two"), generation("three"));
    let bad = generation("bad");
    let secured = Secured::showing(authority, folder, tls, settings);
    let turn_to = |inner: &Path| {
        symlink(inner, secured.folder.path().join("next")).unwrap();
        fs::rename(secured.folder.path().join("next"), secured.folder.path().join("current")).unwrap();
    };
    let first = shown(&secured.connect());
    turn_to(&two);
    while shown(&secured.connect()) == first {}
    let second = shown(&secured.connect());
    fs::copy(three.join("tls.key"), bad.join("tls.key")).unwrap();
    turn_to(&bad);
    while secured.metric("legation_tls_stale") == 0 {}
    assert_eq!(shown(&secured.connect()), second);
    turn_to(&three);
    while shown(&secured.connect()) == second {}
    assert_eq!(secured.metric("legation_tls_stale"), 0);
}

#[test]
fn who_does_not_speak_tls_is_told_so() {
    let secured = Secured::new();
    let mut plain = secured.house.connect();
    plain.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    plain.shutdown(std::net::Shutdown::Write).unwrap();
    let told = House::read_all(plain);
    assert!(told.starts_with("HTTP/1.1 400 ") && told.ends_with("say https here.\n"), "{told}");
    let alert = |bytes: &[u8]| {
        let mut socket = secured.house.connect();
        socket.write_all(bytes).unwrap();
        let mut alert = [0; 7];
        socket.read_exact(&mut alert).unwrap();
        assert_eq!(alert[0], 21, "{alert:?}");
        alert[6]
    };
    // A hello of TLS 1.1, with one suite and one kind of signature: `protocol_version`.
    let mut hello = vec![3, 2];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0xc0, 0x09, 1, 0, 0, 8, 0, 13, 0, 4, 0, 2, 4, 3]);
    let length = u8::try_from(hello.len()).unwrap();
    let record = [&[22, 3, 1, 0, length + 4, 1, 0, 0, length], &hello[..]].concat();
    assert_eq!(alert(&record), 70);
    let garbage = [22, 3, 1, 0, 4, 99, 0, 0, 0];
    assert_eq!(alert(&garbage), 10);
    while secured.metric("legation_tls_handshakes_failed_total") < 3 {}
}

#[test]
fn who_never_comes_to_an_agreement_is_not_waited_for_and_keeps_nobody_out() {
    let limits = Limits { handshake_time: Duration::from_millis(300), unproven_connections: 20, ..Limits::default() };
    let secured = Secured::told(Settings { limits, ..Settings::default() });
    let silent: Vec<_> = (0..500)
        .map(|number| {
            let mut socket = secured.house.connect();
            if number % 2 == 0 {
                // Those that were sent away already do not take it.
                drop(socket.write_all(&[22, 3, 1, 2]));
            }
            if number % 100 == 0 {
                let answer = get(&mut secured.connect(), "localhost", "/healthz");
                assert!(answer.starts_with("http/1.1 200 "), "{answer}");
            }
            socket
        })
        .collect();
    // Those nobody had to make room for are let go when their time is over.
    for mut socket in silent {
        drop(socket.read_to_end(&mut Vec::new()));
    }
    while secured.metric("legation_connections_open") > 1 {}
}

#[test]
fn a_head_is_expected_from_when_the_connection_was_taken() {
    let limits = Limits { head_time: Duration::from_millis(200), ..Limits::default() };
    let secured = Secured::told(Settings { limits, ..Settings::default() });
    let mut stream = secured.connect();
    // Whatever it ends with, it ends.
    drop(stream.read_to_end(&mut Vec::new()));
}

#[test]
fn what_cannot_be_shown_is_refused_with_the_reason() {
    let (authority, one, two) = (Authority::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (good, other) = (authority.issue(one.path(), NAMES), authority.issue(two.path(), NAMES));
    let refused =
        |cert: &Path, key: &Path| Tls::load(TlsFiles { cert: cert.to_owned(), key: key.to_owned() }).unwrap_err();
    assert!(matches!(refused(&good.cert, &other.key), TlsError::Mismatch(_)));
    assert!(matches!(refused(&good.key, &good.key), TlsError::NoCertificate(_)));
    assert!(matches!(refused(&good.cert, &good.cert), TlsError::Exposed { .. } | TlsError::NoKey(_)));
    assert!(matches!(refused(&one.path().join("none"), &good.key), TlsError::Read { .. }));
    assert!(matches!(refused(&good.cert, &one.path().join("none")), TlsError::Read { .. }));
    for (mode, fine) in [(0o400, true), (0o640, true), (0o440, true), (0o644, false), (0o660, false), (0o604, false)] {
        fs::set_permissions(&good.key, fs::Permissions::from_mode(mode)).unwrap();
        let loaded = Tls::load(good.clone());
        assert_eq!(loaded.is_ok(), fine, "{mode:o}");
        assert!(fine || matches!(loaded, Err(TlsError::Exposed { .. })), "{mode:o}");
    }
    // One that is too old is warned of, and shown: a machine with a wrong clock must not stay out.
    let expired = authority.issue_with(two.path(), NAMES, |params| {
        (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    });
    assert_eq!(Tls::load(expired).unwrap().expires().as_secs(), 1_009_843_200);
}
