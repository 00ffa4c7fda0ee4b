//! Whether what was revoked can be told of is told from what runs.

use crate::{close, open};
use legation_protocol::negotiation::Feature;
use legation_protocol::sign::SecretKey;
use std::fs;

#[tokio::test(flavor = "multi_thread")]
async fn revocation_is_on_only_while_the_key_that_signs_it_is_kept() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    let exchange = opened.exchange.clone();
    let (path, stands) = (data.path().join("exchange.pem"), || exchange.core_features().revocation);
    let own = fs::read(&path).unwrap();
    assert_eq!(stands(), Feature::On);
    fs::remove_file(&path).unwrap();
    assert_eq!(stands(), Feature::Lost);
    fs::write(&path, SecretKey::from_seed(&[9; 32]).to_pem().unwrap().as_bytes()).unwrap();
    assert_eq!(stands(), Feature::Lost);
    fs::write(&path, "no key").unwrap();
    assert_eq!(stands(), Feature::Lost);
    fs::write(&path, own).unwrap();
    assert_eq!(stands(), Feature::On);
    drop(exchange);
    close(opened).await;
}
