//! Reading typed values out of a checked document: every reader yields the value or enters what
//! is wrong with it, and goes on, so that one pass finds all that is wrong with a message.

use crate::code::Code;
use crate::finding::{Entered, Findings};
use crate::json::{Json, Kind, Node};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Members of an object that its spec does not define, kept as they came.
pub type Extra = BTreeMap<String, Json>;

/// An enum whose values have names on the wire.
pub(crate) trait Named: Copy + 'static {
    const ALL: &'static [Self];
    fn as_str(self) -> &'static str;
}

/// Where a reader stands: the node, the section of the spec it reads by, and what was found.
pub(crate) struct At<'d, 'f> {
    pub(crate) node: Node<'d>,
    pub(crate) spec: &'static str,
    pub(crate) out: &'f mut Findings,
}

impl<'d, 'f> At<'d, 'f> {
    /// Enters a violation here and yields nothing.
    pub(crate) fn fail<T>(self, code: Code, message: impl Into<Cow<'static, str>>) -> Option<T> {
        self.out.at(code, self.node, self.spec, message);
        None
    }

    /// The same with a way out.
    pub(crate) fn fail_with<T>(
        self,
        code: Code,
        message: impl Into<Cow<'static, str>>,
        help: impl Into<Cow<'static, str>>,
    ) -> Option<T> {
        self.out.at(code, self.node, self.spec, message).help(help);
        None
    }

    fn mistyped<T>(self, wanted: &str) -> Option<T> {
        let found = self.node.kind().noun();
        self.fail(Code::SchemaInvalid, format!("expected {wanted}, found {found}"))
    }

    /// A string that `parse` takes; what it refuses is entered under `code`.
    pub(crate) fn parsed<T, E: std::fmt::Display>(
        self,
        code: Code,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let Some(text) = self.node.text() else { return self.mistyped("a string") };
        match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => self.fail(code, error.to_string()),
        }
    }

    /// One of the listed names; another is entered under `code`.
    pub(crate) fn named<T: Named>(self, code: Code) -> Option<T> {
        let Some(text) = self.node.text() else { return self.mistyped("a string") };
        if let Some(value) = T::ALL.iter().find(|value| value.as_str() == text) {
            return Some(*value);
        }
        let close = T::ALL.iter().find(|value| value.as_str().eq_ignore_ascii_case(text.trim()));
        let listed: Vec<_> = T::ALL.iter().map(|value| value.as_str()).collect();
        let help = close.map_or_else(|| format!("use {}", or_list(&listed)), |c| format!("write {:?}", c.as_str()));
        let shown: String = text.chars().take(64).collect();
        self.fail_with(code, format!("{shown:?} is none of the values this member has"), help)
    }

    /// A number from `low` to `high`.
    pub(crate) fn number(self, low: f64, high: f64) -> Option<f64> {
        match self.node.number() {
            Some(value) if (low..=high).contains(&value) => Some(value),
            Some(value) if high.is_infinite() => {
                self.fail(Code::OutOfRange, format!("must be {low} or more, and is {value}"))
            }
            Some(value) => self.fail(Code::OutOfRange, format!("must lie from {low} to {high}, and is {value}")),
            None => self.mistyped("a number"),
        }
    }

    /// A whole number of at least `low`.
    pub(crate) fn integer(self, low: i64) -> Option<i64> {
        let Some(value) = self.node.number() else { return self.mistyped("a whole number") };
        if value.fract() != 0.0 {
            return self.fail(Code::SchemaInvalid, format!("expected a whole number, found {value}"));
        }
        if value.abs() > 9_007_199_254_740_991.0 {
            return self.fail(Code::OutOfRange, "beyond 9007199254740991 whole numbers are no longer exact");
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
        let whole = value as i64;
        if whole < low {
            return self.fail(Code::OutOfRange, format!("must be {low} or more, and is {whole}"));
        }
        Some(whole)
    }

    /// An array, each element by `read`. Elements that cannot be read are entered and left out.
    pub(crate) fn list<T>(self, mut read: impl FnMut(At<'d, '_>) -> Option<T>) -> Option<Vec<T>> {
        if self.node.kind() != Kind::Array {
            return self.mistyped("an array");
        }
        let (spec, out) = (self.spec, self.out);
        Some(self.node.items().filter_map(|node| read(At { node, spec, out: &mut *out })).collect())
    }

    /// An object, to be read member by member.
    pub(crate) fn object(self) -> Option<Object<'d, 'f>> {
        if self.node.kind() != Kind::Object {
            if self.node.is_root() {
                let found = self.node.kind().noun();
                return self.fail(Code::NotAnObject, format!("a message is a JSON object, not {found}"));
            }
            return self.mistyped("an object");
        }
        let mut members = Vec::with_capacity(self.node.len_at_most().min(32));
        members.extend(self.node.keyed().map(|(key, value)| {
            let name = key.text().unwrap_or_default();
            Member { name, key, value, known: false, null: false }
        }));
        Some(Object { node: self.node, spec: self.spec, members, next: 0, out: self.out })
    }
}

