//! Opening a leaf: what is shown of an entry so that anyone can compute its leaf, and no more. The
//! body is not part of it, nor is the entry's own salt: with that, whoever holds it could try out
//! what a body said after an erase has destroyed it.

use super::frame::{Frame, effect_commitment, leaf_and_body, leaf_of};
use super::hash::{Hash, read_hex, write_hex};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The salt of an effect, written as 32 lower-case hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

impl Serialize for Salt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = [0; 32];
        write_hex(&self.0, &mut text);
        serializer.serialize_str(str::from_utf8(&text).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Salt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Salt, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bad = || serde::de::Error::custom("an effect's salt is 32 lower-case hexadecimal digits");
        read_hex(text.as_bytes()).map(Salt).ok_or_else(bad)
    }
}

/// What of an entry, beside position and time, its leaf follows from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The effect, to the byte.
    pub effect: String,
    /// Its salt.
    pub effect_salt: Salt,
    /// What the leaf says of the body, where there is one.
    pub body: Option<Hash>,
}

impl Opening {
    /// Opens an entry with this effect and the salt of it, whose body has this commitment. `None` if
    /// the effect is no text.
    pub fn new(effect_salt: [u8; 16], effect: &[u8], body: Option<Hash>) -> Option<Opening> {
        let effect = str::from_utf8(effect).ok()?.to_owned();
        Some(Opening { effect, effect_salt: Salt(effect_salt), body })
    }

    /// Opens an entry; none whose effect gave way to another, since that does not lead to the leaf.
    pub fn of(frame: &Frame) -> Option<Opening> {
        if frame.was.is_some() {
            return None;
        }
        Opening::new(frame.effect_salt(), &frame.effect, leaf_and_body(frame).1)
    }

    /// The leaf that follows.
    pub fn leaf(&self, position: u64, at: u64) -> Hash {
        let Salt(salt) = self.effect_salt;
        leaf_of(position, at, effect_commitment(salt, self.effect.as_bytes()), self.body)
    }
}

/// An entry as those see it who may see everything: one line of an export.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Disclosed {
    /// Its place.
    pub position: u64,
    /// When it was decided, in microseconds since 1970.
    pub at: u64,
    /// Its leaf.
    pub leaf: Hash,
    /// The salt of its effect; none where not all of that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_salt: Option<Salt>,
    /// What the leaf says of the effect, where that is not shown, or not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_hash: Option<Hash>,
    /// Whether what its effect said is erased: what is shown took its place, and an entry `erased` has its hash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// What the leaf says of the body, where there is one.
    pub body_hash: Option<Hash>,
    /// What it does, to the byte where all of it is shown.
    pub effect: Box<RawValue>,
    /// The body as received, where it was asked for and is still here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl Disclosed {
    /// Discloses an entry; its body only if asked. `None` if the effect is no JSON, or the body no text.
    pub fn of(frame: Frame, with_body: bool) -> Option<Disclosed> {
        let (leaf, body_hash) = leaf_and_body(&frame);
        let redacted = frame.was.is_some();
        let (effect_salt, effect_hash) = (Some(Salt(frame.effect_salt())).filter(|_| !redacted), frame.was);
        let effect = RawValue::from_string(String::from_utf8(frame.effect).ok()?).ok()?;
        let body = frame.body.into_here().filter(|_| with_body).map(String::from_utf8).transpose().ok()?;
        let (position, at) = (frame.position, frame.at);
        Some(Disclosed { position, at, leaf, effect_salt, effect_hash, redacted, body_hash, effect, body })
    }

    /// The same for those who are not to see what agents are told to be, nor what extensions keep of somebody:
    /// without the `system_prompt` of a manifest, and of what an extension keeps only whose and of which kind it is.
    /// The leaf still follows, and nothing that is shown lets anybody try out what is not.
    #[must_use]
    pub fn without_private(self) -> Disclosed {
        let text = self.effect.get();
        let may_be = text.contains("system_prompt") || text.contains("extension");
        let said = self.effect_salt.map(|Salt(salt)| effect_commitment(salt, text.as_bytes())).or(self.effect_hash);
        let Some(hash) = said.filter(|_| may_be) else { return self };
        let mut effect: Value = serde_json::from_str(text).unwrap_or_default();
        if !withhold(&mut effect) {
            return self;
        }
        match RawValue::from_string(effect.to_string()) {
            Ok(effect) => Disclosed { effect, effect_salt: None, effect_hash: Some(hash), ..self },
            Err(_) => self,
        }
    }

    /// Whether the leaf is that of what is shown.
    pub fn is_sound(&self) -> bool {
        let leaf = match (self.opening(), self.effect_hash) {
            (Some(opening), None) => opening.leaf(self.position, self.at),
            (None, Some(hash)) => leaf_of(self.position, self.at, hash, self.body_hash),
            (Some(_), Some(_)) | (None, None) => return false,
        };
        leaf == self.leaf
    }

    /// What its leaf follows from, where all of it is shown.
    pub fn opening(&self) -> Option<Opening> {
        let effect_salt = self.effect_salt?;
        Some(Opening { effect: self.effect.get().to_owned(), effect_salt, body: self.body_hash })
    }
}

