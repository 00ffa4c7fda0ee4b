//! Configuring `serve`, and what it shows and hides while it runs.

use crate::exchange::cap;
use crate::legation_in;
use crate::reloading::upgrade;
use crate::run;
use crate::served::{Served, program};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::net::TcpStream;
use std::process::Command;

#[test]
fn the_sample_is_a_configuration_that_serves() {
    let folder = tempfile::tempdir().unwrap();
    let sample = legation_in(folder.path(), &["config", "sample"], b"");
    fs::write(folder.path().join("legation.toml"), &sample.out).unwrap();
    let checked = legation_in(folder.path(), &["config", "check", "legation.toml"], b"");
    assert!(checked.code == 0 && checked.err.starts_with("legation.toml is fine\n"), "{}", checked.err);
    for (what, key) in [("changed by SIGHUP: ", " limits,"), ("read at the start: ", " realm,")] {
        let line = checked.err.lines().find(|line| line.contains(what)).unwrap();
        assert!(line.contains(key), "{line}");
    }
    let path = folder.path().join("legation.toml");
    let mut served = Served::with(&["--config", path.to_str().unwrap(), "--realm", "by-flag"], |_| {});
    assert!(served.banner.contains("by-flag"), "{}", served.banner);
    // A configuration says who registers, and the sample says: the operator.
    let put = "curl -sS -X PUT $LEGATION_URL/v1/agents/eve -H 'Content-Type: application/json' -d '{}'";
    let refused = served.beside("bash", put).out;
    assert!(
        refused.contains("\"error\":\"unauthenticated\"") || refused.contains("\"error\":\"not_allowed\""),
        "{refused}"
    );
    served.admit(&["ann"]);
    assert_eq!(served.stop().0, 0);
}

#[test]
fn the_configuration_that_is_packaged_is_one() {
    let packaged = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/compose/legation.toml");
    let folder = tempfile::tempdir().unwrap();
    let checked = legation_in(folder.path(), &["config", "check", packaged], b"");
    assert_eq!(checked.code, 0, "{}", checked.err);
}

#[test]
fn a_wrong_configuration_is_told_with_its_line_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (text, told) in [
        ("lisen = \"127.0.0.1:0\"\n", "did you mean `listen`?"),
        ("[limits]\nhead_bytes = \"1 KiB\"\n", "at least 4 KiB"),
        ("listen = \"0.0.0.0:7400\"\n", "can be reached from other machines"),
        ("[record]\nsegment = 5\n", "line 2"),
    ] {
        fs::write(folder.path().join("bad.toml"), text).unwrap();
        let checked = run(program(folder.path()).args(["config", "check", "bad.toml"]), b"");
        let served = run(program(folder.path()).args(["serve", "--config", "bad.toml"]), b"");
        assert_eq!((checked.code, served.code), (1, 2), "{}", checked.err);
        assert!(checked.err.contains(told) && served.err.contains(told), "{}", checked.err);
    }
    let missing = run(program(folder.path()).args(["serve", "--config", "nowhere.toml"]), b"");
    assert!(missing.code == 2 && missing.err.contains("cannot read nowhere.toml"), "{}", missing.err);
    assert!(!folder.path().join("share").exists());
}

#[test]
fn what_a_configuration_names_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        fs::write(folder.path().join("some.toml"), text).unwrap();
        let ran = run(program(folder.path()).args(["config", "check", "some.toml"]), b"");
        (ran.code, ran.err)
    };
    fs::write(folder.path().join("plain"), "").unwrap();
    for (text, told) in [
        ("[tls]\ncert = \"a.crt\"\nkey = \"a.key\"\n", "tls: cannot read a.crt: No such file"),
        ("[tls]\ncert = \"plain\"\nkey = \"a.key\"\n", "tls: plain holds no certificate"),
        ("[alerts]\ncommand = [\"/nowhere/page-me\"]\n", "alerts.command: cannot find /nowhere/page-me: No such file"),
        ("[alerts]\ncommand = [\"./plain\"]\n", "alerts.command: ./plain is no program"),
        ("[alerts]\ncommand = [\"page-me-not\"]\n", "alerts.command: there is no program \"page-me-not\" in PATH"),
    ] {
        let (code, err) = check(text);
        assert!(code == 1 && err.contains(told) && err.lines().count() == 1, "{told}: {err}");
    }
    for command in ["/bin/sh", "sh"] {
        assert_eq!(check(&format!("[alerts]\ncommand = [\"{command}\", \"-c\", \"cat\"]\n")).0, 0, "{command}");
    }
    let doctor = |text: &str| {
        fs::write(folder.path().join("some.toml"), text).unwrap();
        run(program(folder.path()).args(["doctor", "--config", "some.toml"]), b"").out
    };
    assert!(doctor("[alerts]\ncommand = [\"page-me-not\"]\n").contains("FAIL  alerts     alerts.command: there is no"));
    assert!(!doctor("[alerts]\ncommand = [\"sh\"]\n").contains("alerts"));
}

