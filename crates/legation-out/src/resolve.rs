//! Finding the addresses of a name. Whoever connects asks once, and connects to what was answered then.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// Addresses being looked up.
pub type Found = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Knows the addresses of names.
pub trait Resolve: Debug + Send + Sync {
    /// All addresses a name has now.
    fn resolve(&self, name: &str) -> Found;
}

/// Asks the system.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Resolve for System {
    fn resolve(&self, name: &str) -> Found {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}
