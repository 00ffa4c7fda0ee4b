//! The `language` of a payload (sections 3 and 5): a BCP 47 tag or a media type.

use serde::Serialize;
use std::fmt;

/// In what a payload is written: `en`, `pt-BR`, `application/json`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Language(Box<str>);

/// Why a text names no language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLanguage {
    /// With a slash, yet no media type.
    #[error("this is no media type: one is written type/subtype, with parameters as ; name=value")]
    MediaType,
    /// Without a slash, yet no language tag.
    #[error("this is neither a language tag (BCP 47) nor a media type")]
    Tag,
}

const JSON: &str = "application/json";

/// Tags registered before the rules, which they break (RFC 5646, `irregular`).
const IRREGULAR: [&str; 17] = [
    "en-GB-oed",
    "i-ami",
    "i-bnn",
    "i-default",
    "i-enochian",
    "i-hak",
    "i-klingon",
    "i-lux",
    "i-mingo",
    "i-navajo",
    "i-pwn",
    "i-tao",
    "i-tay",
    "i-tsu",
    "sgn-BE-FR",
    "sgn-BE-NL",
    "sgn-CH-DE",
];

impl Language {
    /// Reads a tag or a media type.
    pub fn parse(text: &str) -> Result<Language, BadLanguage> {
        let fault = if text.contains('/') { BadLanguage::MediaType } else { BadLanguage::Tag };
        let fits = match fault {
            BadLanguage::MediaType => text == JSON || is_media_type(text),
            BadLanguage::Tag => is_tag(text),
        };
        if fits { Ok(Language(text.into())) } else { Err(fault) }
    }

    /// `application/json`, which section 5 recommends for structured data.
    pub fn json() -> Language {
        Language(JSON.into())
    }

