//! Whether what was revoked can be told of is told from what runs.

use crate::{close, open};
use legation_protocol::negotiation::Feature;
use legation_protocol::sign::SecretKey;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[tokio::test(flavor = "multi_thread")]
async fn revocation_is_on_only_while_the_key_that_signs_it_is_kept() {
    let data = tempfile::tempdir().unwrap();
    let opened = open(data.path());
    let exchange = opened.exchange.clone();
    let (path, stands) = (data.path().join("exchange.pem"), || exchange.core_features().revocation);
    let own = fs::read(&path).unwrap();
    let put = |bytes: &[u8]| fs::write(&path, bytes).unwrap();
    let let_read = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    assert_eq!(stands(), Feature::On);
    fs::remove_file(&path).unwrap();
    assert_eq!(stands(), Feature::Lost);
    put(SecretKey::from_seed(&[9; 32]).to_pem().unwrap().as_bytes());
    let_read(0o600);
    assert_eq!(stands(), Feature::Lost);
    put(b"no key");
    assert_eq!(stands(), Feature::Lost);
    put(&own);
    assert_eq!(stands(), Feature::On);
    let_read(0o644);
    assert_eq!(stands(), Feature::Lost);
    drop(exchange);
    close(opened).await;
}
