//! `serve` with a certificate, and what keeps it from starting with one.

use crate::run;
use crate::served::{Served, program};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Writes a certificate that vouches for itself, and its key.
fn issue(folder: &Path, name: &str, until: i32) -> (PathBuf, PathBuf) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    (params.not_before, params.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(until, 1, 1));
    let (cert, secret) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
    fs::write(&cert, params.self_signed(&key).unwrap().pem()).unwrap();
    fs::write(&secret, key.serialize_pem()).unwrap();
    allow(&secret, 0o600);
    (cert, secret)
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn with_a_certificate_it_speaks_tls_to_everybody_and_knows_when_that_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = issue(folder.path(), "one", 2099);
    let args = ["--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    // An address that others reach, since nobody can read along.
    let mut served = Served::with(&[&args[..], &["--listen", "0.0.0.0:0"]].concat(), |_| {});
    assert!(served.url.starts_with("https://127.0.0.1:"), "{}", served.url);
    let curl = |more: &str| served.beside("bash", &format!("curl -sS --cacert {} {more}", cert.display()));
    assert_eq!(curl("$LEGATION_URL/healthz").out, "{\"alive\":true}");
    assert!(curl("$LEGATION_URL/metrics").out.contains("\nlegation_tls_expires_seconds 4070908800\n"));
    assert!(curl("${LEGATION_URL/https/http}/healthz").out.contains("say https"));
    assert_ne!(curl("--tls-max 1.1 --ciphers DEFAULT:@SECLEVEL=0 $LEGATION_URL/healthz").code, 0);
    // What it names to try works, also where it listens at all addresses.
    let lines: Vec<_> = served.banner.lines().filter(|line| line.trim().starts_with("curl")).collect();
    let strict = format!("curl -sS --fail-with-body --cacert {}", cert.display());
    let tried = served.beside("bash", &format!("set -e\n{}", lines.join("\n").replace("curl", &strict)));
    assert!(tried.code == 0 && tried.out.contains(r#"{"agents":[{"#), "{}{}", served.banner, tried.err);
    // A certificate is more than nothing configured.
    let put = curl("$LEGATION_URL/v1/agents/eve -X PUT -H 'Content-Type: application/json' -d '{}'");
    assert!(put.out.contains("\"error\":"), "{}", put.out);
    assert_eq!(served.stop().0, 0);
}

#[test]
fn what_to_try_is_told_for_every_address_and_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = issue(folder.path(), "one", 2099);
    let config = folder.path().join("legation.toml");
    let start = |hosts: &str| {
        let text = format!("listen = \"0.0.0.0:0\"\nhosts = {hosts}\n[tls]\ncert = {cert:?}\nkey = {key:?}\n");
        fs::write(&config, text).unwrap();
        Served::far(&["--config", config.to_str().unwrap()])
    };
    for (hosts, name, warned) in [("[]", "127.0.0.1", true), ("[\"localhost\"]", "localhost", false)] {
        let mut served = start(hosts);
        let port = served.url.rsplit(':').next().unwrap().to_owned();
        assert_eq!(served.url, format!("https://0.0.0.0:{port}"));
        assert!(served.banner.contains(&format!("curl https://{name}:{port}/v1/agents -H")), "{}", served.banner);
        assert_eq!(served.banner.contains("name other hosts in `hosts`"), warned, "{}", served.banner);
        assert_eq!(served.stop().0, 0);
    }
}

#[test]
fn what_cannot_be_shown_keeps_it_from_starting_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let ((cert, key), (_, other)) = (issue(folder.path(), "one", 2099), issue(folder.path(), "two", 2099));
    let told = |cert: &Path, key: &Path| {
        let mut command = program(folder.path());
        command.args(["serve", "--listen", "127.0.0.1:0", "--tls-cert"]).arg(cert).arg("--tls-key").arg(key);
        let ran = run(&mut command, b"");
        assert_eq!((ran.code, ran.err.lines().count()), (2, 1), "{}", ran.err);
        ran.err
    };
    assert!(told(&cert, &other).contains("is not that of the certificate"));
    assert!(told(&key, &key).contains("holds no certificate in PEM form"));
    assert!(told(&cert, Path::new("nowhere.key")).contains("cannot read nowhere.key"));
    allow(&cert, 0o600);
    assert!(told(&cert, &cert).contains("holds no private key in PEM form"));
    allow(&key, 0o644);
    assert!(told(&cert, &key).contains("others may use the key"));
    let alone = run(program(folder.path()).args(["serve", "--tls-cert"]).arg(&cert), b"");
    assert!(alone.code == 2 && alone.err.contains("--tls-key"), "{}", alone.err);
    assert!(!folder.path().join("share").exists());
}

#[test]
fn the_doctor_looks_at_the_certificate_too() {
    let folder = tempfile::tempdir().unwrap();
    let ((cert, key), (old, _)) = (issue(folder.path(), "one", 2099), issue(folder.path(), "two", 2002));
    let doctor = |cert: &Path| {
        let text = format!("[tls]\ncert = {:?}\nkey = {:?}\n", cert.display().to_string(), key.display().to_string());
        fs::write(folder.path().join("legation.toml"), text).unwrap();
        run(program(folder.path()).args(["doctor", "--config", "legation.toml"]), b"").out
    };
    assert!(doctor(&cert).contains("ok    tls        the certificate is good for "));
    assert!(doctor(&old).contains("FAIL  tls        the key in "));
    let (expired, _) = issue(folder.path(), "one", 2002);
    assert!(doctor(&expired).contains("FAIL  tls        the certificate has expired"));
    allow(&key, 0o640);
    allow(&expired, 0o600);
    assert!(doctor(Path::new("nowhere")).contains("FAIL  tls        cannot read nowhere"));
}

#[test]
fn a_certificate_of_a_private_authority_is_told_as_that_and_trusted_once_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (cert, key) = issue(folder.path(), "own", 2099);
    let served = Served::with(&["--tls-cert", cert.to_str().unwrap(), "--tls-key", key.to_str().unwrap()], |_| {});
    let told = served.run(&["agent", "list"], "");
    let begins = format!("the exchange at {} shows a certificate that is not trusted here (", served.url);
    assert_eq!((told.code, told.out.as_str()), (3, ""));
    assert!(told.err.contains(&begins) && !told.err.contains("is `legation serve` running?"), "{}", told.err);
    assert!(told.err.trim_end().ends_with("`SSL_CERT_FILE=ca.crt` names your own authority"), "{}", told.err);
    let trusted = served.beside("bash", &format!("SSL_CERT_FILE={} legation agent list", cert.display()));
    assert_eq!(trusted.code, 0, "{}", trusted.err);
}
