//! The registry, and keys that change.

use crate::house::{House, fresh_key};
use legation_client::protocol::Format;
use legation_client::protocol::id::AgentId;
use legation_client::protocol::vcp::{Context, ContextShare, CreedUri, Envelope};
use legation_client::{Client, Doubt, Error, KeyState, Registration, Unverified, Verified};

#[tokio::test]
async fn agents_are_found_by_id_and_by_what_they_can() {
    let house = House::open().await;
    let pm = house.admit_as(Registration::new("pm-1").dialect(Format::Cap)).await;
    let analyst = Registration::new("analyst-1").parent("pm-1").capability("sentiment").topic("markets");
    house.admit_as(analyst.alias(Format::Vlp, "The Analyst")).await;
    let found = pm.find("analyst-1").await.unwrap();
    assert_eq!((found.parent.as_deref(), found.state.as_str()), (Some("pm-1"), "running"));
    assert!(found.is_called("The Analyst", Format::Vlp) && !found.is_called("The Analyst", Format::Cap));
    let able = pm.directory(Some("sentiment")).await.unwrap();
    assert_eq!(able.iter().map(|agent| agent.id.as_str()).collect::<Vec<_>>(), ["analyst-1"]);
    assert_eq!(pm.directory(None).await.unwrap().len(), 2);
    let Err(Error::Refused(refused)) = pm.find("nobody").await else { panic!("found") };
    assert_eq!(refused.status, Some(404));
}

#[tokio::test]
async fn a_token_is_shown_once_and_not_by_debug() {
    let house = House::open().await;
    let stranger = Client::builder(house.url()).build().unwrap();
    let made = stranger.register(&Registration::new("ann")).await.unwrap();
    let token = made.token.clone().unwrap();
    assert!(!format!("{made:?}").contains(token.as_str()));
    let ann = Client::builder(house.url()).token(token.as_str()).agent("ann");
    assert!(!format!("{ann:?}").contains(token.as_str()));
    let ann = ann.build().unwrap();
    assert!(!format!("{ann:?}").contains(token.as_str()));
    assert!(ann.register(&Registration::new("ann").model("opus")).await.unwrap().token.is_none());
    assert!(ann.register(&Registration::new("ann").rotate_token()).await.unwrap().token.is_some());
}

#[tokio::test]
async fn a_key_is_rotated_and_the_next_one_signs() {
    let house = House::open().await;
    let ann = house.admit("ann").await;
    house.admit("bob").await;
    let first = ann.public_key().unwrap();
    let ann = ann.rotate_key(fresh_key()).await.unwrap();
    assert_ne!(ann.public_key().unwrap(), first);
    let keys = ann.find("ann").await.unwrap().keys;
    assert_eq!(keys.iter().find(|key| key.public == first).unwrap().state, KeyState::Rotating);
    let context = Context::parse("⏰🌅|📍🏡").unwrap();
    let share = ContextShare::new(context, CreedUri::parse("creed://creed.space/family.safe.guide@1.2.0").unwrap());
    let quiet = Envelope::to(AgentId::vcp("bob").unwrap(), ann.origin().unwrap(), share);
    ann.send(quiet).await.unwrap();
    let after = ann.revoke_key(&first).await.unwrap();
    assert_eq!(after.keys.iter().find(|key| key.public == first).unwrap().state, KeyState::Revoked);
}

#[tokio::test]
async fn a_reader_that_runs_takes_nothing_by_a_key_that_was_withdrawn_since() {
    let house = House::open().await;
    let (ann, bob) = (house.admit("ann").await, house.admit("bob").await);
    let share = || {
        let creed = CreedUri::parse("creed://creed.space/family.safe.guide@1.2.0").unwrap();
        let share = ContextShare::new(Context::parse("⏰🌅|📍🏡").unwrap(), creed);
        Envelope::to(AgentId::vcp("bob").unwrap(), ann.origin().unwrap(), share)
    };
    let mut deliveries = bob.inbox().unverified(Unverified::HandOver).deliveries().await.unwrap();
    ann.send(share()).await.unwrap();
    let known = deliveries.next().await.unwrap().unwrap();
    assert_eq!(known.verified, Verified::Signed(ann.public_key().unwrap()));
    // It lies in the mailbox, and is read ahead, before its key is withdrawn.
    ann.send(share()).await.unwrap();
    ann.revoke_key(&ann.public_key().unwrap()).await.unwrap();
    let looked_at = tokio::time::Instant::now();
    while looked_at.elapsed() < std::time::Duration::from_millis(600) {
        assert_eq!(bob.find("ann").await.unwrap().keys[0].state, KeyState::Revoked);
    }
    let since = deliveries.next().await.unwrap().unwrap();
    assert_eq!(since.verified, Verified::Unverified(Doubt::DeadKey(KeyState::Revoked)));
}
