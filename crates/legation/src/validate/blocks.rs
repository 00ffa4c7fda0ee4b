//! Cuts an input into blocks of whole lines, or takes it as one message when it looks like one
//! laid out over several lines. Holds one block at a time, whatever the input's length.

use legation_protocol::Code;
use legation_protocol::json::{Doc, Limits};
use std::io::{self, Read};

/// How much is read before it is handed on. Longer than any message may be.
const BLOCK: usize = 1 << 20;
/// What is kept of a line that fills a block: enough to be refused for it.
const KEPT: usize = Limits::MESSAGE.bytes + 1;

/// How an input holds its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One message, over one line or many.
    Document,
    /// A message a line.
    Lines,
}

/// Some whole lines, or one whole message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) bytes: Vec<u8>,
    /// Number of its first line, from 1.
    pub(super) first_line: u64,
    pub(super) layout: Layout,
}

pub(super) struct Blocks<R> {
    input: R,
    /// Read, but not handed on yet.
    held: Vec<u8>,
    line: u64,
    /// Known once enough of the input has been seen, or told.
    layout: Option<Layout>,
    /// Inside a line that was cut for its length.
    skipping: bool,
    ended: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R, layout: Option<Layout>) -> Self {
        Blocks { input, held: Vec::new(), line: 1, layout, skipping: false, ended: false }
    }

    /// The next block; nothing once the input is used up. `spare` is memory to use again.
    pub(super) fn next(&mut self, spare: Vec<u8>) -> io::Result<Option<Block>> {
        let layout = self.settle_layout()?;
        let end = match layout {
            Layout::Lines => self.whole_lines()?,
            Layout::Document => {
                while self.read_more()? {}
                self.ended = true;
                self.held.len()
            }
        };
        // An empty document is handed on once, to be refused.
        if end == 0 && (layout == Layout::Lines || self.line > 1) {
            return Ok(None);
        }
        Ok(Some(self.cut(end, spare, layout)))
    }

    fn cut(&mut self, end: usize, mut bytes: Vec<u8>, layout: Layout) -> Block {
        bytes.clear();
        bytes.extend(self.held.drain(..end));
        let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let unended = u64::from(!bytes.ends_with(b"\n"));
        let first_line = self.line;
        self.line += lines + unended;
        Block { bytes, first_line, layout }
    }

    fn settle_layout(&mut self) -> io::Result<Layout> {
        loop {
            if let Some(layout) = self.layout {
                return Ok(layout);
            }
            self.layout = layout_of(&self.held, self.ended);
            if self.layout.is_none() && !self.read_more()? && !self.ended {
                // A block without an answer: one endless line, or one message that is too large.
                let one_line = memchr::memchr(b'\n', &self.held).is_none();
                self.layout = Some(if one_line { Layout::Lines } else { Layout::Document });
            }
        }
    }

    /// The end of the last whole line held, once there is one.
    fn whole_lines(&mut self) -> io::Result<usize> {
        let mut searched = 0;
        loop {
            if self.skipping {
                self.skip_to_next_line();
            }
            if let Some(last) = self.held.get(searched..).and_then(|new| memchr::memrchr(b'\n', new)) {
                return Ok(searched + last + 1);
            }
            searched = self.held.len();
            if !self.read_more()? {
                break;
            }
        }
        if !self.ended {
            self.held.truncate(KEPT);
            self.skipping = true;
        }
        Ok(self.held.len())
    }

    fn skip_to_next_line(&mut self) {
        match memchr::memchr(b'\n', &self.held) {
            Some(end) => {
                self.held.drain(..=end);
                self.skipping = false;
            }
            None => self.held.clear(),
        }
    }

    /// Reads what the input has right now. False at its end, or when a block is full.
    fn read_more(&mut self) -> io::Result<bool> {
        let before = self.held.len();
        if self.ended || before >= BLOCK {
            return Ok(false);
        }
        self.held.resize(BLOCK, 0);
        let read = loop {
            match self.input.read(self.held.get_mut(before..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.held.truncate(before + *read.as_ref().unwrap_or(&0));
        self.ended = read? == 0;
        Ok(!self.ended)
    }
}

/// How these first bytes of an input are laid out; nothing while that cannot be told. One message
/// over several lines has a first line that just stops, and no later line that is a message by
/// itself: its lines are indented, or parts.
fn layout_of(held: &[u8], all: bool) -> Option<Layout> {
    let mut lines = held
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .filter(|line| all || line.ends_with(b"\n"));
    let Some(first) = lines.next() else { return all.then_some(Layout::Document) };
    if !stops_short(first) && (Doc::parse(first).is_ok() || lines.clone().next().is_some()) {
        return Some(Layout::Lines);
    }
    let is_message = |line: &[u8]| line.starts_with(b"{") && Doc::parse(line).is_ok();
    if lines.any(is_message) { Some(Layout::Lines) } else { all.then_some(Layout::Document) }
}

/// Whether a line is the beginning of JSON, and nothing but its end is missing.
fn stops_short(line: &[u8]) -> bool {
    let end = line.trim_ascii_end().len();
    Doc::parse(line).is_err_and(|rejection| match rejection.code() {
        // A string that never ends is told where it begins.
        Code::BadJson => {
            let first = rejection.first();
            first.span.start >= end || line.get(first.span.start) == Some(&b'"') && first.message.contains("closing")
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Block, Blocks, KEPT, Layout};
    use std::io::{self, Read};

    /// Gives its parts one read at a time, as a pipe does.
    struct Pipe(Vec<Vec<u8>>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let part = self.0.remove(0);
            buffer[..part.len()].copy_from_slice(&part);
            Ok(part.len())
        }
    }

    #[track_caller]
    fn check(parts: &[&str], want: &[(&str, u64, Layout)]) {
        let pipe = Pipe(parts.iter().map(|part| part.as_bytes().to_vec()).collect());
        let mut blocks = Blocks::new(pipe, None);
        let mut got = Vec::new();
        while let Some(Block { bytes, first_line, layout }) = blocks.next(Vec::new()).unwrap() {
            got.push((String::from_utf8(bytes).unwrap(), first_line, layout));
        }
        let want: Vec<_> = want.iter().map(|(text, line, layout)| ((*text).to_owned(), *line, *layout)).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_message_over_many_lines_is_one() {
        use Layout::Document;
        check(&["{\n \"a\": 1\n}\n"], &[("{\n \"a\": 1\n}\n", 1, Document)]);
        check(&["{\n", " \"a\": 1\n}"], &[("{\n \"a\": 1\n}", 1, Document)]);
        check(&["\n{\n"], &[("\n{\n", 1, Document)]);
        check(&["{\"a\":"], &[("{\"a\":", 1, Document)]);
        check(&[], &[("", 1, Document)]);
        check(&["\n \n"], &[("\n \n", 1, Document)]);
        check(&["[\n  {}\n]\n"], &[("[\n  {}\n]\n", 1, Document)]);
    }

    #[test]
    fn a_message_a_line_is_many() {
        use Layout::Lines;
        check(&["{}"], &[("{}", 1, Lines)]);
        check(&["{}\n{}\n"], &[("{}\n{}\n", 1, Lines)]);
        check(&["{}\n{", "}\n\n", "{}"], &[("{}\n", 1, Lines), ("{}\n\n", 2, Lines), ("{}", 4, Lines)]);
        check(&["nonsense\n{}\n"], &[("nonsense\n{}\n", 1, Lines)]);
        check(&["{\"a\":\n{}\n"], &[("{\"a\":\n{}\n", 1, Lines)]);
        check(&["{\"a\":\n{\"b\n{}\n"], &[("{\"a\":\n{\"b\n{}\n", 1, Lines)]);
        check(&["{\"a\n", "{\"b\":1}\n"], &[("{\"a\n{\"b\":1}\n", 1, Lines)]);
    }

    #[test]
    fn a_first_line_that_fills_a_block_does_not_hide_the_rest() {
        let mut input = vec![b'x'; 2 * BLOCK];
        input.extend(b"\n{}\n");
        let mut blocks = Blocks::new(&*input, None);
        let lengths: Vec<_> = std::iter::from_fn(|| blocks.next(Vec::new()).unwrap()).map(|b| b.bytes.len()).collect();
        assert_eq!(lengths, [KEPT, 3]);
    }

    #[test]
    fn a_line_that_fills_a_block_is_cut_and_the_next_one_is_whole() {
        let mut input = vec![b'x'; 3 * BLOCK];
        input.extend(b"\n{}\n");
        let mut blocks = Blocks::new(&*input, Some(Layout::Lines));
        let long = blocks.next(Vec::new()).unwrap().unwrap();
        assert_eq!((long.bytes.len(), long.first_line), (KEPT, 1));
        let next = blocks.next(Vec::new()).unwrap().unwrap();
        assert_eq!((next.bytes.as_slice(), next.first_line), (b"{}\n".as_slice(), 2));
        assert_eq!(blocks.next(Vec::new()).unwrap(), None);
    }
}
