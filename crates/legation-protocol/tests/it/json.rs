//! The front door and canonical JSON against other people's readers and writers.

use legation_protocol::json::{Digest, Doc, Form, canonical, signed_bytes};
use proptest::prelude::*;
use serde_json::{Map, Number, Value};

/// Any JSON the front door lets in.
fn any_json() -> impl Strategy<Value = Value> {
    let finite = any::<f64>().prop_filter_map("finite", |f| Number::from_f64(f).map(Value::Number));
    let exact = (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from);
    let small = (-1000_i64..1000).prop_map(Value::from);
    let text = prop_oneof![
        any::<String>().prop_map(Value::String),
        "[\u{e000}-\u{ffff}\u{10000}-\u{10010}\"\\\\]{0,4}".prop_map(Value::String)
    ];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), finite, exact, small, text];
    leaf.prop_recursive(6, 64, 8, |inner| {
        let key = prop_oneof![any::<String>(), "[a-c\u{fb33}\u{1f600}]{0,3}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..24).prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

proptest! {
    #[test]
    fn canonical_form_is_the_one_another_implementation_writes(value in any_json()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let doc = Doc::parse(text.as_bytes()).unwrap();
        let ours = canonical(doc.root());
        prop_assert_eq!(&ours, &serde_json_canonicalizer::to_vec(&value).unwrap());
        // Canonical output is always valid input, and stays as it is.
        prop_assert_eq!(&canonical(Doc::parse(&ours).unwrap().root()), &ours);
    }

    #[test]
    fn whatever_comes_in_another_reader_reads_too(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if Doc::parse(&bytes).is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }

    #[test]
    fn json_like_noise_never_comes_in_unless_another_reader_takes_it(text in "[\\[\\]{}\",:0-9eE.+\\-tfn\\\\u \n]{0,40}") {
        if Doc::parse(text.as_bytes()).is_ok() {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
        }
    }

    #[test]
    fn a_node_is_found_at_its_own_pointer(value in any_json()) {
        let text = value.to_string();
        let doc = Doc::parse(text.as_bytes()).unwrap();
        let mut todo = vec![doc.root()];
        while let Some(node) = todo.pop() {
            let there = value.pointer(&node.pointer()).unwrap();
            prop_assert_eq!(there, &serde_json::from_str::<Value>(node.raw()).unwrap());
            todo.extend(node.items());
            todo.extend(node.members().map(|(_, member)| member));
        }
    }
}

/// Fixtures for the front door: one file a rule.
#[test]
fn bytes_that_two_readers_could_take_differently_are_refused() {
    let folder = crate::fixtures::root().join("spec/json");
    let mut seen = 0;
    for file in std::fs::read_dir(folder.join("bad")).unwrap() {
        let path = file.unwrap().path();
        let code = path.file_stem().unwrap().to_str().unwrap().split('-').next().unwrap().to_owned();
        let rejection = Doc::parse(&std::fs::read(&path).unwrap()).expect_err(path.to_str().unwrap());
        assert_eq!(rejection.code().as_str(), code, "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 20, "fixtures are missing");
    for file in std::fs::read_dir(folder.join("ok")).unwrap() {
        let path = file.unwrap().path();
        assert!(Doc::parse(&std::fs::read(&path).unwrap()).is_ok(), "{}", path.display());
    }
}

#[test]
fn spelling_does_not_change_a_digest_and_meaning_does() {
    let digest =
        |text: &str| Digest::of_bytes(&signed_bytes(Doc::parse(text.as_bytes()).unwrap().root(), Form::Canonical));
    let one = digest(r#"{"a":1,"b":"é","signature":"x"}"#);
    assert_eq!(one, digest("{ \"b\" : \"\\u00e9\" , \"a\" : 1.0 }"));
    assert_ne!(one, digest(r#"{"a":1,"b":"e\u0301"}"#)); // decomposed: another string, signed as sent
    assert_ne!(one, digest(r#"{"a":2,"b":"é"}"#));
}

#[test]
fn python_writes_the_second_form_as_we_do() {
    let text = r#"{"z":[1,-0.0,1e22,5e-324,0.1,123456789.125],"é":"\u00e9\u0007\u007f/","a":{}}"#;
    let script = "import json,sys;sys.stdout.buffer.write(json.dumps(json.load(sys.stdin),sort_keys=True,\
                  separators=(',',':'),ensure_ascii=False).encode())";
    let mut python = std::process::Command::new("python3")
        .args(["-c", script])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python3 is one of the three things this project needs");
    std::io::Write::write_all(&mut python.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let theirs = python.wait_with_output().unwrap().stdout;
    let doc = Doc::parse(text.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(signed_bytes(doc.root(), Form::PythonSample)), String::from_utf8(theirs));
}
