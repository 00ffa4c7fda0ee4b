//! What keeps the record, and what lets go of it.

use super::Chapter;
use super::operation::{Operation, Proof};
use super::schema::one_of;
use axum::http::Method;
use serde_json::json;

pub(super) fn chapter() -> Chapter {
    Chapter {
        name: "keeping",
        about: "Copies of everything, and what is to be kept no longer. For operators.",
        operations: vec![erase(), erasures(), backup()],
    }
}

fn erase() -> Operation {
    Operation::new(Method::POST, "/v1/erase", "eraseMessages", "Erase what messages said")
        .about(
            "From the answer on nobody is shown them, and they wait for nobody. `GET /v1/erase` tells when they are off \
             the disk. That they were sent, by whom, to whom and when stays, and proofs and receipts hold.",
        )
        .by(Proof::Token)
        .takes("EraseWanted")
        .answers(200, "What was erased, or would be", "Erased")
        .refuses(&[404, 409])
}

fn erasures() -> Operation {
    Operation::new(Method::GET, "/v1/erase", "getErasures", "How far erasing is, for auditors too")
        .by(Proof::Token)
        .query("include", one_of("What was ever erased, too", &["list"]))
        .answers(200, "How far", "Erasures")
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
