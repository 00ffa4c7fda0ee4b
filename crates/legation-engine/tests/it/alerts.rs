//! What people are told: by the list, by address and by a program.

mod starts;

use crate::{accepted, claim, close, register};
use legation_engine::{
    AlertSettings, Asking, Carrier, Exchange, Opened, Parcel, Posting, Reach, Reply, Settings, Submission, Wall,
    Webhook,
};
use legation_exchange::{Kind, Moment, Outcome, Policy};
use legation_protocol::Rejection;
use legation_protocol::sign::Signature;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use zeroize::Zeroizing;

/// Takes what is posted and answers with a status that can be changed.
#[derive(Debug)]
struct Pager {
    posts: mpsc::UnboundedSender<(String, Parcel)>,
    status: watch::Receiver<u16>,
    /// How long an answer takes.
    takes: Duration,
}

impl Carrier for Pager {
    fn check(&self, _: &str) -> Result<Reach, Rejection> {
        Ok(Reach::Far)
    }

    fn post(&self, url: &str, parcel: Parcel) -> Posting {
        self.posts.send((url.to_owned(), parcel)).unwrap();
        let (outcome, takes) = (Outcome::Status(*self.status.borrow()), self.takes);
        Box::pin(async move {
            tokio::time::sleep(takes).await;
            Reply { outcome, retry_after: None }
        })
    }

    fn ask(&self, _: &str, _: Parcel, _: Duration) -> Asking {
        unimplemented!("nobody is asked anything")
    }
}

struct Paged {
    opened: Opened,
    posts: mpsc::UnboundedReceiver<(String, Parcel)>,
    status: watch::Sender<u16>,
}

/// With messages that wait for no time at all.
fn open(data: &Path, alerts: AlertSettings, status: u16) -> Paged {
    let policy = Policy { open_registration: true, time_to_live: Duration::ZERO, ..Policy::default() };
    open_on(Settings { policy, alerts, ..Settings::on(data) }, status, Duration::ZERO)
}

fn open_on(settings: Settings, status: u16, takes: Duration) -> Paged {
    let (told, posts) = mpsc::unbounded_channel();
    let (status, current) = watch::channel(status);
    let carrier: Arc<dyn Carrier> = Arc::new(Pager { posts: told, status: current, takes });
    let alerts = AlertSettings { carrier: Some(carrier), ..settings.alerts };
    let opened = Exchange::open(Settings { alerts, ..settings }).unwrap();
    Paged { opened, posts, status }
}

fn paged(kinds: &[Kind]) -> AlertSettings {
    let secret = Some(Zeroizing::new("s3cret\n".to_owned()));
    let webhook = Webhook { url: "https://pager/x".to_owned(), secret, kinds: kinds.iter().copied().collect() };
    assert!(!format!("{webhook:?}").contains("s3cret") && !format!("{webhook:?}").contains("pager"));
    AlertSettings { webhooks: vec![webhook], ..AlertSettings::default() }
}

fn changed(submission: Submission, from: &str, to: &str) -> Submission {
    let text = String::from_utf8(submission.bytes.to_vec()).unwrap().replace(from, to);
    Submission { bytes: text.into_bytes().into(), ..submission }
}

