//! `legation demo`: the protocols' own stories, played on a running exchange.

mod across;
mod alarm;
mod coding;
mod observer;
mod sales;
mod stage;

use crate::Outcome;
use crate::cli::{DemoArgs, Story};
use clap::ValueEnum as _;
use stage::Stage;

pub(crate) fn run(args: &DemoArgs) -> anyhow::Result<Outcome> {
    let mut stage = Stage::new(&args.remote, args.fast)?;
    let all = Story::value_variants();
    let stories = if args.story.is_empty() { all } else { args.story.as_slice() };
    for story in stories {
        match story {
            Story::Sales => sales::play(&mut stage)?,
            Story::Coding => coding::play(&mut stage)?,
            Story::Observer => observer::play(&mut stage)?,
            Story::Alarm => alarm::play(&mut stage)?,
            Story::Across => across::play(&mut stage)?,
        }
    }
    stage.summary()
}