/// A string, empty or not.
pub(crate) fn any_text(at: At<'_, '_>) -> Option<String> {
    match at.node.text() {
        Some(text) => Some(text.into_owned()),
        None => at.mistyped("a string"),
    }
}

/// A string with something in it.
pub(crate) fn text(at: At<'_, '_>) -> Option<String> {
    match at.node.text() {
        Some(text) if text.is_empty() => at.fail(Code::SchemaInvalid, "must not be empty"),
        Some(text) => Some(text.into_owned()),
        None => at.mistyped("a string"),
    }
}

/// `true` or `false`.
pub(crate) fn boolean(at: At<'_, '_>) -> Option<bool> {
    match at.node.boolean() {
        Some(value) => Some(value),
        None => at.mistyped("true or false"),
    }
}

/// Any JSON at all.
#[expect(clippy::unnecessary_wraps, clippy::needless_pass_by_value, reason = "a reader like the others")]
pub(crate) fn json(at: At<'_, '_>) -> Option<Json> {
    Some(Json::from(at.node))
}

/// Any JSON object.
pub(crate) fn json_object(at: At<'_, '_>) -> Option<Json> {
    if at.node.kind() == Kind::Object { Some(Json::from(at.node)) } else { at.mistyped("an object") }
}

/// An object being read. Remembers which members its spec defines.
pub(crate) struct Object<'d, 'f> {
    pub(crate) node: Node<'d>,
    spec: &'static str,
    members: Vec<Member<'d>>,
    /// Where the search for a member begins: messages mostly have the order of their spec.
    next: usize,
    pub(crate) out: &'f mut Findings,
}

struct Member<'d> {
    name: Cow<'d, str>,
    key: Node<'d>,
    value: Node<'d>,
    known: bool,
    /// A known member that may be null, and is.
    null: bool,
}

