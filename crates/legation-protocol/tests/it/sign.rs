//! Signatures: what must verify, and what must not whatever a lenient library says.

use ed25519_dalek::{Verifier as _, VerifyingKey};
use legation_protocol::Code;
use legation_protocol::json::{Doc, Form};
use legation_protocol::sign::{BadKey, PublicKey, SecretKey, Signature, verify, verify_detached};

/// The secret key, public key and signature of RFC 8032, section 7.1, test 2 (message 0x72).
const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
const PUBLIC: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
const SIGNATURE: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
                         085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let bytes: Vec<_> = (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

fn key() -> SecretKey {
    SecretKey::from_seed(&hex(SEED))
}

fn base64(bytes: &[u8]) -> String {
    base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes)
}

fn signature(bytes: &[u8; 64]) -> Signature {
    Signature::parse(&format!("base64:{}", base64(bytes))).unwrap()
}

#[test]
fn keys_and_signatures_are_those_of_rfc_8032() {
    assert_eq!(key().public(), PublicKey::from_bytes(&hex(PUBLIC)).unwrap());
    assert_eq!(key().sign_bytes(&[0x72]), signature(&hex(SIGNATURE)));
    assert!(key().public().verifies(&[0x72], &signature(&hex(SIGNATURE))));
    assert!(!key().public().verifies(&[0x73], &signature(&hex(SIGNATURE))));
}

/// Cases 0, 1, 2 and 11 of "Taming the many `EdDSAs`", table 6: message, key, signature.
const LENIENT: [(&str, &str, &str); 4] = [
    (
        "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a\
         0000000000000000000000000000000000000000000000000000000000000000",
    ),
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43\
         a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
    ),
    (
        "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa\
         8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
    ),
    (
        "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc\
         a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
    ),
];

#[test]
fn what_only_lenient_verification_accepts_is_refused() {
    for (message, key, signed) in LENIENT {
        let (message, bytes) = (hex::<32>(message), hex::<64>(signed));
        let lenient = VerifyingKey::from_bytes(&hex(key)).unwrap();
        assert!(lenient.verify(&message, &ed25519_dalek::Signature::from_bytes(&bytes)).is_ok(), "not a lenient case");
        let strict = PublicKey::from_bytes(&hex(key)).is_ok_and(|key| key.verifies(&message, &signature(&bytes)));
        assert!(!strict, "{key}");
    }
}

#[test]
fn weak_and_broken_keys_are_refused() {
    let check = |bytes: [u8; 32], want: BadKey| assert_eq!(PublicKey::from_bytes(&bytes), Err(want), "{bytes:02x?}");
    let with = |first: u8, rest: u8, last: u8| {
        let mut bytes = [rest; 32];
        (bytes[0], bytes[31]) = (first, last);
        bytes
    };
    check(with(1, 0, 0), BadKey::Weak); // the identity
    check(with(1, 0, 0x80), BadKey::Weak);
    check([0; 32], BadKey::Weak); // order 4
    check(with(0xec, 0xff, 0x7f), BadKey::Weak); // order 2
    check(with(0xec, 0xff, 0xff), BadKey::Weak); // the same with its sign bit set: case 11 of the table
    check(with(0xee, 0xff, 0x7f), BadKey::Weak); // the identity in a second spelling
    check(with(2, 0, 0), BadKey::Point);
    check([0xff; 32], BadKey::Point); // a point, spelled with a y beyond the prime
    for text in ["", "ed25519:", "ed25519:AAAA", "ED25519:x", "x25519:AAAA"] {
        assert_eq!(PublicKey::parse(text), Err(BadKey::Form), "{text}");
    }
    assert_eq!(PublicKey::parse(&key().public().to_string()), Ok(key().public()));
}

