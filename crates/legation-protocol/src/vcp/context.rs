//! Context strings: a situation in up to nine dimensions, written in emoji (VCP Adaptation). The
//! text is kept as it came; its values are read once and compared by meaning, not by spelling.

mod hint;
mod plain;
mod table;
mod transition;

pub use table::Dimension;
pub use transition::Transition;

use crate::id::is_invisible;
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation as _;

const JOINER: char = '\u{200d}';
const EMOJI_STYLE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// A situation.
///
/// ```
/// use legation_protocol::vcp::{Context, Dimension};
/// let context = Context::parse("👥👶|⏰🌅🌅")?;
/// assert_eq!(context.canonical(), "⏰🌅|👥👶");
/// assert_eq!(context.names(Dimension::Company).collect::<Vec<_>>(), ["children"]);
/// # Ok::<(), legation_protocol::vcp::BadContext>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Context {
    text: Box<str>,
    /// By dimension, each value once.
    values: Vec<(Dimension, Value)>,
}

/// One value of a dimension: an emoji, in the table's spelling when the table has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Value(Cow<'static, str>);

/// Why a text is no context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadContext {
    /// A part does not begin with one of the nine symbols.
    #[error("each part between bars begins with the symbol of a dimension, and one does not")]
    Symbol,
    /// A symbol twice.
    #[error("the dimension {0} is given twice")]
    Twice(Dimension),
    /// No values at all.
    #[error("a context has at least one value")]
    Empty,
    /// A word, white space or a hidden character where an emoji belongs.
    #[error("the values of {0} are emoji: no words, no white space, nothing hidden")]
    Value(Dimension),
}

impl Context {
    /// Reads a context in any order of dimensions.
    pub fn parse(text: &str) -> Result<Context, BadContext> {
        if let Some(values) = plain::values(text) {
            return Context::assemble(text.into(), values);
        }
        Context::parse_at_length(text)
    }

    fn parse_at_length(text: &str) -> Result<Context, BadContext> {
        let normal = match is_nfc_quick(text.chars()) {
            IsNormalized::Yes => Cow::Borrowed(text),
            IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
        };
        let mut values = Vec::with_capacity(8);
        let mut seen = Vec::with_capacity(9);
        for part in normal.split('|') {
            let mut clusters = part.graphemes(true);
            let dimension = clusters.next().and_then(Dimension::with_symbol).ok_or(BadContext::Symbol)?;
            if seen.contains(&dimension) {
                return Err(BadContext::Twice(dimension));
            }
            seen.push(dimension);
            for cluster in clusters {
                values.push((dimension, Value::of(dimension, cluster)?));
            }
        }
        Context::assemble(text.into(), values)
    }

    /// The context of these values, in canonical form.
    pub fn from_values(values: impl IntoIterator<Item = (Dimension, Value)>) -> Result<Context, BadContext> {
        let mut context = Context::assemble(Box::default(), values.into_iter().collect())?;
        context.text = context.canonical().into();
        Ok(context)
    }

    fn assemble(text: Box<str>, mut values: Vec<(Dimension, Value)>) -> Result<Context, BadContext> {
        // Stable, so that the first of two equal values keeps its place.
        values.sort_by_key(|(dimension, _)| *dimension);
        let mut seen = BTreeSet::new();
        values.retain(|pair| seen.insert(pair.clone()));
        if values.is_empty() { Err(BadContext::Empty) } else { Ok(Context { text, values }) }
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The one spelling all contexts of this meaning share, up to the order of values.
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut last = None;
        for (dimension, value) in &self.values {
            if last != Some(*dimension) {
                text.push_str(if last.is_some() { "|" } else { "" });
                text.push_str(dimension.symbol());
                last = Some(*dimension);
            }
            text.push_str(value.as_str());
        }
        text
    }

    /// The values of one dimension.
    pub fn values(&self, dimension: Dimension) -> impl Iterator<Item = &Value> {
        self.values.iter().filter(move |(own, _)| *own == dimension).map(|(_, value)| value)
    }

    /// The names of those values of one dimension that have one.
    pub fn names(&self, dimension: Dimension) -> impl Iterator<Item = &'static str> {
        self.values(dimension).filter_map(move |value| value.name(dimension))
    }

    /// Whether 🚨, 🔥 or 🌪️ is in occasion, environment or constraints.
    pub fn is_emergency(&self) -> bool {
        self.values.iter().any(|(dimension, value)| {
            matches!(dimension, Dimension::Occasion | Dimension::Environment | Dimension::Constraints)
                && ["🚨", "🔥", "🌪"].iter().any(|alarm| same_emoji(alarm, value.as_str()))
        })
    }
}

impl Value {
    /// The value of this emoji, whether the table has it or not.
    pub fn parse(dimension: Dimension, emoji: &str) -> Result<Value, BadContext> {
        let normal: String = emoji.nfc().collect();
        let mut clusters = normal.graphemes(true);
        match (clusters.next(), clusters.next()) {
            (Some(cluster), None) => Value::of(dimension, cluster),
            _ => Err(BadContext::Value(dimension)),
        }
    }

    /// The value with this name in the table.
    pub fn named(dimension: Dimension, name: &str) -> Option<Value> {
        let (emoji, _) = dimension.table().iter().find(|(_, own)| *own == name)?;
        Some(Value(Cow::Borrowed(emoji)))
    }