    /// Whether this is a media type rather than a language tag.
    pub fn is_media_type(&self) -> bool {
        self.0.contains('/')
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A well-formed tag (RFC 5646, section 2.1) whose first subtag has two or three letters: longer
/// ones are in its grammar but none is registered, and `english` is a mistake.
fn is_tag(text: &str) -> bool {
    if IRREGULAR.iter().any(|tag| tag.eq_ignore_ascii_case(text)) {
        return true;
    }
    let mut subtags = text.split('-').peekable();
    if subtags.peek().is_some_and(|first| first.eq_ignore_ascii_case("x")) {
        return private_part(&mut subtags) && subtags.next().is_none();
    }
    if !subtags.next().is_some_and(|first| letters(first, 2..=3)) {
        return false;
    }
    for _ in 0..3 {
        let _ = subtags.next_if(|extlang| letters(extlang, 3..=3));
    }
    let _ = subtags.next_if(|script| letters(script, 4..=4));
    let _ = subtags.next_if(|region| letters(region, 2..=2) || digits(region, 3));
    while subtags.next_if(|variant| is_variant(variant)).is_some() {}
    while subtags.next_if(|one| alnum(one, 1..=1) && !one.eq_ignore_ascii_case("x")).is_some() {
        if !run(&mut subtags, 2) {
            return false;
        }
    }
    match subtags.peek() {
        None => true,
        Some(_) => private_part(&mut subtags) && subtags.next().is_none(),
    }
}

type Subtags<'t> = std::iter::Peekable<std::str::Split<'t, char>>;

fn private_part(subtags: &mut Subtags<'_>) -> bool {
    subtags.next().is_some_and(|one| one.eq_ignore_ascii_case("x")) && run(subtags, 1)
}

/// One subtag or more of at least `shortest` characters.
fn run(subtags: &mut Subtags<'_>, shortest: usize) -> bool {
    let mut any = false;
    while subtags.next_if(|subtag| alnum(subtag, shortest..=8)).is_some() {
        any = true;
    }
    any
}

fn is_variant(subtag: &str) -> bool {
    alnum(subtag, 5..=8) || (alnum(subtag, 4..=4) && subtag.starts_with(|c: char| c.is_ascii_digit()))
}

fn letters(subtag: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphabetic())
}

fn digits(subtag: &str, length: usize) -> bool {
    subtag.len() == length && subtag.bytes().all(|b| b.is_ascii_digit())
}

fn alnum(subtag: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// `type/subtype` (RFC 6838, section 4.2) and its parameters (RFC 9110, section 5.6.6).
fn is_media_type(text: &str) -> bool {
    let (names, parameters) = match text.find(';') {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let names = if parameters.is_empty() { names } else { names.trim_end_matches([' ', '\t']) };
    names.split_once('/').is_some_and(|(kind, subtype)| is_name(kind) && is_name(subtype)) && are_parameters(parameters)
}

fn is_name(name: &str) -> bool {
    name.len() <= 127
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&b))
}

fn are_parameters(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        match parameter(rest) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

/// Takes one `; name=value` off the front.
fn parameter(text: &str) -> Option<&str> {
    let text = text.trim_start_matches([' ', '\t']).strip_prefix(';')?.trim_start_matches([' ', '\t']);
    let (name, value) = text.split_once('=')?;
    if name.is_empty() || !name.bytes().all(is_token) {
        return None;
    }
    if let Some(quoted) = value.strip_prefix('"') {
        return after_quote(quoted);
    }
    let end = value.bytes().position(|b| !is_token(b)).unwrap_or(value.len());
    let after = value.get(end..)?;
    (end > 0).then_some(after)
}

fn after_quote(text: &str) -> Option<&str> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return text.get(at + 1..),
            b'\\' => {
                bytes.next().filter(|(_, escaped)| matches!(escaped, b'\t' | b' '..=b'~'))?;
            }
            b'\t' | b' '..=b'~' => {}
            _ => return None,
        }
    }
    None
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{BadLanguage, Language};

    #[track_caller]
    fn check(text: &str, want: Result<(), BadLanguage>) {
        assert_eq!(Language::parse(text).map(|_| ()), want, "{text}");
    }

    #[test]
    fn tags_and_media_types_are_told_apart() {
        for text in [
            "en",
            "EN",
            "yue",
            "xh",
            "x-x",
            "pt-BR",
            "es-419",
            "zh-Hant-TW",
            "zh-yue-HK",
            "zh-cmn-Hans-CN",
            "sl-rozaj-biske-1994",
            "de-CH-1996",
            "de-DE-u-co-phonebk",
            "en-a-bbb-x-a",
            "x-in-house",
            "en-x-legal",
            "i-klingon",
            "I-KLINGON",
            "sgn-BE-FR",
            "art-lojban",
            "zh-min-nan",
        ] {
            check(text, Ok(()));
            assert!(!Language::parse(text).unwrap().is_media_type());
        }
        for text in [
            "application/json",
            "text/markdown",
            "application/vnd.elizaos.task+json",
            "text/plain;charset=utf-8",
            "text/plain ; a=b;c=d",
            "text/plain; q=\"a;\\\" b\"",
        ] {
            check(text, Ok(()));
            assert!(Language::parse(text).unwrap().is_media_type());
        }
    }

    #[test]
    fn names_of_languages_are_no_tags() {
        for text in [
            "",
            "e",
            "english",
            "python",
            "json",
            "en_US",
            "en US",
            "en-",
            "-en",
            "en--US",
            "en-abcdefghi",
            "en-x",
            "x",
            "x-",
            "en-u",
            "en-a-b",
            "en-US-US",
            "a-DE",
            "i-unknown",
            "en\n",
            "é",
            "en-é",
            "12",
            "xy-x-",
            "xyz1",
        ] {
            check(text, Err(BadLanguage::Tag));
        }
        for text in [
            "/",
            "a/",
            "/b",
            "*/*",
            "a/b/c",
            "a b/c",
            "a/b;",
            "a/b; c",
            "a/b; =d",
            "a/b; c=",
            "a/b; c=\"d",
            "a/b; c=d e",
            "a/b ",
            "a/b; c=d ",
            "a/b; c=\"\\\u{1}\"",
            "-a/b",
            "a/é",
        ] {
            check(text, Err(BadLanguage::MediaType));
        }
    }
}
