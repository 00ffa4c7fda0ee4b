//! What must hold for any bytes at all. The fuzz targets call these, and so do the ordinary tests,
//! with the fixtures and `seeds/` as input.

use legation_protocol::json::{self, Doc, Limits};
use legation_protocol::ndjson::Lines;
use legation_protocol::negotiation::{ExtensionName, Handshake, Registry, Server, answer};
use legation_protocol::{Content, Format, Message, Received, Wire, acl, build, cap, check, csm1, token, vcp, vlp};
use serde_json::Value;

/// What must hold for some bytes.
pub type Target = fn(&[u8]);

/// All of them, by name.
pub const ALL: [(&str, Target); 10] = [
    ("front_door", front_door),
    ("canonical", canonical),
    ("vcp", vcp),
    ("acl", acl),
    ("cap", cap),
    ("vlp", vlp),
    ("hello", hello),
    ("manifest", manifest),
    ("text_forms", text_forms),
    ("lines", lines),
];

/// What comes in, another reader reads too; what is refused has its place inside the bytes.
pub fn front_door(data: &[u8]) {
    match Doc::parse(data) {
        Ok(doc) => {
            assert!(serde_json::from_slice::<Value>(data).is_ok());
            assert_eq!(doc.root().raw().trim(), doc.text().trim());
        }
        Err(rejection) => {
            assert!(rejection.first().span.start <= data.len());
            assert!(!rejection.first().message.is_empty());
        }
    }
    // Auto-detection on anything at all.
    let _ = Received::read(data.to_vec());
}

/// Canonical form is what another implementation writes, and comes in again unchanged.
pub fn canonical(data: &[u8]) {
    let Ok(doc) = Doc::parse(data) else { return };
    let ours = json::canonical(doc.root());
    let value: Value = serde_json::from_slice(data).expect("what we take, serde takes");
    assert_eq!(ours, serde_json_canonicalizer::to_vec(&value).expect("finite"));
    let limits = Limits { bytes: ours.len().max(Limits::MESSAGE.bytes), ..Limits::MESSAGE };
    let again = Doc::parse_within(&ours, limits).expect("canonical output is valid input");
    assert_eq!(json::canonical(again.root()), ours);
}

/// A message judged as `format`: its violations point into it, and what is valid survives a round trip.
fn judge(data: &[u8], format: Format) {
    let checked = check(data, Some(format));
    for violation in &checked.violations {
        assert!(violation.span.start <= data.len() && !violation.message.is_empty());
    }
    assert_eq!(checked.is_valid(), checked.content.is_some());
    let doc = Doc::parse(data);
    match (checked.content, doc) {
        (Some(Content::Message(message)), Ok(doc)) => {
            let _ = (message.id(), message.sender(), message.recipients(), message.thread());
            let _ = (message.refers_to(), message.time(), message.kind());
            match message {
                Message::Vcp(m) => same_again(&*m, &doc),
                Message::Acl(m) => same_again(&*m, &doc),
                Message::Cap(m) => same_again(&*m, &doc),
                Message::Vlp(m) => same_again(&*m, &doc),
            }
        }
        (Some(Content::Manifest(manifest)), Ok(doc)) => same_again(&*manifest, &doc),
        (Some(Content::Handshake(handshake)), Ok(doc)) => same_again(&*handshake, &doc),
        (Some(_), Err(_)) => panic!("valid, but not JSON"),
        (None, _) => {}
    }
}

fn same_again<T: Wire>(value: &T, doc: &Doc<'_>) {
    // A message inside a signature wrapper is judged without the wrapper.
    let message = legation_protocol::unwrapped(doc.root(), &mut legation_protocol::Findings::new());
    let text = serde_json::to_string(value).expect("writes");
    let limits = Limits { bytes: 4 * Limits::MESSAGE.bytes, ..Limits::MESSAGE };
    let again = Doc::parse_within(text.as_bytes(), limits).expect("reads");
    assert_eq!(json::canonical(again.root()), json::canonical(message));
}

macro_rules! dialects {
    ($($name:ident = $format:ident),*) => { $(
        /// Messages of this format.
        pub fn $name(data: &[u8]) {
            judge(data, Format::$format);
        }
    )* };
}

dialects!(vcp = Vcp, acl = Acl, cap = Cap, vlp = Vlp, handshake = Hello, manifest = Manifest);

/// Handshake messages; and whatever comes as a hello gets one answer, itself valid and within its limit.
pub fn hello(data: &[u8]) {
    handshake(data);
    let rivals = Registry::v3_1().excluding(&ExtensionName::PERSONAL, &ExtensionName::INTENT);
    for server in [Server::default(), Server { registry: rivals, ..Server::default() }] {
        let answered = answer(data, &server, |token| token.len().is_multiple_of(2));
        if let Ok((hello, ack)) = &answered.outcome {
            assert_eq!(ack.answers(hello), Ok(()));
        }
        let answer = Handshake::from(answered.outcome.map(|(_, ack)| ack));
        assert_eq!(build(&answer).expect("an answer is valid").value(), &answer);
    }
}

/// The small languages inside messages: what parses has a canonical form that parses to itself.
pub fn text_forms(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(context) = vcp::Context::parse(text) {
        let canonical = context.canonical();
        let again = vcp::Context::parse(&canonical).expect("canonical contexts parse");
        assert_eq!(again.canonical(), canonical);
    }
    let _ = (vcp::CreedUri::parse(text), vcp::ManifestHash::parse(text), vcp::Propagated::parse(text));
    let _ = (acl::Language::parse(text), acl::Ontology::parse(text), acl::IsoDuration::parse(text));
    let _ = (cap::TaskId::parse(text), vlp::MessageId::parse(text), vlp::SessionId::parse(text));
    let _ = legation_protocol::Timestamp::utc(text);
    let _ = legation_protocol::id::AgentId::vcp(text);
    let canonical = token::canonicalise(text);
    assert_eq!(token::canonicalise(&canonical), canonical);
    if let Ok(token) = text.parse::<token::IdentityToken>() {
        assert_eq!((token.reveal(), token.names().is_empty()), (text.to_owned(), false));
    }
    if let Ok(token) = text.parse::<token::ValueToken>() {
        assert_eq!(token.to_string().parse(), Ok(token));
    }
    if let Ok(code) = text.parse::<csm1::Code>() {
        assert_eq!(code.to_string().parse(), Ok(code));
    }
}

/// Lines do not depend on how the stream was cut.
pub fn lines(data: &[u8]) {
    let Some((&size, stream)) = data.split_first() else { return };
    let cut = |size: usize| {
        let mut lines = Lines::up_to(64);
        let mut seen = Vec::new();
        for mut chunk in stream.chunks(size) {
            while let Some(line) = lines.next(&mut chunk) {
                seen.push((line.number, line.bytes.map(<[u8]>::to_vec)));
            }
        }
        seen.extend(lines.finish().map(|line| (line.number, line.bytes.map(<[u8]>::to_vec))));
        seen
    };
    assert_eq!(cut(usize::from(size).max(1)), cut(stream.len().max(1)));
}
