//! Tasks: who hands them to whom, with which rights, and what becomes of them.

mod across;
mod asked;
mod delegation;
mod family;
pub(crate) mod house;
mod judge;
mod machine;
mod oversight;
mod remedies;
mod tools;
