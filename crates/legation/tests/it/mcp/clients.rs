//! The official clients of MCP, for Python and TypeScript, its inspector and its conformance suite, against the
//! real program. `cargo xtask test` installs them; where they are not, that is said.

use crate::served::Served;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where the clients are; nothing, said aloud, where they are not.
#[expect(clippy::print_stderr, reason = "nothing is left out silently")]
fn installed() -> Option<PathBuf> {
    let own = std::env::current_exe().unwrap();
    let folder = own.ancestors().nth(3).unwrap().join("mcp-clients");
    if !folder.join("installed").is_file() {
        eprintln!("the official clients are left out: `cargo xtask mcp-clients` installs them");
        return None;
    }
    Some(folder)
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name)
}

/// Runs a client to its end, which must be good.
#[track_caller]
fn runs(command: &mut Command) -> String {
    for name in ["LEGATION_URL", "LEGATION_TOKEN", "LEGATION_AGENT", "LEGATION_KEY"] {
        command.env_remove(name);
    }
    let ran = crate::run(command.env("NO_PROXY", "*"), b"");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    ran.out
}

struct Parties {
    served: Served,
    ann: String,
    bob: String,
}

fn parties() -> Parties {
    let served = Served::start();
    let (ann, bob) = (served.admit(&["ann"]), served.admit(&["bob"]));
    Parties { served, ann, bob }
}

#[test]
fn hosts_with_the_python_client_talk_in_both_generations() {
    let Some(clients) = installed() else { return };
    for (client, script, ways) in [("python-1", "hosts_1.py", 2), ("python-2", "hosts_2.py", 6)] {
        let Parties { served, ann, bob } = parties();
        let mut command = Command::new(clients.join(client).join("bin/python"));
        command.arg(source(script)).args([&served.url, &ann, &bob, env!("CARGO_BIN_EXE_legation")]);
        let out = runs(command.current_dir(served.folder()));
        assert_eq!(out.matches("fine").count(), ways, "{out}");
    }
}

/// A script among the packages it needs.
fn placed(clients: &Path, name: &str) -> PathBuf {
    let place = clients.join("node").join(name);
    std::fs::copy(source(name), &place).unwrap();
    place
}

fn node(clients: &Path) -> Command {
    Command::new(clients.join("node/node_modules/.bin/node"))
}

#[test]
fn hosts_with_the_typescript_clients_talk_in_both_generations() {
    let Some(clients) = installed() else { return };
    let Parties { served, ann, bob } = parties();
    let out = runs(node(&clients).arg(placed(&clients, "hosts.mjs")).args([&served.url, &ann, &bob]));
    assert_eq!(out, "sdk fine\nlegacy fine\nnewest fine\n");
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(clients) = installed() else { return };
    let Parties { served, ann, .. } = parties();
    let inspect = |more: &[&str]| {
        let own = clients.join("node/node_modules/.bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(own.clone()).chain(std::env::split_paths(&path));
        let mut command = node(&clients);
        command.env("PATH", std::env::join_paths(folders).unwrap()).arg(own.join("mcp-inspector"));
        command.args(["--cli", &format!("{}/mcp", served.url), "--transport", "http", "--header"]);
        runs(command.arg(format!("Authorization: Bearer {ann}")).args(more))
    };
    assert!(inspect(&["--method", "tools/list"]).contains("vcp_parse_csm1"));
    assert!(inspect(&["--method", "resources/templates/list"]).contains("vcp://bundle/{session_id}"));
    let called = inspect(&["--method", "tools/call", "--tool-name", "vcp_parse_csm1", "--tool-arg", "code=N5+E+F"]);
    assert!(called.contains("nanny"), "{called}");
}

/// Something that adds a token to requests, for a client that cannot.
struct Bearer {
    child: Child,
    url: String,
}

impl Bearer {
    fn of(clients: &Path, url: &str, token: &str) -> Bearer {
        let mut command = node(clients);
        let mut child = command.arg(source("bearer.mjs")).args([url, token]).stdout(Stdio::piped()).spawn().unwrap();
        let mut own = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut own).unwrap();
        Bearer { child, url: own.trim().to_owned() }
    }
}

impl Drop for Bearer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The scenarios of the conformance suite that every server can be asked. `docs/conformance.md` says why the others
/// do not apply.
const SCENARIOS: [&str; 8] = [
    "server-initialize",
    "ping",
    "completion-complete",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

#[test]
fn the_conformance_suite_finds_nothing_in_what_applies() {
    let Some(clients) = installed() else { return };
    let Parties { served, ann, .. } = parties();
    let bearer = Bearer::of(&clients, &served.url, &ann);
    for scenario in SCENARIOS {
        let suite = clients.join("node/node_modules/.bin/conformance");
        let url = format!("{}/mcp", bearer.url);
        let mut command = node(&clients);
        let out = runs(
            command.arg(suite).args(["server", "--url", &url, "--scenario", scenario]).current_dir(served.folder()),
        );
        assert!(out.contains(", 0 failed, 0 warnings"), "{scenario}: {out}");
    }
}
