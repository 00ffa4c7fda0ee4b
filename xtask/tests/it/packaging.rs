//! What is packaged fits the program: a file that nobody runs here would say for years what is no longer so.

use crate::root;
use std::collections::BTreeMap;
use std::fs;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The settings of the unit, the last of each name.
fn unit() -> BTreeMap<String, String> {
    let text = read("packaging/legation.service");
    let pairs = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn the_unit_starts_reloads_and_fences_the_exchange_in() {
    let unit = unit();
    for (name, value) in [
        ("Type", "notify"),
        ("ExecStart", "/usr/bin/legation serve --config /etc/legation/legation.toml"),
        ("ExecReload", "/bin/kill -HUP $MAINPID"),
        ("Environment", "LEGATION_DATA=/var/lib/legation"),
        ("StateDirectory", "legation"),
        ("StateDirectoryMode", "0700"),
        ("UMask", "0077"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
    ] {
        assert_eq!(unit.get(name).map(String::as_str), Some(value), "{name}");
    }
    let files: usize = unit["LimitNOFILE"].parse().unwrap();
    let sample = read("docs/operations/legation.toml");
    let most = sample.lines().find_map(|line| line.strip_prefix("connections = ")).unwrap();
    assert!(files > 2 * most.parse::<usize>().unwrap(), "{files} files for {most} connections");
    let user = &unit["User"];
    assert!(read("packaging/legation.sysusers").contains(&format!("u {user} ")), "nobody makes {user}");
}

#[test]
fn the_image_is_built_without_lines_runs_unprivileged_and_knows_how_it_is() {
    let (file, manifest) = (read("packaging/Dockerfile"), read("Cargo.toml"));
    for wanted in [
        "cargo build --profile dist --locked --package legation",
        "target/dist/legation",
        "\nUSER 10001:10001\n",
        "ENV LEGATION_DATA=/var/lib/legation",
        "CMD [\"legation\", \"doctor\"]",
        "STOPSIGNAL SIGTERM",
    ] {
        assert!(file.contains(wanted), "{wanted}");
    }
    let profile = manifest.split("[profile.dist]").nth(1).unwrap();
    assert!(profile.contains("inherits = \"release\"\nstrip = \"debuginfo\""), "{profile}");
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap().trim_matches('"');
    let built_with = file.split("FROM rust:").nth(1).and_then(|rest| rest.split('-').next()).unwrap();
    assert!(built_with.starts_with(version) || version.starts_with(built_with), "{built_with} builds {version}");
}

#[test]
fn what_the_guides_install_is_what_is_packaged() {
    let guide = read("docs/operations/deployment.md");
    for wanted in [
        "cargo install --locked --profile dist --path crates/legation",
        "target/dist/legation /usr/bin/legation",
        "packaging/legation.service",
        "packaging/legation.sysusers",
        "packaging/legation.tmpfiles",
    ] {
        assert!(guide.contains(wanted), "{wanted}");
    }
    assert!(read("packaging/compose/compose.yaml").contains("dockerfile: packaging/Dockerfile"));
}
