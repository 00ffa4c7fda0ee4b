//! Server-sent events, as far as answers come in them: their data, one event after the other, and never more than a message
//! may have.

/// Puts events together from pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
}

/// An event, or a line, that has more bytes than a message may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Events {
    /// Takes in a piece, and gives back the data of events that came to their end.
    pub(super) fn take(&mut self, piece: &[u8], most: usize) -> Result<Vec<Vec<u8>>, TooLarge> {
        let mut whole = Vec::new();
        for byte in piece {
            let after_cr = std::mem::replace(&mut self.after_cr, *byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\r' | b'\n' => whole.extend(self.end_line()),
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.data.len() > most {
                return Err(TooLarge);
            }
        }
        Ok(whole)
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let has_data = std::mem::take(&mut self.has_data);
            let data = std::mem::take(&mut self.data);
            return (has_data && !data.is_empty()).then_some(data);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => line.split_at(colon),
            None => (&line[..], &b""[..]),
        };
        if name == b"data" {
            let value = value.strip_prefix(b":").unwrap_or(value);
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{Events, TooLarge};

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = b": hello\r\nid: 1\r\nretry: 5\r\ndata:\r\n\r\nevent: message\ndata: {\"a\":\ndata:1}\n\ndata: x\r\rdata: cut";
        for size in 1..text.len() {
            let mut events = Events::default();
            let all: Vec<_> = text.chunks(size).flat_map(|piece| events.take(piece, 100).unwrap()).collect();
            assert_eq!(all, [b"{\"a\":\n1}".to_vec(), b"x".to_vec()], "{size}");
        }
    }

    #[test]
    fn one_that_never_ends_is_cut() {
        let mut events = Events::default();
        assert_eq!(events.take(&[b'x'; 101], 100), Err(TooLarge));
        let mut events = Events::default();
        assert!((0..100).any(|_| events.take(b"data: more\n", 100).is_err()));
    }
}
