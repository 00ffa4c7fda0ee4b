//! The second signed form: what the messaging spec's own Python sample (section 7.2) signs. It is
//! not RFC 8785: floats keep a fraction, exponents look different, integers keep all their digits
//! and keys stand in code point order. Used only where somebody asked for it.

use super::number;

/// Writes a checked literal as Python's `json` would write it back.
pub(super) fn push_number(out: &mut Vec<u8>, literal: &str) {
    if literal.bytes().any(|b| matches!(b, b'.' | b'e' | b'E')) {
        out.extend_from_slice(float_repr(number::value(literal)).as_bytes());
    } else {
        // Python reads an integer of any length, and knows no negative zero among them.
        out.extend_from_slice(if literal == "-0" { b"0" } else { literal.as_bytes() });
    }
}

/// Python's `repr` of a float: the shortest digits, an exponent below 1e-4 and from 1e16 on.
fn float_repr(value: f64) -> String {
    let shortest = format!("{value:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{value}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

#[cfg(test)]
mod tests {
    use super::super::{Doc, Form, signed_bytes};

    #[track_caller]
    fn check(text: &str, want: &str) {
        let doc = Doc::parse(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(signed_bytes(doc.root(), Form::PythonSample)).unwrap(), want);
    }

    #[test]
    fn numbers_look_as_python_writes_them() {
        check("[1, -0, 9007199254740992]", "[1,0,9007199254740992]");
        check("[1.0, -0.0, 1E2, 0.1]", "[1.0,-0.0,100.0,0.1]");
        check("[1e-7, 0.0001, 0.00001, 1e16, 1.5e16]", "[1e-07,0.0001,1e-05,1e+16,1.5e+16]");
        check("[1e15, 123456789012345.6, 1e300]", "[1000000000000000.0,123456789012345.6,1e+300]");
    }

    #[test]
    fn keys_stand_in_code_point_order() {
        check(r#"{"\ud83d\ude00":1,"\ufb33":2,"signature":3}"#, "{\"\u{fb33}\":2,\"😀\":1}");
    }
}
