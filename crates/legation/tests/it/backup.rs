//! `backup` and `restore`: a copy of a running exchange, and what goes on from it.

use crate::exchange::cap;
use crate::served::{Served, program};
use crate::{Ran, run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

/// Restores a backup beside an exchange, into a directory of this name.
fn restore(served: &Served, from: &str, to: &str) -> Ran {
    served.run(&["restore", from, "--data", to, "--json"], "")
}

/// An exchange with two agents and so many messages from one to the other, and the sender's token.
fn used(messages: usize) -> (Served, String) {
    let served = Served::start();
    let (ann, _) = (served.admit(&["ann"]), served.admit(&["bob"]));
    for number in 0..messages {
        let sent = served.run_as(Some(&ann), &["send", "-"], &cap("ann", "bob", &format!("note {number}")));
        assert_eq!(sent.code, 0, "{}", sent.err);
    }
    (served, ann)
}

#[test]
fn a_backup_becomes_an_exchange_in_a_new_epoch() {
    let (mut served, ann) = used(3);
    let message = cap("ann", "bob", "after the backup");
    let before: Value = json(&served.run_as(Some(&ann), &["send", "--json", "-"], &cap("ann", "bob", "kept")));
    let made = served.run(&["backup", "--to", "copy.tar", "--with-keys", "--json"], "");
    assert_eq!(made.code, 0, "{}", made.err);
    let size = json(&made)["checkpoint"]["size"].as_u64().unwrap();
    assert_eq!(size, 6);
    let archive = fs::metadata(served.folder().join("copy.tar")).unwrap();
    assert_eq!(archive.permissions().mode() & 0o777, 0o600);
    let lost: Value = json(&served.run_as(Some(&ann), &["send", "--json", "-"], &message));
    // Behind the entry that says who took the copy.
    assert_eq!(lost["position"], size + 1);
    let old = covering(&served, size + 2);
    fs::write(served.folder().join("old.json"), old).unwrap();
    assert_eq!(served.stop().0, 0);

    let restored = restore(&served, "copy.tar", "restored");
    assert_eq!(restored.code, 0, "{}", restored.err);
    assert_eq!((&json(&restored)["size"], &json(&restored)["epoch"]), (&size.into(), &2.into()));
    let data = served.folder().join("restored");
    assert!(!data.join("operator.token").exists() && !data.join("backup.json").exists());
    let verified = served.run(&["audit", "verify", "--data", "restored"], "");
    assert_eq!(verified.code, 0, "{}{}", verified.out, verified.err);

    let mut second = Served::with(&["--data", data.to_str().unwrap()], |_| {});
    let token = fs::read_to_string(data.join("operator.token")).unwrap();
    let head = json(&second.run_as(Some(token.trim()), &["audit", "head", "--json"], ""));
    assert_eq!(head["epochs"][1]["first"], size);
    // A message of before has the receipt it had; what was lost is taken again, in the new epoch.
    let inbox = json(&second.run_as(Some(token.trim()), &["inbox", "bob", "--json"], ""));
    let mut items = inbox["messages"].as_array().unwrap().iter();
    let again = items.find(|item| item["position"] == before["position"]).unwrap();
    assert_eq!(again["receipt"], before["receipt"]);
    let resent = json(&second.run_as(Some(&ann), &["send", "--json", "-"], &message));
    assert_eq!((&resent["status"], &resent["receipt"]["epoch"]), (&"accepted".into(), &2.into()));
    let new = covering(&second, size + 2);
    fs::write(served.folder().join("new.json"), new).unwrap();
    let key = data.join("exchange.pem");
    let key = served.run(&["keygen", "--from", key.to_str().unwrap()], "").out;
    let checked = served.run(&["audit", "check", "--key", key.trim(), "old.json", "new.json"], "");
    assert_eq!(checked.code, 1);
    assert!(
        checked.err.contains(&format!("positions {size} to {} that old.json covers are lost", size + 1)),
        "{}",
        checked.err
    );
    let told =
        served.run(&["audit", "verify", "--data", "restored", "--checkpoint", "old.json", "--key", key.trim()], "");
    assert_eq!(told.code, 1);
    assert!(told.out.contains(&format!("restored from a copy at position {size}")), "{}{}", told.out, told.err);
    second.stop();
}

/// What `audit head --json` prints once a checkpoint covers so much.
fn covering(served: &Served, size: u64) -> String {
    let heads = (0..10_000).map(|_| served.run(&["audit", "head", "--json"], "").out);
    let covers = |head: &String| {
        let head: Value = serde_json::from_str(head).unwrap();
        head["checkpoint"]["size"].as_u64().is_some_and(|covered| covered >= size)
    };
    heads.into_iter().find(covers).unwrap()
}

#[test]
fn a_backup_under_load_holds_all_that_was_answered_before_it_began() {
    let served = Served::start();
    let token = served.admit(&["ann"]);
    served.admit(&["bob"]);
    let (answered, stop) = (Mutex::new(BTreeMap::new()), AtomicBool::new(false));
    let (heard, count) = mpsc::channel();
    let wanted = thread::scope(|scope| {
        for sender in 0..3 {
            let (heard, answered, stop, token, url) = (heard.clone(), &answered, &stop, &token, &served.url);
            scope.spawn(move || {
                let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
                for number in 0.. {
                    if stop.load(Ordering::Acquire) {
                        return;
                    }
                    let text = format!("{sender} {number} {}", "x".repeat(20_000));
                    let request = agent.post(format!("{url}/v1/messages")).content_type("application/json");
                    let request = request.header("authorization", format!("Bearer {token}"));
                    let mut answer = request.send(cap("ann", "bob", &text)).unwrap();
                    let verdict: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
                    let position = verdict["position"].as_u64().unwrap();
                    answered.lock().unwrap().insert(position, verdict["message_id"].clone());
                    let _ = heard.send(());
                }
            });
        }
        count.iter().take(300).for_each(drop);
        let wanted = answered.lock().unwrap().clone();
        let made = served.run(&["backup", "--to", "copy", "--with-keys", "--json"], "");
        stop.store(true, Ordering::Release);
        assert_eq!(made.code, 0, "{}", made.err);
        wanted
    });
    assert_eq!(restore(&served, "copy", "restored").code, 0);
    let export = served.run(&["audit", "export", "--data", "restored"], "");
    let entries: BTreeMap<u64, Value> = export
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|entry: Value| (entry["position"].as_u64().unwrap(), entry["effect"]["id"].clone()))
        .collect();
    for (position, id) in wanted {
        assert_eq!(entries.get(&position), Some(&id), "position {position}");
    }
}

