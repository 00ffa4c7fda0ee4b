//! `legation verify`: whether a signature is a key's over exactly this message.

use crate::Outcome;
use crate::cli::{SignedForm, VerifyArgs};
use crate::each::{Source, each_message};
use crate::input::read_text;
use anyhow::{Context as _, anyhow};
use legation_protocol::json::{Doc, Form, Limits, Node};
use legation_protocol::sign::{PublicKey, Signature, verify, verify_detached};
use legation_protocol::{Findings, Rejection, unwrapped};
use std::path::Path;

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Outcome> {
    let key = public_key(&args.key)?;
    let detached = args.signature.as_deref().map(Signature::parse).transpose()?;
    let form = match args.form {
        SignedForm::Canonical => Form::Canonical,
        SignedForm::PythonSample => Form::PythonSample,
    };
    let source = Source { file: args.file.as_deref(), lines: args.ndjson, limits: Limits::MESSAGE, json: args.json };
    each_message(&source, |bytes| check(bytes, &key, detached.as_ref(), form).map(|()| Vec::new()))
}

fn check(bytes: &[u8], key: &PublicKey, detached: Option<&Signature>, form: Form) -> Result<(), Rejection> {
    let doc = Doc::parse(bytes)?;
    let message = unwrapped(doc.root(), &mut Findings::new());
    if let Some(signature) = detached {
        return verify_detached(message, signature, key, form);
    }
    let carried = doc.root().get("signature").and_then(Node::text).and_then(|text| Signature::parse(&text).ok());
    match carried.filter(|_| message.span() != doc.root().span()) {
        Some(signature) => verify_detached(message, &signature, key, form),
        None => verify(doc.root(), key, form),
    }
}

/// The key that an argument spells or names a file of.
pub(crate) fn public_key(text: &str) -> anyhow::Result<PublicKey> {
    if text.starts_with("ed25519:") {
        return parse(text).context("--key");
    }
    let held = read_text(Path::new(text)).context("--key is neither ed25519:… nor a file")?;
    parse(held.trim()).with_context(|| text.to_owned())
}

fn parse(text: &str) -> anyhow::Result<PublicKey> {
    PublicKey::parse(text).map_err(|error| anyhow!("{}: {error}", error.code()))
}
