//! The console's chores: building what the program embeds, and trying it in a browser.

use super::{Done, debian, run, run_in, tools};
use std::env;
use std::path::PathBuf;

/// Where Debian has it.
const CHROMIUM: &str = "/usr/bin/chromium";

fn npm(args: &[&str], variables: &[(&str, &str)]) -> Done {
    run_in(&tools::root().join("console"), "npm", args, variables)
}

/// Exactly what the lock file names.
fn install() -> Done {
    debian::need_program("npm", "npm")?;
    npm(&["ci", "--no-fund", "--no-audit", "--loglevel=error"], &[])
        .map_err(|why| format!("the console's packages could not be installed ({why})"))
}

/// Builds what the program embeds.
pub(crate) fn build() -> Done {
    install()?;
    npm(&["run", "types", "--silent"], &[])?;
    npm(&["run", "build", "--silent"], &[])
}

/// Checks that what is embedded is what the sources build, and tries it.
pub(crate) fn test(rest: &[&str]) -> Done {
    install()?;
    npm(&["run", "check", "--silent"], &[])?;
    debian::need_program(CHROMIUM, "chromium")?;
    run("cargo", &["build", "--locked", "-p", "legation"])?;
    let program = program()?;
    let variables = [("LEGATION_BIN", &*program.to_string_lossy()), ("CHROMIUM", CHROMIUM)];
    if rest.is_empty() {
        return npm(&["run", "test", "--silent"], &variables);
    }
    run_in(&tools::root().join("console"), "node", &[&["--test"], rest].concat(), &variables)
}

/// The program, beside this one.
fn program() -> Result<PathBuf, String> {
    let own = env::current_exe().map_err(|error| format!("where this program lies is not known: {error}"))?;
    own.parent().map(|folder| folder.join("legation")).ok_or_else(|| "this program lies nowhere".to_owned())
}
