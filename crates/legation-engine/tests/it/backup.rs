//! Copies of a running exchange, one at a time.

use crate::{close, open, register};
use legation_engine::{Backup, Exchange, Target};
use legation_exchange::Who;
use legation_protocol::{Code, Rejection};

async fn taken(exchange: &Exchange) -> Result<Backup, Rejection> {
    exchange.backup(false, Who::operator()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_copy_is_taken_at_a_time() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    register(&opened.exchange).await;
    let first = taken(&opened.exchange).await.unwrap();
    let refused = taken(&opened.exchange).await.unwrap_err();
    assert_eq!((refused.code(), refused.retryable()), (Code::Busy, true));
    // Whoever gives up makes room for the next, and so does whoever is done.
    drop(first);
    let second = taken(&opened.exchange).await.unwrap();
    second.write(Target::Tar(&mut Vec::new()), &mut |_| ()).unwrap();
    // One that is refused takes nobody's turn.
    let stranger = opened.exchange.backup(false, Who::Nobody).await.unwrap();
    assert_eq!(stranger.unwrap_err().code(), Code::Unauthenticated);
    drop(taken(&opened.exchange).await.unwrap());
    close(opened).await;
}
