//! A message as it is posted: its bytes as they came in, and what the exchange says of it in headers.

use crate::carrier::Parcel;
use crate::mailbox::{DeliveredReview, Delivery};
use crate::receipt::{RECEIPT_MAX, Receipted, receipt_at};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use legation_exchange::rules::Finding;
use serde_json::json;

/// What is posted at an attempt. It is the same at each but for its number.
pub(super) fn parcel(delivery: Delivery, number: u8) -> Parcel {
    let Delivery { position, bytes, receipt, trace, ruled, review, .. } = delivery;
    let mut headers = vec![("legation-position", position.to_string()), ("legation-attempt", number.to_string())];
    headers.push(receipted(&receipt));
    headers.extend(found(&ruled.findings).map(|found| ("legation-findings", found)));
    headers.extend(review.iter().flat_map(|review| reviewed(review)));
    headers.extend(trace.map(|trace| ("traceparent", trace)));
    Parcel { headers, body: bytes.into() }
}

/// The receipt itself or, where it is too large, where it can be had: it quotes everybody a broadcast went to.
fn receipted(receipt: &Receipted) -> (&'static str, String) {
    match receipt {
        Receipted::Here(receipt) => ("legation-receipt", STANDARD.encode(receipt.to_json())),
        Receipted::At(message) => ("legation-receipt-at", receipt_at(*message)),
    }
}

/// The decision by which the message was released, as JSON, and the receipt over that; both in base64, since names may have
/// any letters.
fn reviewed(review: &DeliveredReview) -> Vec<(&'static str, String)> {
    let DeliveredReview { decision, by, at, entry, receipt } = review;
    let told = json!({ "decision": decision, "by": by, "at": at.to_string(), "entry": entry });
    let mut headers = vec![("legation-review", STANDARD.encode(told.to_string()))];
    if let Receipted::Here(receipt) = receipt {
        headers.push(("legation-review-receipt", STANDARD.encode(receipt.to_json())));
    }
    headers
}

/// What rules and the scan found, by code and severity; nothing that was sent.
fn found(findings: &[Finding]) -> Option<String> {
    let told = findings.iter().map(|Finding { code, spot, .. }| match spot {
        Some(spot) => format!("{code};severity={}", spot.severity),
        None => code.clone(),
    });
    let told = told.collect::<Vec<_>>().join(", ");
    Some(told).filter(|told| !told.is_empty() && told.len() <= RECEIPT_MAX && told.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::found;
    use legation_exchange::rules::{Finding, Spot};
    use legation_scan::{How, Severity};

    #[test]
    fn findings_are_told_by_code_and_severity() {
        let finding = |code: &str, spot| Finding {
            rule: "r".into(),
            code: code.into(),
            says: "s".into(),
            spot,
            ..Finding::default()
        };
        let spot = Spot { severity: Severity::Medium, at: "/content".into(), offset: 0, length: 1, how: How::Plain };
        assert_eq!(found(&[]), None);
        let told = found(&[finding("role_line", Some(spot)), finding("unsourced", None)]);
        assert_eq!(told.as_deref(), Some("role_line;severity=medium, unsourced"));
    }
}
