//! The arguments of `legation demo`.

use super::exchange::RemoteArgs;
use clap::{Args, ValueEnum};

/// Play the protocols' own stories on a running exchange
///
/// Registers agents whose names begin with `demo-` and lets them talk, at a pace that can be watched beside
/// `legation tail` or the page: a sales report that is not done before quality assurance says so, Eddy who
/// asks Jules for a bug fix, the Observer whose claims must be proven, a child that raises the alarm, and an
/// editor that speaks to an agent of another language. It can be played again and again.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation serve &                 an exchange to play on
  legation demo                    all stories
  legation demo --story alarm      one of them
  legation demo --fast             without pauses")]
pub(crate) struct DemoArgs {
    /// Which story [default: all]
    #[arg(long, value_enum)]
    pub(crate) story: Vec<Story>,

    /// Do not pause between messages
    #[arg(long)]
    pub(crate) fast: bool,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Story {
    /// A sales report: delegation, tools, oversight (CAP)
    Sales,
    /// Eddy and Jules: a request, its acceptance and its result (ACL)
    Coding,
    /// The Observer: claims, evidence, review and corrections (VLP)
    Observer,
    /// A critical and an emergency escalation: pause, suspension, resume (VCP)
    Alarm,
    /// An editor speaks ACL to an agent that speaks CAP, whose overseer speaks VLP
    Across,
}
