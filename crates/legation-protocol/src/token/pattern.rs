//! Patterns over value tokens: `*` stands for one segment, `**` for any number, none included.

use super::{TokenError, ValueToken, check_length, check_segment};
use std::fmt;
use std::str::FromStr;

/// A pattern such as `family.*.guide` or `company.**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Exactly(Box<str>),
    One,
    Any,
}

impl Pattern {
    /// Whether the token's segments fit. Its version and namespace play no part.
    pub fn matches(&self, token: &ValueToken) -> bool {
        // reached[i]: the parts so far can take exactly the first i segments. One row per part
        // keeps the cost at parts times segments, whatever the stars.
        let segments: Vec<&str> = token.segments().collect();
        let mut reached = vec![false; segments.len() + 1];
        if let Some(start) = reached.first_mut() {
            *start = true;
        }
        for part in &self.0 {
            reached = part.step(&reached, &segments);
        }
        reached.last() == Some(&true)
    }
}

impl Part {
    fn step(&self, reached: &[bool], segments: &[&str]) -> Vec<bool> {
        let mut open = false;
        let after_one = |fits: &dyn Fn(&str) -> bool| {
            let taken = reached.iter().zip(segments).map(|(before, segment)| *before && fits(segment));
            std::iter::once(false).chain(taken).collect()
        };
        match self {
            Part::Exactly(name) => after_one(&|segment| segment == &**name),
            Part::One => after_one(&|_| true),
            Part::Any => reached
                .iter()
                .map(|here| {
                    open |= here;
                    open
                })
                .collect(),
        }
    }
}

impl FromStr for Pattern {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        check_length(text)?;
        let part = |part: &str| match part {
            "*" => Ok(Part::One),
            "**" => Ok(Part::Any),
            name => check_segment(name).map(|()| Part::Exactly(name.into())),
        };
        text.split('.').map(part).collect::<Result<_, _>>().map(Pattern)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, part) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(".")?;
            }
            f.write_str(match part {
                Part::Exactly(name) => name,
                Part::One => "*",
                Part::Any => "**",
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;
    use crate::token::TokenError;

    #[track_caller]
    fn check(pattern: &str, token: &str, fits: bool) {
        let parsed: Pattern = pattern.parse().unwrap();
        assert_eq!(parsed.to_string(), pattern);
        assert_eq!(parsed.matches(&token.parse().unwrap()), fits, "{pattern} on {token}");
    }

    #[test]
    fn stars_match_segments() {
        check("family.safe.guide", "family.safe.guide", true);
        check("family.safe.guide", "family.safe.guide@1.0.0:ELEM", true);
        check("family.safe", "family.safe.guide", false);
        check("family.*.guide", "family.safe.guide", true);
        check("family.*.guide", "family.safe.strict.guide", false);
        check("*.*.*", "a.b.c", true);
        check("*.*.*", "a.b.c.d", false);
        check("**", "a.b.c.d.e", true);
        check("a.**", "a.b.c", true);
        check("a.b.c.**", "a.b.c", true);
        check("**.c", "a.b.c", true);
        check("**.b", "a.b.c", false);
        check("a.**.e", "a.b.c.d.e", true);
        check("a.**.*.e", "a.b.c.d.e", true);
        check("a.**.*.e", "a.b.e", true);
        check("**.**.x.**", "a.b.c", false);
        check("**.b.**.b.c", "a.b.a.b.c", true);
    }

    #[test]
    fn many_stars_stay_cheap() {
        let stars = ["**"; 42].join(".") + ".z";
        check(&stars, "a.a.a.a.a.a.a.a.a.a", false);
    }

    #[test]
    fn broken_patterns_are_named() {
        for (text, name) in [
            ("", "empty_token"),
            ("a..b", "invalid_segment"),
            ("a.***", "invalid_segment"),
            ("a*.b", "invalid_segment"),
            ("A.b", "invalid_segment"),
        ] {
            assert_eq!(text.parse::<Pattern>().map_err(TokenError::name), Err(name), "{text}");
        }
        assert_eq!(["**"; 64].join(".").parse::<Pattern>(), Err(TokenError::TooLong));
    }
}
