//! Tasks, and what becomes of them.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::{number, one_of, text, within};
use crate::tasks::STATES;
use axum::http::Method;

pub(super) fn chapter() -> Chapter {
    let changes = |path, id, summary| {
        Operation::new(Method::POST, path, id, summary)
            .about("For whoever handed the task over, the orchestrator and operators.")
            .by(Proof::Token)
            .in_path("id", "The task's id, percent-encoded")
            .query("opener", text("Who opened its tree, where several have a task with this id"))
            .answers(200, "Done, and in the record", "Done")
            .refuses(&[404, 409, 507])
    };
    Chapter {
        name: "tasks",
        about: "What agents hand to each other. Each sees the tasks it has a part in, or that lie below those.",
        operations: vec![
            list(),
            one(),
            changes("/v1/tasks/{id}/retry", "retryTask", "Hand a task to its assignee again"),
            changes("/v1/tasks/{id}/reassign", "reassignTask", "Hand a task to somebody else").takes("Reassignment"),
            changes("/v1/tasks/{id}/escalate", "escalateTask", "Take a task to somebody with more rights"),
        ],
    }
}

fn list() -> Operation {
    Operation::new(Method::GET, "/v1/tasks", "listTasks", "List tasks")
        .by(Proof::Token)
        .query("state", one_of("In this state", &STATES))
        .query("agent", text("With this agent, or an instance of it, among its parties"))
        .query("after", number("Only what was opened beyond this position: `next` of the answer before"))
        .query("limit", within("How many at most", 1, 1000, 100))
        .answers(200, "The tasks, oldest first", "Tasks")
}

fn one() -> Operation {
    Operation::new(Method::GET, "/v1/tasks/{id}", "getTask", "One task, with its lineage, parts and messages")
        .by(Proof::Token)
        .in_path("id", "The task's id, percent-encoded")
        .query("opener", text("Who opened its tree, where several have a task with this id"))
        .answers(200, "The task", "WholeTask")
        .refuses(&[404, 409])
}
