//! Commands that turn one message into another: each message of an input in, what comes of it out,
//! and refusals told on stderr without stopping at the first.

use crate::Outcome;
use crate::input::Input;
use crate::validate::{Render, escaped};
use anyhow::Context as _;
use legation_protocol::json::Limits;
use legation_protocol::ndjson::Lines;
use legation_protocol::{Rejection, Violation};
use serde::Serialize;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// Where messages come from.
pub(crate) struct Source<'a> {
    pub(crate) file: Option<&'a Path>,
    /// Whether each line is a message. Then memory does not grow with the input.
    pub(crate) lines: bool,
    /// How large one may be.
    pub(crate) limits: Limits,
    /// Whether verdicts go to stdout as JSON instead of refusals to stderr.
    pub(crate) json: bool,
}

/// Writes what `turn` makes of every message.
pub(crate) fn each_message(
    source: &Source<'_>,
    turn: impl FnMut(&[u8]) -> Result<Vec<u8>, Rejection>,
) -> anyhow::Result<Outcome> {
    let Input { name, mut bytes, .. } = Input::open(source.file)?;
    let mut each = Each { turn, name: &name, lines: source.lines, json: source.json, outcome: Outcome::Fine };
    let mut buffer = vec![0; 1 << 16];
    let mut lines = Lines::up_to(source.limits.bytes);
    if !source.lines {
        let mut all = Vec::new();
        bytes.read_to_end(&mut all).with_context(|| format!("cannot read {name}"))?;
        each.message(Ok(&all), 1)?;
        return Ok(each.outcome);
    }
    loop {
        let read = bytes.read(&mut buffer).with_context(|| format!("cannot read {name}"))?;
        let mut chunk = buffer.get(..read).unwrap_or_default();
        while let Some(line) = lines.next(&mut chunk) {
            each.message(line.bytes, line.number)?;
        }
        if read == 0 {
            lines.finish().map_or(Ok(()), |line| each.message(line.bytes, line.number))?;
            return Ok(each.outcome);
        }
    }
}

struct Each<'a, T> {
    turn: T,
    name: &'a str,
    lines: bool,
    json: bool,
    outcome: Outcome,
}

/// One message's verdict for programs.
#[derive(Serialize)]
struct Verdict<'a> {
    line: u64,
    valid: bool,
    violations: &'a [Violation],
}

impl<T: FnMut(&[u8]) -> Result<Vec<u8>, Rejection>> Each<'_, T> {
    fn message(&mut self, bytes: Result<&[u8], Rejection>, line: u64) -> anyhow::Result<()> {
        let seen = *bytes.as_ref().unwrap_or(&&[][..]);
        match bytes.and_then(&mut self.turn) {
            Ok(_) if self.json => verdict(line, &[]),
            Ok(mut made) => {
                if self.lines && !made.is_empty() {
                    made.push(b'\n');
                }
                Ok(io::stdout().write_all(&made)?)
            }
            Err(rejection) => {
                self.outcome = Outcome::Refused;
                if self.json {
                    return verdict(line, &rejection.into_vec());
                }
                let mut told = Vec::new();
                let render = Render { color: false, name: self.name };
                render.violation(&mut told, rejection.first(), seen, line)?;
                Ok(io::stderr().write_all(&told)?)
            }
        }
    }
}

fn verdict(line: u64, violations: &[Violation]) -> anyhow::Result<()> {
    let verdict = Verdict { line, valid: violations.is_empty(), violations };
    Ok(writeln!(io::stdout(), "{}", escaped(&serde_json::to_string(&verdict)?))?)
}
