//! All of somebody is erased, also what extensions keep of them and the contexts they shared: no word of it is left in
//! an answer, in the record or in a snapshot, and what others have stays, with or without snapshots.

use crate::Ran;
use crate::served::Served;
use legation_store::{Offline, Ring, Snapshots};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Words of ann's. The last stands in her context's constitution.
const CANARIES: [&str; 9] = [
    "zyzzyva-norm",
    "zyzzyva-session",
    "zyzzyva-label",
    "zyzzyva-gift",
    "zyzzyva-title",
    "zyzzyva-candidate",
    "zyzzyva-statement",
    "recovering",
    "zyzzyva.guide",
];

/// Somebody in a session with all extensions.
struct Guest {
    token: String,
    session: String,
}

impl Guest {
    fn greet(served: &Served, name: &str, token: &str) -> Guest {
        let operator = fs::read_to_string(served.data().join("operator.token")).unwrap();
        let operator = Guest { token: operator.trim().to_owned(), session: String::new() };
        let issued = operator.post(served, "/v1/identities", &json!({"subject": name, "seconds": 600}));
        let names = ["Personal", "Relational", "Consensus", "Torch", "Intent"].map(|name| format!("VCP-X-{name}"));
        let identity = &issued["token"];
        let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": names, "identity": identity});
        let mut guest = Guest { token: token.to_owned(), session: String::new() };
        let ack = guest.post(served, "/v1/hello", &hello);
        assert_eq!(ack["unsupported"], json!([]), "{ack}");
        ack["session_id"].as_str().unwrap().clone_into(&mut guest.session);
        guest
    }

    fn post(&self, served: &Served, path: &str, body: &Value) -> Value {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut request = agent.post(format!("{}{path}", served.url)).content_type("application/json");
        request = request.header("authorization", format!("Bearer {}", self.token));
        if !self.session.is_empty() {
            request = request.header("legation-session", &self.session);
        }
        let text = request.send(body.to_string()).unwrap().body_mut().read_to_string().unwrap();
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    fn ask(&self, served: &Served, operation: &str, params: &Value) -> Value {
        let told = self.post(served, &format!("/v1/extensions/{operation}"), params);
        assert!(told.get("error").is_none(), "{operation}: {told}");
        told
    }
}

pub(crate) fn ok(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out
}

/// Everything one can set, in ann's words, and a torch of hers that bob has taken.
fn said(served: &Served, ann: &Guest, bob: &Guest) -> String {
    let signal = json!({"signals": [{"dimension": "body_signals", "category": "recovering", "pinned": true}]});
    ann.ask(served, "personal/set", &signal);
    ann.ask(served, "relational/begin_session", &json!({"session_id": "zyzzyva-session"}));
    let norm = json!({"id": "n", "description": "zyzzyva-norm", "origin": "human"});
    ann.ask(served, "relational/put_norm", &norm);
    let report = json!({"dimensions": {"valence": {"value": 7, "uncertain": true, "label": "zyzzyva-label"}}});
    ann.ask(served, "relational/report_self", &report);
    let torch = json!({"session_id": "zyzzyva-session", "to": "bob", "gift": "zyzzyva-gift"});
    ann.ask(served, "torch/hand_off", &torch);
    bob.ask(served, "torch/receive", &json!({"from": "ann"}));
    let infer = json!({"session_id": "zyzzyva-session", "text": "explain the urgent status"});
    ann.ask(served, "intent/infer", &infer);
    let proposal = json!({
        "title": "zyzzyva-title", "text": "zyzzyva-title", "stakeholders": ["ann", "bob"],
        "candidates": [{"id": "zyzzyva-candidate", "label": "zyzzyva-candidate"}, "other"],
    });
    let told = ann.ask(served, "consensus/propose", &proposal);
    let id = told["deliberation_id"].as_str().unwrap().to_owned();
    for phase in ["DELIBERATION", "CONVERGENCE"] {
        ann.ask(served, "consensus/advance", &json!({"deliberation_id": id, "to": phase}));
    }
    ann.ask(served, "consensus/say", &json!({"deliberation_id": id, "text": "zyzzyva-statement"}));
    for guest in [ann, bob] {
        guest.ask(served, "consensus/vote", &json!({"deliberation_id": id, "ranking": ["zyzzyva-candidate"]}));
    }
    for phase in ["RATIFICATION", "ACTIVE"] {
        ann.ask(served, "consensus/advance", &json!({"deliberation_id": id, "to": phase}));
    }
    id
}

/// A context of ann's, which the exchange signs for her.
fn share(served: &Served, ann: &str) -> (String, Value) {
    let now = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().unwrap().stdout;
    let message = json!({
        "vcp_message": "1.2", "type": "context_share", "message_id": "0199a1c5-1045-7045-9c41-5be000000045",
        "sender": "ann", "recipient": "bob", "timestamp": String::from_utf8(now).unwrap().trim(),
        "payload": {"context": "⏰🌅|📍🏡", "constitution_ref": "creed://creed.space/zyzzyva.guide@1.2.0"},
    })
    .to_string();
    let sent = ok(served.run_as(Some(ann), &["send", "--json", "-"], &message));
    (message, serde_json::from_str(&sent).unwrap())
}

/// What bob is told of everything, once more by whoever starts anew.
fn told(served: &Served, bob: &Guest, deliberation: &str) -> Value {
    let which = json!({"deliberation_id": deliberation});
    json!([
        bob.ask(served, "torch/state", &json!({})),
        bob.ask(served, "torch/lineage", &json!({})),
        bob.ask(served, "relational/context", &json!({})),
        bob.ask(served, "consensus/deliberation", &which),
        bob.ask(served, "consensus/result", &which),
    ])
}

/// Which of the canaries a text has.
fn heard(text: &str) -> Vec<&'static str> {
    CANARIES.into_iter().filter(|canary| text.contains(canary)).collect()
}