impl<'d> Object<'d, '_> {
    /// Finds a member the spec defines, and marks it as such.
    fn find(&mut self, name: &str) -> Option<Node<'d>> {
        let is_it = |member: &Member<'_>| member.name == name;
        let later = self.members.iter().skip(self.next).position(is_it).map(|index| index + self.next);
        let index = later.or_else(|| self.members.iter().take(self.next).position(is_it))?;
        let member = self.members.get_mut(index)?;
        member.known = true;
        self.next = index + 1;
        Some(member.value)
    }

    /// A member that must be there.
    pub(crate) fn required<T>(&mut self, name: &'static str, read: impl FnOnce(At<'d, '_>) -> Option<T>) -> Option<T> {
        self.required_as(Code::SchemaInvalid, name, read)
    }

    /// A member that must be there, with the code that says it is not.
    pub(crate) fn required_as<T>(
        &mut self,
        code: Code,
        name: &'static str,
        read: impl FnOnce(At<'d, '_>) -> Option<T>,
    ) -> Option<T> {
        let Some(node) = self.find(name) else {
            self.lacks(code, name);
            return None;
        };
        read(At { node, spec: self.spec, out: self.out })
    }

    /// A member that may be left out. One that is null instead is told so.
    pub(crate) fn optional<T>(&mut self, name: &'static str, read: impl FnOnce(At<'d, '_>) -> Option<T>) -> Option<T> {
        let node = self.find(name)?;
        let value = read(At { node, spec: self.spec, out: self.out });
        if value.is_none() && node.is_null() {
            advise(self.out, node, "leave the member out");
        }
        value
    }

    /// A member that may be left out or null. A null is kept among the extra members.
    pub(crate) fn nullable<T>(&mut self, name: &'static str, read: impl FnOnce(At<'d, '_>) -> Option<T>) -> Option<T> {
        let node = self.find(name)?;
        if !node.is_null() {
            return read(At { node, spec: self.spec, out: self.out });
        }
        if let Some(member) = self.next.checked_sub(1).and_then(|found| self.members.get_mut(found)) {
            member.null = true;
        }
        None
    }

    /// Whether there is such a member that has not been read.
    pub(crate) fn has_unknown(&self, name: &str) -> bool {
        self.members.iter().any(|member| !member.known && member.name == name)
    }

    /// Enters that `name` is missing.
    pub(crate) fn lacks(&mut self, code: Code, name: &'static str) {
        self.out
            .missing(code, self.node, name, self.spec, format!("the member `{name}` is missing"))
            .help(format!("add \"{name}\""));
    }

    /// Enters a violation at a member, or where it would be.
    pub(crate) fn wrong(
        &mut self,
        code: Code,
        name: &'static str,
        spec: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Entered<'_, 'd> {
        match self.node.get(name) {
            Some(node) => self.out.at(code, node, spec, message),
            None => self.out.missing(code, self.node, name, spec, message),
        }
    }

    /// A reader for the object itself under another section's rules.
    pub(crate) fn member(&mut self, name: &str) -> Option<At<'d, '_>> {
        let node = self.node.get(name)?;
        Some(At { node, spec: self.spec, out: self.out })
    }

    /// Ends an object that may have no other members.
    pub(crate) fn closed(self) {
        for Member { name, key, .. } in self.members.iter().filter(|member| !member.known) {
            let name: String = name.chars().take(64).collect();
            self.out
                .at(Code::SchemaInvalid, *key, self.spec, format!("no member {name:?} is defined here"))
                .help("remove it, or check its spelling");
        }
    }

    /// Ends an object whose other members are kept.
    pub(crate) fn extra(self) -> Extra {
        let unknown = self.members.into_iter().filter(|member| !member.known || member.null);
        unknown.map(|member| (member.name.into_owned(), Json::from(member.value))).collect()
    }
}

/// Adds a way out to what was just entered at `node`, if it has none.
fn advise(out: &mut Findings, node: Node<'_>, help: &'static str) {
    let mut all = std::mem::take(out).into_vec();
    if let Some(last) = all.last_mut().filter(|last| last.span == node.span()) {
        last.help.get_or_insert(help.into());
    }
    *out = Findings::from(all);
}

/// "a, b or c", each in quotes.
fn or_list(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{At, Object, any_text, boolean, json_object, text};
    use crate::code::Code;
    use crate::finding::Findings;
    use crate::json::Doc;

    #[track_caller]
    fn check<T>(value: &str, read: impl FnOnce(&mut Object<'_, '_>) -> Option<T>, want: Option<&str>) {
        let source = format!(r#"{{"a":{value}}}"#);
        let doc = Doc::parse(source.as_bytes()).unwrap();
        let mut out = Findings::new();
        assert!(read(&mut At { node: doc.root(), spec: "", out: &mut out }.object().unwrap()).is_none());
        let help: Vec<_> = out.into_vec().into_iter().map(|v| v.help).collect();
        assert_eq!(help.iter().map(Option::as_deref).collect::<Vec<_>>(), [want], "{source}");
    }

    #[test]
    fn a_null_that_may_not_be_is_better_left_out() {
        let way_out = Some("leave the member out");
        check("null", |o| o.optional("a", text), way_out);
        check("null", |o| o.optional("a", any_text), way_out);
        check("null", |o| o.optional("a", boolean), way_out);
        check("null", |o| o.optional("a", json_object), way_out);
        check("null", |o| o.optional("a", |at| at.number(0.0, 1.0)), way_out);
        check("null", |o| o.optional("a", |at| at.integer(0)), way_out);
        check("null", |o| o.optional("a", |at| at.list(text)), way_out);
        check("null", |o| o.optional("a", |at| at.parsed(Code::OutOfRange, str::parse::<u8>)), way_out);
    }

    #[test]
    fn what_is_needed_is_not_to_be_left_out() {
        check("null", |o| o.required("a", text), None);
        check("7", |o| o.optional("a", text), None);
        check("[null]", |o| o.optional("a", |at| at.list(text)).filter(|list| !list.is_empty()), None);
        let own = |at: At<'_, '_>| at.fail_with::<()>(Code::SchemaInvalid, "no", "write it anew");
        check("null", |o| o.optional("a", own), Some("write it anew"));
    }
}
