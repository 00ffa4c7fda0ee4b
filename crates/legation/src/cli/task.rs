//! The arguments of `task`.

use super::exchange::RemoteArgs;
use clap::{Args, Subcommand};

/// Tasks: what agents hand to each other, and what becomes of it
///
/// An agent's token shows the tasks it has a part in; an operator's and an auditor's show all. Whoever handed a task
/// over, the orchestrator and operators may have it tried again, give it to another agent, or take it to somebody with
/// more rights. Nothing of that happens by itself.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  legation task list --state failed
  legation task list --agent analyst-1 --json
  legation task show T1.1
  legation task retry T1.1                     to the same agent, with the same words
  legation task reassign T1.1 --to analyst-2   which its delegator's manifest must allow
  legation task escalate T1.1                  to whom its delegator works for, else its overseer, else the operators")]
pub(crate) struct TaskArgs {
    #[command(subcommand)]
    pub(crate) command: TaskCommand,

    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// List them: id, state, who handed it over, who works on it, deadline
    List {
        /// Only those in this state: open, `in_review`, `waits_for_user`, done, failed, expired or closed
        #[arg(long)]
        state: Option<String>,

        /// Only those with this agent among their parties
        #[arg(long, value_name = "ID")]
        agent: Option<String>,

        /// Only those opened beyond this position
        #[arg(long, value_name = "POSITION")]
        after: Option<u64>,

        /// How many at most, up to 1000
        #[arg(long, value_name = "COUNT", default_value_t = 100)]
        limit: u16,
    },
    /// Show one, with its lineage, parts, rights, reviews, errors and messages
    Show(TaskOf),
    /// Hand it to its assignee again
    Retry(TaskOf),
    /// Hand it to another agent
    Reassign {
        #[command(flatten)]
        task: TaskOf,

        /// To whom
        #[arg(long, value_name = "ID")]
        to: String,
    },
    /// Take it to somebody with more rights
    Escalate(TaskOf),
}

#[derive(Args, Debug)]
pub(crate) struct TaskOf {
    /// The task's id
    pub(crate) task: String,

    /// Who opened its tree, where several have a task with this id
    #[arg(long, value_name = "ID")]
    pub(crate) opener: Option<String>,
}