#[test]
fn a_restore_writes_over_nothing_and_names_what_is_damaged() {
    let (mut served, _) = used(1);
    assert_eq!(served.run(&["backup", "--to", "copy", "--with-keys"], "").code, 0);
    let again = served.run(&["backup", "--to", "copy"], "");
    assert!(again.code == 2 && again.err.contains("there already"), "{}", again.err);
    let in_the_way = restore(&served, "copy", "share/legation");
    assert!(in_the_way.code == 2 && in_the_way.err.contains("not empty"), "{}", in_the_way.err);
    let segment = served.folder().join("copy/record/log/00000000000000000000.seg");
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let damaged = restore(&served, "copy", "restored");
    assert!(damaged.code == 2 && damaged.err.contains("00000000000000000000.seg byte"), "{}", damaged.err);
    assert!(!served.folder().join("restored").exists() && !served.folder().join("restored.restoring").exists());
    let not_one = restore(&served, "share", "restored");
    assert!(not_one.code == 2 && not_one.err.contains("this is no backup"), "{}", not_one.err);
    let locked = served.run(&["backup", "--to", "other.tar", "--data", "share/legation"], "");
    assert!(locked.code == 2 && locked.err.contains("leave --data out"), "{}", locked.err);
    assert_eq!(served.stop().0, 0);
    assert_eq!(served.run(&["backup", "--to", "other.tar", "--with-keys", "--data", "share/legation"], "").code, 0);
    assert_eq!(restore(&served, "other.tar", "restored").code, 0);
}

