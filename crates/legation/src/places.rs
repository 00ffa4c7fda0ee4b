//! Where things lie on this machine.

use std::env;
use std::path::PathBuf;

/// Where an exchange keeps everything unless told otherwise.
pub(crate) fn data() -> PathBuf {
    if let Some(named) = env::var_os("LEGATION_DATA").filter(|named| !named.is_empty()) {
        return PathBuf::from(named);
    }
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map_or_else(|| PathBuf::from("legation-data"), |folder| folder.join("legation"))
}

/// The file in a data directory that holds the operator's token.
pub(crate) const OPERATOR_TOKEN: &str = "operator.token";
