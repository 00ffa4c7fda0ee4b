//! A socket in the file system, beside an address.

use crate::house::House;
use legation_server::{Listener, Settings};
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use tokio::net::UnixListener;

fn house(socket: &Path) -> House {
    let socket = socket.to_owned();
    House::at(Settings::default(), move |listener| {
        vec![Listener::Tcp(listener), Listener::Unix(UnixListener::bind(socket).unwrap())].into()
    })
}

/// The answer to a request for a path, with these lines in its head.
fn ask(socket: &Path, path: &str, head: &str) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nConnection: close\r\n{head}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn on_the_socket_any_host_name_will_do_and_everybody_is_local() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let house = house(&socket);
    for host in ["localhost", "anything.example", "x"] {
        let answer = ask(&socket, "/metrics", &format!("Host: {host}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("legation_record_entries"), "{answer}");
    }
    assert!(ask(&socket, "/healthz", "").starts_with("HTTP/1.1 403 "), "one has to be said all the same");
    assert!(ask(&socket, "/healthz", "Host: x\r\nOrigin: https://evil.test\r\n").starts_with("HTTP/1.1 403 "));
    // What a proxy passed on here is not local, and comes to one of our names or to none.
    let passed_on = "X-Forwarded-For: 192.0.2.1\r\n";
    assert!(ask(&socket, "/healthz", &format!("Host: x\r\n{passed_on}")).starts_with("HTTP/1.1 403 "));
    assert!(ask(&socket, "/metrics", &format!("Host: localhost\r\n{passed_on}")).starts_with("HTTP/1.1 401 "));
    // The address is there as well.
    house.ask("GET", "/healthz").get().ok();
    assert_eq!(house.ask("GET", "/healthz").header("host", "anything.example").get().status, 403);
}
