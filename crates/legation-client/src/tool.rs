//! Calling tools through the exchange.

use crate::client::Client;
use crate::error::{Error, ReceiptFault};
use crate::http::Call;
use crate::trust::stated;
use http::Method;
use legation_exchange::record::{Receipt, Stated};
use legation_exchange::tool::told;
use legation_protocol::json::{Digest, Json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::time::Duration;

/// A tool to be called, as the agent's manifest binds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ToolCall {
    /// The server.
    pub server_id: String,
    /// The tool.
    pub tool: String,
    /// Its arguments: an object.
    pub arguments: Value,
    /// The task it is called in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// The scopes it needs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

/// What a tool answered, with the exchange's signature that it did.
#[derive(Clone, Debug)]
pub struct ToolAnswer {
    /// The entry of the answer.
    pub position: u64,
    /// The entry of the call.
    pub call: u64,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    /// What it answered.
    pub result: Json,
    /// The attachment that a CAP message carries as it is, to be marked `verified`.
    pub attachment: Json,
    /// The exchange's receipt, verified: worth keeping.
    pub receipt: Receipt,
    /// What the receipt states.
    pub stated: Stated,
}

#[derive(Deserialize)]
struct Answered {
    position: u64,
    call: u64,
    is_error: bool,
    result: Box<RawValue>,
    attachment: Box<RawValue>,
    receipt: Option<Receipt>,
}

/// The longest that an exchange waits for a tool.
const LONGEST: Duration = Duration::from_mins(10);

impl Client {
    /// Calls a tool through the exchange, once: nobody knows what a second call would do. What the tool answered is on
    /// the record, and the exchange's receipt for it is verified. It waits as long as the exchange may wait for the tool;
    /// whoever gives up before finds what came of it on the record.
    pub async fn call_tool(&self, call: &ToolCall) -> Result<ToolAnswer, Error> {
        let body = serde_json::to_vec(call).map_err(|_| Error::Setting { what: "the arguments of the tool" })?;
        let asked = Call { wait: LONGEST, ..Call::json(Method::POST, "/v1/tools/call", body) };
        let answered: Answered = self.call(asked).await?.read()?;
        let Answered { position, call: made, is_error, result, attachment, receipt } = answered;
        let receipt = receipt.ok_or(ReceiptFault::Absent)?;
        let told = told(&call.server_id, &call.tool, result.get()).ok_or(ReceiptFault::OtherMessage)?;
        let stated = stated(&receipt, Digest::of_bytes(&told), self.exchange_keys().await?)?;
        if stated.position != position {
            return Err(ReceiptFault::OtherPosition.into());
        }
        let json = |raw: &RawValue| Json::parse(raw.get()).map_err(|_| ReceiptFault::OtherMessage);
        let (result, attachment) = (json(&result)?, json(&attachment)?);
        Ok(ToolAnswer { position, call: made, is_error, result, attachment, receipt, stated })
    }
}
