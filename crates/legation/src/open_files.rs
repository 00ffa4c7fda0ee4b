//! How many files, and by that connections, this process may have open. Systems start programs with a low
//! limit that they may raise themselves.

/// Raises the limit as far as that goes. Where it does not, fewer connections find room.
#[cfg(unix)]
pub(crate) fn as_many_as_possible() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(not(unix))]
pub(crate) fn as_many_as_possible() {}
