//! The chunks of a body (RFC 9112, section 7.1), taken off as they come.

use anyhow::bail;

#[derive(Debug, Default)]
pub(super) struct Chunks(State);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the line that tells a chunk's size, as far as it was told.
    Size(usize),
    /// In a chunk, with so much of it to come, the end of its line included.
    Data(usize),
    /// In the line after the last chunk.
    Last,
    Over,
}

impl Default for State {
    fn default() -> Self {
        State::Size(0)
    }
}

impl Chunks {
    pub(super) fn is_over(&self) -> bool {
        self.0 == State::Over
    }

    /// Adds what the chunks hold to `out`.
    pub(super) fn decode(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> anyhow::Result<()> {
        while let Some((first, rest)) = bytes.split_first() {
            (self.0, bytes) = match (self.0, first) {
                (State::Size(0), b'\n') => (State::Last, rest),
                (State::Size(size), b'\n') => (State::Data(size + 2), rest),
                (State::Size(size), b'\r') => (State::Size(size), rest),
                (State::Size(size), byte) => match char::from(*byte).to_digit(16) {
                    Some(digit) => (State::Size(size * 16 + digit as usize), rest),
                    None => bail!("an answer's chunks cannot be told apart"),
                },
                (State::Data(left), _) => {
                    let (now, later) = bytes.split_at(left.min(bytes.len()));
                    // The last two bytes are the end of the line.
                    out.extend_from_slice(now.get(..now.len().min(left.saturating_sub(2))).unwrap_or_default());
                    let left = left - now.len();
                    (if left == 0 { State::Size(0) } else { State::Data(left) }, later)
                }
                (State::Last, b'\n') => (State::Over, rest),
                (State::Last, _) => (State::Last, rest),
                (State::Over, _) => bail!("an answer goes on after its end"),
            };
        }
        Ok(())
    }
}
