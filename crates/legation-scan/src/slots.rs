//! Sets of slots.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// A set of slots, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slots(u128, u128);

impl Slots {
    /// The set of this one alone; none beyond 256.
    pub(crate) fn one(number: usize) -> Option<Slots> {
        let number = u32::try_from(number).ok()?;
        match number.checked_sub(128) {
            None => Some(Slots(1 << number, 0)),
            Some(number) => Some(Slots(0, 1_u128.checked_shl(number)?)),
        }
    }

    /// Whether the two have one in common.
    pub(crate) fn meets(self, other: Slots) -> bool {
        self & other != Slots::default()
    }

    /// Whether all of the other's are here.
    pub(crate) fn has(self, other: Slots) -> bool {
        self & other == other
    }
}

impl BitAnd for Slots {
    type Output = Slots;

    fn bitand(self, other: Slots) -> Slots {
        Slots(self.0 & other.0, self.1 & other.1)
    }
}

impl BitOr for Slots {
    type Output = Slots;

    fn bitor(self, other: Slots) -> Slots {
        Slots(self.0 | other.0, self.1 | other.1)
    }
}

impl BitOrAssign for Slots {
    fn bitor_assign(&mut self, other: Slots) {
        *self = *self | other;
    }
}
