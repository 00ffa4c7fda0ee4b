//! The examples, run against a served exchange.

#[expect(dead_code, reason = "it is a program, too")]
#[path = "../../examples/echo.rs"]
mod echo;
#[expect(dead_code, reason = "it is a program, too")]
#[path = "../../examples/exactly_once.rs"]
mod exactly_once;
#[expect(dead_code, reason = "it is a program, too")]
#[path = "../../examples/parent_and_child.rs"]
mod parent_and_child;

use crate::house::{House, cap};
use tokio::sync::oneshot;

#[tokio::test]
async fn what_is_told_comes_back() {
    let house = House::open().await;
    let ann = house.admit("ann").await;
    let (_over, stopped) = oneshot::channel::<()>();
    let url = house.url();
    let echo = tokio::spawn(async move { echo::run(&url, async { drop(stopped.await) }).await });
    while ann.find("echo").await.is_err() {
        tokio::task::yield_now().await;
    }
    ann.send(cap("ann", "echo", "Go on.")).await.unwrap();
    let back = ann.inbox().deliveries().await.unwrap().next().await.unwrap().unwrap();
    assert_eq!(back.message().sender(), "echo");
    assert!(String::from_utf8_lossy(back.bytes()).contains("Go on."));
    echo.abort();
}

#[tokio::test]
async fn a_childs_alarm_is_acknowledged() {
    let house = House::open().await;
    let id = parent_and_child::run(&house.url(), &house.operator).await.unwrap();
    assert_eq!(id.len(), 36, "{id}");
}

#[tokio::test]
async fn an_effect_stored_with_its_mark_happens_once_through_a_crash() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.db");
    let first = ann.send(cap("ann", "bob", "1")).await.unwrap();
    let second = ann.send(cap("ann", "bob", "2")).await.unwrap();
    // A process stored the first, and ended before it was acknowledged.
    let db = exactly_once::open(&file).unwrap();
    db.execute("INSERT INTO counts VALUES ('ann', 1)", []).unwrap();
    db.execute("INSERT INTO read VALUES (1, ?1)", [format!(r#"{{"epoch":1,"position":{}}}"#, first.position)]).unwrap();
    let (over, stopped) = oneshot::channel::<()>();
    let (reader, path) = (bob.clone(), file.clone());
    let reading = tokio::spawn(async move { exactly_once::run(&reader, &path, async { drop(stopped.await) }).await });
    let mark = || db.query_row("SELECT mark FROM read", [], |row| row.get::<_, String>(0)).unwrap();
    let done = format!(r#"{{"epoch":1,"position":{}}}"#, second.position);
    while mark() != done {
        tokio::task::yield_now().await;
    }
    drop(over);
    reading.await.unwrap().unwrap();
    let count: u64 = db.query_row("SELECT count FROM counts WHERE sender = 'ann'", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 2);
}