    fn of(dimension: Dimension, cluster: &str) -> Result<Value, BadContext> {
        if let Some((emoji, _)) = dimension.table().iter().find(|(emoji, _)| same_emoji(emoji, cluster)) {
            return Ok(Value(Cow::Borrowed(emoji)));
        }
        let fine = is_plain(cluster) && !cluster.trim_end_matches(EMOJI_STYLE).ends_with(JOINER);
        if fine { Ok(Value(Cow::Owned(cluster.to_owned()))) } else { Err(BadContext::Value(dimension)) }
    }

    /// The emoji.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its name, if the table has it.
    pub fn name(&self, dimension: Dimension) -> Option<&'static str> {
        dimension.table().iter().find(|(emoji, _)| *emoji == self.0).map(|(_, name)| *name)
    }
}

/// Equal but for U+FE0F, which senders write or leave out.
fn same_emoji(a: &str, b: &str) -> bool {
    a == b || a.chars().filter(|c| *c != EMOJI_STYLE).eq(b.chars().filter(|c| *c != EMOJI_STYLE))
}

/// Whether a cluster is something to see: no ASCII but in keycaps, no white space, nothing hidden.
fn is_plain(cluster: &str) -> bool {
    let keycap = cluster.ends_with(KEYCAP);
    cluster.chars().all(|c| match c {
        JOINER | EMOJI_STYLE | '\u{fe0e}' => true,
        '0'..='9' | '#' | '*' => keycap,
        '\u{fe00}'..='\u{fe0d}' | '\u{e0100}'..='\u{e01ef}' => false,
        _ => !c.is_ascii() && !c.is_whitespace() && !is_invisible(c),
    })
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl Serialize for Context {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadContext, Context, Dimension, Value};

    #[track_caller]
    fn check(text: &str, want: Result<&str, BadContext>) {
        let canonical = Context::parse(text).map(|context| context.canonical());
        assert_eq!(canonical.as_deref().map_err(|e| *e), want, "{text}");
    }

    #[test]
    fn the_canonical_form_is_sorted_and_has_no_repeats() {
        check("⏰🌅|📍🏡|👥👶", Ok("⏰🌅|📍🏡|👥👶"));
        check("👥👶|⏰🌅", Ok("⏰🌅|👥👶"));
        check("⏰🌅📅🌅", Ok("⏰🌅📅"));
        check("⏰|📍🏡", Ok("📍🏡"));
        check("🌡🌪|⏰\u{fe0f}☀", Ok("⏰☀️|🌡️🌪️"));
        check("⏰⏰|👥👥", Ok("⏰⏰|👥👥"));
        check("🌍e\u{301}", Ok("🌍é"));
        check("🔷1️⃣", Ok("🔷1️⃣"));
    }

    #[test]
    fn what_breaks_the_grammar_is_refused() {
        use Dimension::{Company, Time};
        for text in ["", "|", "⏰🌅|", "🌅", "home", "⏰🌅|🎲🎯", "👥🏽👶", "👥\u{200d}👶", "‚è∞üåÖ"]
        {
            check(text, Err(BadContext::Symbol));
        }
        check("⏰🌅|📍🏡|⏰", Err(BadContext::Twice(Time)));
        check("⏰|📍", Err(BadContext::Empty));
        for text in
            ["⏰morning", "⏰🌅 ", "⏰🌅\n", "⏰\u{202e}🌅", "⏰🌅\u{e0069}", "⏰🌅\u{e0141}", "⏰🌅\u{fe01}", "⏰1"]
        {
            check(text, Err(BadContext::Value(Time)));
        }
        check("👥👶\u{200d}", Err(BadContext::Value(Company)));
        check("👥👶\u{200d}\u{fe0f}", Err(BadContext::Value(Company)));
    }

    #[test]
    fn joined_emoji_are_one_value() {
        let context = Context::parse("👥👨‍👩‍👧👨‍⚕️🧑‍🤝‍🧑👮🏽").unwrap();
        let names: Vec<_> = context.names(Dimension::Company).collect();
        assert_eq!(names, ["family", "professional", "strangers"]);
        let custom = context.values(Dimension::Company).find(|v| v.name(Dimension::Company).is_none()).unwrap();
        assert_eq!(custom.as_str(), "👮🏽");
    }

    #[test]
    fn every_value_of_the_table_is_found_by_emoji_and_by_name() {
        for dimension in Dimension::ALL {
            for (emoji, name) in dimension.table() {
                let value = Value::named(*dimension, name).unwrap();
                assert_eq!(Value::parse(*dimension, emoji), Ok(value.clone()));
                let context = Context::from_values([(*dimension, value)]).unwrap();
                assert_eq!(Context::parse(context.as_str()), Ok(context.clone()));
                assert_eq!(context.names(*dimension).collect::<Vec<_>>(), [*name]);
            }
        }
    }

    #[test]
    fn three_emoji_in_three_dimensions_mean_emergency() {
        for text in ["🎭🚨", "🌡️🔥", "🌡🌪", "🔶🚨", "🎭🔥", "⏰🌅|🔶🌪️"] {
            assert!(Context::parse(text).unwrap().is_emergency(), "{text}");
        }
        for text in ["⏰🚨", "📍🔥", "🧠🌪️", "🎭🏥", "🌡️🥵"] {
            assert!(!Context::parse(text).unwrap().is_emergency(), "{text}");
        }
    }
}
