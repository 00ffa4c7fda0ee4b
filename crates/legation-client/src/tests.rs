//! What the client makes of an exchange that fails, lies or comes and goes.

mod greeting;
mod moved;
mod owed;
mod receiving;
mod sending;
mod sockets;
mod withdrawn;
