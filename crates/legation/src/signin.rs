//! `legation signin`: a link that signs a person in with a browser, once.

use crate::Outcome;
use crate::cli::SigninArgs;
use crate::remote::{Parcel, Remote, text};
use serde_json::{Value, json};
use std::io::{self, Write as _};

pub(crate) fn run(args: &SigninArgs) -> anyhow::Result<Outcome> {
    let remote = Remote::new(&args.remote)?;
    let asked: Value = args.name.as_ref().map_or_else(|| json!({}), |name| json!({ "name": name }));
    let body = serde_json::to_vec(&asked)?;
    let reply = remote.ask("POST", "/v1/signin-links", &Parcel::json(&body))?;
    remote.report(&reply, |made, out| {
        writeln!(io::stderr(), "works once, until {}", text(made, "expires_at"))?;
        writeln!(out, "{}", text(made, "url"))
    })
}
