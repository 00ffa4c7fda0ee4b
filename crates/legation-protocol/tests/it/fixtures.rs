//! Runs every fixture of a dialect through the typed reading and the published schema: both must
//! say the same, and what is valid must survive being read and written again.

use legation_protocol::json::{Doc, canonical};
use legation_protocol::{Severity, Violation, Wire, parse};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// `fixtures.toml`: what each file shows.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    #[serde(default)]
    ok: Vec<Case>,
    #[serde(default)]
    bad: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    file: String,
    spec: Vec<String>,
    shows: String,
    #[serde(default)]
    errors: BTreeSet<String>,
    #[serde(default)]
    warnings: BTreeSet<String>,
    /// Why the schema cannot say what this fixture breaks.
    schema_silent: Option<String>,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Checks all fixtures below `spec/<dialect>`.
pub(crate) fn check_all<T: Wire>(dialect: &str, schema: &str) {
    let dir = root().join("spec").join(dialect);
    let index: Index = toml::from_str(&fs::read_to_string(dir.join("fixtures.toml")).unwrap()).unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(root().join("schemas").join(schema)).unwrap()).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    all_are_listed(&dir.join("ok"), &index.ok);
    all_are_listed(&dir.join("bad"), &index.bad);
    let mut wrong = Vec::new();
    for (folder, case) in index.ok.iter().map(|c| ("ok", c)).chain(index.bad.iter().map(|c| ("bad", c))) {
        let bytes = fs::read(dir.join(folder).join(&case.file)).unwrap();
        let told = check::<T>(folder == "ok", case, &bytes, &schema);
        wrong.extend(told.into_iter().map(|what| format!("{folder}/{}: {what}", case.file)));
    }
    assert!(wrong.is_empty(), "{} of {dialect}:\n{}", wrong.len(), wrong.join("\n"));
}

fn all_are_listed(folder: &Path, cases: &[Case]) {
    let files: BTreeSet<_> =
        fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    let listed: BTreeSet<_> = cases.iter().map(|case| case.file.clone()).collect();
    assert_eq!(files, listed, "files and fixtures.toml differ below {}", folder.display());
    assert_eq!(listed.len(), cases.len(), "a file is listed twice below {}", folder.display());
    assert!(cases.iter().all(|c| !c.spec.is_empty() && !c.shows.is_empty()), "a case cites nothing");
}

fn check<T: Wire>(ok: bool, case: &Case, bytes: &[u8], schema: &jsonschema::Validator) -> Vec<String> {
    let mut wrong = Vec::new();
    let (errors, warnings) = match parse::<T>(bytes) {
        Ok(parsed) => {
            if ok && rewritten(&parsed.value) != canonical(Doc::parse(bytes).unwrap().root()) {
                wrong.push("is not the same after reading and writing".to_owned());
            }
            split(&parsed.warnings)
        }
        Err(rejection) => split(&rejection.into_vec()),
    };
    if ok != errors.is_empty() || errors != case.errors {
        wrong.push(format!("errors {errors:?}, expected {:?}", case.errors));
    }
    if warnings != case.warnings {
        wrong.push(format!("warnings {warnings:?}, expected {:?}", case.warnings));
    }
    let by_schema = serde_json::from_slice(bytes).is_ok_and(|value: serde_json::Value| schema.is_valid(&value));
    if by_schema != (ok || case.schema_silent.is_some()) {
        wrong.push(format!("the schema says {by_schema}"));
    }
    wrong
}

fn rewritten<T: Wire>(value: &T) -> Vec<u8> {
    let text = serde_json::to_string(value).unwrap();
    canonical(Doc::parse(text.as_bytes()).unwrap().root())
}

fn split(violations: &[Violation]) -> (BTreeSet<String>, BTreeSet<String>) {
    let name = |v: &Violation| format!("{} {}", v.code, v.at.clone().unwrap_or_default()).trim_end().to_owned();
    let of = |severity| violations.iter().filter(|v| v.severity == severity).map(name).collect();
    (of(Severity::Error), of(Severity::Warning))
}
