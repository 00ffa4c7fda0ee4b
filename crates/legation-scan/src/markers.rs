//! The marks by which models tell who speaks. They begin with one of three characters, and are compared there.

use std::sync::LazyLock;

/// Marks of the common families of models, in small letters. White space inside is left out.
const MARKS: [&[u8]; 44] = [
    b"<|im_start|>",
    b"<|im_end|>",
    b"<|im_sep|>",
    b"<|system|>",
    b"<|user|>",
    b"<|assistant|>",
    b"<|developer|>",
    b"<|tool|>",
    b"<|endoftext|>",
    b"<|begin_of_text|>",
    b"<|end_of_text|>",
    b"<|start_header_id|>",
    b"<|end_header_id|>",
    b"<|eot_id|>",
    b"<|eom_id|>",
    b"<|python_tag|>",
    b"<|start|>",
    b"<|channel|>",
    b"<|message|>",
    b"<|end|>",
    b"<|return|>",
    b"<|call|>",
    b"<|endofprompt|>",
    b"<|fim_prefix|>",
    b"<|start_of_role|>",
    b"<|end_of_role|>",
    b"<|system_token|>",
    b"<|user_token|>",
    b"<|chatbot_token|>",
    b"<|start_of_turn_token|>",
    b"<|end_of_turn_token|>",
    b"<start_of_turn>",
    b"<end_of_turn>",
    b"<<sys>>",
    b"<</sys>>",
    b"[inst]",
    b"[/inst]",
    b"[system_prompt]",
    b"[/system_prompt]",
    b"[available_tools]",
    b"[tool_results]",
    b"```system\n",
    b"<system_prompt>",
    b"</system_prompt>",
];

/// Those that also stand in other texts.
const LOOSE: [&[u8]; 14] = [
    b"<system>",
    b"</system>",
    b"[system]",
    b"<s>",
    b"</s>",
    b"<function_results>",
    b"<tool_response>",
    b"<system-reminder>",
    b"<thinking>",
    b"</thinking>",
    b"<|",
    b"[exchange]",
    b"[operator]",
    b"[overseer]",
];

/// Longest stretch of the text that one mark is looked for in.
const LONGEST: usize = 48;

/// A mark in a view.
pub(crate) struct Mark {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether it also stands in other texts.
    pub(crate) is_loose: bool,
}

/// How many symbols marks are made of, and one for white space.
const SYMBOLS: usize = 64;
const SPACE: u8 = 63;

/// What stands in marks, in small letters; the symbol of each is its place, from 1 on. Others have 0.
const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz_-|/<>[]`\n";

static TABLE: [u8; 256] = table();

#[expect(clippy::indexing_slicing, reason = "a constant: what is out of bounds does not compile")]
const fn table() -> [u8; 256] {
    let (mut table, mut symbol, mut rest) = ([0; 256], 1, ALPHABET);
    while let [letter, after @ ..] = rest {
        table[*letter as usize] = symbol;
        table[letter.to_ascii_uppercase() as usize] = symbol;
        (rest, symbol) = (after, symbol + 1);
    }
    table[b' ' as usize] = SPACE;
    table[b'\t' as usize] = SPACE;
    table
}

#[inline]
fn symbol(byte: u8) -> usize {
    TABLE.get(usize::from(byte)).map_or(0, |symbol| usize::from(*symbol))
}

/// A place in some marks: where each symbol leads from it; nowhere is 0.
struct Node {
    next: [u16; SYMBOLS],
    ends: Option<Ends>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Mark,
    Loose,
    /// `<|`, which is a mark if more follows.
    Pipe,
}

/// All marks; the first node stands before all of them. White space leads nowhere else.
static TREE: LazyLock<Vec<Node>> = LazyLock::new(|| {
    let node = |at: u16| Node {
        next: std::array::from_fn(|symbol| if symbol == usize::from(SPACE) { at } else { 0 }),
        ends: None,
    };
    let mut tree = vec![node(0)];
    let loose = LOOSE.into_iter().map(|mark| (mark, if mark == b"<|" { Ends::Pipe } else { Ends::Loose }));
    for (mark, ends) in MARKS.into_iter().map(|mark| (mark, Ends::Mark)).chain(loose) {
        let mut at = 0;
        for letter in mark {
            let new = u16::try_from(tree.len()).unwrap_or_default();
            let next = tree.get_mut(at).and_then(|node| node.next.get_mut(symbol(*letter)));
            let Some(next) = next else { break };
            if *next == 0 {
                *next = new;
                at = usize::from(new);
                tree.push(node(new));
            } else {
                at = usize::from(*next);
            }
        }
        tree.get_mut(at).into_iter().for_each(|node| node.ends = Some(ends));
    }
    tree
});

/// The marks in a view, in their order.
pub(crate) fn marks(bytes: &[u8]) -> impl Iterator<Item = Mark> {
    let mut end = 0;
    memchr::memchr3_iter(b'<', b'[', b'`', bytes).filter_map(move |start| {
        // Every mark ends with one of these; where none is near, none begins.
        if end <= start {
            let rest = bytes.get(start + 1..).unwrap_or_default();
            end = memchr::memchr3(b'>', b']', b'\n', rest).map_or(bytes.len(), |gap| start + 1 + gap);
        }
        if end < bytes.len() && end - start < LONGEST { mark_at(bytes, start) } else { None }
    })
}