fn read(parcel: &Parcel) -> Value {
    serde_json::from_slice(&parcel.body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_reached_nobody_is_told_signed() {
    let data = tempfile::tempdir().unwrap();
    let mut paged = open(data.path(), paged(&[Kind::DeadLetter]), 200);
    let exchange = &paged.opened.exchange;
    register(exchange).await;
    accepted(exchange, claim("MSG001")).await;
    let (url, parcel) = paged.posts.recv().await.unwrap();
    let alert = read(&parcel);
    assert_eq!(
        (url.as_str(), &alert["kind"], &alert["about"]),
        ("https://pager/x", &"dead_letter".into(), &"archivist".into())
    );
    assert_eq!((&alert["realm"], &alert["count"]), (&"local".into(), &1.into()));
    let header = |name: &str| parcel.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone());
    let signature = Signature::parse(&header("legation-signature").unwrap()).unwrap();
    assert!(exchange.public_key().verifies(&parcel.body, &signature));
    assert_eq!(header("authorization").unwrap(), "Bearer s3cret");
    // The same is in the list, and beyond it is nothing.
    let listed = exchange.alerts(None, 10, Duration::ZERO).await.unwrap();
    let (last, same) = listed.last().unwrap();
    assert_eq!(serde_json::to_value(same).unwrap(), alert);
    assert!(exchange.alerts(Some(*last), 10, Duration::ZERO).await.unwrap().is_empty());
    close(paged.opened).await;
}

/// Waits for so many posts, and tells after how many seconds each came.
async fn gaps(posts: &mut mpsc::UnboundedReceiver<(String, Parcel)>, count: usize) -> (Vec<u64>, Vec<Parcel>) {
    let (mut last, mut gaps, mut parcels) = (None, Vec::new(), Vec::new());
    for _ in 0..count {
        let (_, parcel) = posts.recv().await.unwrap();
        let now = Instant::now();
        gaps.extend(last.map(|last: Instant| (now - last).as_secs()));
        (last, parcels) = (Some(now), [parcels, vec![parcel]].concat());
    }
    (gaps, parcels)
}

#[tokio::test(start_paused = true)]
async fn an_alert_is_tried_again_soon_and_then_every_minute_for_an_hour() {
    let data = tempfile::tempdir().unwrap();
    let mut paged = open(data.path(), paged(&[Kind::DeadLetter]), 503);
    register(&paged.opened.exchange).await;
    accepted(&paged.opened.exchange, claim("MSG001")).await;
    let (gaps, parcels) = gaps(&mut paged.posts, 64).await;
    assert_eq!(gaps, [[1, 2, 4].as_slice(), &[60; 60]].concat());
    // Each attempt is the first one, byte for byte, and signed as it was.
    let same = |parcel: &Parcel| parcel.body == parcels[0].body && parcel.headers == parcels[0].headers;
    assert!(parcels.iter().all(same));
    let more = tokio::time::timeout(Duration::from_hours(2), paged.posts.recv()).await;
    assert!(more.is_err(), "{more:?}");
    close(paged.opened).await;
}

#[tokio::test(start_paused = true)]
async fn whatever_is_no_success_is_tried_again() {
    let data = tempfile::tempdir().unwrap();
    let mut paged = open(data.path(), paged(&[Kind::DeadLetter]), 404);
    register(&paged.opened.exchange).await;
    accepted(&paged.opened.exchange, claim("MSG001")).await;
    let (_, first) = paged.posts.recv().await.unwrap();
    paged.status.send(200).unwrap();
    let (_, second) = paged.posts.recv().await.unwrap();
    assert_eq!((first.body, first.headers), (second.body, second.headers));
    let more = tokio::time::timeout(Duration::from_hours(2), paged.posts.recv()).await;
    assert!(more.is_err(), "{more:?}");
    close(paged.opened).await;
}

#[tokio::test(start_paused = true)]
async fn who_is_told_can_be_another_while_it_runs() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), paged(&[Kind::DeadLetter]), 503);
    let exchange = &first.opened.exchange;
    register(exchange).await;
    accepted(exchange, claim("MSG001")).await;
    let (_, old) = first.posts.recv().await.unwrap();
    let (told, mut posts) = mpsc::unbounded_channel();
    let (_status, current) = watch::channel(200);
    let mut settings = paged(&[Kind::DeadLetter, Kind::Conflict]);
    settings.webhooks.push(Webhook { url: "https://other/".to_owned(), ..settings.webhooks[0].clone() });
    settings.carrier = Some(Arc::new(Pager { posts: told, status: current, takes: Duration::ZERO }));
    exchange.set_alerts(settings);
    // Who still is told gets what it was not told; who is new gets what comes.
    let (url, same) = posts.recv().await.unwrap();
    assert_eq!((url.as_str(), &same.body), ("https://pager/x", &old.body));
    exchange.receive(changed(claim("MSG001"), "0.5", "0.6")).await.unwrap();
    let mut both = Vec::new();
    for _ in 0..2 {
        let (url, parcel) = posts.recv().await.unwrap();
        assert_eq!(read(&parcel)["kind"], "conflict");
        both.push(url);
    }
    both.sort();
    assert_eq!(both, ["https://other/", "https://pager/x"]);
    // Those who told before have ended.
    while first.posts.try_recv().is_ok() {}
    assert!(first.posts.recv().await.is_none());
    exchange.set_alerts(AlertSettings::default());
    assert!(posts.recv().await.is_none());
    close(first.opened).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_told_is_told_after_a_start() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), paged(&[Kind::DeadLetter]), 503);
    register(&first.opened.exchange).await;
    accepted(&first.opened.exchange, claim("MSG001")).await;
    let (_, failed) = first.posts.recv().await.unwrap();
    close(first.opened).await;
    drop(first.status);
    let mut second = open(data.path(), paged(&[Kind::DeadLetter]), 200);
    let (_, told) = second.posts.recv().await.unwrap();
    assert_eq!(read(&told)["id"], read(&failed)["id"]);
    assert_eq!((&read(&failed)["again"], &read(&told)["again"]), (&Value::Null, &true.into()), "the repeat is marked");
    close(second.opened).await;
}

