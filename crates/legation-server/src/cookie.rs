//! The cookie a session is kept in: for this exchange alone, out of reach of scripts, and never sent along
//! by pages of other sites.

use crate::header::Header;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HOST};
use legation_engine::Token;
use std::time::Duration;

/// The cookie's name. Over https no page but one of this very host can have set it. Otherwise it has the port that
/// was asked: cookies know none, and exchanges on one machine would sign each other out.
fn name(secure: bool, headers: &HeaderMap) -> String {
    if secure {
        return "__Host-legation".to_owned();
    }
    let Header::Once(host) = Header::of(headers, &HOST) else { return "legation".to_owned() };
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    port.map_or_else(|| "legation".to_owned(), |port| format!("legation-{port}"))
}

/// What sets it, for whoever sent these headers.
pub(crate) fn set(secure: bool, headers: &HeaderMap, secret: &Token, time: Duration) -> String {
    written(secure, headers, secret.reveal(), time)
}

/// What ends it.
pub(crate) fn cleared(secure: bool, headers: &HeaderMap) -> String {
    written(secure, headers, "", Duration::ZERO)
}

fn written(secure: bool, headers: &HeaderMap, value: &str, time: Duration) -> String {
    let (name, secured) = (name(secure, headers), if secure { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{secured}", time.as_secs())
}

/// Its value, if it is there once: of two, one could be somebody else's.
pub(crate) fn read(secure: bool, headers: &HeaderMap) -> Option<&str> {
    let name = name(secure, headers);
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(found, _)| *found == name).map(|(_, value)| value);
    values.next().filter(|value| !value.is_empty() && values.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::read;
    use axum::http::header::HOST;
    use axum::http::{HeaderMap, HeaderValue};

    #[track_caller]
    fn check(lines: &[&str], secure: bool, want: Option<&str>) {
        check_at("localhost", lines, secure, want);
    }

    #[track_caller]
    fn check_at(host: &str, lines: &[&str], secure: bool, want: Option<&str>) {
        let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_str(host).unwrap())]);
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

    #[test]
    fn over_plain_http_each_port_has_its_own() {
        let both = &["legation-7400=x; legation-7500=y; legation=z; __Host-legation=s"];
        check_at("127.0.0.1:7400", both, false, Some("x"));
        check_at("[::1]:7500", both, false, Some("y"));
        check_at("[::1]", both, false, Some("z"));
        check_at("localhost:7600", both, false, None);
        check_at("localhost:7400", both, true, Some("s"));
    }
}
