//! Messages on their way to endpoints, by a clock of the test's own.

use crate::{accepted, claim, close};
use legation_engine::{Asking, Carrier, Exchange, Opened, Parcel, Posting, Reach, Reply, Settings, Wall};
use legation_exchange::{Kind, Moment, Outcome, Policy, Push, Pushing, Registration, Verdict, Who};
use legation_protocol::{Code, Rejection};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// One attempt, as its endpoint saw it.
#[derive(Debug)]
struct Seen {
    at: Instant,
    body: Arc<[u8]>,
    headers: Vec<(&'static str, String)>,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }

    fn position(&self) -> u64 {
        self.header("legation-position").unwrap().parse().unwrap()
    }
}

type Script = Box<dyn FnMut(&[u8]) -> u16 + Send>;

/// An endpoint that answers by a script, given what is posted.
struct Endpoint {
    script: Mutex<Script>,
    seen: mpsc::UnboundedSender<Seen>,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Endpoint")
    }
}

impl Carrier for Endpoint {
    fn check(&self, url: &str) -> Result<Reach, Rejection> {
        let bad = || Rejection::because(Code::UrlForbidden, "not this one");
        if url.starts_with("https://good/") { Ok(Reach::Far) } else { Err(bad()) }
    }

    fn post(&self, _: &str, parcel: Parcel) -> Posting {
        let status = (self.script.lock().unwrap())(&parcel.body);
        self.seen.send(Seen { at: Instant::now(), body: parcel.body, headers: parcel.headers }).unwrap();
        Box::pin(async move { Reply { outcome: Outcome::Status(status), retry_after: None } })
    }

    fn ask(&self, _: &str, _: Parcel, _: Duration) -> Asking {
        unimplemented!("nobody is asked anything")
    }
}

/// With an endpoint that answers by the number of the attempt at all, from 0.
fn open(data: &Path, mut script: impl FnMut(u64) -> u16 + Send + 'static) -> (Opened, mpsc::UnboundedReceiver<Seen>) {
    let mut attempts = 0..;
    open_by(data, move |_| script(attempts.next().unwrap()))
}

fn open_by(data: &Path, script: impl FnMut(&[u8]) -> u16 + Send + 'static) -> (Opened, mpsc::UnboundedReceiver<Seen>) {
    let (seen, sights) = mpsc::unbounded_channel();
    let endpoint = Endpoint { script: Mutex::new(Box::new(script)), seen };
    let policy = Policy { open_registration: true, ..Policy::default() };
    let settings = Settings { policy, carrier: Some(Arc::new(endpoint)), ..Settings::on(data) };
    (Exchange::open(settings).unwrap(), sights)
}

fn to(url: &str) -> Registration {
    Registration { push: Pushing::To(Push { url: url.to_owned() }), ..Registration::default() }
}

async fn register(exchange: &Exchange) {
    exchange.register("observer", Registration::default(), Who::Nobody).await.unwrap();
    exchange.register("archivist", to("https://good/in"), Who::Nobody).await.unwrap();
}

