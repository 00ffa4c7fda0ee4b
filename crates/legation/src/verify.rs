//! `legation verify`: whether a signature is a key's over exactly this message.

use crate::Outcome;
use crate::cli::{SignedForm, VerifyArgs};
use crate::input::{for_each_message, read_text};
use crate::validate::refused;
use anyhow::Context as _;
use legation_protocol::json::{Doc, Form, Node};
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
    let mut outcome = Outcome::Fine;
    for_each_message(args.file.as_deref(), args.ndjson, |bytes, line| {
        match check(bytes, &key, detached.as_ref(), form) {
            Ok(()) => Ok(()),
            Err(rejection) => {
                outcome = Outcome::Refused;
                refused(&rejection, bytes, line)
            }
        }
    })?;
    Ok(outcome)
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

fn public_key(text: &str) -> anyhow::Result<PublicKey> {
    if text.starts_with("ed25519:") {
        return PublicKey::parse(text).context("--key");
    }
    let held = read_text(Path::new(text)).context("--key is neither ed25519:… nor a file")?;
    PublicKey::parse(held.trim()).with_context(|| text.to_owned())
}
