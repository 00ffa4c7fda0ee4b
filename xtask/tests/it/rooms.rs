//! The absences ARCHITECTURE.md promises: which crate may not depend on what, and which words may
//! not stand in the source of a crate that does no I/O.

use crate::root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What runs tasks and opens sockets.
const RUNTIME: &[&str] = &["tokio", "async-std", "smol", "rustls"];
/// What speaks HTTP and its kin.
const WEB: &[&str] = &["hyper", "axum", "reqwest", "ureq", "rmcp", "tungstenite"];
/// What stores.
const STORAGE: &[&str] = &["rusqlite", "async-nats", "redb", "sled", "legation-store"];

#[test]
fn no_crate_depends_on_what_its_room_excludes() {
    let metadata = metadata();
    for (krate, excluded) in [
        ("legation-protocol", [RUNTIME, WEB, STORAGE].concat()),
        ("legation-scan", [RUNTIME, WEB, STORAGE].concat()),
        ("legation-exchange", [RUNTIME, WEB, STORAGE].concat()),
        ("legation-store", [RUNTIME, WEB].concat()),
        ("legation-engine", WEB.to_vec()),
        ("legation-client", [STORAGE, &["axum", "legation-engine", "legation-server"]].concat()),
    ] {
        let reached = reached_from(&metadata, krate);
        let wrong: Vec<_> = excluded.iter().filter(|name| reached.contains(**name)).collect();
        assert!(wrong.is_empty(), "{krate} may not depend on {wrong:?}");
    }
}

#[test]
fn a_fenced_library_is_named_by_its_crates_alone() {
    let metadata = metadata();
    for (library, owners) in [
        ("async-nats", BTreeSet::from(["legation-bench"])),
        ("rusqlite", BTreeSet::from(["legation-store"])),
        ("rustls-native-certs", BTreeSet::from(["legation-client", "legation-out"])),
        ("rmcp", BTreeSet::from(["legation-server"])),
        ("axum", BTreeSet::from(["legation-bench", "legation-server"])),
    ] {
        let members = metadata["packages"].as_array().unwrap().iter().filter(|package| package["source"].is_null());
        // An example may show a library at work.
        let is_named = |dependency: &Value| dependency["name"] == library && dependency["kind"] != "dev";
        let depends = |package: &&Value| package["dependencies"].as_array().unwrap().iter().any(is_named);
        let found: BTreeSet<_> = members.filter(depends).map(|package| package["name"].as_str().unwrap()).collect();
        assert_eq!(found, owners, "{library}");
    }
}

#[test]
fn every_member_of_the_workspace_has_a_room() {
    let metadata = metadata();
    let members: BTreeSet<_> =
        metadata["workspace_members"].as_array().unwrap().iter().map(|id| name_of(&metadata, id)).collect();
    assert_eq!(
        members,
        BTreeSet::from(
            [
                "legation",
                "legation-bench",
                "legation-client",
                "legation-engine",
                "legation-exchange",
                "legation-out",
                "legation-protocol",
                "legation-scan",
                "legation-server",
                "legation-store",
                "legation-testkit",
                "xtask"
            ]
            .map(str::to_owned)
        )
    );
}

#[test]
fn protocol_and_rules_read_no_clock_no_socket_and_no_disk() {
    let forbidden =
        ["std::fs", "std::net", "std::io", "std::env", "std::process", "std::thread", "SystemTime", "Instant"];
    for krate in ["legation-protocol", "legation-scan", "legation-exchange"] {
        for (file, text) in sources(&root().join("crates").join(krate).join("src")) {
            for word in forbidden {
                assert!(!text.contains(word), "{file} names {word}");
            }
        }
    }
}

fn metadata() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let out = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

fn name_of(metadata: &Value, id: &Value) -> String {
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    packages.find(|package| package["id"] == *id).unwrap()["name"].as_str().unwrap().to_owned()
}

/// Every package that `krate` needs to be built, development aside.
fn reached_from(metadata: &Value, krate: &str) -> BTreeSet<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut todo: Vec<&Value> =
        nodes.iter().map(|node| &node["id"]).filter(|id| name_of(metadata, id) == krate).collect();
    assert!(!todo.is_empty(), "there is no crate {krate}");
    let (mut seen, mut names) = (BTreeSet::new(), BTreeSet::new());
    while let Some(id) = todo.pop() {
        if !seen.insert(id.as_str().unwrap()) {
            continue;
        }
        names.insert(name_of(metadata, id));
        let node = nodes.iter().find(|node| node["id"] == *id).unwrap();
        let normal = |dep: &&Value| dep["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"] != "dev");
        todo.extend(node["deps"].as_array().unwrap().iter().filter(normal).map(|dep| &dep["pkg"]));
    }
    names
}

fn sources(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    found
}
