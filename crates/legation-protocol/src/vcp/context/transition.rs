//! How much a situation changed.

use super::{Context, Dimension, emoji};
use crate::names::names;
use std::collections::BTreeSet;

/// The weight of a change, lightest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Transition {
    /// Nothing changed.
    None,
    /// Something did.
    Minor,
    /// Agency or constraints changed, or three dimensions, or a child came or went.
    Major,
    /// The new situation is an emergency.
    Emergency,
}

names!(Transition { None = "none", Minor = "minor", Major = "major", Emergency = "emergency" });

impl Context {
    /// The weight of going from here to `new`. The order of values has no weight.
    pub fn transition_to(&self, new: &Context) -> Transition {
        if new.is_emergency() {
            return Transition::Emergency;
        }
        let of = |context: &Context, dimension| context.values(dimension).cloned().collect::<BTreeSet<_>>();
        let differs = |dimension: &Dimension| of(self, *dimension) != of(new, *dimension);
        let changed: Vec<_> = Dimension::ALL.iter().copied().filter(differs).collect();
        let freedom = changed.contains(&Dimension::Agency) || changed.contains(&Dimension::Constraints);
        if changed.is_empty() {
            Transition::None
        } else if freedom || changed.len() >= 3 || self.has_children() != new.has_children() {
            Transition::Major
        } else {
            Transition::Minor
        }
    }

    fn has_children(&self) -> bool {
        self.values(Dimension::Company).any(|value| {
            let untinted: String = value.as_str().chars().filter(|c| !emoji::is_tone(*c)).collect();
            untinted == "👶"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, Transition};

    #[track_caller]
    fn check(old: &str, new: &str, want: Transition) {
        let of = |text| Context::parse(text).unwrap();
        assert_eq!(of(old).transition_to(&of(new)), want, "{old} to {new}");
    }

    #[test]
    fn changes_are_weighed() {
        check("⏰🌅|📍🏡", "📍🏡|⏰🌅", Transition::None);
        check("⏰🌅📅", "⏰📅🌅", Transition::None);
        check("⏰☀️", "⏰☀", Transition::None);
        check("⏰🌅", "⏰🌆", Transition::Minor);
        check("⏰🌅|📍🏡", "⏰🌆|📍🏢", Transition::Minor);
        check("⏰🌅|📍🏡|🧠😌", "⏰🌆|📍🏢|🧠😴", Transition::Major);
        check("⏰🌅", "⏰🌅|🔷👑", Transition::Major);
        check("⏰🌅|🔶○", "⏰🌅", Transition::Major);
        check("👥👔", "👥👔👶", Transition::Major);
        check("👥👶", "⏰🌅", Transition::Major);
        check("👥👔", "👥👔👶🏽", Transition::Major);
        check("👥👶\u{fe0f}🏿", "👥👔", Transition::Major);
        check("👥👶🏻", "👥👶🏿", Transition::Minor);
        check("👥👔", "👥🤝", Transition::Minor);
        check("⏰🌅", "⏰🌅|🎭🚨", Transition::Emergency);
        check("🎭🚨", "🎭🚨", Transition::Emergency);
        check("🎭🚨", "🎭➖", Transition::Minor);
    }
}