#[test]
fn a_backup_holds_no_keys_unless_they_are_asked_for_and_needs_them_from_elsewhere() {
    let (mut served, _) = used(1);
    let made = served.run(&["backup", "--to", "copy.tar"], "");
    assert!(made.code == 0 && made.err.contains("Keep exchange.pem"), "{}", made.err);
    assert_eq!(served.stop().0, 0);
    let pem = fs::read_to_string(served.data().join("exchange.pem")).unwrap();
    let copy = fs::read(served.folder().join("copy.tar")).unwrap();
    assert!(!copy.windows(24).any(|bytes| bytes == &pem.as_bytes()[40..64]));
    let keyless = restore(&served, "copy.tar", "restored");
    assert!(keyless.code == 2 && keyless.err.contains("--keys"), "{}", keyless.err);
    let kept = served.folder().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("exchange.pem"), pem).unwrap();
    let ring = served.data().join("keys/ring");
    if ring.exists() {
        fs::copy(ring, kept.join("ring")).unwrap();
    }
    let restored = served.run(&["restore", "copy.tar", "--data", "restored", "--keys", "kept"], "");
    assert_eq!(restored.code, 0, "{}", restored.err);
    // What came back is said where nobody told what to erase again.
    assert!(restored.err.contains("What was erased after the backup was made can be read again"), "{}", restored.err);
}

/// Copies the keys of an exchange to `kept`, beside it.
fn keep_keys(served: &Served) {
    let kept = served.folder().join("kept");
    fs::create_dir_all(&kept).unwrap();
    for (from, to) in [("exchange.pem", "exchange.pem"), ("keys/ring", "ring")] {
        fs::copy(served.data().join(from), kept.join(to)).unwrap();
    }
}

#[test]
fn a_ring_that_lacks_a_key_of_the_backup_is_not_called_damage() {
    let (mut served, _) = used(1);
    keep_keys(&served);
    let rotated = served.run(&["key", "rotate"], "");
    assert_eq!(rotated.code, 0, "{}", rotated.err);
    assert_eq!(served.run(&["backup", "--to", "copy.tar"], "").code, 0);
    assert_eq!(served.stop().0, 0);
    let args = ["restore", "copy.tar", "--data", "restored", "--keys", "kept"];
    let lacking = served.run(&args, "");
    assert!(lacking.code == 2 && lacking.err.contains("kept/ring lacks key 2"), "{}", lacking.err);
    assert!(!lacking.err.contains("damaged") && !lacking.err.contains(".restoring"), "{}", lacking.err);
    assert!(!served.folder().join("restored").exists());
    keep_keys(&served);
    let restored = served.run(&args, "");
    assert_eq!(restored.code, 0, "{}", restored.err);
}

#[test]
fn a_ring_of_another_exchange_is_not_called_damage_either() {
    let ((served, _), (other, _)) = (used(1), used(1));
    assert_eq!(served.run(&["backup", "--to", "copy.tar"], "").code, 0);
    keep_keys(&served);
    fs::copy(other.data().join("keys/ring"), served.folder().join("kept/ring")).unwrap();
    let args = ["restore", "copy.tar", "--data", "restored", "--keys", "kept"];
    let anothers = served.run(&args, "");
    let told = "the record in the backup is whole, and does not open with kept/ring";
    assert!(anothers.code == 2 && anothers.err.contains(told), "{}", anothers.err);
    assert!(!anothers.err.contains("damaged") && !anothers.err.contains(".restoring"), "{}", anothers.err);
    fs::write(served.folder().join("kept/ring"), "nothing\n").unwrap();
    let none = served.run(&args, "");
    assert!(none.code == 2 && none.err.contains("line 1 of kept/ring is no key"), "{}", none.err);
    keep_keys(&served);
    assert_eq!(served.run(&args, "").code, 0);
}

#[test]
fn a_backup_with_keys_has_them_though_their_files_are_gone() {
    let elsewhere = tempfile::tempdir().unwrap();
    let keys = elsewhere.path().join("keys");
    fs::create_dir(&keys).unwrap();
    let served = Served::with(&["--key-ring", keys.join("ring").to_str().unwrap()], |_| {});
    served.admit(&["ann"]);
    let files = [keys.join("ring"), served.data().join("exchange.pem")];
    let kept = files.each_ref().map(|file| fs::read_to_string(file).unwrap());
    // With its directory: the exchange would write the ring again there.
    fs::remove_dir_all(&keys).unwrap();
    fs::remove_file(&files[1]).unwrap();
    for name in ["copy", "copy.tar"] {
        let made = served.run(&["backup", "--to", name, "--with-keys"], "");
        assert_eq!(made.code, 0, "{}", made.err);
        let restored = restore(&served, name, &format!("{name}-restored"));
        assert_eq!(restored.code, 0, "{}", restored.err);
        let data = served.folder().join(format!("{name}-restored"));
        let found = ["keys/ring", "exchange.pem"].map(|file| fs::read_to_string(data.join(file)).unwrap());
        assert_eq!(found, kept);
    }
}

