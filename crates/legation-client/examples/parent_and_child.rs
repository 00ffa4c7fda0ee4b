//! A child raises an alarm; its parent takes it, and the acknowledgement goes back by itself.
//!
//! ```sh
//! legation serve --data ./exchange &
//! LEGATION_TOKEN=$(cat exchange/operator.token) cargo run -p legation-client --example parent_and_child
//! ```

use legation_client::protocol::id::AgentId;
use legation_client::protocol::sign::SecretKey;
use legation_client::protocol::vcp::{Context, Envelope, Escalation};
use legation_client::{Client, Incoming, Registration};
use std::error::Error;
use std::io::{Write as _, stdout};

const PARENT: &str = "agent://example/parent";
const CHILD: &str = "agent://example/child";

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let url = std::env::var("LEGATION_URL").unwrap_or_else(|_| "http://127.0.0.1:7400".to_owned());
    let acknowledged = run(&url, &std::env::var("LEGATION_TOKEN")?).await?;
    Ok(writeln!(stdout(), "the parent has acknowledged {acknowledged}")?)
}

/// Registers both, raises an alarm, and gives the id of what was acknowledged.
pub(crate) async fn run(url: &str, operator: &str) -> Outcome<String> {
    let parent = admit(url, operator, Registration::new(PARENT)).await?;
    let child = admit(url, operator, Registration::new(CHILD).parent(PARENT)).await?;
    let watching = tokio::spawn(
        parent
            .inbox()
            .handle(async |alarm: Incoming| writeln!(stdout(), "the parent has taken position {}", alarm.position)),
    );
    let alarm = Escalation::critical("asked for what it must not do", Context::parse("📍🏡|👥👶")?);
    child.send(Envelope::to(AgentId::vcp(PARENT)?, child.origin()?, alarm)).await?;
    let mut answers = child.inbox().deliveries().await?;
    // The exchange says that the child is paused; the parent's answer follows.
    let acknowledged = loop {
        let item = answers.next().await.ok_or("the mailbox ended")??;
        answers.ack(&item).await?;
        if let [acknowledged] = item.message().refers_to().as_slice() {
            break acknowledged.clone();
        }
    };
    answers.close().await?;
    watching.abort();
    Ok(acknowledged)
}

async fn admit(url: &str, operator: &str, registration: Registration) -> Outcome<Client> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    let (key, id) = (SecretKey::from_seed(&seed), registration.id().to_owned());
    let registering = Client::builder(url).token(operator).build()?;
    let registered = registering.register(&registration.key(&key.public())).await?;
    let token = registered.token.ok_or("this name is taken: its token is needed")?;
    Ok(Client::builder(url).token(token.as_str()).key(key).agent(id).build()?)
}
