//! Sealing bytes: Fernet's construction (version, time, IV, AES-128-CBC with PKCS #7, HMAC-SHA-256 over
//! all of it) on raw bytes instead of their base64. A key is used once, so its IV comes with it.

use aes::Aes128;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroize as _;

const VERSION: u8 = 0x80;
const BLOCK: usize = 16;
/// Version, time and IV.
const LEAD: usize = 1 + 8 + BLOCK;
const MAC: usize = 32;

/// A key for one part of one entry, and its IV.
pub(crate) struct Once {
    pub(crate) sign: [u8; 16],
    pub(crate) encrypt: [u8; 16],
    pub(crate) iv: [u8; 16],
}

impl Drop for Once {
    fn drop(&mut self) {
        self.sign.zeroize();
        self.encrypt.zeroize();
    }
}

/// How many bytes so many bytes have once they are sealed.
pub(crate) const fn sealed_len(plain: usize) -> usize {
    LEAD + (plain / BLOCK + 1) * BLOCK + MAC
}

/// Adds the sealed form of some bytes, with the time in seconds that stands in it.
pub(crate) fn seal(once: &Once, seconds: u64, plain: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.reserve(sealed_len(plain.len()));
    out.push(VERSION);
    out.extend(seconds.to_be_bytes());
    out.extend(once.iv);
    out.extend_from_slice(plain);
    out.resize(start + sealed_len(plain.len()) - MAC, 0);
    let cipher = cbc::Encryptor::<Aes128>::new(&once.encrypt.into(), &once.iv.into());
    if let Some(room) = out.get_mut(start + LEAD..) {
        // The room is that of the padded bytes, so they fit.
        let _ = cipher.encrypt_padded::<Pkcs7>(room, plain.len());
    }
    let mac = authenticated(once, out.get(start..).unwrap_or_default()).finalize();
    out.extend_from_slice(&mac.into_bytes());
}

/// The bytes that were sealed, if these are they, and nobody else's.
pub(crate) fn open(once: &Once, sealed: &[u8]) -> Option<Vec<u8>> {
    let (said, mac) = sealed.split_last_chunk::<MAC>()?;
    authenticated(once, said).verify_slice(mac).ok()?;
    let (lead, hidden) = said.split_first_chunk::<LEAD>()?;
    let (head, iv) = lead.split_last_chunk::<BLOCK>()?;
    if head.first() != Some(&VERSION) {
        return None;
    }
    let mut plain = hidden.to_vec();
    let cipher = cbc::Decryptor::<Aes128>::new(&once.encrypt.into(), iv.into());
    let length = cipher.decrypt_padded::<Pkcs7>(&mut plain).ok()?.len();
    plain.truncate(length);
    Some(plain)
}

fn authenticated(once: &Once, said: &[u8]) -> Hmac<Sha256> {
    let mut mac = keyed(&once.sign);
    mac.update(said);
    mac
}

/// An HMAC with this key, which may have any length.
pub(crate) fn keyed(key: &[u8]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(mac) => mac,
        // No length is refused; were one, nothing would open.
        Err(_) => Hmac::new(&[0; 64].into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Once, open, seal, sealed_len};
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE;

    fn once() -> Once {
        Once { sign: [1; 16], encrypt: [2; 16], iv: [3; 16] }
    }

    fn oracle() -> fernet::Fernet {
        let key = [[1; 16], [2; 16]].concat();
        fernet::Fernet::new(&BASE64_URL_SAFE.encode(key)).unwrap()
    }

    #[test]
    fn what_is_sealed_is_a_fernet_token_and_the_other_way_round() {
        for size in [0, 1, 15, 16, 17, 31, 32, 1000] {
            let plain: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let mut sealed = vec![9];
            seal(&once(), 1_790_000_000, &plain, &mut sealed);
            let sealed = &sealed[1..];
            assert_eq!(sealed.len(), sealed_len(plain.len()));
            assert_eq!(oracle().decrypt(&BASE64_URL_SAFE.encode(sealed)).unwrap(), plain);
            assert_eq!(open(&once(), sealed).unwrap(), plain);
            let token = BASE64_URL_SAFE.decode(oracle().encrypt(&plain)).unwrap();
            assert_eq!(open(&once(), &token).unwrap(), plain);
        }
    }

    #[test]
    fn a_bit_changed_anywhere_and_any_other_key_opens_nothing() {
        let mut sealed = Vec::new();
        seal(&once(), 7, b"what was said", &mut sealed);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(open(&once(), &changed), None, "byte {at}");
            assert_eq!(open(&once(), &sealed[..at]), None, "cut at {at}");
        }
        assert_eq!(open(&Once { sign: [9; 16], encrypt: [2; 16], iv: [3; 16] }, &sealed), None);
    }
}
