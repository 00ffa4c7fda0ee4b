//! Hearing of agents that may go on no longer, or again.

use crate::{close, open};
use legation_exchange::rules::vcp::Standing;
use legation_exchange::{Registration, Said, Who};

#[tokio::test(flavor = "multi_thread")]
async fn who_missed_which_agent_turned_finds_out_of_all_below() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    let exchange = &opened.exchange;
    for (id, parent) in [("parent", None), ("child", Some("parent")), ("other", None)] {
        let registration = Registration {
            parent: parent.map_or(Said::Unsaid, |id| Said::To(id.to_owned())),
            ..Registration::default()
        };
        exchange.register(id, registration, Who::operator()).await.unwrap();
    }
    let mut turns = exchange.turns();
    exchange.suspend("child", "a drill".to_owned(), Who::operator()).await.unwrap();
    // So many that the first is not kept for whoever has not listened yet.
    for _ in 0..150 {
        exchange.suspend("other", "a drill".to_owned(), Who::operator()).await.unwrap();
        exchange.resume("other", None, "over".to_owned(), Who::operator()).await.unwrap();
    }
    assert_eq!(turns.next().await, None, "some were missed");
    let stand = |agent: &str| {
        let all = exchange.all_turned(agent).into_iter().map(|turned| (turned.agent, turned.standing));
        all.collect::<Vec<_>>()
    };
    let (parent, child) = ("parent".to_owned(), "child".to_owned());
    assert_eq!(stand("parent"), [(child, Standing::Suspended), (parent, Standing::Running)]);
    assert_eq!(stand("other"), [("other".to_owned(), Standing::Running)], "nothing of others'");
    close(opened).await;
}