/// The attempts on the record, until so many are there.
async fn written(exchange: &Exchange, count: usize) -> Vec<(String, u64, u64)> {
    let (mut after, mut found) = (None, Vec::new());
    while found.len() < count {
        for entry in exchange.entries(after, 100, Duration::from_hours(1), false).await.unwrap() {
            after = Some(entry.position);
            let effect = serde_json::to_value(&entry).unwrap()["effect"].clone();
            if effect["entry"] != "pushed" {
                continue;
            }
            for fate in ["delivered", "failed", "given_up"] {
                let tries = effect[fate].as_array().into_iter().flatten();
                let told = |tried: &Value| (fate.to_owned(), tried[0].as_u64().unwrap(), tried[1].as_u64().unwrap());
                found.extend(tries.map(told));
            }
        }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn a_message_is_tried_four_times_and_then_waits() {
    let data = tempfile::tempdir().unwrap();
    let (opened, mut seen) = open(data.path(), |_| 503);
    register(&opened.exchange).await;
    let position = accepted(&opened.exchange, claim("MSG001")).await;
    let first = seen.recv().await.unwrap();
    assert_eq!(first.body[..], claim("MSG001").bytes[..]);
    assert!(first.header("legation-receipt").is_some());
    let mut before = first.at;
    for (number, gap) in [(2, 1.0), (3, 2.0), (4, 4.0)] {
        let next = seen.recv().await.unwrap();
        let waited = (next.at - before).as_secs_f64();
        assert!((gap * 0.9..=gap * 1.1 + 0.002).contains(&waited), "attempt {number} after {waited} s");
        assert_eq!(next.body, first.body);
        assert_eq!(next.header("legation-attempt"), Some(number.to_string().as_str()));
        assert_eq!(next.header("legation-receipt"), first.header("legation-receipt"));
        before = next.at;
    }
    let fates = written(&opened.exchange, 4).await;
    let want = [("failed", 1), ("failed", 2), ("failed", 3), ("given_up", 4)];
    assert_eq!(fates, want.map(|(fate, number)| (fate.to_owned(), position, number)));
    // It waits for a reader, and what became of it is told.
    let waiting = opened.exchange.inbox("archivist", None, 10).unwrap();
    assert_eq!(waiting.iter().map(|delivery| delivery.position).collect::<Vec<_>>(), [position]);
    close(opened).await;

    // After a start it is not tried again by itself; once the endpoint takes what is new, it is.
    let (opened, mut seen) = open(data.path(), |_| 200);
    let next = accepted(&opened.exchange, claim("MSG002")).await;
    assert_eq!(seen.recv().await.unwrap().position(), next);
    let again = seen.recv().await.unwrap();
    assert_eq!((again.position(), again.header("legation-attempt")), (position, Some("1")));
    assert_eq!(again.body, first.body);
    let fates = written(&opened.exchange, 6).await;
    assert_eq!(fates[4..], [("delivered".to_owned(), next, 1), ("delivered".to_owned(), position, 1)]);
    assert_eq!(opened.exchange.waiting().total, 0);
    close(opened).await;
}

/// Waits until so many messages are told to be given up.
async fn told_given_up(exchange: &Exchange, about: &str) -> u64 {
    let mut after = None;
    loop {
        for (number, alert) in exchange.alerts(after, 10, Duration::from_hours(1)).await.unwrap() {
            after = Some(number);
            if alert.kind == Kind::PushFailed {
                assert_eq!(alert.about.as_deref(), Some(about));
                return alert.count;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_attempt_does_not_go_to_another_machine_either_once_the_message_is_too_old() {
    let data = tempfile::tempdir().unwrap();
    // Five minutes pass with the first attempt.
    let late = Arc::new(AtomicU64::new(0));
    let wall = Wall::passing({
        let late = Arc::clone(&late);
        move || Moment::from_micros(1_771_151_400_000_000).plus(Duration::from_secs(late.load(Ordering::SeqCst)))
    });
    let (seen, mut sights) = mpsc::unbounded_channel();
    let mut attempts = 0..;
    let script = move |_: &[u8]| {
        late.store(301, Ordering::SeqCst);
        if attempts.next() == Some(0) { 503 } else { 200 }
    };
    let endpoint = Endpoint { script: Mutex::new(Box::new(script)), seen };
    let policy = Policy { open_registration: true, ..Policy::default() };
    let settings = Settings { policy, carrier: Some(Arc::new(endpoint)), wall, ..Settings::on(data.path()) };
    let opened = Exchange::open(settings).unwrap();
    let exchange = &opened.exchange;
    register(exchange).await;
    let old = accepted(exchange, claim("MSG001")).await;
    assert_eq!(sights.recv().await.unwrap().position(), old);
    let fates = written(exchange, 2).await;
    assert_eq!(fates, [("failed".to_owned(), old, 1), ("given_up".to_owned(), old, 0)]);
    // The endpoint takes what is new, and that does not bring it back.
    let new = accepted(exchange, claim("MSG002")).await;
    assert_eq!(sights.recv().await.unwrap().position(), new);
    assert_eq!(written(exchange, 3).await[2], ("delivered".to_owned(), new, 1));
    let waiting = exchange.inbox("archivist", None, 10).unwrap();
    assert_eq!(waiting.iter().map(|delivery| delivery.position).collect::<Vec<_>>(), [old]);
    close(opened).await;
    assert!(sights.recv().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_strands_nothing_and_is_told() {
    let data = tempfile::tempdir().unwrap();
    // The whole first window fails to the last; then the endpoint is there again.
    let (opened, mut seen) = open(data.path(), |attempt| if attempt < 64 { 503 } else { 200 });
    let exchange = &opened.exchange;
    let agent = Who::Agent("archivist".to_owned());
    for id in ["observer", "archivist"] {
        exchange.register(id, Registration::default(), Who::Nobody).await.unwrap();
    }
    let mut sent = Vec::new();
    for number in 0..40 {
        sent.push(accepted(exchange, claim(&format!("MSG{number:04}"))).await);
    }
    exchange.register("archivist", to("https://good/in"), agent).await.unwrap();
    for _ in 0..64 {
        seen.recv().await.unwrap();
    }
    assert!(told_given_up(exchange, "archivist").await > 0);
    let mut took = Vec::new();
    for _ in &sent {
        took.push(seen.recv().await.unwrap());
    }
    // First one finds out, then those that were given up come in their order.
    assert_eq!(took[0].position(), sent[16]);
    let old: Vec<_> = took.iter().map(Seen::position).filter(|position| *position < sent[16]).collect();
    assert_eq!(old, sent[..16]);
    assert!(took.iter().all(|seen| seen.header("legation-attempt") == Some("1")));
    written(exchange, 64 + 40).await;
    assert_eq!(exchange.waiting().total, 0);
    close(opened).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_given_up_twice_waits_until_the_address_is_set_anew() {
    let data = tempfile::tempdir().unwrap();
    let poison = claim("MSG001").bytes;
    let healed = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let (opened, mut seen) = open_by(data.path(), {
        let healed = Arc::clone(&healed);
        move |body| if body == &poison[..] && !healed.load(Ordering::SeqCst) { 404 } else { 200 }
    });
    let exchange = &opened.exchange;
    register(exchange).await;
    let mut sent = Vec::new();
    for (number, again) in [(1, false), (2, true), (3, false), (4, false)] {
        sent.push(accepted(exchange, claim(&format!("MSG{number:03}"))).await);
        assert_eq!(Some(seen.recv().await.unwrap().position()), sent.last().copied());
        if again {
            assert_eq!(seen.recv().await.unwrap().position(), sent[0]);
        }
    }
    // It went twice, and no other success lets it go a third time.
    let fates = written(exchange, 5).await;
    assert_eq!(fates.iter().filter(|(fate, ..)| fate == "given_up").count(), 2, "{fates:?}");
    assert!(fates.iter().all(|(fate, position, _)| (fate == "given_up") == (*position == sent[0])), "{fates:?}");
    // The same address, said anew, is enough.
    healed.store(true, Ordering::SeqCst);
    exchange.register("archivist", to("https://good/in"), Who::Agent("archivist".to_owned())).await.unwrap();
    assert_eq!(seen.recv().await.unwrap().position(), sent[0]);
    written(exchange, 6).await;
    assert_eq!(exchange.waiting().total, 0);
    close(opened).await;
}

#[tokio::test(start_paused = true)]
async fn what_an_endpoint_will_never_take_is_not_tried_again_while_it_takes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let (opened, mut seen) = open(data.path(), |_| 404);
    register(&opened.exchange).await;
    let mut sent = Vec::new();
    for number in 1..4 {
        sent.push(accepted(&opened.exchange, claim(&format!("MSG{number:03}"))).await);
        assert_eq!(Some(seen.recv().await.unwrap().position()), sent.last().copied());
    }
    let fates = written(&opened.exchange, 3).await;
    assert_eq!(fates, sent.iter().map(|position| ("given_up".to_owned(), *position, 1)).collect::<Vec<_>>());
    assert!(seen.try_recv().is_err());
    close(opened).await;
}

#[tokio::test(start_paused = true)]
async fn what_waited_before_push_was_asked_for_is_brought_in_order() {
    let data = tempfile::tempdir().unwrap();
    let (opened, mut seen) = open(data.path(), |_| 204);
    let exchange = &opened.exchange;
    for id in ["observer", "archivist"] {
        exchange.register(id, Registration::default(), Who::Nobody).await.unwrap();
    }
    let mut sent = Vec::new();
    for number in 0..40 {
        sent.push(accepted(exchange, claim(&format!("MSG{number:04}"))).await);
    }
    let agent = Who::Agent("archivist".to_owned());
    let (verdict, _) = exchange.register("archivist", to("https://evil/in"), agent.clone()).await.unwrap();
    assert!(matches!(verdict, Verdict::Refused(why) if why.code() == Code::UrlForbidden));
    exchange.register("archivist", to("https://good/in"), agent.clone()).await.unwrap();
    let mut came = Vec::new();
    for _ in &sent {
        came.push(seen.recv().await.unwrap().position());
    }
    assert_eq!(came, sent);
    written(exchange, 40).await;
    assert_eq!(exchange.waiting().total, 0);
    // Where push has ended, messages wait for a reader again.
    let none = Registration { push: Pushing::Ended, ..Registration::default() };
    exchange.register("archivist", none, agent).await.unwrap();
    let last = accepted(exchange, claim("MSG9999")).await;
    let waiting = exchange.inbox("archivist", None, 10).unwrap();
    assert_eq!(waiting.iter().map(|delivery| delivery.position).collect::<Vec<_>>(), [last]);
    close(opened).await;
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_fails_is_left_alone_until_it_answers() {
    let data = tempfile::tempdir().unwrap();
    // The first window fails to the last, then one probe does, then all is well.
    let (opened, mut seen) = open(data.path(), |attempt| if attempt < 68 { 500 } else { 200 });
    let exchange = &opened.exchange;
    for id in ["observer", "archivist"] {
        exchange.register(id, Registration::default(), Who::Nobody).await.unwrap();
    }
    let mut sent = Vec::new();
    for number in 0..20 {
        sent.push(accepted(exchange, claim(&format!("MSG{number:04}"))).await);
    }
    exchange.register("archivist", to("https://good/in"), Who::Agent("archivist".to_owned())).await.unwrap();
    let mut attempts = std::collections::BTreeMap::<u64, Vec<Instant>>::new();
    // Then those that were given up come as well.
    for _ in 0..71 + 17 {
        let seen = seen.recv().await.unwrap();
        attempts.entry(seen.position()).or_default().push(seen.at);
    }
    let counts: Vec<_> = sent.iter().map(|position| attempts[position].len()).collect();
    assert_eq!(counts, [[5; 17].as_slice(), &[1; 3]].concat());
    let given_up = sent[..16].iter().map(|position| attempts[position][3]).min().unwrap();
    let probe = &attempts[&sent[16]];
    assert!((probe[0] - given_up).as_secs_f64() >= 0.9);
    let pause = (attempts[&sent[17]][0] - probe[3]).as_secs_f64();
    assert!((1.8..=2.202).contains(&pause), "{pause}");
    close(opened).await;
}