/// Everything on the disk, opened with the ring: the record, and the snapshots.
pub(crate) fn opened(data: &Path) -> (String, String) {
    let (record, ring) = (data.join("record"), data.join("keys/ring"));
    let entries = Offline::open(&record, 0, Ring::read(&ring).unwrap()).unwrap().map(Result::unwrap);
    let entries = entries.map(|frame| {
        let body = frame.body.here().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        format!("{}{body}\n", String::from_utf8(frame.effect).unwrap())
    });
    let entries = entries.collect();
    let snapshots = Snapshots::open(&record, Arc::new(Ring::read(&ring).unwrap())).unwrap();
    let snapshots =
        snapshots.newest_first().unwrap().map(|one| String::from_utf8_lossy(&one.unwrap().bytes).into_owned());
    (entries, snapshots.collect())
}

#[test]
fn nothing_is_left_of_somebody_who_is_erased_and_others_keep_what_they_have() {
    let mut served = Served::start();
    let ann = served.admit(&["ann", "--custody", "exchange"]);
    let (bob, cid) = (served.admit(&["bob"]), served.admit(&["cid"]));
    let [one, two, three] =
        [("ann", &ann), ("bob", &bob), ("cid", &cid)].map(|(name, token)| Guest::greet(&served, name, token));
    let deliberation = said(&served, &one, &two);
    let (message, shared) = share(&served, &ann);
    assert!(shared["receipt"]["entry"]["effect"].as_str().unwrap().contains("zyzzyva.guide"));
    // Erasing somebody else writes a snapshot, which has all of ann's.
    three.ask(&served, "relational/begin_session", &json!({"session_id": "s"}));
    let dry = ok(served.run(&["erase", "--subject", "cid", "--dry-run"], ""));
    assert!(dry.starts_with("0 messages to be erased\n1 entries of extensions to be erased\n"), "{dry}");
    ok(served.run(&["erase", "--subject", "cid", "--yes"], ""));
    let (record, snapshots) = opened(&served.data());
    assert_eq!(heard(&record), CANARIES);
    assert!(heard(&snapshots).len() > 6, "{:?}", heard(&snapshots));

    for narrower in [&["--sent"][..], &["--received"], &["--before", "2100-01-01T00:00:00Z"]] {
        let dry = ok(served.run(&[&["erase", "--subject", "ann", "--dry-run"], narrower].concat(), ""));
        assert!(!dry.contains("extensions"), "{dry}");
    }
    let erased = ok(served.run(&["erase", "--subject", "ann", "--undelivered", "--yes"], ""));
    assert!(erased.starts_with("1 messages erased\n13 entries of extensions erased\n"), "{erased}");
    let again = ok(served.run(&["erase", "--subject", "ann", "--yes"], ""));
    assert!(again.starts_with("0 messages to be erased\n") && again.contains("14 were erased before"), "{again}");
    let entries = ok(served.run(&["audit", "export", "--bodies"], ""));
    assert_eq!(heard(&entries), Vec::<&str>::new());
    assert_eq!(entries.matches(r#""redacted":true"#).count(), 11, "{entries}");
    let copy = one.post(&served, "/v1/messages", &serde_json::from_str(&message).unwrap());
    assert_eq!((&copy["status"], copy.get("receipt")), (&json!("duplicate"), None), "{copy}");
    let position = shared["position"].to_string();
    assert_eq!(heard(&ok(served.run(&["explain", &position, "--json"], ""))), Vec::<&str>::new());
    let before = told(&served, &two, &deliberation);
    assert_eq!(heard(&before.to_string()), Vec::<&str>::new());
    assert_eq!((&before[0]["session_count"], &before[4]["winner"]), (&json!(1), &json!("1")), "{before}");
    assert_eq!(one.ask(&served, "personal/state", &json!({}))["signals"], json!([]));
    fs::write(served.folder().join("receipt.json"), shared["receipt"].to_string()).unwrap();
    ok(served.run(&["audit", "check", "receipt.json"], ""));

    assert_eq!(served.stop().0, 0);
    let (record, snapshots) = opened(&served.data());
    assert_eq!((heard(&record), heard(&snapshots)), (Vec::new(), Vec::new()));
    assert!(!snapshots.is_empty());
    let verified = ok(served.run(&["audit", "verify"], ""));
    assert!(verified.ends_with("sound\n"), "{verified}");
    fs::remove_dir_all(served.data().join("record/snapshots")).unwrap();
    served.again();
    let two = Guest::greet(&served, "bob", &bob);
    assert_eq!(told(&served, &two, &deliberation), before, "without snapshots it is the same");
}

#[test]
fn a_copy_made_before_is_restored_without_them() {
    let served = Served::start();
    let ann = served.admit(&["ann", "--custody", "exchange"]);
    let bob = served.admit(&["bob"]);
    let [one, two] = [("ann", &ann), ("bob", &bob)].map(|(name, token)| Guest::greet(&served, name, token));
    said(&served, &one, &two);
    share(&served, &ann);
    ok(served.run(&["backup", "--to", "copy.tar", "--with-keys"], ""));
    ok(served.run(&["erase", "--subject", "ann", "--undelivered", "--yes"], ""));
    fs::write(served.folder().join("erased.ndjson"), ok(served.run(&["erase", "--list"], ""))).unwrap();
    ok(served.run(&["restore", "copy.tar", "--data", "restored", "--erased", "erased.ndjson"], ""));
    let data = served.folder().join("restored");
    assert_eq!(heard(&opened(&data).0), CANARIES, "it is erased once an exchange runs on it");
    let mut again = Served::with(&["--data", data.to_str().unwrap()], |_| {});
    let token = fs::read_to_string(data.join("operator.token")).unwrap();
    let told = ok(again.run_as(Some(token.trim()), &["audit", "export", "--bodies"], ""));
    assert_eq!(heard(&told), Vec::<&str>::new(), "nobody is shown it meanwhile");
    // Waits until it is off the disk.
    ok(again.run_as(Some(token.trim()), &["erase", "--subject", "bob", "--undelivered", "--yes"], ""));
    again.stop();
    let (record, snapshots) = opened(&data);
    assert_eq!((heard(&record), heard(&snapshots)), (Vec::new(), Vec::new()));
    let verified = ok(served.run(&["audit", "verify", "--data", "restored"], ""));
    assert!(verified.ends_with("sound\n"), "{verified}");
}
