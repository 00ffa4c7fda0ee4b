//! Judges the messages of a block and writes the report on them.

use super::blocks::{Block, Layout};
use super::render::{Render, escaped};
use crate::cli::Report;
use legation_protocol::{Checked, Code, Format, Severity, Violation, check};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::ops::AddAssign;

/// How messages are to be judged and reported.
pub(super) struct Judge<'a> {
    pub(super) expected: Option<Format>,
    /// Nothing: only count.
    pub(super) report: Option<Report>,
    pub(super) render: Render<'a>,
    /// Whether a JSON report names the file: with more than one, it does.
    pub(super) named: bool,
}

/// A judged block.
pub(super) struct Judged {
    pub(super) report: Vec<u8>,
    pub(super) tally: Tally,
    /// The block's memory, to be used again.
    pub(super) spare: Vec<u8>,
}

/// One message's report for programs. Its form is promised.
#[derive(Serialize)]
struct Verdict<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    line: u64,
    dialect: Option<Format>,
    valid: bool,
    violations: &'a [Violation],
}

impl Judge<'_> {
    pub(super) fn block(&self, block: Block) -> io::Result<Judged> {
        let mut judged = Judged { report: Vec::new(), tally: Tally::default(), spare: Vec::new() };
        match block.layout {
            Layout::Document => self.message(&block.bytes, block.first_line, &mut judged)?,
            Layout::Lines => {
                let mut start = 0;
                let ends = memchr::memchr_iter(b'\n', &block.bytes).chain([block.bytes.len()]);
                for (number, end) in (block.first_line..).zip(ends) {
                    let line = block.bytes.get(start..end).unwrap_or_default();
                    if !line.trim_ascii().is_empty() {
                        self.message(line, number, &mut judged)?;
                    }
                    start = end + 1;
                }
            }
        }
        judged.spare = block.bytes;
        Ok(judged)
    }

    fn message(&self, bytes: &[u8], line: u64, judged: &mut Judged) -> io::Result<()> {
        let checked = check(bytes, self.expected);
        judged.tally.count(&checked);
        match self.report {
            None => Ok(()),
            Some(Report::Text) => {
                let mut each = checked.violations.iter();
                each.try_for_each(|violation| self.render.violation(&mut judged.report, violation, bytes, line))
            }
            Some(Report::Json) => {
                let report = Verdict {
                    file: self.named.then_some(self.render.name),
                    line,
                    dialect: checked.format,
                    valid: checked.is_valid(),
                    violations: &checked.violations,
                };
                Ok(writeln!(judged.report, "{}", escaped(&serde_json::to_string(&report)?))?)
            }
        }
    }
}

/// How many of what.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) messages: u64,
    pub(super) invalid: u64,
    pub(super) first_error: Option<Code>,
    warnings: u64,
    by_format: BTreeMap<Format, u64>,
}

impl Tally {
    fn count(&mut self, checked: &Checked) {
        self.messages += 1;
        self.invalid += u64::from(!checked.is_valid());
        let error = checked.violations.iter().find(|v| v.severity == Severity::Error);
        self.first_error = self.first_error.or(error.map(|v| v.code));
        self.warnings += checked.violations.iter().filter(|v| v.severity == Severity::Warning).count() as u64;
        if let Some(format) = checked.format {
            *self.by_format.entry(format).or_default() += 1;
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, more: Tally) {
        self.messages += more.messages;
        self.invalid += more.invalid;
        self.first_error = self.first_error.or(more.first_error);
        self.warnings += more.warnings;
        for (format, count) in more.by_format {
            *self.by_format.entry(format).or_default() += count;
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { messages, invalid, warnings, .. } = self;
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        write!(f, "{messages} message{}: {} valid, {invalid} invalid", plural(*messages), messages - invalid)?;
        if *warnings > 0 {
            write!(f, ", {warnings} warning{}", plural(*warnings))?;
        }
        let formats: Vec<_> = self.by_format.iter().map(|(format, count)| format!("{format} {count}")).collect();
        if formats.is_empty() { Ok(()) } else { write!(f, " ({})", formats.join(", ")) }
    }
}
