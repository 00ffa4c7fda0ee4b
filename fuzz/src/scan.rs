//! What must hold for a scan of any text, and of any bytes that claim to be a message.

use legation_scan::{Scanner, Settings};
use std::sync::LazyLock;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(&Settings::default()).expect("built in"));

/// A scan takes linear time, points into the text, and finds the same again.
pub fn scan(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let hits = SCANNER.text(&text);
    for hit in &hits {
        assert!(text.get(hit.offset..hit.offset + hit.length).is_some(), "{hit:?}");
    }
    assert_eq!(SCANNER.text(&text), hits);
    assert!(SCANNER.steps(&text) <= 64 * (text.len() as u64 + 64));
    assert!(SCANNER.body(data).iter().all(|found| found.at.is_empty() || found.at.starts_with('/')));
}
