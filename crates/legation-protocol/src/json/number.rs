//! Numbers: which literals are let in, what they are worth, and how canonical JSON writes them.

/// The largest integer up to which every integer is a double of its own.
const EXACT: f64 = 9_007_199_254_740_991.0;
/// Literals this short without fraction or exponent are exact whatever their digits.
const EXACT_DIGITS: usize = 15;

/// The double a checked literal stands for.
pub(super) fn value(literal: &str) -> f64 {
    literal.parse().unwrap_or(f64::NAN)
}

/// Whether a literal means the same to every reader: finite and, if it is an integer beyond
/// 2^53 - 1, spelled exactly as canonical JSON spells its double.
pub(super) fn is_interoperable(literal: &str) -> bool {
    if is_short_integer(literal) {
        return true;
    }
    let value = value(literal);
    let integer = !literal.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
    value.is_finite() && (!integer || value.abs() <= EXACT || ryu_js::Buffer::new().format_finite(value) == literal)
}

fn is_short_integer(literal: &str) -> bool {
    literal.len() <= EXACT_DIGITS && literal.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

/// Writes a checked literal the way RFC 8785 (section 3.2.2.3) does.
pub(super) fn push_canonical(out: &mut Vec<u8>, literal: &str) {
    if is_short_integer(literal) && literal != "-0" {
        return out.extend_from_slice(literal.as_bytes());
    }
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(value(literal)).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::{is_interoperable, push_canonical};

    #[track_caller]
    fn check(literal: &str, canonical: Option<&str>) {
        let mut out = Vec::new();
        push_canonical(&mut out, literal);
        let written = is_interoperable(literal).then(|| String::from_utf8(out).unwrap());
        assert_eq!(written.as_deref(), canonical, "{literal}");
    }

    #[test]
    fn one_value_has_one_canonical_spelling() {
        for same in ["1", "1.0", "1e0", "10E-1"] {
            check(same, Some("1"));
        }
        for zero in ["0", "-0", "-0.0", "0e9", "1e-400"] {
            check(zero, Some("0"));
        }
        check("1E2", Some("100"));
        check("0.000001", Some("0.000001"));
        check("1e-7", Some("1e-7"));
        check("333333333.33333329", Some("333333333.3333333"));
        check("1e21", Some("1e+21"));
    }

    #[test]
    fn integers_no_double_holds_are_refused() {
        check("9007199254740991", Some("9007199254740991"));
        check("-9007199254740991", Some("-9007199254740991"));
        check("9007199254740992", Some("9007199254740992"));
        check("9007199254740993", None);
        check("-9007199254740993", None);
        check("18446744073709551616", None); // 2^64: canonical JSON writes 18446744073709552000
        check("18446744073709552000", Some("18446744073709552000"));
        check("123456789012345678901", None);
        check("100000000000000000000", Some("100000000000000000000"));
        check("1000000000000000000000", None); // canonical JSON writes 1e+21
        check("1e400", None);
        check("-1e400", None);
    }
}
