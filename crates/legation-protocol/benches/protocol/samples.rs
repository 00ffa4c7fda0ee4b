//! One ordinary message a format, padded to 1 KiB where it says `PAD`.

pub(crate) const SAMPLES: [(&str, &str); 9] = [
    (
        "vcp escalation",
        r#"{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-000000000004","sender":"agent://orchestrator.prod/child-007","recipient":"agent://orchestrator.prod/parent-001","timestamp":"2026-02-15T10:33:00Z","payload":{"severity":"critical","reason":"The request conflicts with an active rule. PAD","context":"⏰☀️|📍🏡|👥👶|🧠😰","blocked_action":"generate_response:topic=weapons_detailed","requires_ack":true}}"#,
    ),
    (
        "acl task request",
        r#"{"mcp_version":"0.1.0","message_id":"550e8400-e29b-41d4-a716-446655440000","performative":"TASK_REQUEST","sender":{"agent_id":"Eddy"},"receiver":{"agent_id":"Jules"},"reply_with":"debug-17","language":"application/json","ontology":"elizaos:ontology:code/python/debug_request","timestamp":"2026-02-15T10:33:00Z","payload":{"task_type":"debug_code","task_description":"Find why the last page is empty.","task_parameters":{"code_to_debug":"def last(xs):\n    return xs[len(xs)]\n# PAD","programming_language":"python","error_log":"IndexError: list index out of range","desired_outcome":"Identify and fix the bug."},"priority":"medium"}}"#,
    ),
    (
        "cap delegation",
        r#"{"type":"delegation_notice","task_id":"T1.1","sender_id":"pm-1","recipient_id":"analyst-1","context_summary":"Quantify the churn of two clients and list the top products. PAD","attachments":[{"type":"tool_call_result","server_id":"DataServer","tool":"query_data","result":{"range":"Q4","filters":{"clients":["ClientA","ClientB"],"all_products":true}}},{"type":"tool_call_result","server_id":"DocsServer","tool":"read_file","result":"...project spec..."},{"type":"text_snippet","text":"Promotions in December, a launch in October."}]}"#,
    ),
    (
        "vlp claim",
        r#"{"id":"CLM-abc123-0001","protocol":"VLP/1.1","type":"claim","timestamp":"2025-12-14T10:30:00Z","session_id":"S-2025-12-14-observer-abc123","seq":1,"sender":"The Observer","receiver":"The Archivist","topic":"research","content":"Five stations match. PAD","confidence":0.85,"provenance":["places_api",{"ref":"https://api.example.com/results/123","kind":"url"}],"constraints":["tone: formal"],"keywords":["research","stations","oklahoma","73102"],"safety":{"level":"safe","issues":[]},"refers_to":null,"payload":{"station_count":5,"zip_code":"73102"},"_extras":{}}"#,
    ),
    (
        "vcp context share",
        r#"{"vcp_message":"1.2","type":"context_share","message_id":"019502a4-7e5c-7000-8000-000000000001","sender":"agent://home.local/living-room-agent","recipient":"agent://home.local/kitchen-agent","timestamp":"2026-02-15T10:30:00Z","payload":{"context":"⏰🌅|📍🏡|👥👶","constitution_ref":"creed://creed.space/family.safe.guide@1.2.0","personal_state":{"cognitive":6,"emotional":{"valence":7,"arousal":4},"energy":7,"urgency":3}},"signature":"base64:wLzdeU+FP6kZtGzPEYQxV0DfxE0q/6WVh4HQ5Sv68IdaVDW0ubC3ReXcjweXKDfiVe9eGw8L6Mzcbhj9jpjGDg=="}"#,
    ),
    (
        "vcp constraints",
        r#"{"vcp_message":"1.2","type":"constraint_propagate","message_id":"019502a4-9c1e-7000-8000-000000000003","sender":"agent://orchestrator.prod/parent-001","recipient":"agent://orchestrator.prod/child-007","timestamp":"2026-02-15T10:32:00Z","payload":{"constraints":[{"type":"topic_block","value":["weapons","illegal_substances","gambling","PAD"],"source_constitution_ref":"creed://creed.space/family.safe.guide@1.2.0"},{"type":"token_limit","value":2048,"source_constitution_ref":"creed://creed.space/enterprise.compliance@2.0.1"},{"type":"safety_floor","value":"review","source_constitution_ref":"creed://creed.space/enterprise.compliance@2.0.1"}],"propagation_mode":"merge"}}"#,
    ),
    (
        "acl capabilities",
        r#"{"mcp_version":"0.1.0","message_id":"550e8400-e29b-41d4-a716-446655440001","performative":"INFORM_CAPABILITIES","sender":{"agent_id":"Jules"},"receiver":{"agent_id":"Eddy"},"in_reply_to":"550e8400-e29b-41d4-a716-446655440000","language":"application/json","ontology":"elizaos:ontology:agent/capability_information","timestamp":"2026-02-15T10:33:00Z","payload":{"status":"success","capabilities":{"topics":["python","debugging","reviews","PAD"],"actions":["execute_delegated_coding_task","review_code","write_tests"]}}}"#,
    ),
    (
        "vcp-hello",
        r#"{"type":"vcp-hello","version":"3.1","extensions":["VCP-X-Personal","VCP-X-Relational","VCP-X-Torch"],"identity":null,"min_version":"3.0","client_id":"desk/2.4.0","note":"PAD"}"#,
    ),
    (
        "cap manifest",
        r#"{"id":"analyst-1","system_prompt":"You analyse data. PAD","allowed_agents":["qa-1"],"delegate_rules":{"qa-1":{"when_to_delegate":"When the analysis is complete."}},"overseer":"qa-1","mcp_bindings":[{"server_id":"DataServer","description":"Raw data.","scopes":["read:data","write:analysis"],"allowed_tools":["query_data","process_data"]}]}"#,
    ),
];

/// The sample with prose in place of `PAD`, 1,024 bytes in all.
pub(crate) fn padded(sample: &str) -> String {
    let prose = "Every statement is traceable, every number has a source. ".repeat(20);
    let room = 1024_usize.saturating_sub(sample.len() - "PAD".len());
    sample.replace("PAD", prose.get(..room).unwrap_or_default())
}