#[test]
fn a_backup_that_says_it_holds_keys_and_does_not_is_told() {
    let (served, _) = used(1);
    keep_keys(&served);
    for (name, lost) in [("one", "keys/ring"), ("two", "exchange.pem")] {
        assert_eq!(served.run(&["backup", "--to", name, "--with-keys"], "").code, 0);
        fs::remove_file(served.folder().join(name).join(lost)).unwrap();
        let to = format!("{name}-restored");
        let lacking = restore(&served, name, &to);
        let told = "says that it holds keys, and does not";
        assert!(lacking.code == 2 && lacking.err.contains(told), "{lost}: {}", lacking.err);
        assert!(!served.folder().join(&to).exists());
        let restored = served.run(&["restore", name, "--data", &to, "--keys", "kept"], "");
        assert_eq!(restored.code, 0, "{}", restored.err);
    }
}

#[test]
fn slashes_at_the_end_of_a_path_change_nothing() {
    let (served, _) = used(1);
    for (to, made) in [("copy/", "copy"), ("copy.tar/", "copy.tar")] {
        let backed_up = served.run(&["backup", "--to", to, "--with-keys"], "");
        assert_eq!(backed_up.code, 0, "{}", backed_up.err);
        let data = format!("{made}-restored//");
        let restored = restore(&served, made, &data);
        assert_eq!(restored.code, 0, "{}", restored.err);
        assert!(served.folder().join(&data).join("exchange.pem").exists());
        assert!(!served.folder().join(&data).join(".restoring").exists());
    }
    assert!(served.folder().join("copy").is_dir() && served.folder().join("copy.tar").is_file());
}

#[test]
fn what_cannot_get_its_name_leaves_nothing_behind() {
    let (served, _) = used(1);
    assert_eq!(served.run(&["backup", "--to", "copy", "--with-keys"], "").code, 0);
    // A directory cannot take the name of a link.
    fs::create_dir(served.folder().join("empty")).unwrap();
    for (target, link) in [("nowhere", "made"), ("empty", "restored")] {
        symlink(served.folder().join(target), served.folder().join(link)).unwrap();
    }
    let before = fs::read_dir(served.folder()).unwrap().count();
    let made = served.run(&["backup", "--to", "made", "--with-keys"], "");
    assert!(made.code == 2 && made.err.contains("cannot name made"), "{}", made.err);
    let restored = restore(&served, "copy", "restored");
    assert!(restored.code == 2 && restored.err.contains("cannot name restored"), "{}", restored.err);
    assert_eq!(fs::read_dir(served.folder()).unwrap().count(), before);
}

#[test]
fn who_took_a_backup_is_in_the_record() {
    let (served, _) = used(0);
    let rita = served.run(&["token", "add", "rita", "--role", "operator"], "").out;
    for (name, more) in [("without.tar", None), ("with.tar", Some("--with-keys"))] {
        let args: Vec<_> = ["backup", "--to", name].into_iter().chain(more).collect();
        assert_eq!(served.run_as(Some(rita.trim()), &args, "").code, 0);
    }
    let exported = served.run(&["audit", "export"], "").out;
    let entries = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["effect"].clone());
    let copied: Vec<_> = entries.filter(|effect| effect["entry"] == "copied").collect();
    let told: Vec<_> = copied.iter().map(|one| (one["by"].as_str().unwrap(), &one["keys"], &one["size"])).collect();
    assert_eq!(told, [("operator rita", &false.into(), &3.into()), ("operator rita", &true.into(), &4.into())]);
}

#[test]
fn an_archive_of_before_with_keys_in_it_is_still_restored() {
    let (mut served, _) = used(1);
    assert_eq!(served.stop().0, 0);
    assert_eq!(served.run(&["backup", "--to", "copy.tar", "--with-keys", "--data", "share/legation"], "").code, 0);
    let restored = restore(&served, "copy.tar", "restored");
    assert_eq!(restored.code, 0, "{}", restored.err);
    assert!(
        served.folder().join("restored/keys/ring").exists() && served.folder().join("restored/exchange.pem").exists()
    );
}