#[test]
fn a_signature_has_one_spelling() {
    let good = key().sign_bytes(b"x").to_string();
    assert!(Signature::parse(&good).is_ok());
    let encoded = good.strip_prefix("base64:").unwrap();
    let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, encoded).unwrap();
    // Canonical padding leaves four bits of the last character unused: they must be zero.
    let loose = format!("base64:{}B==", &encoded[..85]);
    let loose = if loose == good { format!("base64:{}C==", &encoded[..85]) } else { loose };
    let bad = [
        encoded.to_owned(),
        format!("base64:{}", encoded.trim_end_matches('=')),
        format!("base64: {encoded}"),
        format!("base64:{encoded}\n"),
        format!("BASE64:{encoded}"),
        format!("base64:{}", base64(&bytes[..63])),
        format!("base64:{}", base64(&[&bytes[..], &[0]].concat())),
        format!("base64:{}-{}", &encoded[..10], &encoded[11..]),
        "base64:====".to_owned(),
        "base64:AA==".to_owned(),
        "base64:".to_owned(),
        "base64:MEUCIQD...".to_owned(),
        loose,
    ];
    for text in bad {
        assert!(Signature::parse(&text).is_err(), "{text}");
    }
}

const MESSAGE: &str = r#"{ "b": 1.0, "a": { "signature": "inner" }, "n": 1e-7 }"#;

#[track_caller]
fn check(text: &str, form: Form, want: Result<(), Code>) {
    let doc = Doc::parse(text.as_bytes()).unwrap();
    assert_eq!(verify(doc.root(), &key().public(), form).map_err(|r| r.code()), want, "{text}");
}

#[test]
fn a_signed_message_verifies_until_anything_changes() {
    let signed = key().sign_in_place(&Doc::parse(MESSAGE.as_bytes()).unwrap()).unwrap();
    assert!(signed.starts_with(r#"{ "b": 1.0, "a": { "signature": "inner" }, "n": 1e-7,"signature":"base64:"#));
    check(&signed, Form::Canonical, Ok(()));
    check(&signed.replace("1.0", "1"), Form::Canonical, Ok(())); // one value, one canonical form
    check(&signed.replace("1.0", "2"), Form::Canonical, Err(Code::SignatureInvalid));
    check(&signed.replace("inner", "other"), Form::Canonical, Err(Code::SignatureInvalid));
    check(&signed.replace("\"b\"", "\"c\""), Form::Canonical, Err(Code::SignatureInvalid));
    check(MESSAGE, Form::Canonical, Err(Code::SignatureRequired));
    check(r#"{"signature":"base64:AA=="}"#, Form::Canonical, Err(Code::SignatureFormat));
    check(r#"{"signature":7}"#, Form::Canonical, Err(Code::SignatureFormat));
    check("[]", Form::Canonical, Err(Code::NotAnObject));
}

#[test]
fn signing_again_replaces_the_signature_and_nothing_else() {
    let once = key().sign_in_place(&Doc::parse(MESSAGE.as_bytes()).unwrap()).unwrap();
    let stale = once.replace("1.0", "2.0");
    let again = key().sign_in_place(&Doc::parse(stale.as_bytes()).unwrap()).unwrap();
    check(&again, Form::Canonical, Ok(()));
    assert_eq!(again.len(), stale.len());
    let empty = key().sign_in_place(&Doc::parse(b"{}").unwrap()).unwrap();
    check(&empty, Form::Canonical, Ok(()));
}

/// What the spec's Python sample (VCP 7.2) signs for `MESSAGE`.
const PYTHON: &[u8] = br#"{"a":{"signature":"inner"},"b":1.0,"n":1e-07}"#;

#[test]
fn the_python_form_verifies_only_where_it_is_asked_for() {
    let doc = Doc::parse(MESSAGE.as_bytes()).unwrap();
    let signature = key().sign_bytes(PYTHON);
    let public = key().public();
    assert!(verify_detached(doc.root(), &signature, &public, Form::PythonSample).is_ok());
    assert!(verify_detached(doc.root(), &signature, &public, Form::Canonical).is_err());
}

#[test]
fn a_secret_key_survives_its_pem_and_is_never_shown() {
    let pem = key().to_pem().unwrap();
    assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    assert_eq!(SecretKey::from_pem(&pem).unwrap().public(), key().public());
    let shown = format!("{:?}", key());
    assert!(shown.contains("ed25519:") && !shown.contains(&base64(&hex::<32>(SEED))));
    assert!(SecretKey::from_pem("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").is_err());
}
