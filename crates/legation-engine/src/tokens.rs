//! Bearer tokens: random, shown once, kept as a hash.

use crate::exchange::Error;
use legation_exchange::TokenHash;
use sha2::{Digest as _, Sha256};
use std::fmt;
use zeroize::Zeroizing;

/// A bearer token. Never shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// A new one.
    pub fn fresh() -> Result<Token, Error> {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *bytes).map_err(|_| Error::Random)?;
        Ok(Token(Zeroizing::new(format!("lgt_{}", hex(&*bytes)))))
    }

    /// What is kept of it.
    pub fn hash(&self) -> TokenHash {
        Token::hash_of(&self.0)
    }

    /// What is kept of a token with this text.
    pub fn hash_of(text: &str) -> TokenHash {
        TokenHash(Sha256::digest(text.trim().as_bytes()).into())
    }

    /// The text, for the one answer that tells it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// An id for a message whose sender gave it none.
pub(crate) fn fresh_id() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
    Ok(format!("msg_{}", hex(&bytes)))
}

/// The id of a message whose sender gave a key in place of one.
pub(crate) fn keyed_id(key: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(key.as_bytes()).into();
    format!("key_{}", hex(&hash))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
        text
    })
}
