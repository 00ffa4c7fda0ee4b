//! The cookie a session is kept in: for this exchange alone, out of reach of scripts, and never sent along
//! by pages of other sites.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use legation_engine::Token;
use std::time::Duration;

/// The cookie's name. Over https no page but one of this very host can have set it.
fn name(secure: bool) -> &'static str {
    if secure { "__Host-legation" } else { "legation" }
}

/// What sets it.
pub(crate) fn set(secure: bool, secret: &Token, time: Duration) -> String {
    written(secure, secret.reveal(), time)
}

/// What ends it.
pub(crate) fn cleared(secure: bool) -> String {
    written(secure, "", Duration::ZERO)
}

fn written(secure: bool, value: &str, time: Duration) -> String {
    let secured = if secure { "; Secure" } else { "" };
    format!("{}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{secured}", name(secure), time.as_secs())
}

/// Its value, if it is there once: of two, one could be somebody else's.
pub(crate) fn read(secure: bool, headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(found, _)| *found == name(secure)).map(|(_, value)| value);
    values.next().filter(|value| !value.is_empty() && values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::read;
    use axum::http::{HeaderMap, HeaderValue};

    #[track_caller]
    fn check(lines: &[&str], secure: bool, want: Option<&str>) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("cookie", HeaderValue::from_str(line).unwrap());
        }
        assert_eq!(read(secure, &headers), want, "{lines:?}");
    }

    #[test]
    fn the_cookie_is_read_if_it_is_there_once() {
        check(&["legation=x"], false, Some("x"));
        check(&["a=b; legation=x;c=d"], false, Some("x"));
        check(&["a=b", "legation=x"], false, Some("x"));
        check(&["__Host-legation=y; legation=x"], true, Some("y"));
        check(&["__Host-legation=y; legation=x"], false, Some("x"));
        check(&["legation=x"], true, None);
        check(&["legation=x; legation=y"], false, None);
        check(&["legation=x", "legation=x"], false, None);
        check(&["legation="], false, None);
        check(&["notlegation=x; Legation=x; legation"], false, None);
        check(&[], false, None);
    }
}
