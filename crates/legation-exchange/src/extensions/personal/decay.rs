//! What time leaves of a signal, and where that stands.

use super::Signal;
use crate::extensions::words::words;
use crate::moment::Moment;

/// What everything fades to.
const BASELINE: u8 = 1;
/// How long a signal counts as fresh.
const FRESH: f64 = 60.0;
/// A signal with so small a part left of it is stale.
const STALE: f64 = 0.3;
/// What a floor must not make of a number that is whole but for its last bits.
const HAIR: f64 = 1e-9;

words!(
    /// Where a signal stands.
    Lifecycle {
        /// Just noted.
        Set = "SET" | "set",
        /// Fresh, or pinned.
        Active = "ACTIVE" | "active",
        /// Fading.
        Decaying = "DECAYING" | "decaying",
        /// Little is left of it.
        Stale = "STALE" | "stale",
        /// Nothing is left of it.
        Expired = "EXPIRED" | "expired",
    }
);

/// How much of a signal is left. Whole half-lives halve exactly.
pub fn effective(signal: &Signal, now: Moment) -> u8 {
    if signal.pinned {
        return signal.intensity;
    }
    let above = signal.intensity.saturating_sub(BASELINE);
    let left = f64::from(above) * (-age(signal, now) / signal.dimension.half_life().as_secs_f64()).exp2();
    let whole = (0..=above).rev().find(|whole| f64::from(*whole) <= left + HAIR);
    BASELINE + whole.unwrap_or(0)
}

/// Where a signal stands.
pub fn lifecycle(signal: &Signal, now: Moment) -> Lifecycle {
    let (age, left) = (age(signal, now), effective(signal, now));
    let above = f64::from(signal.intensity.saturating_sub(BASELINE));
    match left {
        _ if signal.pinned => Lifecycle::Active,
        _ if age <= 0.0 => Lifecycle::Set,
        _ if age <= FRESH => Lifecycle::Active,
        left if left <= BASELINE => Lifecycle::Expired,
        left if f64::from(left) <= f64::from(BASELINE) + above * STALE => Lifecycle::Stale,
        _ => Lifecycle::Decaying,
    }
}

/// Its age in seconds.
fn age(signal: &Signal, now: Moment) -> f64 {
    std::time::Duration::from_micros(now.micros().saturating_sub(signal.since.micros())).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::{Lifecycle, effective, lifecycle};
    use crate::extensions::personal::{Dimension, Signal, Source};
    use crate::moment::Moment;
    use proptest::prelude::*;
    use std::time::Duration;

    fn signal(dimension: Dimension, intensity: u8, pinned: bool) -> Signal {
        let category = dimension.categories()[0].to_owned();
        let since = Moment::from_micros(1_771_151_400_000_000);
        Signal { dimension, category, intensity, confidence: 1.0, source: Source::Declared, pinned, since }
    }

    #[track_caller]
    fn check(dimension: Dimension, intensity: u8, seconds: u64, want: (u8, Lifecycle)) {
        let signal = signal(dimension, intensity, false);
        let now = signal.since.plus(Duration::from_secs(seconds));
        assert_eq!((effective(&signal, now), lifecycle(&signal, now)), want, "{intensity} after {seconds} s");
    }

    #[test]
    fn a_signal_fades_by_its_half_life() {
        use Dimension::{BodySignals, CognitiveState, EmotionalTone, EnergyLevel, PerceivedUrgency};
        use Lifecycle::{Active, Decaying, Expired, Set, Stale};
        for dimension in Dimension::ALL {
            check(dimension, 5, 0, (5, Set));
            let half = dimension.half_life().as_secs();
            check(dimension, 5, half, (3, Decaying));
            check(dimension, 5, 2 * half, (2, Stale));
            check(dimension, 5, 2 * half + 1, (1, Expired));
        }
        check(EmotionalTone, 5, 1, (4, Active));
        check(EmotionalTone, 5, 60, (4, Active));
        check(EmotionalTone, 5, 61, (4, Decaying));
        check(EmotionalTone, 5, 1799, (3, Decaying));
        check(EmotionalTone, 5, 1801, (2, Stale));
        check(CognitiveState, 3, 720, (2, Decaying));
        check(CognitiveState, 3, 721, (1, Expired));
        check(PerceivedUrgency, 1, 0, (1, Set));
        check(PerceivedUrgency, 1, 60, (1, Active));
        check(PerceivedUrgency, 1, 61, (1, Expired));
        check(EnergyLevel, 2, 30, (1, Active));
        check(BodySignals, 4, 14_400, (2, Decaying));
        check(BodySignals, 5, 14_400 * 40, (1, Expired));
    }

    #[test]
    fn a_pinned_signal_never_fades() {
        let signal = signal(Dimension::CognitiveState, 4, true);
        for seconds in [0, 30, 720, 1 << 40] {
            let now = signal.since.plus(Duration::from_secs(seconds));
            assert_eq!((effective(&signal, now), lifecycle(&signal, now)), (4, Lifecycle::Active));
        }
    }

    #[test]
    fn a_clock_that_went_back_makes_nothing_of_it() {
        let signal = signal(Dimension::BodySignals, 5, false);
        assert_eq!((effective(&signal, Moment::default()), lifecycle(&signal, Moment::default())), (5, Lifecycle::Set));
    }

    proptest! {
        #[test]
        fn it_only_ever_fades(intensity in 1..=5u8, dimension in 0..5usize, first in 0..100_000u64, more in 0..100_000u64) {
            let signal = signal(Dimension::ALL[dimension], intensity, false);
            let at = |seconds| signal.since.plus(Duration::from_secs(seconds));
            let (before, after) = (effective(&signal, at(first)), effective(&signal, at(first + more)));
            prop_assert!((1..=intensity).contains(&before) && after <= before);
            prop_assert!(lifecycle(&signal, at(first)) <= lifecycle(&signal, at(first + more)));
        }

        #[test]
        fn it_is_what_the_formula_gives(intensity in 1..=5u8, dimension in 0..5usize, seconds in 0..100_000u32) {
            let signal = signal(Dimension::ALL[dimension], intensity, false);
            let half = signal.dimension.half_life().as_secs_f64();
            let left = 1.0 + f64::from(intensity - 1) * (-std::f64::consts::LN_2 * f64::from(seconds) / half).exp();
            let found = f64::from(effective(&signal, signal.since.plus(Duration::from_secs(seconds.into()))));
            prop_assert!((found - left.floor().max(1.0)).abs() < 0.5 || (left - left.round()).abs() < 1e-6);
        }
    }
}
