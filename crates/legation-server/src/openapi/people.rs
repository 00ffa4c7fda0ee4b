//! The page for people, and signing in to it.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{of, text};
use axum::http::Method;
use serde_json::{Value, json};

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "people",
        about: "The page for people with a browser, and signing in to it.",
        operations: vec![home(), style(), asset(), ask(), enter(), leave(), link(), session()],
    }
}

fn html() -> Value {
    json!({"text/html": {"schema": {"type": "string"}}})
}

fn home() -> Operation {
    Operation::new(Method::GET, "/", "getPage", "The page: what there is to see, or how to sign in").answers_any(
        200,
        "The page",
        html(),
    )
}

fn style() -> Operation {
    let css = json!({"text/css": {"schema": {"type": "string"}}});
    Operation::new(Method::GET, "/style.css", "getStyle", "How the page looks").answers_any(200, "The style", css)
}

fn asset() -> Operation {
    let file = json!({"type": "string"});
    let kinds = ["text/javascript", "text/css", "image/svg+xml"].map(|media| (media, json!({"schema": file})));
    Operation::new(Method::GET, "/assets/{file}", "getAsset", "A file the console is made of")
        .about("For everybody. Its name changes with what is in it, so caches may keep it.")
        .in_path("file", "Its name")
        .answers_any(200, "The file", kinds.into_iter().collect())
        .refuses(&[404])
}

fn ask() -> Operation {
    Operation::new(Method::GET, "/signin", "askToSignIn", "Ask whether to sign in by a link")
        .about("Looking at a link does not use it up.")
        .query("code", text("The code of the link"))
        .answers_any(200, "The page that asks", html())
        .leads_on(303, "There is no code: to the page")
}

fn enter() -> Operation {
    let form = json!({"application/x-www-form-urlencoded": {"schema": of("SignIn")}});
    Operation::new(Method::POST, "/signin", "signIn", "Sign in by the code of a link, or by a token")
        .takes_any(form)
        .leads_on(303, "Signed in: to the page, with the session in a cookie")
        .tells("Set-Cookie")
        .answers_any(401, "Not signed in: the page says so, and no more", html())
}

fn leave() -> Operation {
    Operation::new(Method::POST, "/signout", "signOut", "End the session")
        .leads_on(303, "Signed out: to the page")
        .tells("Set-Cookie")
}

fn link() -> Operation {
    Operation::new(Method::POST, "/v1/signin-links", "makeSigninLink", "Make a link that signs a person in, once")
        .about("For operators. The link works for ten minutes.")
        .by(Proof::Token)
        .takes("LinkWanted")
        .answers(201, "The link", "Link")
        .refuses(&[404])
}

fn session() -> Operation {
    Operation::new(Method::GET, "/v1/session", "getSession", "Which person asks, and what a page of theirs has to show")
        .by(Proof::Token)
        .answers(200, "The person", "Session")
}
