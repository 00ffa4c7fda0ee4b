//! STAND-IN until the store branch is merged.
use legation_protocol::sign::SecretKey;
/// Hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);
impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sha256:{:02x?}", self.0)
    }
}
/// Frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// position
    pub position: u64,
    /// at
    pub at: u64,
    /// salt
    pub salt: [u8; 16],
    /// effect
    pub effect: Vec<u8>,
    /// body
    pub body: Option<Vec<u8>>,
}
/// leaf
pub fn leaf(_frame: &Frame) -> Hash {
    Hash::default()
}
/// Frontier
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier(u64);
impl Frontier {
    /// append
    pub fn append(&mut self, _leaf: Hash) {
        self.0 += 1;
    }
    /// root
    pub fn root(&self) -> Hash {
        Hash::default()
    }
}
/// Checkpoint
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// realm
    pub realm: String,
    /// epoch
    pub epoch: u32,
    /// size
    pub size: u64,
    /// root
    pub root: Hash,
    /// chain
    pub chain: Hash,
    /// at
    pub at: u64,
}
/// signed
#[derive(Clone, Debug)]
pub struct SignedCheckpoint(pub String);
impl Checkpoint {
    /// sign
    pub fn sign(&self, _key: &SecretKey) -> SignedCheckpoint {
        SignedCheckpoint(String::new())
    }
}
impl std::fmt::Display for SignedCheckpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
