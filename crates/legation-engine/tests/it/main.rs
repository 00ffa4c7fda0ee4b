//! The running exchange on a real disk.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests stop at the first surprise")]

mod alerts;
mod backup;
mod limits;
mod push;
mod revocation;
mod scanning;
mod tasks;
mod turns;

use legation_engine::{Credential, Exchange, Opened, Query, Settings, Standing, Submission};
use legation_exchange::{Policy, Registration, Verdict, Who};
use legation_store::verify;
use std::path::Path;

fn open(data: &Path) -> Opened {
    open_with(data, u64::MAX)
}

fn open_with(data: &Path, snapshot_every: u64) -> Opened {
    let policy = Policy { open_registration: true, ..Policy::default() };
    Exchange::open(Settings { policy, snapshot_every, ..Settings::on(data) }).unwrap()
}

/// Lets go of an exchange and waits until its decider has let go of the record.
async fn close(opened: Opened) {
    let Opened { exchange, ended, .. } = opened;
    drop(exchange);
    ended.await.unwrap().unwrap();
}

fn claim(id: &str) -> Submission {
    let text = format!(
        r#"{{"id":"{id}","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"observer","receiver":"archivist","content":"x","confidence":0.5}}"#
    );
    let credential = Credential::Bearer(Who::Agent("observer".to_owned()));
    Submission { credential, ..Submission::in_process(text.into_bytes()) }
}

async fn accepted(exchange: &Exchange, submission: Submission) -> u64 {
    match exchange.receive(submission).await.unwrap() {
        Verdict::Accepted { position, .. } => position,
        other => panic!("{other:?}"),
    }
}

async fn register(exchange: &Exchange) -> Vec<String> {
    let mut tokens = Vec::new();
    for id in ["observer", "archivist"] {
        let (_, token) = exchange.register(id, Registration::default(), Who::Nobody).await.unwrap();
        tokens.push(token.unwrap().reveal().to_owned());
    }
    tokens
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_accepted_is_there_after_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    let tokens = register(&opened.exchange).await;
    let first = accepted(&opened.exchange, claim("MSG001")).await;
    let second = accepted(&opened.exchange, claim("MSG002")).await;
    opened.exchange.acknowledge("archivist", Some(first), Vec::new(), Who::operator()).await.unwrap();
    let head = opened.exchange.head();
    close(opened).await;

    let opened = open(data.path());
    let exchange = &opened.exchange;
    assert_eq!((exchange.head().size, exchange.head().chain), (head.size, head.chain));
    assert_eq!(exchange.who(&tokens[0]).unwrap(), Who::Agent("observer".to_owned()));
    let waiting = exchange.inbox("archivist", None, 10).unwrap();
    assert_eq!(waiting.iter().map(|delivery| delivery.position).collect::<Vec<_>>(), [second]);
    assert_eq!(waiting[0].bytes, claim("MSG002").bytes);
    let again = exchange.receive(claim("MSG001")).await.unwrap();
    assert_eq!(again, Verdict::Duplicate { position: first, id: "MSG001".to_owned() });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_waits_is_woken_by_the_commit() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    register(&opened.exchange).await;
    let exchange = opened.exchange.clone();
    let waits = tokio::spawn(async move { exchange.consume("archivist", None, Standing::InProcess).next().await });
    let position = accepted(&opened.exchange, claim("MSG001")).await;
    let found = waits.await.unwrap().unwrap();
    assert_eq!(found[0].position, position);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_exchange_on_the_same_directory_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let _first = open(data.path());
    assert!(Exchange::open(Settings::on(data.path())).is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_senders_at_once_all_get_places_of_their_own() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    register(&opened.exchange).await;
    let mut sending = Vec::new();
    for number in 0..500 {
        let exchange = opened.exchange.clone();
        sending.push(tokio::spawn(async move { accepted(&exchange, claim(&format!("MSG{number:04}"))).await }));
    }
    let mut positions = Vec::new();
    for sent in sending {
        positions.push(sent.await.unwrap());
    }
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 500);
    let waiting = opened.exchange.inbox("archivist", None, 1000).unwrap();
    assert_eq!(waiting.iter().map(|d| d.position).collect::<Vec<_>>(), positions);
    close(opened).await;
    let report = verify::verify(&data.path().join("record"), &verify::Options::default(), &mut |_| {});
    assert!(report.unwrap().is_sound());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_from_a_snapshot_is_a_start_from_the_beginning() {
    let data = tempfile::tempdir().unwrap();
    let opened = open_with(data.path(), 10);
    register(&opened.exchange).await;
    for number in 0..40 {
        accepted(&opened.exchange, claim(&format!("MSG{number:04}"))).await;
    }
    close(opened).await;
    let opened = open(data.path());
    let waiting = opened.exchange.inbox("archivist", None, 1000).unwrap();
    assert_eq!(waiting.len(), 40);
    let again = opened.exchange.receive(claim("MSG0000")).await.unwrap();
    assert!(matches!(again, Verdict::Duplicate { .. }), "{again:?}");
    close(opened).await;
    // Without its snapshots the same state is folded from the first entry.
    for file in std::fs::read_dir(data.path().join("record")).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().contains("snapshot") {
            if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
        }
    }
    let opened = open(data.path());
    let same = opened.exchange.inbox("archivist", None, 1000).unwrap();
    assert_eq!(same, waiting);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_breaks_while_it_is_used_is_made_again() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    register(&opened.exchange).await;
    let first = accepted(&opened.exchange, claim("MSG001")).await;
    let by_id = |id: &str| Query { id: Some(id.to_owned()), limit: 5, ..Query::default() };
    let operator = Who::operator();
    let found = opened.exchange.search(by_id("MSG001"), &operator, Some(first)).await.unwrap();
    assert_eq!(found.entries.iter().map(|entry| entry.position).collect::<Vec<_>>(), [first]);
    assert_eq!(opened.exchange.index_lag(), 0);
    std::fs::remove_file(data.path().join("index/entries.db")).unwrap();
    let second = accepted(&opened.exchange, claim("MSG002")).await;
    // Commits went on; the index comes after them, from the first entry.
    for (id, position) in [("MSG002", second), ("MSG001", first)] {
        let found = opened.exchange.search(by_id(id), &operator, Some(second)).await.unwrap();
        assert_eq!(found.entries.iter().map(|entry| entry.position).collect::<Vec<_>>(), [position]);
    }
    close(opened).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_goes_on_under_its_own_name_and_key_alone() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    register(&opened.exchange).await;
    close(opened).await;
    let renamed = Settings { realm: "other".to_owned(), ..Settings::on(data.path()) };
    let refused = Exchange::open(renamed).err().unwrap();
    assert_eq!(refused.to_string(), r#"the record in this directory is of the realm "local", not of "other""#);
    let key = data.path().join("exchange.pem");
    let away = data.path().join("away");
    std::fs::rename(&key, &away).unwrap();
    let refused = Exchange::open(Settings::on(data.path())).err().unwrap();
    assert!(refused.to_string().ends_with("and the record was signed with it: put it back"), "{refused}");
    std::fs::rename(&away, &key).unwrap();
    close(open(data.path())).await;
}
