//! The rules, asked one question at a time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests stop at the first surprise")]

mod alarm_model;
mod alarms;
mod by_token;
mod charters;
mod constraints;
mod corrections;
mod dead;
mod desk;
mod erased;
mod extensions;
mod fold;
mod halts;
mod held;
mod identities;
mod keys;
mod line;
mod messages;
mod open_alerts;
mod people;
mod pushed;
mod references;
mod registration;
mod reviews;
mod route;
mod scan;
mod sessions;
mod shares;
mod standing;
mod talks;
mod talks_model;
mod tasks;
mod tokens;
mod translate;
mod truth;
mod vlp;
