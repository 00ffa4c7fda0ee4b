//! Context strings: a situation in up to nine dimensions, written in emoji (VCP Adaptation). The
//! text is kept as it came; its values are read once and compared by meaning, not by spelling.

mod emoji;
mod hint;
mod plain;
mod table;
mod transition;

pub use table::Dimension;
pub use transition::Transition;

use crate::names::as_text;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What helps whoever wrote none.
pub(super) const EXAMPLE: &str = "write it like ⏰🌅|📍🏡|👥👶, as UTF-8, with the symbols ⏰ 📍 👥 🌍 🎭 🧠 🌡️ 🔷 🔶";

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

as_text!(Context);

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
    /// A word, half a flag, white space or a hidden character where an emoji belongs.
    #[error("the values of {0} are emoji: no words, no half flags, no white space, nothing hidden")]
    Value(Dimension),
    /// A symbol among values that are not listed with it.
    #[error("{} begins the dimension {symbol} and is no value of {within}", symbol.symbol())]
    Bar {
        /// The dimension whose symbol it is.
        symbol: Dimension,
        /// The dimension whose values it stands among.
        within: Dimension,
    },
}

impl BadContext {
    /// What would mend it.
    pub fn help(self) -> Cow<'static, str> {
        match self {
            BadContext::Bar { symbol, .. } => format!("is a bar missing before {}?", symbol.symbol()).into(),
            BadContext::Symbol | BadContext::Twice(_) | BadContext::Empty | BadContext::Value(_) => EXAMPLE.into(),
        }
    }
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
        let mut values = Vec::with_capacity(8);
        let mut seen = Vec::with_capacity(9);
        for part in text.split('|') {
            let (dimension, mut rest) = Dimension::begun(part).ok_or(BadContext::Symbol)?;
            if seen.contains(&dimension) {
                return Err(BadContext::Twice(dimension));
            }
            seen.push(dimension);
            while !rest.is_empty() {
                let (emoji, next) = emoji::first(rest).ok_or(BadContext::Value(dimension))?;
                values.push((dimension, Value::of(dimension, emoji)?));
                rest = next;
            }
        }
        Context::assemble(text.into(), values)
    }

    /// The context of these values, in canonical form.
    pub fn from_values(values: impl IntoIterator<Item = (Dimension, Value)>) -> Result<Context, BadContext> {
        // A value may come from another dimension, where it was fine.
        let values = values.into_iter().map(|(dimension, value)| Ok((dimension, Value::of(dimension, &value.0)?)));
        let mut context = Context::assemble(Box::default(), values.collect::<Result<_, _>>()?)?;
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
                && ["🚨", "🔥", "🌪"].iter().any(|alarm| emoji::same(alarm, value.as_str()))
        })
    }
}

impl Value {
    /// The value of this emoji, whether the table has it or not.
    pub fn parse(dimension: Dimension, emoji: &str) -> Result<Value, BadContext> {
        match emoji::first(emoji) {
            Some((whole, "")) => Value::of(dimension, whole),
            Some(_) | None => Err(BadContext::Value(dimension)),
        }
    }

    /// The value with this name in the table.
    pub fn named(dimension: Dimension, name: &str) -> Option<Value> {
        let (emoji, _) = dimension.table().iter().find(|(_, own)| *own == name)?;
        Some(Value(Cow::Borrowed(emoji)))
    }

    /// The value of what is known to be one emoji.
    fn of(dimension: Dimension, emoji: &str) -> Result<Value, BadContext> {
        if let Some((listed, _)) = dimension.table().iter().find(|(listed, _)| emoji::same(listed, emoji)) {
            return Ok(Value(Cow::Borrowed(listed)));
        }
        match Dimension::ALL.iter().find(|other| emoji::same(other.symbol(), emoji)) {
            Some(other) => Err(BadContext::Bar { symbol: *other, within: dimension }),
            None => Ok(Value(Cow::Owned(emoji::plain(emoji).into_owned()))),
        }
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
        check("🔷1️⃣", Ok("🔷1️⃣"));
    }

    #[test]
    fn style_makes_no_other_value() {
        check("🌡\u{fe0e}🔥\u{fe0e}☀\u{fe0e}", Ok("🌡️🔥☀️"));
        check("🎭🔥\u{fe0e}🔥🔥\u{fe0f}", Ok("🎭🔥"));
        check("🧠❤❤️❤\u{fe0e}", Ok("🧠❤"));
        check("🧠1⃣1️⃣ℹ️", Ok("🧠1️⃣ℹ️"));
        assert!(Context::parse("🎭🔥\u{fe0e}").unwrap().is_emergency());
        let names = |text| Context::parse(text).unwrap().names(Dimension::Environment).collect::<Vec<_>>();
        assert_eq!(names("🌡🔥\u{fe0e}🌪\u{fe0e}"), ["fire", "dangerous"]);
    }

    #[test]
    fn flags_are_values_and_half_flags_are_not() {
        check("🌍🇩🇪🇫🇷🏴󠁧󠁢󠁳󠁣󠁴󠁿🇩🇪", Ok("🌍🇩🇪🇫🇷🏴󠁧󠁢󠁳󠁣󠁴󠁿"));
        for text in ["🌍🇩", "🌍🇩🇪🇫", "🌍🇩👋🇪", "🌍🏴\u{e0067}\u{e0062}", "🌍🏴\u{e007f}"]
        {
            check(text, Err(BadContext::Value(Dimension::Culture)));
        }
    }

    #[test]
    fn a_symbol_among_values_asks_for_a_bar() {
        use Dimension::{Company, Environment, Occasion, Space, Time};
        let bar = |symbol, within| Err(BadContext::Bar { symbol, within });
        check("⏰🌅🎭🚨", bar(Occasion, Time));
        check("⏰🌅🎭\u{fe0e}🚨", bar(Occasion, Time));
        check("⏰🌅🌡", bar(Environment, Time));
        check("⏰👥👶", bar(Company, Time));
        check("📍🏡📍🏢", bar(Space, Space));
        check("🌍👥👤|🔶⏰", Ok("🌍👥👤|🔶⏰"));
        check("🎭🧠🏽🧠‍🔥", Ok("🎭🧠🏽🧠‍🔥"));
        assert_eq!(Context::parse("⏰🌅🎭🚨").unwrap_err().help(), "is a bar missing before 🎭?");
        assert_eq!(Value::parse(Time, "🎭").map(|_| ""), bar(Occasion, Time));
        let crowd = Value::named(Company, "crowd").unwrap();
        assert!(Context::from_values([(Company, crowd.clone())]).is_ok());
        assert_eq!(Context::from_values([(Time, crowd)]).map(|_| ""), bar(Company, Time));
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
        for text in [
            "⏰morning",
            "⏰🌅 ",
            "⏰🌅\n",
            "⏰\u{202e}🌅",
            "⏰🌅\u{e0069}",
            "⏰🌅\u{e0141}",
            "⏰🌅\u{fe01}",
            "⏰1",
            "⏰e\u{301}",
            "⏰утро",
            "⏰朝",
            "⏰ℹ",
            "⏰\u{37e}",
            "⏰=\u{338}",
            "⏰🌅\u{338}",
            "⏰\u{2065}",
        ] {
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