#[test]
fn two_that_go_on_from_one_backup_are_told_apart() {
    let (mut served, _) = used(1);
    assert_eq!(served.run(&["backup", "--to", "copy.tar", "--with-keys"], "").code, 0);
    assert_eq!(served.stop().0, 0);
    let key = served.data().join("exchange.pem");
    let key = served.run(&["keygen", "--from", key.to_str().unwrap()], "").out;
    for name in ["one", "two"] {
        assert_eq!(restore(&served, "copy.tar", name).code, 0);
        let fork = Served::with(&["--data", served.folder().join(name).to_str().unwrap()], |_| {});
        fs::write(served.folder().join(format!("{name}.json")), covering(&fork, 4)).unwrap();
    }
    let checked = served.run(&["audit", "check", "--key", key.trim(), "one.json", "two.json"], "");
    assert!(
        checked.code == 1 && checked.err.contains("a fork: two records of this realm are in epoch 2"),
        "{}",
        checked.err
    );
    let crossed = |data: &str, checkpoint: &str| {
        let args = ["audit", "verify", "--data", data, "--checkpoint", checkpoint, "--key", key.trim()];
        run(program(served.folder()).args(args), b"")
    };
    assert_eq!(crossed("one", "one.json").code, 0);
    let other = crossed("one", "two.json");
    assert!(other.code == 1 && other.out.contains("a fork"), "{}{}", other.out, other.err);
}

#[test]
fn what_was_revoked_after_a_backup_stays_so_through_restore() {
    let (mut served, _) = used(1);
    let key = |name: &str| served.run(&["keygen", "--out", &format!("{name}.pem")], "").out.trim().to_owned();
    let (ann, eve) = (key("ann"), key("eve"));
    // The file of a secret key stands for the public one, and proves it.
    assert_eq!(served.run(&["agent", "key", "add", "ann", "ann.pem"], "").code, 0);
    let taken = served.run(&["agent", "add", "mallory", "--key", &ann], "");
    assert!(taken.code == 1 && taken.err.contains("key_bound"), "{}", taken.err);
    let issued = served.run(&["identity", "issue", "user_42"], "").out;
    assert_eq!(served.run(&["backup", "--to", "copy.tar", "--with-keys"], "").code, 0);
    // Revoked after it: a key and a token that the copy has, and a key that it does not have.
    assert_eq!(served.run(&["agent", "key", "compromise", "ann", &ann], "").code, 0);
    assert_eq!(served.run(&["identity", "revoke", issued.trim()], "").code, 0);
    served.admit(&["eve", "--key", &eve]);
    assert_eq!(served.run(&["agent", "key", "revoke", "eve", &eve], "").code, 0);
    assert_eq!(served.run(&["revocations", "list", "--out", "revoked.json"], "").code, 0);
    assert_eq!(served.stop().0, 0);
    let restored = |to: &str, revoked: &str| {
        served.run(&["restore", "copy.tar", "--data", to, "--revoked", revoked, "--json"], "")
    };
    let list = fs::read_to_string(served.folder().join("revoked.json")).unwrap();
    fs::write(served.folder().join("forged.json"), list.replace("\"realm\"", "\"realm\" ")).unwrap();
    fs::copy(served.folder().join("revoked.json.sig"), served.folder().join("forged.json.sig")).unwrap();
    let forged = restored("forged", "forged.json");
    assert!(forged.code != 0 && !served.folder().join("forged").exists(), "{}", forged.err);
    let done = restored("restored", "revoked.json");
    assert_eq!(done.code, 0, "{}", done.err);
    let fork = Served::with(&["--data", served.folder().join("restored").to_str().unwrap()], |_| {});
    let operator = fs::read_to_string(served.folder().join("restored").join("operator.token")).unwrap();
    let ask = |args: &[&str]| fork.run_as(Some(operator.trim()), args, "");
    let keys = ask(&["agent", "key", "list", "ann"]);
    assert!(keys.out.contains("COMPROMISED"), "{}{}", keys.out, keys.err);
    for id in ["ann", "mallory"] {
        let again = ask(&["agent", "add", id, "--key", &ann]);
        assert!(again.code == 1, "{id}: {}", again.out);
    }
    let again = ask(&["agent", "add", "eve", "--key", &eve]);
    assert!(again.code == 1 && again.err.contains("key_revoked"), "{}", again.err);
    let listed = ask(&["revocations", "list"]).out;
    assert!(listed.contains("identity\tREVOKED") && listed.contains("key\tCOMPROMISED"), "{listed}");
}

