//! Whom a start tells what: each from where it was, and who is new what is open.

use super::{Paged, Pager, changed, open_on, paged, read};
use crate::{accepted, claim, close, register};
use legation_engine::{AlertSettings, Exchange, Settings, Wall, Webhook};
use legation_exchange::{Kind, Moment, Policy, Verdict};
use serde_json::Value;
use std::collections::BTreeMap;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

const OLD: &str = "https://old/s3cret";
const NEW: &str = "https://new/s3cret";

/// Told what these tests raise, and nothing of the disk they run on.
fn at(urls: &[&str]) -> AlertSettings {
    let settings = paged(&[Kind::ReviewWaiting, Kind::Conflict]);
    let webhooks = urls.iter().map(|url| Webhook { url: (*url).to_owned(), ..settings.webhooks[0].clone() }).collect();
    AlertSettings { webhooks, ..settings }
}

fn on(data: &Path, alerts: AlertSettings) -> Settings {
    let policy = Policy { open_registration: true, review_time: Duration::from_hours(10_000), ..Policy::default() };
    Settings { policy, alerts, ..Settings::on(data) }
}

fn open(data: &Path, urls: &[&str]) -> Paged {
    open_on(on(data, at(urls)), 200, Duration::ZERO)
}

/// Lets a message wait for a person, and tells its position.
async fn hold(exchange: &Exchange, id: &str) -> u64 {
    let waits = changed(claim(id), "\"content\"", "\"safety\":{\"level\":\"review\"},\"content\"");
    match exchange.receive(waits).await.unwrap() {
        Verdict::Held { position, .. } => position,
        other => panic!("{other:?}"),
    }
}

/// Uses an id twice, and tells the position of what that raised.
async fn conflict(exchange: &Exchange, id: &str) -> u64 {
    accepted(exchange, claim(id)).await;
    exchange.receive(changed(claim(id), "0.5", "0.6")).await.unwrap();
    exchange.head().size - 1
}

/// All that is told until nothing happens any more: whom, by which entry, and whether again.
async fn told(paged: &mut Paged) -> Vec<(String, u64, bool)> {
    let mut all = Vec::new();
    while let Ok(Some((url, parcel))) = tokio::time::timeout(Duration::from_mins(2), paged.posts.recv()).await {
        let alert = read(&parcel);
        all.push((url, alert["position"].as_u64().unwrap(), alert["again"] == true));
    }
    all.sort();
    all
}

fn to(url: &str, position: u64, again: bool) -> (String, u64, bool) {
    (url.to_owned(), position, again)
}

#[tokio::test(start_paused = true)]
async fn who_is_new_is_told_what_is_open_and_others_go_on_where_they_were() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), &[OLD]);
    register(&first.opened.exchange).await;
    let one = hold(&first.opened.exchange, "MSG001").await;
    // It gathers, since it comes close behind, and waits for the next start.
    let two = hold(&first.opened.exchange, "MSG002").await;
    conflict(&first.opened.exchange, "MSG003").await;
    assert_eq!(told(&mut first).await.len(), 2);
    close(first.opened).await;

    let mut second = open(data.path(), &[OLD, NEW]);
    assert_eq!(told(&mut second).await, [to(NEW, one, false), to(NEW, two, false), to(OLD, two, true)]);
    let three = conflict(&second.opened.exchange, "MSG004").await;
    assert_eq!(told(&mut second).await, [to(NEW, three, false), to(OLD, three, false)]);
    close(second.opened).await;

    let mut third = open(data.path(), &[OLD, NEW]);
    assert_eq!(told(&mut third).await, []);
    close(third.opened).await;
}

#[tokio::test(start_paused = true)]
async fn who_is_new_while_it_runs_is_told_what_is_open() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), &[OLD]);
    register(&first.opened.exchange).await;
    let one = hold(&first.opened.exchange, "MSG001").await;
    assert_eq!(told(&mut first).await, [to(OLD, one, false)]);
    let (posts, heard) = mpsc::unbounded_channel();
    let pager = Pager { posts, status: first.status.subscribe(), takes: Duration::ZERO };
    first.opened.exchange.set_alerts(AlertSettings { carrier: Some(Arc::new(pager)), ..at(&[OLD, NEW]) });
    first.posts = heard;
    assert_eq!(told(&mut first).await, [to(NEW, one, false)]);
    close(first.opened).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn who_was_told_is_not_told_again_because_another_was_not() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("told");
    let command = ["/bin/sh", "-c", "cat >> \"$0\"", file.to_str().unwrap()].map(str::to_owned).to_vec();
    let settings = || on(data.path(), AlertSettings { command: command.clone(), ..at(&[OLD]) });
    // The disk these tests run on may be nearly full, which is told too.
    let lines = || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let alerts = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let alerts = alerts.filter(|alert| alert["kind"] != "storage");
        alerts.map(|alert| (alert["position"].as_u64().unwrap(), alert["again"] == true)).collect::<Vec<_>>()
    };
    let is_told = async |position: u64| {
        while lines().last().is_none_or(|last| last.0 != position) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let mut first = open_on(settings(), 503, Duration::ZERO);
    register(&first.opened.exchange).await;
    let one = conflict(&first.opened.exchange, "MSG001").await;
    is_told(one).await;
    first.posts.recv().await.unwrap();
    close(first.opened).await;

    let mut second = open_on(settings(), 200, Duration::ZERO);
    let (_, parcel) = second.posts.recv().await.unwrap();
    assert_eq!((&read(&parcel)["position"], &read(&parcel)["again"]), (&one.into(), &true.into()));
    let two = conflict(&second.opened.exchange, "MSG002").await;
    is_told(two).await;
    assert_eq!(lines(), [(one, false), (two, false)]);
    close(second.opened).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_told_while_the_exchange_stops_is_not_told_again() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open_on(on(data.path(), at(&[OLD])), 200, Duration::from_millis(500));
    register(&first.opened.exchange).await;
    conflict(&first.opened.exchange, "MSG001").await;
    first.posts.recv().await.unwrap();
    close(first.opened).await;
    let mut second = open(data.path(), &[OLD]);
    assert_eq!(told(&mut second).await, []);
    close(second.opened).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_raised_while_nobody_was_told_is_not_told_later_unless_it_is_open() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), &[OLD]);
    register(&first.opened.exchange).await;
    conflict(&first.opened.exchange, "MSG001").await;
    assert_eq!(told(&mut first).await.len(), 1);
    close(first.opened).await;
    let second = open(data.path(), &[]);
    conflict(&second.opened.exchange, "MSG002").await;
    let waits = hold(&second.opened.exchange, "MSG003").await;
    close(second.opened).await;
    let mut third = open(data.path(), &[OLD]);
    assert_eq!(told(&mut third).await, [to(OLD, waits, false)]);
    close(third.opened).await;
}

