//! The messages that are sent: 1 KiB each, no two with the same id.

use crate::clock::now;
use legation_protocol::Rejection;
use legation_protocol::json::Doc;
use legation_protocol::sign::{PublicKey, SecretKey};

/// How large a message is.
const SIZE: usize = 1024;
/// What a signature adds to one.
const SIGNATURE: usize = r#","signature":"base64:""#.len() + 88;

/// What messages say, over and over: sentences, as those of agents are.
const PROSE: &str = "The figures for March are in, and the totals of the second table differ from those in the report. \
    Nobody could say why, so the team in Porto was asked to count again; their answer is due before noon. ";

/// How many agents sign.
pub(crate) const SIGNERS: u8 = 8;

/// A signed VCP message.
pub(crate) struct Signed {
    pub(crate) body: String,
    /// A second signature, over the body as it stands, for whoever does not look inside.
    pub(crate) outer: String,
    pub(crate) signer: u8,
}

/// The keys of the agents that sign. Nothing depends on their being secret.
pub(crate) fn secret(signer: u8) -> SecretKey {
    SecretKey::from_seed(&[signer + 1; 32])
}

pub(crate) fn public(signer: u8) -> PublicKey {
    secret(signer).public()
}

pub(crate) fn signer_name(signer: u8) -> String {
    format!("signer-{signer}")
}

/// Writes and signs a message, now.
pub(crate) fn signed(number: u64, key: &SecretKey, signer: u8, recipient: &str) -> Result<Signed, Rejection> {
    let now = now();
    let millis = now.micros() / 1000;
    let id = format!("{:08x}-{:04x}-7000-8000-{number:012x}", millis >> 16, millis & 0xffff);
    let sender = signer_name(signer);
    let text = padded(SIZE - SIGNATURE, |purpose| {
        format!(
            r#"{{"vcp_message":"1.2","type":"constitution_announce","message_id":"{id}","sender":"{sender}","recipient":"{recipient}","timestamp":"{now}","payload":{{"constitution_ref":"creed://bench/plain@1.0.0","manifest_hash":"sha256:7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069","scope":{{"purposes":["{purpose}"]}}}}}}"#
        )
    });
    let body = key.sign_in_place(&Doc::parse(text.as_bytes())?)?;
    let outer = key.sign_bytes(body.as_bytes()).to_string();
    Ok(Signed { body, outer, signer })
}

/// The number in the id of a signed message.
pub(crate) fn number_in(id: &[u8]) -> Option<u64> {
    let tail = std::str::from_utf8(id.get(24..36)?).ok()?;
    u64::from_str_radix(tail, 16).ok()
}

/// VLP messages of one sender to its recipients in turn, as lines. Making one is copying it.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    lines: Vec<Box<[u8]>>,
    next: u64,
}

/// Where in a line the digits of its id lie.
const DIGITS: std::ops::Range<usize> = 17..29;

impl Letters {
    /// Letters with numbers from `first` on.
    pub(crate) fn new<'n>(sender: &str, recipients: impl IntoIterator<Item = &'n str>, first: u64) -> Letters {
        let now = now();
        let line = |recipient: &str| {
            let line = padded(SIZE, |content| {
                format!(
                    r#"{{"id":"MSG-bench-{first:012}","protocol":"VLP/1.1","type":"claim","timestamp":"{now}","sender":"{sender}","receiver":"{recipient}","content":"{content}","confidence":0.5}}"#
                )
            });
            line.into_bytes().into()
        };
        Letters { lines: recipients.into_iter().map(line).collect(), next: first }
    }

    /// Writes the next letter.
    pub(crate) fn write(&mut self, out: &mut Vec<u8>) {
        let turn = usize::try_from(self.next).unwrap_or_default() % self.lines.len().max(1);
        let start = out.len();
        out.extend_from_slice(self.lines.get(turn).map(|line| &**line).unwrap_or_default());
        let digits = out.get_mut(start..).and_then(|line| line.get_mut(DIGITS));
        let mut rest = self.next;
        for digit in digits.into_iter().flatten().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
            rest /= 10;
        }
        self.next += 1;
    }
}

/// A text as long as asked, by what is filled in.
fn padded(size: usize, write: impl Fn(&str) -> String) -> String {
    let rest = size.saturating_sub(write("").len());
    write(&PROSE.chars().cycle().take(rest).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{Letters, SIZE, number_in, secret, signed};
    use legation_protocol::Received;

    #[test]
    fn a_signed_message_is_one_and_as_long_as_it_should_be() {
        let message = signed(0xbeef, &secret(3), 3, "recipient-1").unwrap();
        assert_eq!(message.body.len(), SIZE);
        let received = Received::read(message.body.as_bytes()).unwrap();
        assert_eq!(received.message().sender(), "signer-3");
        assert!(secret(3).public().verifies(received.signed_bytes(), received.signature().unwrap()));
        assert_eq!(number_in(received.message().id().unwrap().as_bytes()), Some(0xbeef));
    }

    #[test]
    fn letters_go_round_and_never_repeat_an_id() {
        let mut letters = Letters::new("sender", ["ann", "bob"], 41);
        let mut line = || {
            let mut line = Vec::new();
            letters.write(&mut line);
            assert_eq!(line.len(), SIZE);
            Received::read(line).unwrap().message().id().unwrap()
        };
        assert_eq!(
            [line(), line(), line()].join(" "),
            "MSG-bench-000000000041 MSG-bench-000000000042 MSG-bench-000000000043"
        );
    }
}