#[test]
fn a_proxy_in_front_opens_the_address_and_closes_registration() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::with(&["--behind-proxy=127.0.0.1,10.0.0.2"], |command| {
        command.env("LEGATION_REALM", "by-environment");
    });
    assert!(served.banner.contains("by-environment"), "{}", served.banner);
    let ask = |more: &str| served.beside("bash", &format!("curl -sS {more} -H 'X-Forwarded-For: 192.0.2.1'")).out;
    let put = ask("-X PUT $LEGATION_URL/v1/agents/eve -H 'Content-Type: application/json' -d '{}'");
    assert!(put.contains("\"error\":"), "{put}");
    assert!(ask("$LEGATION_URL/metrics").contains("unauthenticated"));
    let ran = run(program(folder.path()).args(["serve", "--listen", "192.0.2.1:1", "--behind-proxy"]), b"");
    assert!(ran.err.contains("cannot listen at 192.0.2.1:1"), "{}", ran.err);
}

#[test]
fn without_files_for_more_connections_the_exchange_goes_on() {
    let mut served = Served::with(&[], |command| {
        let (program, args) =
            (command.get_program().to_owned(), command.get_args().map(ToOwned::to_owned).collect::<Vec<_>>());
        let mut limited = Command::new("bash");
        limited.args(["-c", "ulimit -n 64; exec \"$0\" \"$@\""]).arg(program).args(args);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        limited.current_dir(command.get_current_dir().unwrap());
        *command = limited;
    });
    let ann = served.admit(&["ann"]);
    let address = served.url.strip_prefix("http://").unwrap().to_owned();
    let silent: Vec<_> = (0..200).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let listed = served.run_as(Some(&ann), &["agent", "list"], "");
    assert_eq!(listed.code, 0, "{}", listed.err);
    drop(silent);
    let (code, log) = served.stop();
    assert_eq!(code, 0, "{log}");
    assert!(log.contains("cannot take a connection"), "{log}");
}