/// An exchange on a machine whose clock shows so many hours more. Those who are told take a while to answer.
fn later(data: &Path, alerts: AlertSettings, hours: u64) -> Paged {
    let wall = Wall::by(move || Moment::from_micros((1_771_155_000 + hours * 3600) * 1_000_000));
    open_on(Settings { wall, ..on(data, alerts) }, 200, Duration::from_millis(500))
}

#[tokio::test(start_paused = true)]
async fn who_is_more_than_a_day_behind_is_told_what_is_open_alone() {
    for (hours, is_replayed) in [(23, true), (25, false)] {
        let data = tempfile::tempdir().unwrap();
        let first = later(data.path(), at(&[]), 0);
        register(&first.opened.exchange).await;
        let old = conflict(&first.opened.exchange, "MSG001").await;
        let waits = hold(&first.opened.exchange, "MSG002").await;
        close(first.opened).await;
        let second = later(data.path(), at(&[]), hours);
        accepted(&second.opened.exchange, claim("MSG003")).await;
        close(second.opened).await;
        // However long the exchange did not run, that is no time in which anything was raised.
        std::fs::write(data.path().join("alerts.next"), "0\n").unwrap();
        let mut third = later(data.path(), at(&[OLD]), hours + 1000);
        let all = [to(OLD, old, true), to(OLD, waits, true)];
        let want = if is_replayed { all.to_vec() } else { vec![to(OLD, waits, false)] };
        assert_eq!(told(&mut third).await, want);
        close(third.opened).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_open_for_days_and_was_not_told_is_told_after_a_start() {
    let data = tempfile::tempdir().unwrap();
    let first = later(data.path(), at(&[]), 0);
    register(&first.opened.exchange).await;
    let one = hold(&first.opened.exchange, "MSG001").await;
    let two = hold(&first.opened.exchange, "MSG002").await;
    close(first.opened).await;
    let second = later(data.path(), at(&[]), 48);
    accepted(&second.opened.exchange, claim("MSG003")).await;
    close(second.opened).await;
    // The first is told to whoever is new, and the other cannot be.
    let mut third = later(data.path(), at(&[OLD]), 48);
    third.posts.recv().await.unwrap();
    third.status.send(503).unwrap();
    let (_, failed) = third.posts.recv().await.unwrap();
    assert_eq!(read(&failed)["position"], two);
    close(third.opened).await;
    let mut fourth = later(data.path(), at(&[OLD]), 48);
    assert_eq!(told(&mut fourth).await, [to(OLD, two, true)], "{one} was told");
    close(fourth.opened).await;
}

#[tokio::test(start_paused = true)]
async fn one_position_for_all_is_where_each_of_them_was() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("alerts.next");
    let first = open(data.path(), &[]);
    register(&first.opened.exchange).await;
    conflict(&first.opened.exchange, "MSG001").await;
    let before = first.opened.exchange.head().size;
    let two = conflict(&first.opened.exchange, "MSG002").await;
    close(first.opened).await;
    assert!(!file.exists(), "nobody is told anything");
    std::fs::write(&file, format!("{before}\n")).unwrap();
    let mut second = open(data.path(), &[OLD, NEW]);
    assert_eq!(told(&mut second).await, [to(NEW, two, true), to(OLD, two, true)]);
    close(second.opened).await;
    // From then on each has its own, and its address, which may be secret, is not in the file.
    let text = std::fs::read_to_string(&file).unwrap();
    let notes: BTreeMap<String, Value> = serde_json::from_str(&text).unwrap();
    assert!(notes.len() == 2 && !text.contains("s3cret") && !text.contains("https"), "{text}");
    #[cfg(unix)]
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Whoever is not told any more is forgotten.
    close(open(data.path(), &[NEW]).opened).await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(serde_json::from_str::<BTreeMap<String, Value>>(&text).unwrap().len(), 1);
    close(open(data.path(), &[]).opened).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}\n");
}

#[tokio::test(start_paused = true)]
async fn a_note_that_cannot_be_read_makes_everybody_new() {
    let data = tempfile::tempdir().unwrap();
    let mut first = open(data.path(), &[OLD]);
    register(&first.opened.exchange).await;
    let waits = hold(&first.opened.exchange, "MSG001").await;
    assert_eq!(told(&mut first).await.len(), 1);
    close(first.opened).await;
    std::fs::write(data.path().join("alerts.next"), [0xff, 0x00]).unwrap();
    let mut second = open(data.path(), &[OLD]);
    assert_eq!(told(&mut second).await, [to(OLD, waits, false)]);
    close(second.opened).await;
}
