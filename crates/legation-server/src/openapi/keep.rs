//! What keeps the record, and what lets go of it.

use super::Chapter;
use super::operation::{Operation, Proof};
use axum::http::Method;
use serde_json::json;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "keeping",
        about: "Copies of everything, and what is to be kept no longer. For operators.",
        operations: vec![backup()],
    }
}

fn backup() -> Operation {
    Operation::new(Method::POST, "/v1/backup", "takeBackup", "A copy of everything that is durable now")
        .about(
            "A tar archive, told while it is read, that `legation restore` takes. An answer that breaks off is no \
             copy. `Legation-Backup-Bytes` says about how many bytes follow.",
        )
        .by(Proof::Token)
        .takes("BackupWanted")
        .answers_any(200, "The copy", json!({"application/x-tar": {"schema": {"type": "string", "format": "binary"}}}))
}
