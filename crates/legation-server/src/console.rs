//! The console: a page that runs in the browser, and the files it is made of. They lie in the program itself, so
//! nothing else is needed to serve them. Only who is signed in gets the page; the files say nothing of anybody.

use crate::refusal::Refusal;
use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
    REFERRER_POLICY, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_protocol::Code;
use rust_embed::{EmbeddedFile, RustEmbed};
use std::fmt::Write as _;

/// What `cargo xtask console` built.
#[derive(RustEmbed)]
#[folder = "../../console/dist"]
struct Dist;

const SHIELD: [(HeaderName, &str); 3] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (REFERRER_POLICY, "no-referrer"),
];

/// A worker is held to what comes with its own file: it asks this exchange, and does nothing else.
const WORKER: HeaderValue = HeaderValue::from_static("default-src 'none'; connect-src 'self'");

/// A file's name changes with what is in it.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The page itself.
pub(crate) fn page() -> Result<Response, Refusal> {
    let page = Dist::get("index.html").ok_or_else(missing)?;
    Ok((SHIELD, page.data.into_owned()).into_response())
}

/// `GET /assets/{file}`
pub(crate) async fn asset(name: Result<Path<String>, PathRejection>, headers: HeaderMap) -> Result<Response, Refusal> {
    let Path(name) = name.map_err(|_| missing())?;
    let media = media(&name).ok_or_else(missing)?;
    let small = takes_brotli(&headers).then(|| Dist::get(&format!("assets/{name}.br"))).flatten();
    let encoding = small.is_some().then_some((CONTENT_ENCODING, "br"));
    let file = small.or_else(|| Dist::get(&format!("assets/{name}"))).ok_or_else(missing)?;
    let tag = tag(&file);
    let mut response = if headers.get_all(IF_NONE_MATCH).iter().any(|known| *known == tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(CONTENT_TYPE, media)], file.data.into_owned()).into_response()
    };
    let told = [(CACHE_CONTROL, FOR_EVER), (VARY, HeaderValue::from_static("accept-encoding"))];
    response.headers_mut().extend(told);
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, WORKER);
    response.headers_mut().extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    response.headers_mut().extend(encoding.map(|(name, value)| (name, HeaderValue::from_static(value))));
    Ok(response)
}

fn missing() -> Refusal {
    Refusal::because(Code::NotFound, "there is nothing at this path")
}

/// The kinds of file the console is made of.
fn media(name: &str) -> Option<&'static str> {
    match name.rsplit_once('.')?.1 {
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "woff2" => Some("font/woff2"),
        _ => None,
    }
}

fn takes_brotli(headers: &HeaderMap) -> bool {
    let named = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = named.flat_map(|text| text.split(',')).map(str::trim);
    codings.any(|coding| coding == "br" || coding.strip_prefix("br;").is_some_and(|rest| !rest.contains("q=0")))
}

fn tag(file: &EmbeddedFile) -> String {
    let hash = file.metadata.sha256_hash();
    let hex = hash.iter().take(16).fold(String::new(), |mut hex, byte| {
        // A string takes whatever is written to it.
        let _ = write!(hex, "{byte:02x}");
        hex
    });
    format!("\"{hex}\"")
}

#[cfg(test)]
mod tests {
    use super::takes_brotli;
    use axum::http::{HeaderMap, HeaderValue};

    #[track_caller]
    fn check(text: &'static str, want: bool) {
        let headers = HeaderMap::from_iter([("accept-encoding".parse().unwrap(), HeaderValue::from_static(text))]);
        assert_eq!(takes_brotli(&headers), want, "{text}");
    }

    #[test]
    fn what_is_packed_goes_to_those_who_can_open_it() {
        for text in ["br", "gzip, deflate, br, zstd", "br;q=1.0, *;q=0.5"] {
            check(text, true);
        }
        for text in ["", "gzip", "brotli", "br;q=0", "identity"] {
            check(text, false);
        }
    }
}
