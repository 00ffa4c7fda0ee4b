//! Tasks: who hands them to whom, with which rights, and what becomes of them.

pub(crate) mod across;
mod asked;
mod calls;
mod delegation;
mod family;
mod foreign;
pub(crate) mod house;
mod judge;
mod machine;
mod model;
mod oversight;
mod remedies;
mod tools;
mod undelivered;
