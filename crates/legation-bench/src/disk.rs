//! What the disk itself costs: appending 1 KiB to a plain file and waiting until it is there.

use crate::clock::instant;
use anyhow::Context as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

/// The times of appends, made for so long.
pub(crate) fn syncs(place: &Path, time: Duration) -> anyhow::Result<Vec<Duration>> {
    let path = place.join("plain");
    let mut file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    let (start, mut times) = (instant(), Vec::new());
    while start.elapsed() < time || times.is_empty() {
        let begun = instant();
        file.write_all(&[7; 1024]).and_then(|()| file.sync_data()).context("cannot write to the disk")?;
        times.push(begun.elapsed());
    }
    Ok(times)
}

/// The time that so many hundredths of all stay below.
pub(crate) fn percentile(times: &mut [Duration], hundredths: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * hundredths / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::percentile;
    use std::time::Duration;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let mut times: Vec<_> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(&mut times, 50), Duration::from_millis(51));
        assert_eq!(percentile(&mut times, 99), Duration::from_millis(100));
        assert_eq!(percentile(&mut [], 99), Duration::ZERO);
    }
}
