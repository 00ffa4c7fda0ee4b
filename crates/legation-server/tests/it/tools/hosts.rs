//! Tools called by hosts of MCP: `call_tool` and `list_bound_tools`.

use super::workshop::{Generation, Workshop};
use super::{LATE, Office, at};
use crate::mcp::{BOTH, Client};
use serde_json::json;

#[test]
fn a_host_lists_what_its_agent_is_bound_to_and_calls_it() {
    for generation in BOTH {
        let shop = Workshop::open(Generation::Sessions);
        let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
        let host = Client::open(&office.house, &office.reader, generation);
        let told = host.done("list_bound_tools", json!({}));
        let tools = told["servers"][0]["tools"].as_array().unwrap();
        let read = tools.iter().find(|tool| tool["name"] == "read_file").unwrap();
        assert_eq!((&read["callable"], &read["description"]), (&json!(true), &json!("Does read_file.")), "{told}");
        let arguments = json!({ "path": "spec.md" });
        let call = |tool: &str| json!({ "server_id": "Docs", "tool": tool, "arguments": arguments });
        let answer = host.done("call_tool", call("read_file"));
        assert_eq!(shop.next(), arguments);
        assert_eq!(answer["result"]["content"][0]["text"], "what \"spec.md\" says");
        assert_eq!(office.shown(&json!([answer["attachment"]]))[0]["code"], "verified");
        let failed = host.done("call_tool", call("fail"));
        assert_eq!((shop.next(), &failed["is_error"]), (arguments.clone(), &json!(true)));
        host.refused("call_tool", call("delete"), "tool_not_bound");
        host.refused("call_tool", json!({ "server_id": "Docs" }), "schema_invalid");
        host.refused("call_tool", call("missing"), "tool_failed");
        assert_eq!(shop.next(), arguments);
        assert!(shop.is_idle(), "nothing else was sent");
    }
}

#[test]
fn a_host_whose_agent_is_bound_to_nothing_has_no_tools_of_others() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let other = office.house.ask("PUT", crate::house::path_of("other")).by(&office.house.operator).json("{}").ok();
    let host = Client::open(&office.house, other["token"].as_str().unwrap(), BOTH[1]);
    assert_eq!(host.done("list_bound_tools", json!({}))["servers"], json!([]));
    host.refused("call_tool", json!({ "server_id": "Docs", "tool": "read_file" }), "tool_not_bound");
    assert!(shop.is_idle());
}
