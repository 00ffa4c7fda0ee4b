//! An effect that happens exactly once, through crashes too: what a message does and the message's
//! mark are stored in one transaction, and the next start resumes after the mark stored.
//!
//! ```sh
//! LEGATION_TOKEN=… LEGATION_AGENT=counter cargo run -p legation-client --example exactly_once -- counter.db
//! ```

use legation_client::{Client, Incoming};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::error::Error;
use std::path::Path;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = std::env::var("LEGATION_URL").unwrap_or_else(|_| "http://127.0.0.1:7400".to_owned());
    let (token, agent) = (std::env::var("LEGATION_TOKEN")?, std::env::var("LEGATION_AGENT")?);
    let client = Client::builder(url).token(token).agent(agent).build()?;
    let file = std::env::args().nth(1).ok_or("name the database")?;
    run(&client, Path::new(&file), async { drop(tokio::signal::ctrl_c().await) }).await
}

/// Counts messages by sender in a database, until `over` is.
pub(crate) async fn run(
    client: &Client,
    file: &Path,
    over: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut db = open(file)?;
    let stored: Option<String> = db.query_row("SELECT mark FROM read", [], |row| row.get(0)).optional()?;
    // In order, so that one mark tells all that is done.
    let mut inbox = client.inbox().in_order().until(over);
    if let Some(mark) = stored {
        inbox = inbox.resume_after(serde_json::from_str(&mark)?);
    }
    let handled = inbox.handle(move |incoming| {
        let stored = store(&mut db, &incoming);
        async move { stored }
    });
    Ok(handled.await?)
}

/// The database, made if it is not there.
pub(crate) fn open(file: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(file)?;
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS counts (sender TEXT PRIMARY KEY, count INTEGER NOT NULL);
         CREATE TABLE IF NOT EXISTS read (one INTEGER PRIMARY KEY CHECK (one = 1), mark TEXT NOT NULL);",
    )?;
    Ok(db)
}

fn store(db: &mut Connection, incoming: &Incoming) -> Result<(), Box<dyn Error + Send + Sync>> {
    let change = db.transaction()?;
    change.execute(
        "INSERT INTO counts VALUES (?1, 1) ON CONFLICT (sender) DO UPDATE SET count = count + 1",
        params![incoming.message().sender()],
    )?;
    change.execute(
        "INSERT INTO read VALUES (1, ?1) ON CONFLICT (one) DO UPDATE SET mark = ?1",
        params![serde_json::to_string(&incoming.mark())?],
    )?;
    Ok(change.commit()?)
}