#[test]
fn only_an_operator_takes_a_backup() {
    let (served, ann) = used(0);
    let auditor = served.run(&["token", "add", "audrey", "--role", "auditor"], "").out;
    for token in [ann.as_str(), auditor.trim()] {
        let refused = served.run_as(Some(token), &["backup", "--to", "copy.tar"], "");
        assert!(refused.code == 1 && refused.err.contains("refused[not_allowed]"), "{}", refused.err);
    }
    assert!(!Path::new(&served.folder().join("copy.tar")).exists());
}

#[test]
fn what_is_no_archive_is_told_in_a_line_without_what_is_in_it() {
    let served = Served::start();
    fs::write(served.folder().join("notes.txt"), "zyzzyva one\nzyzzyva two\n".repeat(100)).unwrap();
    let told = served.run(&["restore", "notes.txt", "--data", "restored"], "");
    let line = "cannot unpack notes.txt: notes.txt is damaged at byte 0: this is no tar archive, or not a whole one\n";
    assert_eq!((told.code, told.out.as_str()), (2, ""));
    assert_eq!(told.err, format!("legation: {line}"));
    assert!(!served.folder().join("restored").exists());
}

/// Answers for an exchange: with each of these texts once, after a request has come in whole, and with what the exchange
/// itself answers then. Gives back where.
fn answering(served: &Served, answers: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, behind) =
        (format!("http://{}", listener.local_addr().unwrap()), served.url["http://".len()..].to_owned());
    thread::spawn(move || {
        let mut answers = answers.into_iter();
        for stream in listener.incoming().map(Result::unwrap) {
            let mut stream: TcpStream = stream;
            let Some(answer) = answers.next() else {
                pass_on(stream, &TcpStream::connect(&behind).unwrap());
                continue;
            };
            let mut request = Vec::new();
            let mut window = [0; 4096];
            // The body is one object, and ends the request.
            while !request.ends_with(b"}") {
                let read = stream.read(&mut window).unwrap();
                request.extend_from_slice(&window[..read]);
            }
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    url
}

/// Lets two speak to each other until both have ended.
fn pass_on(one: TcpStream, two: &TcpStream) {
    let ways = [(one.try_clone().unwrap(), two.try_clone().unwrap()), (two.try_clone().unwrap(), one)];
    for (mut from, mut to) in ways {
        thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
    }
}

fn busy() -> String {
    let body = r#"{"error":"busy","message":"entry 7 erased what the copy was to hold: begin the copy again","retryable":true,"at":null,"spec":null}"#;
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\nretry-after: 0\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_copy_that_cannot_begin_now_is_begun_again_three_times() {
    let (served, _) = used(1);
    for (times, code) in [(3, 0), (4, 1)] {
        let (url, name) = (answering(&served, vec![busy(); times]), format!("{times}.tar"));
        let made = served.run(&["backup", "--url", &url, "--to", &name], "");
        assert_eq!(made.code, code, "{times}: {}", made.err);
        assert_eq!(made.err.contains("begin the copy again"), code == 1, "{}", made.err);
        assert_eq!(served.folder().join(name).exists(), code == 0);
    }
}

#[test]
fn a_copy_that_breaks_off_or_is_refused_leaves_nothing_behind() {
    let (served, ann) = used(1);
    let half = format!("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\nconnection: close\r\n\r\n{}", "x".repeat(5000));
    let whole = format!("HTTP/1.1 200 OK\r\ncontent-length: 5000\r\nconnection: close\r\n\r\n{}", "x".repeat(5000));
    let before = fs::read_dir(served.folder()).unwrap().count();
    for (answer, name) in [(&half, "copy"), (&whole, "copy"), (&half, "copy.tar"), (&whole, "copy.tar")] {
        let url = answering(&served, vec![answer.clone()]);
        let broken = served.run(&["backup", "--url", &url, "--to", name, "--with-keys"], "");
        assert!(broken.code == 2 && broken.err.contains("broke off"), "{}", broken.err);
        assert_eq!(fs::read_dir(served.folder()).unwrap().count(), before, "{name}");
    }
    let refused = served.run_as(Some(&ann), &["backup", "--to", "copy", "--with-keys"], "");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert_eq!(fs::read_dir(served.folder()).unwrap().count(), before);
}
