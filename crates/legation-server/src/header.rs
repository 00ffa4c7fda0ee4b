//! Headers that mean something only if they stand there once.

use axum::http::{HeaderMap, HeaderName};

/// How a header is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header<'h> {
    Absent,
    Once(&'h str),
    /// More than once, or not as text: two readers could take it for two things.
    Unclear,
}

impl<'h> Header<'h> {
    pub(crate) fn of(headers: &'h HeaderMap, name: &HeaderName) -> Header<'h> {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Header::Absent,
            (Some(value), None) => value.to_str().map_or(Header::Unclear, Header::Once),
            (Some(_), Some(_)) => Header::Unclear,
        }
    }
}
