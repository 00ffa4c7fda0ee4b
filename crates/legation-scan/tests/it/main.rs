//! The scanner as a whole: its corpus, its patterns one by one, its bounds.

mod bounds;
mod corpus;
mod patterns;