/// Everything the process says while hostile and secret things are sent to it.
#[test]
fn nothing_secret_and_nothing_hostile_reaches_log_metrics_or_errors() {
    let mut served = Served::with(&[], |command| {
        command.env("RUST_LOG", "trace");
    });
    let script = r#"
        ask() { curl -sS "$@" -H 'Content-Type: application/json'; echo; }
        ask -X PUT $LEGATION_URL/v1/agents/ann -d '{"manifest":{"agent_id":"ann","system_prompt":"prompt-canary"}}'
        ask -X PUT $LEGATION_URL/v1/agents/bob -d '{}' > bob.json
        ask $LEGATION_URL/v1/agents/%1B%5B2Jpath-canary%0D%0Aforged -H 'Authorization: Bearer lgt_token-canary'
        ask $LEGATION_URL/v1/messages -H "Authorization: Bearer lgt_token-canary" -d '{"content":"content-canary"}'
        ask $LEGATION_URL/v1/messages -H $'traceparent: trace-canary' -H 'X-Forwarded-For: source-canary' \
            -d '{"type":"message","task_id":"T1","sender_id":"ann","recipient_id":"bob","content":"content-canary\u001b[2J"}'
        ask $LEGATION_URL/v1/messages -H 'Legation-Signature: base64:signature-canary' -d '{}'
        BOB=$(python3 -c 'import json; print(json.load(open("bob.json"))["token"])')
        ask $LEGATION_URL/v1/agents/ann -H "Authorization: Bearer $BOB"
        ask $LEGATION_URL/v1/agents -H "Authorization: Bearer $BOB"
        ask -X PUT $LEGATION_URL/v1/agents/bob -H "Authorization: Bearer $BOB" \
            -d '{"push":{"url":"http://127.0.0.1:9/in?key=push-canary"}}'
        at=${LEGATION_URL#http://}
        socket() {
            exec 3<>/dev/tcp/${at%:*}/${at##*:}
            printf 'GET /vcp/ws%s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' "$1" >&3
            printf 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' >&3
            printf 'Sec-WebSocket-Protocol: legation.v1, legation.token.%s\r\n\r\n' "$2" >&3
            head -n 5 <&3
            exec 3>&-
        }
        socket '?agent=query-canary' lgt_token-canary
        socket '' $BOB
        ask $LEGATION_URL/v1/audit/entries -H "Authorization: Bearer $(cat share/legation/operator.token)"
        curl -sS $LEGATION_URL/metrics
    "#;
    let told = served.beside("bash", script).out;
    assert!(told.contains("legation_verdicts_total") && told.contains("101 Switching Protocols"), "{told}");
    let bob: Value = serde_json::from_str(&fs::read_to_string(served.folder().join("bob.json")).unwrap()).unwrap();
    let bob = bob["token"].as_str().unwrap().to_owned();
    let operator = fs::read_to_string(served.data().join("operator.token")).unwrap();
    let key = fs::read_to_string(served.data().join("exchange.pem")).unwrap();
    let key = key.lines().nth(1).unwrap();
    let (code, log) = served.stop();
    assert_eq!(code, 0, "{log}");
    for secret in ["canary", &bob, operator.trim(), key] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    for secret in ["prompt-canary", "token-canary", "content-canary", "signature-canary", &bob, operator.trim(), key] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
    assert!(!log.contains('\u{1b}') && !log.contains("forged"), "{log}");
}

#[test]
fn the_description_for_programs_is_printed_and_served_as_it_is_committed() {
    let committed = include_str!("../../../../docs/openapi.json");
    let folder = tempfile::tempdir().unwrap();
    let printed = legation_in(folder.path(), &["openapi"], b"");
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(printed.out == committed, "write it again: legation openapi > docs/openapi.json");
    let served = Served::with(&[], |_| {});
    let fetched = served.beside("bash", "curl -sSf $LEGATION_URL/openapi.json").out;
    assert!(fetched == committed, "{fetched:.200}");
}

#[test]
fn a_log_of_everything_has_no_word_of_what_is_said() {
    // Into a file: what is not read would hold it up.
    let mut served = Served::through(&["sh", "-c", r#"export RUST_LOG=trace; exec "$0" "$@" 2>log"#], &[]);
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    let said = served.run_as(Some(&ann), &["send", "-"], &cap("ann", "bob", "zyzzyva-body"));
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(served.run_as(Some(&bob), &["inbox", "bob"], "").out.contains("zyzzyva-body"));
    // A socket that writes it, and a host that reads what it is told.
    let (status, mut socket) = upgrade(&served, &bob, "");
    assert_eq!(status, "HTTP/1.1 101");
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("zyzzyva-body") {
        let mut some = [0; 4096];
        let count = socket.read(&mut some).unwrap();
        assert_ne!(count, 0, "it closed");
        read.extend_from_slice(&some[..count]);
    }
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"zyzzyva-host","version":"1"}}}"#;
    let curl = format!(
        "curl -sS $LEGATION_URL/mcp -H 'Authorization: Bearer {bob}' -H 'Content-Type: application/json' \
         -H 'Accept: application/json, text/event-stream' -d '{hello}'"
    );
    let greeted = served.beside("bash", &curl).out;
    assert!(greeted.contains("serverInfo"), "{greeted}");
    assert_eq!(served.stop().0, 0);
    let log = fs::read_to_string(served.folder().join("log")).unwrap();
    assert!(log.contains("DEBUG"), "everything is in it");
    let told: Vec<_> = log.lines().filter(|line| line.contains("zyzzyva")).collect();
    assert!(told.is_empty(), "{told:?}");
}
