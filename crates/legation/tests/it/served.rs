//! A `legation serve` of our own, on a port of its own, in a folder of its own.

use crate::{Ran, run};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running exchange. It ends with this value.
pub(crate) struct Served {
    pub(crate) url: String,
    /// What it said when it started.
    pub(crate) banner: String,
    folder: tempfile::TempDir,
    /// A program that becomes the exchange, and its arguments; mostly none.
    through: Vec<String>,
    args: Vec<String>,
    child: Child,
}

/// The program, with nothing of the surroundings that could lead it to another exchange.
pub(crate) fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_legation"));
    isolate(&mut command, folder);
    command
}

fn isolate(command: &mut Command, folder: &Path) {
    command.current_dir(folder).env("HOME", folder).env("XDG_DATA_HOME", folder.join("share"));
    for name in [
        "LEGATION_URL",
        "LEGATION_TOKEN",
        "LEGATION_AGENT",
        "LEGATION_KEY",
        "LEGATION_CONFIG",
        "LEGATION_DATA",
        "LEGATION_LISTEN",
        "LEGATION_LISTEN_MODE",
        "LEGATION_TLS_CERT",
        "LEGATION_TLS_KEY",
        "LEGATION_REALM",
        "NOTIFY_SOCKET",
        "LEGATION_KEY_RING",
        "RUST_LOG",
        "WATCHDOG_USEC",
    ] {
        command.env_remove(name);
    }
}

/// The program as an exchange, started through another where one is named.
fn serve(folder: &Path, through: &[String], args: &[String]) -> Command {
    let own = [env!("CARGO_BIN_EXE_legation"), "serve", "--listen", "127.0.0.1:0"];
    let mut words = through.iter().map(String::as_str).chain(own);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(args);
    isolate(&mut command, folder);
    command
}

/// Starts an exchange, and waits until it has said where it is.
fn launch(command: &mut Command) -> (Child, String, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let banner: Vec<_> = lines.by_ref().map(Result::unwrap).take_while(|line| !line.starts_with("Ctrl-C")).collect();
    let url = banner.first().and_then(|line| line.strip_prefix("Legation listens at "));
    let url = url.unwrap_or_else(|| panic!("{banner:?}")).to_owned();
    (child, banner.join("\n"), url)
}

/// Runs an exchange that must not start, and gives back what it said.
pub(crate) fn refuses_to_start(folder: &Path, data: &Path) -> Ran {
    let mut command = program(folder);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    if !line.is_empty() {
        child.kill().unwrap();
        panic!("it started: {line}");
    }
    let ended = child.wait_with_output().unwrap();
    Ran { code: ended.status.code().unwrap(), out: line, err: String::from_utf8(ended.stderr).unwrap() }
}

impl Served {
    pub(crate) fn start() -> Served {
        Served::with(&[], |_| {})
    }

    pub(crate) fn with(args: &[&str], prepare: impl FnOnce(&mut Command)) -> Served {
        Served::launched(&[], args, prepare)
    }

    /// Starts one through another program, which becomes it.
    pub(crate) fn through(outer: &[&str], args: &[&str]) -> Served {
        Served::launched(outer, args, |_| {})
    }

    fn launched(outer: &[&str], args: &[&str], prepare: impl FnOnce(&mut Command)) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let (through, args) = (owned(outer), owned(args));
        let mut command = serve(folder.path(), &through, &args);
        prepare(&mut command);
        let (child, banner, url) = launch(&mut command);
        Served { url, banner, folder, through, args, child }
    }

    /// Where its configuration says.
    pub(crate) fn far(args: &[&str]) -> Served {
        let folder = tempfile::tempdir().unwrap();
        let mut command = program(folder.path());
        let (child, banner, url) = launch(command.arg("serve").args(args));
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Served { url, banner, folder, through: Vec::new(), args, child }
    }

    /// Kills it without a word, and starts it again on the same data.
    pub(crate) fn crash(&mut self) {
        self.kill();
        self.again();
    }

    /// Kills it without a word.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on the same data, once it has ended.
    pub(crate) fn again(&mut self) {
        let mut command = serve(self.folder(), &self.through, &self.args);
        (self.child, self.banner, self.url) = launch(&mut command);
    }

    /// The same, at the same address.
    pub(crate) fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let address = self.url.strip_prefix("http://").unwrap().to_owned();
        let mut command = program(self.folder());
        (self.child, self.banner, self.url) = launch(command.args(["serve", "--listen", &address]));
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder().join("share/legation")
    }

    /// Runs a command of the program against this exchange.
    pub(crate) fn run(&self, args: &[&str], input: &str) -> Ran {
        self.run_as(None, args, input)
    }

    pub(crate) fn run_as(&self, token: Option<&str>, args: &[&str], input: &str) -> Ran {
        let mut command = program(self.folder());
        command.env("LEGATION_URL", &self.url).args(args);
        if let Some(token) = token {
            command.env("LEGATION_TOKEN", token);
        }
        run(&mut command, input.as_bytes())
    }

    /// Runs another program beside this exchange, which finds `legation` in its path.
    pub(crate) fn beside(&self, program: &str, script: &str) -> Ran {
        let own = Path::new(env!("CARGO_BIN_EXE_legation")).parent().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(own.to_owned()).chain(std::env::split_paths(&path));
        let mut command = Command::new(program);
        isolate(&mut command, self.folder());
        command.env("PATH", std::env::join_paths(folders).unwrap()).env("LEGATION_URL", &self.url).arg("-");
        run(&mut command, script.as_bytes())
    }

    /// Registers an agent and gives back its token.
    pub(crate) fn admit(&self, args: &[&str]) -> String {
        let made = self.run(&[&["agent", "add"], args].concat(), "");
        assert_eq!(made.code, 0, "{}", made.err);
        made.out.trim().to_owned()
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let told = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(told.success());
    }

    /// Tells it to stop as an init system does, and gives back its exit code and log.
    pub(crate) fn stop(&mut self) -> (i32, String) {
        let told = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(told.success());
        self.wait()
    }

    /// Waits until it has ended, and gives back its exit code and log.
    pub(crate) fn wait(&mut self) -> (i32, String) {
        let code = self.child.wait().unwrap().code().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (code, log)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