/// The first entry that raised something not told to the only one who is told, as it is noted.
fn noted(data: &Path) -> Option<u64> {
    let text = std::fs::read_to_string(data.join("alerts.next")).ok()?;
    let notes: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    let note = notes.into_values().next()?;
    let untold = note["untold"].as_object().into_iter().flat_map(|untold| untold.values());
    untold.chain([&note["next"]]).filter_map(Value::as_u64).min()
}

#[tokio::test(start_paused = true)]
async fn that_an_address_was_told_is_noted_at_once() {
    let data = tempfile::tempdir().unwrap();
    let mut paged = open(data.path(), paged(&[Kind::DeadLetter]), 200);
    register(&paged.opened.exchange).await;
    accepted(&paged.opened.exchange, claim("MSG001")).await;
    let (_, told) = paged.posts.recv().await.unwrap();
    let (start, raised_by) = (Instant::now(), read(&told)["position"].as_u64().unwrap());
    while noted(data.path()).is_none_or(|next| next <= raised_by) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    close(paged.opened).await;
}

#[tokio::test(start_paused = true)]
async fn how_far_everybody_was_told_is_noted_at_the_end() {
    let data = tempfile::tempdir().unwrap();
    let paged = open(data.path(), paged(&[Kind::DeadLetter]), 200);
    // What raises nothing is no reason to note anything while it runs.
    register(&paged.opened.exchange).await;
    let size = paged.opened.exchange.head().size;
    close(paged.opened).await;
    assert_eq!(noted(data.path()), Some(size));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_was_asked_for_is_told() {
    let data = tempfile::tempdir().unwrap();
    let mut paged = open(data.path(), paged(&[Kind::Conflict]), 200);
    let exchange = &paged.opened.exchange;
    register(exchange).await;
    accepted(exchange, claim("MSG001")).await;
    exchange.receive(changed(claim("MSG001"), "0.5", "0.6")).await.unwrap();
    assert_eq!(read(&paged.posts.recv().await.unwrap().1)["kind"], "conflict");
    // The letter that reached nobody is in the list, and nobody is told of it.
    let (mut after, mut kinds) = (None, Vec::new());
    while !kinds.contains(&Kind::DeadLetter) {
        for (number, alert) in exchange.alerts(after, 10, Duration::from_mins(1)).await.unwrap() {
            after = Some(number);
            kinds.push(alert.kind);
        }
    }
    assert!(kinds.contains(&Kind::Conflict) && paged.posts.is_empty(), "{kinds:?}");
    close(paged.opened).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_gets_the_alert_without_a_shell_and_without_our_surroundings() {
    let data = tempfile::tempdir().unwrap();
    let pipe = data.path().join("told");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let script = "cat > \"$0\"; env >> \"$0\"";
    let command = ["/bin/sh", "-c", script, pipe.to_str().unwrap()].map(str::to_owned).to_vec();
    let paged = open(data.path(), AlertSettings { command, ..AlertSettings::default() }, 200);
    register(&paged.opened.exchange).await;
    accepted(&paged.opened.exchange, claim("MSG001")).await;
    // A pipe is read to its end: twice, since the program opens it twice.
    let text = tokio::task::spawn_blocking(move || {
        loop {
            let mut all = std::fs::read_to_string(&pipe).unwrap();
            if !all.contains("PATH=") {
                all += &std::fs::read_to_string(&pipe).unwrap();
            }
            // The disk these tests run on may be nearly full, which is told too.
            if !all.contains(r#""kind":"storage""#) {
                return all;
            }
        }
    });
    let text = text.await.unwrap();
    let alert: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(alert["kind"], "dead_letter", "{alert}");
    assert!(text.contains("PATH=/usr/local/bin:/usr/bin:/bin") && !text.contains("HOME="), "{text}");
    close(paged.opened).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_is_ahead_of_the_clock_is_told() {
    let data = tempfile::tempdir().unwrap();
    let seconds = Arc::new(AtomicU64::new(1_771_155_000));
    let read = Arc::clone(&seconds);
    let wall = Wall::by(move || Moment::from_micros(read.load(Ordering::SeqCst) * 1_000_000));
    let policy = Policy { open_registration: true, ..Policy::default() };
    let opened = Exchange::open(Settings { policy, wall, ..Settings::on(data.path()) }).unwrap();
    register(&opened.exchange).await;
    assert_eq!(opened.exchange.alerts(None, 10, Duration::ZERO).await.unwrap(), []);
    // It was an hour ahead until now.
    seconds.fetch_sub(3600, Ordering::SeqCst);
    let told = opened.exchange.alerts(None, 10, Duration::from_hours(1)).await.unwrap();
    let [(_, alert)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((alert.kind, alert.count), (Kind::Clock, 1));
    assert!(alert.text.contains("ahead of this machine's"), "{}", alert.text);
    close(opened).await;
}
