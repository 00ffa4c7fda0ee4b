//! A message as it is posted: its bytes as they came in, and what the exchange says of it in headers.

use crate::carrier::Parcel;
use crate::mailbox::Delivery;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The largest receipt that goes into a header: what all servers take.
const RECEIPT_MAX: usize = 6 << 10;

/// What is posted at an attempt. It is the same at each but for its number.
pub(super) fn parcel(delivery: Delivery, number: u8) -> Parcel {
    let Delivery { position, bytes, receipt, trace, .. } = delivery;
    let receipt = Some(receipt.to_json()).filter(|text| text.len() <= RECEIPT_MAX);
    let mut headers = vec![("legation-position", position.to_string()), ("legation-attempt", number.to_string())];
    headers.extend(receipt.map(|text| ("legation-receipt", STANDARD.encode(text))));
    headers.extend(trace.map(|trace| ("traceparent", trace)));
    Parcel { headers, body: bytes.into() }
}
