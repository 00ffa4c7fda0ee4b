//! The marks by which models tell who speaks. They begin with one of three characters, and are compared there.

use crate::view::View;

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

/// The marks in a view, in their order.
pub(crate) fn marks<'v>(view: &'v View<'_>) -> impl Iterator<Item = Mark> + 'v {
    let bytes = view.bytes();
    memchr::memchr3_iter(b'<', b'[', b'`', bytes).filter_map(|start| mark_at(bytes, start))
}

fn mark_at(bytes: &[u8], start: usize) -> Option<Mark> {
    // Most of these characters begin something else: the next tells.
    let next = bytes.get(start + 1)?.to_ascii_lowercase();
    if !matches!(next, b'|' | b'/' | b'<' | b'`' | b' ' | b's' | b'e' | b'i' | b'a' | b't' | b'f' | b'o') {
        return None;
    }
    let text = bytes.get(start..bytes.len().min(start + LONGEST))?;
    let (mut shape, mut from) = ([0_u8; LONGEST], [0_usize; LONGEST]);
    let mut length = 0;
    for (at, byte) in text.iter().enumerate() {
        if matches!(byte, b' ' | b'\t') {
            continue;
        }
        if let (Some(place), Some(origin)) = (shape.get_mut(length), from.get_mut(length)) {
            (*place, *origin) = (byte.to_ascii_lowercase(), at);
            length += 1;
        }
    }
    let shape = shape.get(..length)?;
    let ends = |mark: &&[u8]| from.get(mark.len() - 1).map(|last| start + last + 1);
    let longest = |marks: &[&'static [u8]]| {
        marks.iter().copied().filter(|mark| shape.starts_with(mark)).max_by_key(|mark| mark.len())
    };
    if let Some(mark) = longest(&MARKS) {
        return Some(Mark { start, end: ends(&mark)?, is_loose: false });
    }
    let mark = longest(&LOOSE)?;
    // Without a word and its end, `<|` is an operator.
    if mark == b"<|" && !is_pipe_mark(text) {
        return None;
    }
    Some(Mark { start, end: ends(&mark)?, is_loose: true })
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
        let found: Vec<_> = marks(&view).map(|mark| (view.place(mark.start, mark.end), mark.is_loose)).collect();
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
