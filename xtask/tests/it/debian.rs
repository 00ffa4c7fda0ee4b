//! What a chore does about a program that is missing, on a machine where `apt-get`, `id` and that program are ours.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Finds the package once its lists were fetched.
const APT: &str = r#"
here=${0%/*}
echo "apt-get $*" >> "$here/log"
case "$1" in
  --version) exit 0 ;;
  update) : > "$here/lists" ;;
  install)
    [ -e "$here/lists" ] || { echo "E: Unable to locate package $3" >&2; exit 100; }
    printf '#!/bin/sh\nexit 0\n' > "$here/$3"; /bin/chmod 755 "$here/$3" ;;
esac
"#;

/// A folder that is all there is to run.
struct Machine(PathBuf);

impl Machine {
    fn with(name: &str, programs: &[(&str, &str)]) -> Machine {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).unwrap();
        for (program, script) in programs {
            let path = folder.join(program);
            fs::write(&path, format!("#!/bin/sh\n{script}")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Machine(folder)
    }

    /// The last line that a chore says there, and whether it came to its end.
    fn chore(&self) -> (bool, String) {
        let ran = Command::new(env!("CARGO_BIN_EXE_xtask")).arg("console").env("PATH", &self.0).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        (ran.status.success(), said.lines().last().unwrap_or_default().to_owned())
    }

    /// What was asked of apt-get, but for whether it is there.
    fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.0.join("log")).unwrap_or_default();
        log.lines().filter(|line| !line.contains("--version")).map(str::to_owned).collect()
    }
}

#[test]
fn a_package_that_is_not_found_is_found_once_the_lists_are_fetched() {
    let machine = Machine::with("fresh", &[("apt-get", APT), ("id", "echo 0")]);
    assert_eq!(machine.chore(), (true, "> npm run build --silent".to_owned()));
    let install = "apt-get install -y npm";
    assert_eq!(machine.asked(), [install, "apt-get update", install]);
}

#[test]
fn lists_that_do_are_not_fetched() {
    let machine = Machine::with("listed", &[("apt-get", APT), ("id", "echo 0")]);
    fs::write(machine.0.join("lists"), "").unwrap();
    assert!(machine.chore().0);
    assert_eq!(machine.asked(), ["apt-get install -y npm"]);
}

#[test]
fn what_cannot_be_installed_is_said_in_one_line() {
    let bare = Machine::with("bare", &[]);
    assert_eq!(bare.chore(), (false, "npm is missing: there is no apt-get; install npm another way".to_owned()));

    let user = Machine::with("user", &[("apt-get", APT), ("id", "echo 1000")]);
    let run = "npm is missing: run `sudo apt-get update && sudo apt-get install -y npm`";
    assert_eq!(user.chore(), (false, run.to_owned()));
    assert!(user.asked().is_empty());

    let offline = Machine::with("offline", &[("apt-get", r#"[ "$1" = --version ]"#), ("id", "echo 0")]);
    let why = "`apt-get update` failed: exit status: 1";
    assert_eq!(offline.chore(), (false, format!("npm is missing: npm could not be installed ({why})")));
}
