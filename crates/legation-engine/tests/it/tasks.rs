//! A task that goes to somebody of another dialect takes its words from the record.

use crate::{accepted, claim, close, open};
use legation_engine::{Credential, Submission};
use legation_exchange::rules::cap::Step;
use legation_exchange::{Registration, Verdict, Who};
use legation_protocol::Format;

fn query() -> Submission {
    let text = String::from_utf8(claim("QRY001").bytes.into()).unwrap();
    let text = text.replace("\"claim\"", "\"query\"").replace("\"x\"", "\"How many?\"");
    let credential = Credential::Bearer(Who::Agent("observer".to_owned()));
    Submission { credential, ..Submission::in_process(text.into_bytes()) }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_goes_to_another_dialect_has_the_words_of_the_record() {
    let data = tempfile::tempdir().unwrap();
    let mut opened = open(data.path());
    for (id, dialect) in [("observer", Format::Vlp), ("archivist", Format::Cap), ("coder", Format::Acl)] {
        let wanted = Registration { dialects: Some([dialect].into()), ..Registration::default() };
        opened.exchange.register(id, wanted, Who::operator()).await.unwrap();
    }
    let task = accepted(&opened.exchange, query()).await;
    for (worker, kind) in [("coder", "TASK_REQUEST"), ("archivist", "delegation_notice")] {
        let step = Step::Reassign(worker.to_owned());
        let verdict = opened.exchange.direct_task(task, step, Who::operator()).await.unwrap();
        assert!(matches!(verdict, Verdict::Accepted { .. }), "{verdict:?}");
        let heard = opened.exchange.inbox(worker, None, 10).unwrap().pop().unwrap();
        let text = String::from_utf8(heard.bytes.into()).unwrap();
        assert!(text.contains(kind) && text.contains("How many?"), "{text}");
        close(opened).await;
        opened = open(data.path());
    }
    close(opened).await;
}
