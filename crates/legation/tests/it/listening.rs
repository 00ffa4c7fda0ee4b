//! Where `serve` listens: several places at once, sockets in the file system, and never in the clear where
//! others can read along.

use crate::run;
use crate::served::{Served, program};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_socket_in_the_file_system_is_for_its_owner_and_goes_with_the_exchange() {
    let mut served = Served::with(&["--listen", "unix:socket"], |_| {});
    assert!(served.banner.contains("and at          unix:socket"), "{}", served.banner);
    let socket = served.folder().join("socket");
    assert_eq!(mode(&socket), 0o600);
    let put = "curl -sSf --unix-socket socket http://any.example/v1/agents/ann -X PUT \
               -H 'Content-Type: application/json' -d '{}'";
    let made = served.beside("bash", put);
    assert!(made.code == 0 && made.out.contains("\"token\""), "{}", made.err);
    // The address leads to the same exchange.
    assert!(served.run(&["agent", "list"], "").out.contains("ann"));
    assert_eq!(served.stop().0, 0);
    assert!(!socket.exists());
}

#[test]
fn others_are_let_in_where_that_was_said() {
    let served = Served::with(&["--listen", "unix:socket", "--listen-mode", "0660"], |_| {});
    assert_eq!(mode(&served.folder().join("socket")), 0o660);
}

#[test]
fn a_socket_that_nobody_listens_at_is_replaced_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    drop(UnixListener::bind(path("stale")).unwrap());
    let _busy = UnixListener::bind(path("busy")).unwrap();
    fs::write(path("file"), "precious").unwrap();
    for (name, told) in [("busy", "somebody listens at"), ("file", "is no socket"), ("none/x", "cannot listen at")] {
        let ran = run(program(folder.path()).args(["serve", "--listen", &format!("unix:{name}")]), b"");
        assert!(ran.code == 2 && ran.err.contains(told), "{}", ran.err);
    }
    assert_eq!(fs::read_to_string(path("file")).unwrap(), "precious");
    let stale = path("stale");
    let served = Served::with(&["--listen", &format!("unix:{}", stale.display())], |_| {});
    let health = format!("curl -sSf --unix-socket '{}' http://localhost/healthz", stale.display());
    assert_eq!(served.beside("bash", &health).out, "{\"alive\":true}");
}

#[test]
fn nothing_is_said_in_the_clear_beyond_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    for args in [&["--listen", "0.0.0.0:0"][..], &["--listen", "127.0.0.1:0", "--listen", "[::]:0"]] {
        let ran = run(program(folder.path()).arg("serve").args(args), b"");
        assert!(ran.code == 2 && ran.err.contains("can be reached from other machines"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    }
    let by_environment = run(program(folder.path()).arg("serve").env("LEGATION_LISTEN", "127.0.0.1:0,0.0.0.0:0"), b"");
    assert_eq!(by_environment.code, 2);
    assert!(!folder.path().join("share").exists());
}
