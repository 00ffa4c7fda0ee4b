//! Finds text that tries to steer whoever reads it: instructions that set aside earlier ones, faked roles and
//! approvals, hidden characters. Linear in the text, bounded in memory, and blind to disguises: what is looked at is
//! a *view* of the text in which look-alikes, invisible characters and case are gone. The text itself is never
//! changed. Pure: no clock, no I/O.

mod anchor;
mod body;
mod encoded;
mod extra;
mod fold;
mod found;
mod hidden;
mod lexicon;
mod lines;
mod markers;
mod patterns;
mod phrase;
mod scanner;
mod selftest;
mod settings;
mod sieve;
mod slots;
mod softened;
mod tokens;
mod view;
mod words;

pub use found::{Found, Hit, How, Severity};
pub use patterns::{BUILT_IN, Pattern};
pub use scanner::Scanner;
pub use settings::{Adjusted, BadPattern, Extra, Settings};
