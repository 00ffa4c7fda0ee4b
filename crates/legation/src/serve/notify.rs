//! Telling the service manager how we are, as `sd_notify` of systemd does: a datagram to the socket that the
//! environment names. Where it names none, nobody is told.

use std::env;
use std::time::Duration;

/// Who is told.
#[derive(Debug)]
pub(super) struct Manager {
    #[cfg(unix)]
    to: Option<(std::os::unix::net::UnixDatagram, std::os::unix::net::SocketAddr)>,
    /// How often it wants to hear from us.
    pub(super) every: Option<Duration>,
}

impl Manager {
    pub(super) fn of_environment() -> Manager {
        let micros = env::var("WATCHDOG_USEC").ok().and_then(|text| text.parse().ok());
        let for_us = env::var("WATCHDOG_PID").map_or(true, |pid| pid == std::process::id().to_string());
        // Half of the time it waits leaves room for being late.
        let every = micros.filter(|micros| for_us && *micros > 1).map(|micros: u64| Duration::from_micros(micros / 2));
        Manager {
            #[cfg(unix)]
            to: env::var("NOTIFY_SOCKET").ok().and_then(|name| socket(&name)),
            every,
        }
    }

    pub(super) fn ready(&self) {
        self.tell("READY=1");
    }

    pub(super) fn reloading(&self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_micros()));
    }

    pub(super) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    pub(super) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    #[cfg(unix)]
    fn tell(&self, state: &str) {
        if let Some((socket, manager)) = &self.to
            && let Err(error) = socket.send_to_addr(state.as_bytes(), manager)
        {
            tracing::warn!(%error, "the service manager cannot be told");
        }
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there is no service manager of this kind here")]
    fn tell(&self, _: &str) {}
}

#[cfg(unix)]
fn socket(name: &str) -> Option<(std::os::unix::net::UnixDatagram, std::os::unix::net::SocketAddr)> {
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let address = match name.strip_prefix('@') {
        #[cfg(target_os = "linux")]
        Some(hidden) => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(hidden),
        #[cfg(not(target_os = "linux"))]
        Some(_) => return None,
        None => SocketAddr::from_pathname(name),
    };
    Some((UnixDatagram::unbound().ok()?, address.ok()?))
}

#[cfg(unix)]
fn monotonic_micros() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}

#[cfg(not(unix))]
fn monotonic_micros() -> i64 {
    0
}
