//! A key that the exchange keeps, on the command line: used by its agent's token, sealed on the disk, in a copy with
//! its ring alone, and gone with its agent.

use crate::served::Served;
use legation_protocol::sign::SecretKey;
use legation_store::{Ring, Safe};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files under a directory, however deep.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// A file that tells these bytes, as they are, in hexadecimal digits or in base64.
fn tells(dir: &Path, secret: &[u8; 32]) -> Option<PathBuf> {
    let hex = secret.map(|byte| format!("{byte:02x}")).concat();
    let pem = SecretKey::from_seed(secret).to_pem().unwrap();
    let base64 = pem.lines().nth(1).unwrap();
    // The last part of the PEM's line is the key's own.
    let words = [secret.to_vec(), hex.clone().into_bytes(), hex.to_uppercase().into_bytes(), base64[24..].into()];
    files(dir).into_iter().find(|path| {
        let bytes = fs::read(path).unwrap();
        words.iter().any(|word| bytes.windows(word.len()).any(|window| window == word.as_slice()))
    })
}

/// The secret that is kept in a data directory, read with its ring.
fn secret(data: &Path) -> Option<[u8; 32]> {
    let safe = Safe::of(&data.join("record"), Arc::new(Ring::read(&data.join("keys/ring")).unwrap()));
    let files = files(&data.join("record/safe"));
    let name = files.first()?.file_stem().unwrap().to_str().unwrap().to_owned();
    Some(safe.get(&name).unwrap().unwrap().as_slice().try_into().unwrap())
}

fn escalation(from: &str, to: &str, number: u32) -> String {
    let now = std::process::Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap().stdout;
    json!({
        "vcp_message": "1.2", "type": "escalation", "message_id": format!("019502a4-ad0f-7000-8000-{number:012}"),
        "sender": from, "recipient": to, "timestamp": String::from_utf8(now).unwrap().trim(),
        "payload": {"severity": "info", "reason": "all quiet", "context": "⏰🌅|📍🏡", "requires_ack": false},
    })
    .to_string()
}

#[track_caller]
fn sends(served: &Served, token: &str, number: u32) {
    let sent = served.run_as(Some(token), &["send", "--json", "-"], &escalation("helper", "boss", number));
    assert_eq!(sent.code, 0, "{}", sent.err);
    let told: Value = serde_json::from_str(&sent.out).unwrap();
    let effect = told["receipt"]["entry"]["effect"].as_str().unwrap();
    assert!(effect.contains(r#""custody":"exchange""#), "{effect}");
}

#[test]
fn a_key_is_kept_sealed_goes_along_with_a_copy_and_goes_with_its_agent() {
    let mut served = Served::start();
    served.admit(&["boss"]);
    let helper = served.admit(&["helper", "--custody", "exchange", "--parent", "boss"]);
    sends(&served, &helper, 1);
    let explained = served.run(&["explain", "019502a4-ad0f-7000-8000-000000000001"], "");
    assert!(explained.out.contains("custody: exchange"), "{}{}", explained.out, explained.err);
    let seed = secret(&served.data()).unwrap();
    let shown = served.run(&["agent", "show", "helper"], "").out;
    assert!(shown.contains(&SecretKey::from_seed(&seed).public().to_string()), "{shown}");
    assert!(shown.contains(r#""custody": "exchange""#), "{shown}");
    assert_eq!(tells(&served.data(), &seed), None);
    // The copies: with the ring, and without it.
    for (name, more) in [("whole", &["--with-keys"][..]), ("without", &["--without-keys"])] {
        let made = served.run(&[&["backup", "--to", name], more].concat(), "");
        assert_eq!(made.code, 0, "{}", made.err);
        assert_eq!(tells(&served.folder().join(name), &seed), None, "{name}");
    }
    served.crash();
    sends(&served, &helper, 2);
    let removed = served.run(&["agent", "remove", "helper"], "");
    assert_eq!(removed.code, 0, "{}", removed.err);
    assert_eq!(secret(&served.data()), None);
    assert_eq!(served.stop().0, 0);
    assert_eq!(tells(&served.data(), &seed), None);
    // What goes on from the copy signs as before.
    let restored = served.run(&["restore", "whole", "--data", "restored"], "");
    assert_eq!(restored.code, 0, "{}", restored.err);
    let data = served.folder().join("restored");
    assert_eq!(secret(&data), Some(seed));
    let second = Served::with(&["--data", data.to_str().unwrap()], |_| {});
    sends(&second, &helper, 3);
}
