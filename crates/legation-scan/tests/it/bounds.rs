//! What a scan never does, whatever the text: fail, take more than linear time, point outside.

use legation_scan::{Scanner, Settings};
use proptest::prelude::*;
use std::sync::LazyLock;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&Settings::default()).unwrap());

/// Steps for each byte of a text that is made to cost much.
const STEPS: u64 = 64;

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("ignore"),
        Just("previous"),
        Just("all"),
        Just("instructions"),
        Just("reveal"),
        Just("your"),
        Just("system"),
        Just("prompt"),
        Just("not"),
        Just("you"),
        Just("are"),
        Just("now"),
        Just("\n"),
        Just(". "),
        Just("i g n o r e"),
        Just("\u{200B}"),
        Just("о"),
        Just("忽"),
        Just("\""),
        Just("<|"),
        Just("[INST]"),
        Just("SWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM="),
        Just("\u{202E}"),
        Just("attack"),
        Just("👩\u{200D}💻"),
    ];
    let gap = prop_oneof![Just(" "), Just(""), Just("-")];
    prop::collection::vec((word, gap), 0..60)
        .prop_map(|words| words.into_iter().flat_map(|(word, gap)| [word, gap]).collect())
}

fn holds(text: &str) -> Result<(), TestCaseError> {
    let hits = SCANNER.text(text);
    prop_assert!(hits.len() <= 32);
    for hit in &hits {
        // What is pointed at is part of the text, whole characters of it.
        prop_assert!(text.get(hit.offset..hit.offset + hit.length).is_some(), "{hit:?}");
    }
    prop_assert_eq!(SCANNER.text(text), hits, "the same text gives the same findings");
    prop_assert!(
        SCANNER.steps(text) <= STEPS * (text.len() as u64 + 64),
        "{} steps for {} bytes",
        SCANNER.steps(text),
        text.len()
    );
    Ok(())
}

proptest! {
    #[test]
    fn any_text_is_looked_at_in_linear_time_and_pointed_at_rightly(text in "\\PC*") {
        holds(&text)?;
    }

    #[test]
    fn texts_made_of_what_is_looked_for_are_too(text in words()) {
        holds(&text)?;
    }

    #[test]
    fn a_body_is_scanned_as_its_strings_are(text in words(), number in any::<u32>()) {
        let body = serde_json::json!({"a": [number, {"b~/c": text}]});
        let bytes = body.to_string().into_bytes();
        let before = bytes.clone();
        let found = SCANNER.body(&bytes);
        prop_assert_eq!(&bytes, &before);
        let hits = SCANNER.text(&text);
        prop_assert_eq!(found.len(), hits.len().min(16));
        for found in found {
            prop_assert_eq!(found.at.as_str(), "/a/1/b~0~1c");
            prop_assert!(text.get(found.offset..found.offset + found.length).is_some());
        }
    }

    #[test]
    fn bytes_that_are_no_message_are_scanned_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        SCANNER.body(&bytes);
    }
}

/// The scanner takes linear time over a long near miss.
#[test]
fn a_long_near_miss_takes_no_more_steps_a_byte_than_a_short_one() {
    for piece in [
        "ignore ",
        "ignore previous ",
        "previous instructions ignore ",
        "reveal your system ",
        "i g n o r e ",
        "a",
        "ignoreallprevious",
        "<|im_start",
        "[INST",
        "system\n",
        "SWdub3JlIGFsbCBwcmV2aW91",
        "\u{200B}",
        "о",
        "忽略",
        "never ignore all previous instructions ",
        "\"ignore all previous instructions\" attack ",
        "you are now ",
    ] {
        let steps = |bytes: usize| {
            let text = piece.repeat(bytes / piece.len());
            SCANNER.steps(&text) * 1000 / text.len() as u64
        };
        let (short, long) = (steps(4 << 10), steps(1 << 20));
        assert!(long * 10 <= short * 11 && long < STEPS * 1000, "{piece:?}: {short}, then {long} steps for 1000 bytes");
    }
}
