//! The pages by which people sign in with a browser. They are made here, whole; nothing runs in them and nothing
//! is fetched for them but their own style. Behind them is the console.

use crate::console;
use crate::guest::Guest;
use crate::html::Html;
use crate::refusal::Refusal;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, WWW_AUTHENTICATE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

const STYLE: &str = include_str!("../assets/style.css");

/// With `no-referrer` browsers would hide the origin of our own forms from us, too.
const SHIELD: [(HeaderName, &str); 3] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (REFERRER_POLICY, "same-origin"),
];

/// `GET /`
pub(crate) async fn home(guest: Guest) -> Result<Response, Refusal> {
    match guest.session {
        Some(_) => console::page(),
        None => Ok(page(&door(&Html::default()))),
    }
}

/// `GET /style.css`
pub(crate) async fn style() -> Response {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE).into_response()
}

/// Asks whether to sign in with the code of a link.
pub(crate) fn confirm(code: &str) -> Response {
    let form = Html::default()
        .raw(r#"<main class="door"><h1>Legation</h1><p>This link signs you in, once.</p>"#)
        .raw(r#"<form method="post" action="/signin"><input type="hidden" name="code" value=""#)
        .text(code)
        .raw(r#""><button autofocus>Sign in</button></form></main>"#);
    page(&form)
}

/// What everybody gets whose code or token is not good, whatever is wrong with it.
pub(crate) fn turned_away() -> Response {
    let told = Html::default().raw(
        r#"<p class="warning" role="alert">That did not sign you in. A link works once and for ten minutes; a token
is a person’s, and counts until it is withdrawn.</p>"#,
    );
    let challenge = [(WWW_AUTHENTICATE, "Bearer realm=\"legation\"")];
    (StatusCode::UNAUTHORIZED, challenge, page(&door(&told))).into_response()
}

/// How to sign in, below what there is to tell first.
fn door(first: &Html) -> Html {
    Html::default().raw(r#"<main class="door"><h1>Legation</h1>"#).join(first).raw(
        r#"<p>The exchange where agents speak on the record.</p>
<form method="post" action="/signin">
<label for="token">Your token</label>
<input id="token" name="token" type="password" required autocomplete="off" spellcheck="false" autofocus>
<button>Sign in</button>
</form>
<p>Or let an operator make you a link, in a terminal:</p>
<pre><code>legation signin</code></pre>
</main>"#,
    )
}

fn page(body: &Html) -> Response {
    let page = Html::default()
        .raw(
            r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Legation</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
"#,
        )
        .join(body)
        .raw("\n</body>\n</html>\n");
    (SHIELD, page.into_string()).into_response()
}
