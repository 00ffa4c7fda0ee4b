//! The exchange in simulation: agents that send, repeat and acknowledge, a clock that jumps, and a
//! disk that crashes at any byte, all from one seed. What is simulated is the code that runs: the
//! engine's own [`Ledger`](legation_engine::Ledger) on the store's own log.
//!
//! Everything random comes from the seed, so a seed that fails fails again. (The salts and segment
//! ids the store draws for itself differ from run to run; nothing that happens depends on them.)

mod asked;
mod audit;
mod disk;
mod house;
mod letter;
mod many;
mod model;
mod rng;
mod world;

pub use many::{Failure, many};
pub use model::Counts;
pub use world::{Summary, run};