/// Leaves out what is private; whether anything was.
fn withhold(effect: &mut Value) -> bool {
    let prompt = effect.pointer_mut("/agent/manifest/system_prompt").into_iter().map(withheld).count();
    let changes = effect.get_mut("changes").and_then(Value::as_array_mut).into_iter().flatten();
    let kept = changes.filter(|change| change.get("of").is_some_and(|of| of == "extension"));
    let kept = kept.filter_map(|change| change.get_mut("what")?.as_object_mut()).flatten();
    let private = kept.flat_map(|(extension, change)| {
        let kinds = change.as_object_mut().into_iter().flatten().map(|(_, told)| told);
        // A deliberation is no secret from those who see everything; a ballot is.
        let is_shared = extension == "consensus";
        kinds.filter_map(move |told| if is_shared { told.get_mut("ballot") } else { Some(told) })
    });
    prompt + private.map(withheld).count() > 0
}

fn withheld(value: &mut Value) {
    *value = json!({ "withheld": true });
}

#[cfg(test)]
mod tests {
    use super::{Disclosed, Opening, Salt};
    use crate::record::{Body, Frame, leaf};

    fn frame() -> Frame {
        let effect = br#"{"entry":"x", "a":"\u0041"}"#.to_vec();
        Frame { position: 7, at: 8, salt: [9; 16], effect, was: None, body: Body::Here("hi é".into()) }
    }

    #[test]
    fn an_opening_gives_the_leaf_without_body_and_salt() {
        let opening = Opening::of(&frame()).unwrap();
        assert_eq!(opening.leaf(7, 8), leaf(&frame()));
        let text = serde_json::to_string(&opening).unwrap();
        assert_eq!(serde_json::from_str::<Opening>(&text).unwrap(), opening);
        assert!(!text.contains("hi") && !text.contains(&"09".repeat(16)), "{text}");
    }

    #[test]
    fn what_is_disclosed_keeps_every_byte_through_json() {
        for with_body in [false, true] {
            let text = serde_json::to_string(&Disclosed::of(frame(), with_body).unwrap()).unwrap();
            let back: Disclosed = serde_json::from_str(&text).unwrap();
            assert!(back.is_sound());
            assert_eq!(back.body.as_deref(), with_body.then_some("hi é"));
            let other = Disclosed { effect_salt: Some(Salt([0; 16])), ..back };
            assert!(!other.is_sound());
        }
    }

    #[test]
    fn what_took_the_place_of_an_effect_is_shown_as_such_and_opens_nothing() {
        let redacted = frame().redacted(br#"{"entry":"y"}"#.to_vec());
        assert_eq!(Opening::of(&redacted), None);
        let text = serde_json::to_string(&Disclosed::of(redacted, true).unwrap()).unwrap();
        let back: Disclosed = serde_json::from_str(&text).unwrap();
        assert!(back.is_sound() && back.redacted && back.opening().is_none() && back.leaf == leaf(&frame()), "{text}");
        assert!(!text.contains("effect_salt") && !text.contains("u0041"), "{text}");
    }

    #[test]
    fn what_is_withheld_leaves_the_leaf_and_nothing_to_guess_by() {
        let effect = br#"{"entry":"registered","agent":{"id":"a","manifest":{"system_prompt":"Be kind."}}}"#.to_vec();
        let shown = Disclosed::of(Frame { effect, ..frame() }, false).unwrap().without_private();
        let text = serde_json::to_string(&shown).unwrap();
        assert!(!text.contains("Be kind") && !text.contains("effect_salt"), "{text}");
        let back: Disclosed = serde_json::from_str(&text).unwrap();
        assert!(back.is_sound() && back.opening().is_none());
        assert!(!Disclosed { effect_hash: Some(crate::record::Hash::ZERO), ..back }.is_sound());
        let plain = Disclosed::of(frame(), false).unwrap().without_private();
        assert!(plain.is_sound() && plain.opening().is_some());
    }

    #[test]
    fn what_an_extension_keeps_is_left_out_but_for_whose_and_which_kind() {
        let shown = |what: &str| {
            let change = format!(r#"{{"of":"extension","subject":"agent:a","what":{what}}}"#);
            let effect = format!(r#"{{"entry":"changed","changes":[{change}],"by":"a"}}"#).into_bytes();
            let shown = Disclosed::of(Frame { effect, ..frame() }, false).unwrap().without_private();
            assert!(shown.is_sound() && shown.effect.get().contains("agent:a"), "{}", shown.effect);
            let effect: serde_json::Value = serde_json::from_str(shown.effect.get()).unwrap();
            effect["changes"][0]["what"].to_string()
        };
        let hidden = r#"{"withheld":true}"#;
        for (what, want) in [
            (r#"{"personal":{"set":[{"category":"pain"}]}}"#, format!(r#"{{"personal":{{"set":{hidden}}}}}"#)),
            (r#"{"personal":"engaged"}"#, r#"{"personal":"engaged"}"#.to_owned()),
            (r#"{"torch":{"received":{"from":"agent:b"}}}"#, format!(r#"{{"torch":{{"received":{hidden}}}}}"#)),
            (
                r#"{"consensus":{"voted":{"ballot":[["x"]],"deliberation":7}}}"#,
                format!(r#"{{"consensus":{{"voted":{{"ballot":{hidden},"deliberation":7}}}}}}"#),
            ),
            (
                r#"{"consensus":{"advanced":{"deliberation":7,"to":"ACTIVE"}}}"#,
                r#"{"consensus":{"advanced":{"deliberation":7,"to":"ACTIVE"}}}"#.to_owned(),
            ),
        ] {
            assert_eq!(shown(what), want);
        }
    }
}
