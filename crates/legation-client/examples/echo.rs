//! An agent that says back what it is told, in CAP.
//!
//! ```sh
//! legation serve &
//! cargo run -p legation-client --example echo
//! ```

use legation_client::protocol::{Format, Message, Received};
use legation_client::{Client, Error, Incoming, Registration};
use std::error::Error as StdError;

#[tokio::main]
async fn main() -> Result<(), Box<dyn StdError + Send + Sync>> {
    let url = std::env::var("LEGATION_URL").unwrap_or_else(|_| "http://127.0.0.1:7400".to_owned());
    run(&url, async { drop(tokio::signal::ctrl_c().await) }).await
}

/// Registers, and answers until `over` is.
pub(crate) async fn run(
    url: &str,
    over: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn StdError + Send + Sync>> {
    let stranger = Client::builder(url).build()?;
    let registered = stranger.register(&Registration::new("echo").dialect(Format::Cap)).await?;
    let token = registered.token.ok_or("this name is taken: its token is needed")?;
    let client = Client::builder(url).token(token.as_str()).agent("echo").build()?;
    let sender = client.clone();
    let answering = client.inbox().until(over).handle(move |incoming| answer(sender.clone(), incoming));
    Ok(answering.await?)
}

async fn answer(client: Client, incoming: Incoming) -> Result<(), Error> {
    let Message::Cap(_) = incoming.message() else { return Ok(()) };
    match back(&incoming) {
        Some(answer) => client.send(answer).await.map(drop),
        None => Ok(()),
    }
}

/// The same message the other way. Its id names what it answers, so that an answer sent twice is one.
fn back(incoming: &Incoming) -> Option<Received> {
    let mut message: serde_json::Value = serde_json::from_slice(incoming.bytes()).ok()?;
    let members = message.as_object_mut()?;
    let (from, to) = (members.remove("sender_id")?, members.remove("recipient_id")?);
    members.insert("sender_id".to_owned(), to);
    members.insert("recipient_id".to_owned(), from);
    members.insert("message_id".to_owned(), format!("echo-{}", incoming.position).into());
    Received::read(message.to_string().into_bytes()).ok()
}
