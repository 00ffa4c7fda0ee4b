//! Traces across programs (W3C Trace Context). A request joins the trace it names, or begins one; its
//! answer names the trace, and so does the message when it is delivered.

use crate::header::Header;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;

const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The trace a request belongs to, and this request's own place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    id: u128,
    span: u64,
    flags: u8,
    /// Whether the client named the trace.
    joined: bool,
}

impl Trace {
    /// The trace a request names; a new one if it names none, or none that can be read.
    pub(crate) fn of(headers: &HeaderMap) -> Trace {
        let (mut id, mut span) = ([0; 16], [0; 8]);
        // Without randomness traces run together, and nothing else is lost.
        let _ = getrandom::fill(&mut id).and_then(|()| getrandom::fill(&mut span));
        let span = u64::from_be_bytes(span).max(1);
        let named = match Header::of(headers, &TRACEPARENT) {
            Header::Once(text) => parse(text),
            Header::Absent | Header::Unclear => None,
        };
        match named {
            Some((id, flags)) => Trace { id, span, flags, joined: true },
            None => Trace { id: u128::from_be_bytes(id).max(1), span, flags: 0, joined: false },
        }
    }

    /// What goes with a message that is sent in this trace: only what its sender asked for.
    pub(crate) fn of_message(self) -> Option<String> {
        self.joined.then(|| self.to_string())
    }

    pub(crate) fn id(self) -> String {
        format!("{:032x}", self.id)
    }

    /// Puts the trace into an answer.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        if let Ok(value) = HeaderValue::from_str(&self.to_string()) {
            headers.insert(TRACEPARENT, value);
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.id, self.span, self.flags)
    }
}

/// Trace and flags of a `traceparent`. Later versions may have more members, this one has four.
fn parse(text: &str) -> Option<(u128, u8)> {
    let mut parts = text.splitn(5, '-');
    let mut hex = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let small = part.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        u128::from_str_radix(part, 16).ok().filter(|_| small)
    };
    let (version, id, span, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
    let fits = version != 0xff && id != 0 && span != 0 && (version > 0 || parts.next().is_none());
    // Of the flags only those of this version mean anything to us.
    fits.then_some((id, u8::try_from(flags & 1).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{Trace, parse};
    use axum::http::{HeaderMap, HeaderValue};

    const ID: u128 = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;

    #[track_caller]
    fn check(text: &str, want: Option<(u128, u8)>) {
        assert_eq!(parse(text), want, "{text}");
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", HeaderValue::from_str(text).unwrap());
        let trace = Trace::of(&headers);
        assert_eq!(trace.of_message().is_some(), want.is_some(), "{text}");
        assert_eq!(parse(&trace.to_string()), Some((trace.id, trace.flags)), "{text}");
        assert!(want.is_none_or(|(id, _)| id == trace.id), "{text}");
    }

    #[test]
    fn a_trace_is_read_as_the_recommendation_writes_it() {
        check("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Some((ID, 1)));
        check("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", Some((ID, 0)));
        check("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff", Some((ID, 1)));
        check("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be", Some((ID, 1)));
    }

    #[test]
    fn anything_else_begins_a_new_one() {
        for text in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
            " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            check(text, None);
        }
    }
}
