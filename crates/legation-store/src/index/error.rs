//! What can go wrong with the index. Nothing of it touches the record.

use rusqlite::ErrorCode;
use rusqlite::ffi;

/// A fault of the index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The index is not what it should be: it has to be made again.
    #[error("the index is damaged: {what}")]
    Damaged {
        /// What is wrong with it.
        what: String,
    },
    /// No room. The same call may succeed later.
    #[error("no room for the index")]
    Full(#[source] rusqlite::Error),
    /// The database refused for a reason that may pass.
    #[error("the index cannot be used now")]
    Unavailable(#[source] rusqlite::Error),
    /// Somebody reads in it: the same call may succeed at once.
    #[error("somebody reads in the index")]
    Busy,
    /// The record, or the directory, cannot be read or written.
    #[error("the index cannot follow the record")]
    Record(#[from] crate::Error),
    /// An entry of the record does not read back.
    #[error("the entry at position {position} does not read back")]
    Entry {
        /// Where.
        position: u64,
    },
}

impl Error {
    pub(crate) fn damaged(what: impl Into<String>) -> Error {
        Error::Damaged { what: what.into() }
    }

    /// Whether only making the index again helps.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::Damaged { .. })
    }
}

impl From<rusqlite::Error> for Error {
    /// Our statements never change, so one that the database does not understand, or answers with
    /// something else, speaks of a database that is not ours.
    fn from(error: rusqlite::Error) -> Self {
        let Some(failure) = error.sqlite_error().copied() else { return Error::damaged(error.to_string()) };
        let gone = [ffi::SQLITE_IOERR_SHORT_READ, ffi::SQLITE_READONLY_DBMOVED].contains(&failure.extended_code);
        match failure.code {
            _ if gone => Error::damaged(error.to_string()),
            ErrorCode::DiskFull => Error::Full(error),
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::OutOfMemory
            | ErrorCode::OperationInterrupted
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport => Error::Unavailable(error),
            // The rest speaks of contents.
            _ => Error::damaged(error.to_string()),
        }
    }
}
