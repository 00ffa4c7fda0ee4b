//! What the members of an ack owe each other (sections 3.2 and 7).

use super::{CoreFeatures, ExtensionName, Version, capability};
use crate::code::Code;
use crate::finding::Findings;
use crate::json::{Json, Node};
use crate::read::{self, At, Object};
use std::collections::{BTreeMap, BTreeSet};

/// Reads the active extensions. Every one of them has a name a server can know.
pub(super) fn supported(at: At<'_, '_>) -> Option<Vec<ExtensionName>> {
    let At { node, spec, out } = at;
    let parse = |item: At<'_, '_>| item.parsed(Code::SchemaInvalid, str::parse::<ExtensionName>);
    let names = At { node, spec, out: &mut *out }.list(parse)?;
    warn_of_duplicates(node, spec, out);
    // A name that could not be read has its own finding; no rule can be held against the rest.
    (names.len() == node.items().count()).then_some(names)
}

/// Reads the inactive extensions, as the client wrote them.
pub(super) fn unsupported(at: At<'_, '_>) -> Option<Vec<String>> {
    let At { node, spec, out } = at;
    let name = |item: At<'_, '_>| {
        let At { node, spec, out } = item;
        let name = read::any_text(At { node, spec, out: &mut *out })?;
        if let Err(error) = name.parse::<ExtensionName>() {
            out.at(Code::ExtensionName, node, spec, "no extension can have this name")
                .help(format!("{error}; a server ignores others, and leaves them out of its answer"))
                .warning();
        }
        Some(name)
    };
    let names = At { node, spec, out: &mut *out }.list(name)?;
    warn_of_duplicates(node, spec, out);
    Some(names)
}

fn warn_of_duplicates(list: Node<'_>, spec: &'static str, out: &mut Findings) {
    let mut seen = BTreeSet::new();
    for node in list.items() {
        let Some(name) = node.text() else { continue };
        if !seen.insert(name) {
            out.at(Code::DuplicateExtension, node, spec, "this extension is already in the list")
                .help("remove it")
                .warning();
        }
    }
}

/// Reads the capability objects, which only active extensions have.
pub(super) fn capabilities(
    at: At<'_, '_>,
    supported: Option<&[ExtensionName]>,
) -> Option<BTreeMap<ExtensionName, Json>> {
    let o = at.object()?;
    let active: BTreeSet<_> = supported?.iter().map(ExtensionName::as_str).collect();
    let mut all = BTreeMap::new();
    for (key, node) in o.node.members() {
        let name = key.parse::<ExtensionName>().ok().filter(|name| active.contains(name.as_str()));
        let Some(name) = name else {
            o.out
                .at(Code::AckInvariant, node, "NEG 3.2", "only an extension in `supported` has capabilities")
                .help("add the extension to `supported`, or remove its capabilities");
            continue;
        };
        let at = At { node, spec: "NEG 3.2", out: &mut *o.out };
        if let Some(object) = capability::read(at, &name) {
            all.insert(name, object);
        }
    }
    Some(all)
}

/// What may be left out, at a price.
pub(super) fn check_absences(o: &mut Object<'_, '_>, version: Option<Version>) {
    if o.node.get("unsupported").is_none() {
        o.wrong(Code::UnsupportedMissing, "unsupported", "NEG 3.2", "an ack lists the unsupported extensions")
            .help("add \"unsupported\", empty if there are none; without it the client has to infer them")
            .warning();
    }
    if let (None, Some(version)) = (o.node.get("core_features"), version) {
        CoreFeatures::missing(o, version);
    }
}

/// Extensions are active from version 3.1 on only.
pub(super) fn check_version(o: &mut Object<'_, '_>, version: Option<Version>, supported: Option<&[ExtensionName]>) {
    let (Some(version), Some([_, ..])) = (version, supported) else { return };
    if !version.has_extensions() {
        let message = format!("no extension is active at version {version}, since they are negotiated from 3.1 on");
        o.wrong(Code::AckInvariant, "supported", "NEG 6.3", message)
            .help("move the names to `unsupported` and remove their capabilities, or agree on version 3.1");
    }
}

/// No extension is both active and not.
pub(super) fn check_partition(o: &mut Object<'_, '_>, supported: Option<&[ExtensionName]>) {
    let (Some(supported), Some(unsupported)) = (supported, o.node.get("unsupported")) else { return };
    let active: BTreeSet<_> = supported.iter().map(ExtensionName::as_str).collect();
    let both = unsupported.items().filter(|item| item.text().is_some_and(|name| active.contains(&*name)));
    for node in both {
        o.out
            .at(Code::AckInvariant, node, "NEG 3.2", "an extension is supported or unsupported, never both")
            .help("remove it from one of the two lists");
    }
}

/// An extension that an active one builds on, and what the latter must say without it.
struct Dependency {
    extension: ExtensionName,
    requires: ExtensionName,
    member: &'static str,
    value: bool,
    message: &'static str,
}

const DEPENDENCIES: [Dependency; 2] = [
    Dependency {
        extension: ExtensionName::TORCH,
        requires: ExtensionName::RELATIONAL,
        member: "degraded",
        value: true,
        message: "without VCP-X-Relational, VCP-X-Torch says \"degraded\": true",
    },
    Dependency {
        extension: ExtensionName::INTENT,
        requires: ExtensionName::PERSONAL,
        member: "personal_signals",
        value: false,
        message: "without VCP-X-Personal, VCP-X-Intent says \"personal_signals\": false",
    },
];

/// What works with less says so.
pub(super) fn check_dependencies(o: &mut Object<'_, '_>, supported: Option<&[ExtensionName]>) {
    let (Some(supported), Some(capabilities)) = (supported, o.node.get("capabilities")) else { return };
    for dependency in DEPENDENCIES {
        if supported.contains(&dependency.extension) && !supported.contains(&dependency.requires) {
            dependency.check(o, capabilities);
        }
    }
}

impl Dependency {
    fn check(&self, o: &mut Object<'_, '_>, capabilities: Node<'_>) {
        // What is of the wrong type has been entered already.
        let is_object = |node: Node<'_>| node.kind() == crate::json::Kind::Object;
        if !is_object(capabilities) {
            return;
        }
        let extension = capabilities.get(self.extension.as_str());
        let member = extension.and_then(|node| node.get(self.member));
        let entered = match (extension, member) {
            (None, _) => Some((capabilities, self.extension.as_str())),
            (Some(object), None) => is_object(object).then_some((object, self.member)),
            (Some(_), Some(member)) => {
                if member.boolean() == Some(!self.value) {
                    o.out.at(Code::AckInvariant, member, "NEG 7", self.message).help(format!("write {}", self.value));
                }
                None
            }
        };
        if let Some((parent, name)) = entered {
            let help = format!("add \"{}\": {} to its capabilities", self.member, self.value);
            o.out.missing(Code::AckInvariant, parent, name.to_owned(), "NEG 7", self.message).help(help);
        }
    }
}
