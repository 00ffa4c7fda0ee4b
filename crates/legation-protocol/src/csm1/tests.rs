//! Codes in and out.

use super::{Adherence, Code, CodeError, Persona, Scope};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, canonical: &str) {
    assert_eq!(text.parse::<Code>().map(|c| c.to_string()), Ok(canonical.to_owned()), "{text}");
}

#[track_caller]
fn refuse(text: &str, name: &str) {
    assert_eq!(text.parse::<Code>().map_err(CodeError::name), Err(name), "{text}");
}

#[test]
fn codes_that_parse() {
    let code: Code = "N5:ELEM+E+F@1.2.0".parse().unwrap();
    assert_eq!((code.persona, code.adherence), (Persona::Nanny, Adherence::Maximum));
    assert!(code.scopes.iter().eq([Scope::Education, Scope::Family].iter()));
    assert_eq!((code.namespace(), code.version()), (Some("ELEM"), Some("1.2.0")));
    assert_eq!(code.nano(), "N5+E+F");
    for persona in Persona::ALL {
        check(&format!("{}0", persona.letter()), &format!("{}0", persona.letter()));
    }
    for adherence in Adherence::ALL {
        check(&format!("C{}", adherence.digit()), &format!("C{}", adherence.digit()));
    }
    check("G3", "G3");
    check("G3:A", "G3:A");
    check("G3:ABCDEFGH", "G3:ABCDEFGH");
    check("Z4@latest", "Z4@latest");
    check("Z4+P@canary", "Z4+P@canary");
    check("Z4@0.10.999", "Z4@0.10.999");
}

#[test]
fn canonical_output() {
    check("N5+E+F:ELEM@1.2.0", "N5:ELEM+E+F@1.2.0");
    check("N5+F+E", "N5+E+F");
    check("N5+F+F+E+F", "N5+E+F");
    check("M1+W+V+T+S+R+P+O+H+F+E+A", "M1+A+E+F+H+O+P+R+S+T+V+W");
}

#[test]
fn codes_that_do_not() {
    refuse("", "empty_code");
    refuse(" \t", "empty_code");
    for text in ["R5", "H5", "n5", "5N", " N5", "+N5", "Ｎ5", "é"] {
        refuse(text, "invalid_persona");
    }
    for text in ["N", "N+F", "NN5", "N-1", "N５", "N:ELEM", "N@1.0.0"] {
        refuse(text, "missing_adherence");
    }
    for text in ["N6", "N9+F", "N10", "N05", "N55"] {
        refuse(text, "adherence_out_of_range");
    }
    for text in ["N5+X", "N5+f", "N5+F+Z", "N5+1", "N5:ELEM+Q"] {
        refuse(text, "invalid_scope");
    }
    for text in ["N5+", "N5++F", "N5+F+", "N5+FE", "N5F", "N5 ", "N5+F ", "N5:ELEM+", "N5+:ELEM"] {
        refuse(text, "invalid_scope_format");
    }
    for text in ["N5:", "N5:elem", "N5:EL3M", "N5:A:B", "N5+F:ELEM+E", "N5:+F", "N5:ELEM ", "N5:lowercaselong"] {
        refuse(text, "invalid_namespace");
    }
    refuse("N5:ABCDEFGHI", "namespace_too_long");
    for text in [
        "N5@",
        "N5@1",
        "N5@1.2",
        "N5@1.2.3.4",
        "N5@1..3",
        "N5@1.2.1000",
        "N5@v1.2.3",
        "N5@LATEST",
        "N5@1.2.0+E",
        "N5@1.2.0@1.2.0",
        "N5@1.2.3-rc",
    ] {
        refuse(text, "invalid_version");
    }
}

#[test]
fn the_leftmost_fault_is_told() {
    refuse("R6+X:elem@bad", "invalid_persona");
    refuse("N6+X:elem@bad", "adherence_out_of_range");
    refuse("N5+X:elem@bad", "invalid_scope");
    refuse("N5+X@bad", "invalid_scope");
    refuse("N5+FE@bad", "invalid_scope_format");
    refuse("N5:elem+X@bad", "invalid_namespace");
    refuse("N5:ABCDEFGHI+X@bad", "namespace_too_long");
    refuse("N5:ELEM+F@bad", "invalid_version");
}

proptest! {
    #[test]
    fn canonical_output_is_stable(text in "[NZGAMDC][0-5](:[A-Z]{1,8})?(\\+[AEFHOPRSTVW]){0,4}(@[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3})?") {
        let once: Code = text.parse().unwrap();
        let twice: Code = once.to_string().parse().unwrap();
        prop_assert_eq!(&once, &twice);
        prop_assert_eq!(once.to_string(), twice.to_string());
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,16}|[NR][0-9+:@.A-Z]{0,12}") {
        let _ = text.parse::<Code>();
    }
}
