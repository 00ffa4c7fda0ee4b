//! What kind of body a request has. Only kinds that a web page cannot send unasked are read;
//! the form to sign in is read elsewhere.

use crate::header::Header;
use crate::refusal::Refusal;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use legation_protocol::Code;

/// The media type of verdicts by line.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// A kind of body that is read somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    /// One JSON object.
    Json,
    /// One JSON object a line.
    Lines,
}

impl Media {
    /// What kind of body these headers announce.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Media, Refusal> {
        if headers.contains_key(CONTENT_ENCODING) {
            return Err(refuse("bodies are sent as they are, without Content-Encoding"));
        }
        let media = match Header::of(headers, &CONTENT_TYPE) {
            Header::Once(text) => named(text),
            Header::Absent | Header::Unclear => None,
        };
        media.ok_or_else(|| refuse("send application/json in UTF-8, or application/x-ndjson for many messages"))
    }

    /// Makes sure that they announce one JSON object.
    pub(crate) fn json(headers: &HeaderMap) -> Result<(), Refusal> {
        match Media::of(headers)? {
            Media::Json => Ok(()),
            Media::Lines => Err(refuse("this takes one application/json object")),
        }
    }
}

fn refuse(message: &'static str) -> Refusal {
    Refusal::because(Code::UnsupportedMediaType, message)
}

fn named(text: &str) -> Option<Media> {
    let mut parts = text.split(';').map(str::trim);
    let media = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/json" => Media::Json,
        NDJSON | "application/jsonl" => Media::Lines,
        _ => return None,
    };
    let is_utf8 = |value: &str| value.trim_matches('"').eq_ignore_ascii_case("utf-8");
    let fits = |part: &str| match part.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => is_utf8(value.trim()),
        _ => true,
    };
    parts.all(fits).then_some(media)
}

#[cfg(test)]
mod tests {
    use super::{Media, named};

    #[track_caller]
    fn check(text: &str, want: Option<Media>) {
        assert_eq!(named(text), want, "{text}");
    }

    #[test]
    fn only_json_in_utf_8_is_read() {
        check("application/json", Some(Media::Json));
        check("Application/JSON; charset=UTF-8", Some(Media::Json));
        check("application/json;charset=\"utf-8\"", Some(Media::Json));
        check("application/x-ndjson", Some(Media::Lines));
        check("application/jsonl", Some(Media::Lines));
        for other in [
            "",
            "text/plain",
            "text/plain; application/json",
            "application/json; charset=utf-16",
            "application/json; charset=utf-8; charset=latin1",
            "application/jsonp",
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
        ] {
            check(other, None);
        }
    }
}