fn mark_at(bytes: &[u8], start: usize) -> Option<Mark> {
    // Most of these characters begin something else: the next tells.
    let second = bytes.get(start + 1)?.to_ascii_lowercase();
    if !matches!(second, b'|' | b'/' | b'<' | b'`' | b' ' | b's' | b'e' | b'i' | b'a' | b't' | b'f' | b'o') {
        return None;
    }
    let text = bytes.get(start..bytes.len().min(start + LONGEST))?;
    let (tree, mut at, mut mark, mut loose) = (&*TREE, 0, None, None);
    for (length, byte) in (1..).zip(text) {
        let next = tree.get(at).and_then(|node| node.next.get(symbol(*byte))).map_or(0, |next| usize::from(*next));
        let Some(node) = tree.get(next).filter(|_| next != 0) else { break };
        match node.ends.filter(|_| next != at) {
            Some(Ends::Mark) => mark = Some(length),
            Some(ends) => loose = Some((length, ends)),
            None => {}
        }
        at = next;
    }
    if let Some(length) = mark {
        return Some(Mark { start, end: start + length, is_loose: false });
    }
    // Without a word and its end, `<|` is an operator.
    let (length, _) = loose.filter(|(_, ends)| *ends != Ends::Pipe || is_pipe_mark(text))?;
    Some(Mark { start, end: start + length, is_loose: true })
}

/// Whether this is `<|word|>`, or the same with spaces.
fn is_pipe_mark(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"<|").unwrap_or_default().trim_ascii_start();
    let word = inner.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    word > 0 && inner.get(word..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"|>"))
}

#[cfg(test)]
mod tests {
    use super::marks;
    use crate::view::View;

    #[track_caller]
    fn check(text: &str, want: &[(&str, bool)]) {
        let view = View::of(text);
        let found: Vec<_> = marks(view.bytes()).map(|mark| (view.place(mark.start, mark.end), mark.is_loose)).collect();
        let found: Vec<_> = found.iter().map(|((at, length), loose)| (&text[*at..at + length], *loose)).collect();
        assert_eq!(found, want, "{text}");
    }

    #[test]
    fn marks_of_models_are_told_from_what_looks_alike() {
        check("a <|im_start|>system", &[("<|im_start|>", false)]);
        check("<| IM_Start |>", &[("<| IM_Start |>", false)]);
        check("＜｜system｜＞ x", &[("＜｜system｜＞", false)]);
        check("[INST] do [/INST]", &[("[INST]", false), ("[/INST]", false)]);
        check("<<SYS>> x <</SYS>>", &[("<<SYS>>", false), ("<</SYS>>", false)]);
        check("```system\nhi\n```", &[("```system\n", false)]);
        check("<|made_up|>", &[("<|", true)]);
        check("<s>struck</s>", &[("<s>", true), ("</s>", true)]);
        check("if x <| y then f |> g", &[]);
        check("f <| x and a <b> and [1] and [instance] and ```rust\n", &[]);
        check("<start_of_turn>user", &[("<start_of_turn>", false)]);
    }
}
