//! Calling tools: verified, waited for as long as the exchange waits, and never called again by themselves.

use crate::house::House;
use legation_client::{Client, Error, Registration, ToolCall};
use legation_engine::{Calling, Fault, Gateway, Listing, ToolReply};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A server whose tools do what they are called.
#[derive(Debug, Default)]
struct Bench(AtomicUsize);

impl Gateway for Bench {
    fn servers(&self) -> Vec<String> {
        vec!["Docs".to_owned()]
    }

    fn call(&self, _: &str, tool: &str, arguments: Arc<str>) -> Calling {
        self.0.fetch_add(1, Ordering::Relaxed);
        let tool = tool.to_owned();
        Box::pin(async move {
            match tool.as_str() {
                "slow" => tokio::time::sleep(Duration::from_secs(3)).await,
                "silent" => return Err(Fault::Silent),
                "broken" => return Err(Fault::Broken("it fell over".to_owned())),
                "garbled" => return Err(Fault::Unusable("it is no JSON".to_owned())),
                "away" => return Err(Fault::Unreached("nobody is there".to_owned())),
                _ => {}
            }
            Ok(ToolReply::Result(format!(r#"{{"content":[],"isError":{},"got":{arguments}}}"#, tool == "fail").into()))
        })
    }

    fn tools(&self, _: &str) -> Listing {
        Box::pin(async { Ok(Vec::new()) })
    }
}

const TOOLS: [&str; 7] = ["echo", "fail", "slow", "silent", "broken", "garbled", "away"];

fn reader() -> Registration {
    let manifest = json!({
        "id": "reader", "system_prompt": "You read.", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [{ "server_id": "Docs", "scopes": ["read"], "allowed_tools": TOOLS }],
    });
    Registration::new("reader").manifest(manifest)
}

fn call(tool: &str) -> ToolCall {
    let (server_id, tool) = ("Docs".to_owned(), tool.to_owned());
    ToolCall { server_id, tool, arguments: json!({ "path": "spec.md" }), ..ToolCall::default() }
}

#[tokio::test]
async fn what_a_tool_answered_is_on_the_record_and_its_receipt_verified() {
    let house = House::with_tools(Arc::new(Bench::default())).await;
    let (reader, _writer) = (house.admit_as(reader()).await, house.admit("writer").await);
    let scoped = ToolCall { scopes: vec!["read".to_owned()], ..call("echo") };
    let answer = reader.call_tool(&scoped).await.unwrap();
    assert!(!answer.is_error && answer.call < answer.position);
    assert_eq!(answer.result.to_value()["got"], json!({ "path": "spec.md" }));
    assert_eq!(answer.stated.position, answer.position);
    assert_eq!(answer.attachment.to_value()["result"], answer.result.to_value());
    let message = json!({
        "type": "message", "task_id": "T1", "sender_id": "reader", "recipient_id": "writer", "content": "See.",
        "attachments": [answer.attachment.to_value()],
    });
    reader.send(message.to_string()).await.unwrap();
    assert!(reader.call_tool(&call("fail")).await.unwrap().is_error);
}

#[tokio::test]
async fn a_tool_is_waited_for_longer_than_other_answers() {
    let house = House::with_tools(Arc::new(Bench::default())).await;
    let operator = Client::builder(house.url()).token(house.operator.clone()).build().unwrap();
    let token = operator.register(&reader()).await.unwrap().token.unwrap().to_string();
    let hasty = Client::builder(house.url()).token(token).agent("reader").timeout(Duration::from_secs(2));
    hasty.build().unwrap().call_tool(&call("slow")).await.unwrap();
}

#[tokio::test]
async fn only_what_was_not_sent_may_be_tried_again() {
    let bench = Arc::new(Bench::default());
    let house = House::with_tools(Arc::<Bench>::clone(&bench)).await;
    let reader = house.admit_as(reader()).await;
    for (tool, status, code, retryable) in [
        ("silent", 504, "tool_timeout", false),
        ("broken", 504, "tool_timeout", false),
        ("garbled", 502, "tool_failed", false),
        ("away", 503, "tool_unavailable", true),
        ("delete", 403, "tool_not_bound", false),
    ] {
        let Err(error) = reader.call_tool(&call(tool)).await else { panic!("{tool}: answered") };
        assert_eq!(error.is_retryable(), retryable, "{tool}");
        let Error::Refused(refused) = error else { panic!("{tool}: {error}") };
        assert_eq!((refused.status, refused.code.as_str()), (Some(status), code));
    }
    assert_eq!(bench.0.load(Ordering::Relaxed), 4, "each went out once");
}
