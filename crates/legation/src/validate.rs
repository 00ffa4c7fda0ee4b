//! `legation validate`: judges messages, one or a stream of any length, on all cores and in
//! constant memory.

mod blocks;
mod judge;
mod pool;
mod render;

use crate::cli::{Report, ValidateArgs};
use crate::input::Input;
use crate::{Outcome, explain};
use anyhow::Context as _;
use blocks::{Blocks, Layout};
use indicatif::{ProgressBar, ProgressStyle};
use judge::{Judge, Tally};
pub(crate) use render::{Render, escaped, shown};
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

pub(crate) fn run(args: &ValidateArgs) -> anyhow::Result<Outcome> {
    if let Some(code) = &args.explain {
        return explain::run(code);
    }
    let named: Vec<_> = args.files.iter().map(|file| Some(file.as_path())).collect();
    let files = if named.is_empty() { vec![None] } else { named };
    let mut tally = Tally::default();
    let mut unreadable = Ok(());
    for file in &files {
        // One file that cannot be read does not keep the others from being judged.
        match validate(args, *file, files.len() > 1) {
            Ok(more) => tally += more,
            Err(error) if crate::is_closed_pipe(&error) => return Err(error),
            Err(error) => {
                if let Err(earlier) = std::mem::replace(&mut unreadable, Err(error)) {
                    writeln!(io::stderr(), "legation: {earlier:#}")?;
                }
            }
        }
    }
    if args.report() == Some(Report::Text) && tally.messages > 0 {
        writeln!(io::stderr(), "{tally}")?;
        if let Some(code) = tally.first_error {
            writeln!(io::stderr(), "`legation --explain {code}` tells more")?;
        }
    }
    unreadable?;
    Ok(if tally.invalid == 0 { Outcome::Fine } else { Outcome::Refused })
}

fn validate(args: &ValidateArgs, file: Option<&Path>, many: bool) -> anyhow::Result<Tally> {
    let input = Input::open(file)?;
    let name = input.name.clone();
    let bar = progress(args, input.length, &name);
    let judge = Judge {
        expected: args.dialect.expected(),
        report: args.report(),
        render: Render { color: args.report() == Some(Report::Text) && colored(), name: &name },
        named: many,
    };
    let mut blocks = Blocks::new(bar.wrap_read(input.bytes), args.ndjson.then_some(Layout::Lines));
    let mut out = io::stdout().lock();
    let tally = pool::run(&mut blocks, &judge, |text| {
        if text.is_empty() {
            return Ok(());
        }
        bar.suspend(|| out.write_all(text).and_then(|()| out.flush()))
    });
    bar.finish_and_clear();
    tally.with_context(|| format!("while validating {name}"))
}

fn colored() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// A bar for what takes a while, when somebody is looking.
fn progress(args: &ValidateArgs, length: Option<u64>, name: &str) -> ProgressBar {
    const WORTH_A_BAR: u64 = 16 << 20;
    match length {
        Some(length) if length >= WORTH_A_BAR && !args.quiet && io::stderr().is_terminal() => {
            let form = "{prefix} {bar:32} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left";
            let style = ProgressStyle::with_template(form).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(length).with_style(style).with_prefix(name.to_owned())
        }
        _ => ProgressBar::hidden(),
    }
}
