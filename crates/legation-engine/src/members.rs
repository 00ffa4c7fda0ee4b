//! Reading JSON that is no message into a type of ours. What is wrong is said in our words and with its place: the parser's
//! own are for whoever wrote the type.

use legation_protocol::{Code, Rejection};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// How many characters of what was sent are quoted.
const QUOTED: usize = 64;

/// What a text says, if it is what this type takes.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Rejection> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| refusal(&error))?;
    reader.end().map_err(|_| Rejection::because(Code::SchemaInvalid, "there is more behind the value"))?;
    Ok(read)
}

/// The same of a value.
pub fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, Rejection> {
    serde_path_to_error::deserialize(value).map_err(|error| refusal(&error))
}

fn refusal(error: &serde_path_to_error::Error<serde_json::Error>) -> Rejection {
    let text = error.inner().to_string();
    // Where it stands in the text is no news to programs.
    let said = text.rfind(" at line ").and_then(|end| text.get(..end)).unwrap_or(&text);
    let mut at = pointer(error.path());
    if let Some(name) = named(said).filter(|name| !at.ends_with(&step(name))) {
        at.push_str(&step(name));
    }
    Rejection::because(Code::SchemaInvalid, told(said)).at(at)
}

fn pointer(path: &Path) -> String {
    let steps = path.iter().map_while(|segment| match segment {
        Segment::Seq { index } => Some(format!("/{index}")),
        Segment::Map { key } => Some(step(key)),
        Segment::Enum { variant } => Some(step(variant)),
        Segment::Unknown => None,
    });
    steps.collect()
}

fn step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The member that is missing, or that is not known.
fn named(said: &str) -> Option<&str> {
    let rest = said.strip_prefix("missing field `").or_else(|| said.strip_prefix("unknown field `"))?;
    rest.split('`').next()
}

/// What is wrong, said as the front door says it of messages. What a type of ours says of itself stays.
pub fn told(said: &str) -> String {
    let quoted = |rest: &str| rest.split('`').next().unwrap_or_default().chars().take(QUOTED).collect::<String>();
    if let Some(rest) = said.strip_prefix("missing field `") {
        return format!("the member `{}` is missing", quoted(rest));
    }
    if let Some(rest) = said.strip_prefix("unknown field `") {
        return format!("there is no member `{}` here{}", quoted(rest), choices(rest));
    }
    if let Some(rest) = said.strip_prefix("unknown variant `") {
        return format!("`{}` is not known here{}", quoted(rest), choices(rest));
    }
    if let Some((_, expected)) = said.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("this must be {}", noun(expected));
    }
    if let Some((_, expected)) = said.strip_prefix("invalid value: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("this is beyond what is taken here: it must be {}", noun(expected));
    }
    // A list is as good as an object to the parser, if it has as many.
    if let Some((_, expected)) = said.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected ")) {
        return format!("this must be {}", noun(expected));
    }
    if said.starts_with("data did not match any variant") {
        return "this has none of the forms it may have".to_owned();
    }
    said.to_owned()
}

/// What would be known, where that is told.
fn choices(rest: &str) -> String {
    let names: Vec<_> = rest.split('`').skip(2).step_by(2).map(|name| format!("`{name}`")).collect();
    if names.is_empty() { String::new() } else { format!(": it takes {}", names.join(", ")) }
}

/// What is expected, for whoever knows JSON and no Rust.
fn noun(expected: &str) -> &str {
    match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, and not below 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" | "string or map" | "a character" => "a string",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" | "option" | "unit" => "an object",
        _ if expected.starts_with("struct ") => "an object",
        _ if expected.starts_with("a tuple") || expected.starts_with("tuple ") => "a list of as many as are named",
        _ if expected.contains("variant") || expected.starts_with("enum ") => "one of the names that are known",
        own => own,
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "read and thrown away")]
    struct Wanted {
        count: u8,
        #[serde(default)]
        names: Vec<String>,
        #[serde(default)]
        kinds: BTreeMap<String, Kind>,
        #[serde(default)]
        is_so: bool,
        #[serde(default)]
        short: Option<Short>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Good,
        Bad,
    }

    #[derive(Debug, Deserialize)]
    #[serde(try_from = "String")]
    struct Short;

    impl TryFrom<String> for Short {
        type Error = &'static str;

        fn try_from(text: String) -> Result<Short, Self::Error> {
            if text.len() < 4 { Ok(Short) } else { Err("a name has at most 3 bytes") }
        }
    }

    #[track_caller]
    fn check(text: &str, at: &str, says: &str) {
        let rejection = read::<Wanted>(text).unwrap_err();
        let first = rejection.first();
        assert_eq!((first.at.as_deref(), &*first.message), (Some(at), says), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_in_our_words() {
        check("{}", "/count", "the member `count` is missing");
        let known = "`count`, `names`, `kinds`, `is_so`, `short`";
        check(r#"{"count":1,"a/b":2}"#, "/a~1b", &format!("there is no member `a/b` here: it takes {known}"));
        check(r#"{"count":"1"}"#, "/count", "this must be a whole number, and not below 0");
        let beyond = "this is beyond what is taken here: it must be a whole number, and not below 0";
        check(r#"{"count":256}"#, "/count", beyond);
        check(r#"{"count":1,"names":{}}"#, "/names", "this must be a list");
        check(r#"{"count":1,"names":["a",2]}"#, "/names/1", "this must be a string");
        check(r#"{"count":1,"kinds":[]}"#, "/kinds", "this must be an object");
        check(r#"{"count":1,"kinds":{"x":"odd"}}"#, "/kinds/x", "`odd` is not known here: it takes `good`, `bad`");
        check(r#"{"count":1,"is_so":0}"#, "/is_so", "this must be true or false");
        check(r#"{"count":1,"short":"long"}"#, "/short", "a name has at most 3 bytes");
        check("[]", "", "this must be an object");
        assert!(read::<Wanted>(r#"{"count":1}{}"#).is_err());
    }
}
