//! Work that nobody waits for leaves the processor to whoever wants it.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

/// How far a thread steps back from the processor: the niceness of whoever is in no hurry at all.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;
/// So many times as long as it had to wait for the processor, a thread rests.
const TIMES: u32 = 16;
/// The longest rest, after which it is looked again.
const LONGEST: Duration = Duration::from_millis(50);
/// A shorter one is not worth it.
const LEAST: Duration = Duration::from_micros(200);

/// A thread behind all others. To step back alone does not do: a processor that is busy with such a thread is not always
/// taken for a free one, and others wait behind one another on the next. So whoever had to wait, which shows that there
/// are others, rests for much longer.
#[derive(Debug)]
pub(crate) struct Leisure {
    /// Where the system tells how long the thread has waited for a processor; nowhere, where it does not.
    told: Option<File>,
    waited: Duration,
}

impl Leisure {
    /// The thread that calls this steps back.
    pub(crate) fn begin() -> Leisure {
        step_back();
        let told = File::open("/proc/thread-self/schedstat").ok();
        let waited = told.as_ref().and_then(waited).unwrap_or_default();
        Leisure { told, waited }
    }

    /// Rests, if the thread had to wait for a processor since it last did.
    pub(crate) fn rest(&mut self) {
        let Some(waited) = self.told.as_ref().and_then(waited) else { return };
        let since = waited.saturating_sub(std::mem::replace(&mut self.waited, waited));
        if let Some(rest) = rest(since) {
            std::thread::sleep(rest);
        }
    }
}

/// How long whoever had to wait so long rests, if that is worth it.
fn rest(waited: Duration) -> Option<Duration> {
    Some((waited * TIMES).min(LONGEST)).filter(|rest| *rest >= LEAST)
}

/// How long a thread has waited for a processor: the second number there.
fn waited(told: &File) -> Option<Duration> {
    let mut line = [0; 64];
    let read = told.read_at(&mut line, 0).ok()?;
    let mut numbers = std::str::from_utf8(line.get(..read)?).ok()?.split_ascii_whitespace();
    Some(Duration::from_nanos(numbers.nth(1)?.parse().ok()?))
}

/// Leaves the processor to whoever wants it: on Linux the thread has what others leave, and next to nothing beyond.
/// It is not kept from running: what it holds others may wait for, and those who search wait for the index. Elsewhere the
/// thread does without.
pub(crate) fn step_back() {
    // A thread has a niceness of its own here.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
        tracing::debug!(?error, "a thread runs at the priority of everything else");
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{LEAST, LONGEST, Leisure, NICE, TIMES, rest, step_back};
    use rustix::process::getpriority_process;
    use rustix::thread::gettid;
    use std::fs::File;
    use std::time::Duration;

    #[test]
    fn only_the_thread_itself_steps_back() {
        let own = || getpriority_process(Some(gettid())).unwrap();
        let before = own();
        let inside = std::thread::spawn(move || {
            step_back();
            own()
        });
        assert_eq!(inside.join().unwrap(), NICE);
        assert_eq!(own(), before);
    }

    #[test]
    fn whoever_had_to_wait_rests_longer() {
        let (none, short, long) = (Duration::ZERO, Duration::from_micros(10), Duration::from_millis(1));
        let cases = [(none, None), (short, None), (long, Some(long * TIMES)), (LONGEST, Some(LONGEST))];
        for (waited, want) in cases {
            assert_eq!(rest(waited), want, "after {waited:?}");
        }
        assert!(short * TIMES < LEAST);
    }

    #[test]
    fn the_system_tells_how_long_a_thread_has_waited() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("schedstat");
        for (line, want) in [("12 3400 5\n", Some(3400)), ("12\n", None), ("a b c\n", None), ("", None)] {
            std::fs::write(&path, line).unwrap();
            assert_eq!(super::waited(&File::open(&path).unwrap()), want.map(Duration::from_nanos), "{line:?}");
        }
        let own = std::thread::spawn(|| Leisure::begin().told.as_ref().and_then(super::waited));
        assert!(own.join().unwrap().is_some());
    }
}
