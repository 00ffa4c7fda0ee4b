//! Escalations are acknowledged once the handler has taken them, by a message their sender gets.

use crate::house::House;
use legation_client::protocol::Message;
use legation_client::protocol::id::AgentId;
use legation_client::protocol::vcp::{Context, Envelope, Escalation, Payload, Severity};
use legation_client::{Client, Incoming, Registration, Verified};
use tokio::sync::mpsc;

fn alarm(child: &Client) -> Envelope {
    let context = Context::parse("⏰🌅|📍🏡").unwrap();
    let alarm = Escalation::critical("the request breaks a rule", context);
    Envelope::to(AgentId::vcp("agent://h/parent").unwrap(), child.origin().unwrap(), alarm)
}

#[tokio::test]
async fn a_parent_acknowledges_what_its_handler_took() {
    let house = House::open().await;
    let parent = house.admit("agent://h/parent").await;
    let child = house.admit_as(Registration::new("agent://h/child").parent("agent://h/parent")).await;
    let raised = alarm(&child);
    let sent = child.send(&raised).await.unwrap();
    let (told, mut taken) = mpsc::unbounded_channel();
    let at_work = tokio::spawn(async move {
        let handler = move |incoming: Incoming| {
            assert!(matches!(incoming.verified, Verified::Signed(_)), "{incoming:?}");
            told.send(incoming.position).unwrap();
            async { Ok::<_, std::io::Error>(()) }
        };
        parent.inbox().handle(handler).await
    });
    assert_eq!(taken.recv().await, Some(sent.position));
    let mut items = child.inbox().deliveries().await.unwrap();
    let notice = items.next().await.unwrap().unwrap();
    assert!(matches!(notice.verified, Verified::Signed(_)), "the exchange says that the child is paused: {notice:?}");
    assert!(notice.message().refers_to().is_empty(), "{notice:?}");
    let answer = items.next().await.unwrap().unwrap();
    let Message::Vcp(envelope) = answer.message() else { panic!("{answer:?}") };
    let Payload::Escalation(ack) = &envelope.payload else { panic!("{answer:?}") };
    assert_eq!(
        (envelope.refers_to(), ack.severity, ack.requires_ack),
        (Some(raised.message_id), Severity::Critical, false)
    );
    assert!(matches!(answer.verified, Verified::Signed(_)), "{answer:?}");
    at_work.abort();
}
