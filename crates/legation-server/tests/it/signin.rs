//! Signing in with a browser, what the session is good for, and the page.

use crate::house::{Answer, House, encoded, path_of};
use legation_engine::{Rate, Token};
use legation_server::{Limits, Network, Proxy, Settings};
use serde_json::Value;

/// The code of a fresh link.
fn code(house: &House, body: &str) -> String {
    let made = house.ask("POST", "/v1/signin-links").by(&house.operator).json(body);
    assert_eq!(made.status, 201, "{made:?}");
    let made = made.json();
    assert!(made["expires_at"].as_str().unwrap().ends_with('Z'), "{made}");
    let url = made["url"].as_str().unwrap();
    let code = url.strip_prefix(&format!("http://{}/signin?code=", house.address));
    code.unwrap_or_else(|| panic!("{url}")).to_owned()
}

fn enter(house: &House, form: &str) -> Answer {
    house.ask("POST", "/signin").form(form)
}

/// The cookie as the browser sends it back.
fn cookie(entered: &Answer) -> String {
    assert_eq!((entered.status, &entered.headers["location"]), (303, &"/".parse().unwrap()), "{entered:?}");
    let set = entered.headers["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

fn session(house: &House, cookie: &str) -> Value {
    house.ask("GET", "/v1/session").header("cookie", cookie).get().ok()
}

fn is_signed_in(house: &House, cookie: &str) -> bool {
    house.ask("GET", "/").header("cookie", cookie).get().text.contains(r#"<div id="console">"#)
}

#[test]
fn a_link_signs_in_once() {
    let house = House::open();
    let code = code(&house, "{}");
    // Looking at the link does not use it up.
    for _ in 0..2 {
        let shown = house.ask("GET", format!("/signin?code={code}")).get();
        assert_eq!(shown.status, 200);
        assert!(shown.text.contains(&format!(r#"name="code" value="{code}""#)), "{}", shown.text);
        assert!(!shown.headers.contains_key("set-cookie"));
    }
    let entered = enter(&house, &format!("code={code}"));
    let set = entered.headers["set-cookie"].to_str().unwrap();
    let name = format!("legation-{}", house.address.port());
    assert!(
        set.starts_with(&format!("{name}=lgt_")) && set.ends_with("; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200"),
        "{set}"
    );
    let cookie = cookie(&entered);
    assert!(is_signed_in(&house, &cookie));
    let told = session(&house, &cookie);
    assert_eq!((&told["name"], &told["role"]), (&"operator".into(), &"operator".into()));
    assert_eq!(enter(&house, &format!("code={code}")).status, 401);
    // Signing in again ends the session before.
    let again = enter_with(&house, &cookie, &format!("token={}", house.operator));
    assert!(!is_signed_in(&house, &cookie) && is_signed_in(&house, &again));
    let left = house.ask("POST", "/signout").header("cookie", &again).form("");
    assert!(left.headers["set-cookie"].to_str().unwrap().starts_with(&format!("{name}=; ")) && left.status == 303);
    assert!(!is_signed_in(&house, &again));
}

#[test]
fn two_exchanges_on_one_machine_leave_each_others_sessions_alone() {
    let (one, other) = (House::open(), House::open());
    let first = cookie(&enter(&one, &format!("token={}", one.operator)));
    // A browser sends both to both: cookies know no ports.
    let second = enter_with(&other, &first, &format!("token={}", other.operator));
    assert_ne!(first.split('=').next(), second.split('=').next());
    let both = format!("{first}; {second}");
    assert!(is_signed_in(&one, &both) && is_signed_in(&other, &both));
}

fn enter_with(house: &House, before: &str, form: &str) -> String {
    cookie(&house.ask("POST", "/signin").header("cookie", before).form(form))
}

#[test]
fn the_code_the_server_was_started_with_is_the_operators() {
    let code = Token::fresh().unwrap();
    let house = House::told(Settings { code: Some(code.clone()), ..Settings::default() });
    let form = format!("code={}", code.reveal());
    assert_eq!(session(&house, &cookie(&enter(&house, &form)))["name"], "operator");
    assert_eq!(enter(&house, &form).status, 401);
}

#[test]
fn whatever_is_wrong_with_a_proof_gets_the_same_answer_and_is_counted() {
    let limits = Limits { failures: Some(Rate::per_minute(8)), ..Limits::default() };
    let house = House::limited(limits);
    let ann = house.admit("ann");
    let known = cookie(&enter(&house, &format!("token={}", house.operator)));
    let used = code(&house, "{}");
    cookie(&enter(&house, &format!("code={used}")));
    let first = enter(&house, "code=lgt_guess");
    assert!(first.headers.contains_key("www-authenticate") && !first.headers.contains_key("set-cookie"));
    for form in [
        "token=lgt_guess".to_owned(),
        format!("code={used}"),
        format!("token={}", ann.token),
        format!("code={}", house.operator),
        format!("token={}&code={used}", house.operator),
        "code=".to_owned(),
        String::new(),
    ] {
        let answer = enter(&house, &form);
        assert_eq!((answer.status, &answer.text), (401, &first.text), "{form}");
    }
    enter(&house, "code=lgt_guess").refused(429, "rate_limited");
    house.ask("GET", "/").get().refused(429, "rate_limited");
    // Who is signed in is not held to what others at the address did.
    assert!(is_signed_in(&house, &known));
}

#[test]
fn only_a_form_is_read_and_only_from_our_own_pages() {
    let house = House::open();
    let form = format!("token={}", house.operator);
    let ask = || house.ask("POST", "/signin");
    ask().json("{}").refused(415, "unsupported_media_type");
    ask().header("content-type", "text/plain").send(form.as_bytes()).refused(415, "unsupported_media_type");
    ask().form("user=x").refused(422, "schema_invalid");
    ask().form(&format!("{form}&{form}")).refused(422, "schema_invalid");
    for (name, value) in [
        ("origin", "https://evil.test"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        for path in ["/signin", "/signout"] {
            let asked = house.ask("POST", path).header(name, value).header("sec-fetch-mode", "navigate");
            asked.form(&form).refused(403, "forbidden_origin");
        }
    }
    let ours = ask().header("origin", "http://localhost:7400").header("sec-fetch-site", "same-origin");
    assert_eq!(ours.form(&form).status, 303);
}

#[test]
fn a_session_changes_nothing_without_the_word_only_our_page_knows() {
    let house = House::open();
    let cookie = cookie(&enter(&house, &format!("token={}", house.operator)));
    let csrf = session(&house, &cookie)["csrf"].as_str().unwrap().to_owned();
    let put = || house.ask("PUT", "/v1/tokens/rita").header("cookie", &cookie);
    let body = r#"{"role":"auditor"}"#;
    put().json(body).refused(403, "forbidden_origin");
    put().header("legation-csrf", "lgt_guess").json(body).refused(403, "forbidden_origin");
    put().header("legation-csrf", &csrf).header("legation-csrf", &csrf).json(body).refused(403, "forbidden_origin");
    put().header("legation-csrf", &csrf).json(body).ok();
    house.ask("DELETE", "/v1/tokens/rita").header("cookie", &cookie).get().refused(403, "forbidden_origin");
    house.ask("POST", "/v1/messages").header("cookie", &cookie).json("{}").refused(403, "forbidden_origin");
    house
        .ask("POST", "/.well-known/vcp/messages")
        .header("cookie", &cookie)
        .json("{}")
        .refused(403, "forbidden_origin");
    house.ask("GET", "/v1/tokens").header("cookie", &cookie).get().ok();
    // A page of another server on this machine gets nothing out of the cookie.
    let other = house.ask("GET", "/v1/tokens").header("cookie", &cookie).header("sec-fetch-site", "same-site");
    other.get().refused(401, "unauthenticated");
    // Another session has a word of its own.
    let second = self::cookie(&enter(&house, &format!("token={}", house.operator)));
    let mixed = house.ask("PUT", "/v1/tokens/rita").header("cookie", &second).header("legation-csrf", &csrf);
    mixed.json(body).refused(403, "forbidden_origin");
}

#[test]
fn a_token_in_the_header_counts_before_the_cookie() {
    let house = House::open();
    let (ann, rita) = (house.admit("ann"), house.grant("rita", "auditor"));
    let cookie = cookie(&enter(&house, &format!("token={}", house.operator)));
    let ask = |method, path: &str, token: &str| house.ask(method, path).header("cookie", &cookie).by(token);
    let told = ask("GET", "/v1/session", &rita).get().ok();
    assert_eq!(told, serde_json::json!({"name": "rita", "role": "auditor"}));
    ask("GET", "/v1/tokens", &ann.token).get().refused(403, "not_allowed");
    ask("GET", "/v1/tokens", "lgt_guess").get().refused(401, "unauthenticated");
    // With it no word is needed.
    ask("PUT", "/v1/tokens/eve", &house.operator).json(r#"{"role":"auditor"}"#).ok();
    assert!(ask("GET", "/", &rita).get().text.contains("Your token"));
}

#[test]
fn a_session_ends_with_the_token_it_stands_for() {
    let house = House::open();
    let first = house.grant("rita", "auditor");
    let by_token = cookie(&enter(&house, &format!("token={first}")));
    let by_link = cookie(&enter(&house, &format!("code={}", code(&house, r#"{"name":"rita"}"#))));
    let unused = code(&house, r#"{"name":"rita"}"#);
    for cookie in [&by_token, &by_link] {
        assert_eq!(session(&house, cookie)["name"], "rita");
    }
    // Another role counts from the next request on, and the token in use goes on counting.
    let second = house.grant("rita", "reviewer");
    assert_eq!(session(&house, &by_token)["role"], "reviewer");
    // Once the new token is used the old one is over, and what was opened with it.
    let newer = cookie(&enter(&house, &format!("token={second}")));
    house.grant("otto", "auditor");
    assert!(!is_signed_in(&house, &by_token) && !is_signed_in(&house, &by_link) && is_signed_in(&house, &newer));
    house.ask("DELETE", "/v1/tokens/rita").by(&house.operator).get().ok();
    house.ask("GET", "/v1/session").header("cookie", &newer).get().refused(401, "unauthenticated");
    // A person of the same name is not signed in by what was somebody else's.
    house.grant("rita", "operator");
    assert_eq!(enter(&house, &format!("code={unused}")).status, 401);
    assert!(![by_token, by_link, newer].iter().any(|cookie| is_signed_in(&house, cookie)));
    let nobody = house.ask("POST", "/v1/signin-links").by(&house.operator).json(r#"{"name":"nobody"}"#);
    nobody.refused(404, "not_found");
}

#[test]
fn over_https_the_cookie_is_bound_to_the_host() {
    let proxy = Proxy { trusted: Network::LOOPBACK.to_vec(), ..Proxy::default() };
    let house = House::told(Settings { proxy, hosts: vec!["exchange.example".to_owned()], ..Settings::default() });
    let ask = |method, path: &str| {
        let ask = house.ask(method, path).header("x-forwarded-proto", "https").header("x-forwarded-for", "192.0.2.1");
        ask.header("host", "exchange.example")
    };
    let made = ask("POST", "/v1/signin-links").by(&house.operator).json("{}").ok();
    let code = made["url"].as_str().unwrap().strip_prefix("https://exchange.example/signin?code=").unwrap().to_owned();
    let entered = ask("POST", "/signin").header("origin", "https://exchange.example").form(&format!("code={code}"));
    let set = entered.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("__Host-legation=") && set.ends_with("; Secure"), "{set}");
    let cookie = cookie(&entered);
    ask("GET", "/v1/session").header("cookie", &cookie).get().ok();
    // The plain name could be any neighbour's.
    let plain = cookie.strip_prefix("__Host-").unwrap();
    ask("GET", "/v1/session").header("cookie", plain).get().refused(401, "unauthenticated");
}

#[test]
fn each_role_does_by_cookie_what_it_may_by_token() {
    let house = House::open();
    let ann = house.admit("ann");
    for (role, reads, orders) in [("operator", true, true), ("auditor", true, false), ("reviewer", false, false)] {
        let token = house.grant(&format!("{role}-1"), role);
        let cookie = cookie(&enter(&house, &format!("token={token}")));
        let csrf = session(&house, &cookie)["csrf"].as_str().unwrap().to_owned();
        let read = house.ask("GET", "/v1/audit/entries").header("cookie", &cookie).get();
        assert_eq!(read.status, if reads { 200 } else { 403 }, "{role}");
        let order = house.ask("POST", format!("{}/suspend", path_of(&ann.id))).header("cookie", &cookie);
        let order = order.header("legation-csrf", &csrf).json(r#"{"reason":"odd"}"#);
        assert_eq!(order.status, if orders { 200 } else { 403 }, "{role}: {order:?}");
    }
}

#[test]
fn every_page_is_shielded() {
    let house = House::open();
    let cookie = cookie(&enter(&house, &format!("token={}", house.operator)));
    let signed_in = house.ask("GET", "/").header("cookie", &cookie).get();
    let hostile = house.ask("GET", format!("/signin?code={}", encoded("\"><script>"))).get();
    assert!(hostile.text.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{}", hostile.text);
    let door = "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
    let console = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data:; \
                   connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
    for (page, policy, referrer) in [
        (signed_in, console, "no-referrer"),
        (hostile, door, "same-origin"),
        (house.ask("GET", "/").get(), door, "same-origin"),
        (enter(&house, "code=x"), door, "same-origin"),
    ] {
        let header = |name: &str| page.headers[name].to_str().unwrap();
        assert_eq!(header("content-security-policy"), policy);
        assert_eq!((header("x-content-type-options"), header("referrer-policy")), ("nosniff", referrer));
        assert_eq!(header("cache-control"), "no-store");
        assert!(!page.text.contains("style=") && !page.text.contains("<style"), "{}", page.text);
    }
    let style = house.ask("GET", "/style.css").get();
    assert_eq!((style.status, style.headers["content-type"].to_str().unwrap()), (200, "text/css; charset=utf-8"));
    assert_eq!(house.ask("GET", "/signin").get().status, 303);
}
