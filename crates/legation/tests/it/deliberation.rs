//! Three agents and a person decide something together, through `kill -9`: what was answered stands.

use crate::served::Served;
use serde_json::{Value, json};

/// Somebody with a token. Sessions end with the exchange, so that each begins a new one after a crash.
struct Party {
    token: String,
    session: String,
}

impl Party {
    fn greet(served: &Served, token: &str) -> Party {
        let hello = json!({"type": "vcp-hello", "version": "3.1", "extensions": ["VCP-X-Consensus"]});
        let mut party = Party { token: token.to_owned(), session: String::new() };
        let ack = party.post(served, "/v1/hello", &hello);
        assert_eq!(ack["supported"], json!(["VCP-X-Consensus"]), "{ack}");
        ack["session_id"].as_str().unwrap().clone_into(&mut party.session);
        party
    }

    fn post(&self, served: &Served, path: &str, body: &Value) -> Value {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let mut request = agent.post(format!("{}{path}", served.url)).content_type("application/json");
        request = request.header("authorization", format!("Bearer {}", self.token));
        if !self.session.is_empty() {
            request = request.header("legation-session", &self.session);
        }
        let text = request.send(body.to_string()).unwrap().body_mut().read_to_string().unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn ask(&self, served: &Served, operation: &str, params: &Value) -> Value {
        let told = self.post(served, &format!("/v1/extensions/consensus/{operation}"), params);
        assert!(told.get("error").is_none(), "{operation}: {told}");
        told
    }
}

/// Ends the exchange without a word; everybody greets again.
fn crash(served: &mut Served, parties: &mut [Party; 4]) {
    served.crash();
    for party in parties {
        *party = Party::greet(served, &party.token);
    }
}

#[test]
fn three_agents_and_a_person_decide_together_through_crashes() {
    let mut served = Served::start();
    let agents = ["ada", "bea", "cyd"].map(|name| served.admit(&[name]));
    let made = served.run(&["token", "add", "dora", "--role", "reviewer"], "");
    assert_eq!(made.code, 0, "{}", made.err);
    let [ada, bea, cyd] = &agents;
    let mut parties = [ada, bea, cyd, made.out.trim()].map(|token| Party::greet(&served, token));
    let proposal = json!({
        "title": "Who answers at night", "text": "One of us, or nobody.", "candidates": ["ada", "rota", "nobody"],
        "stakeholders": ["ada", "bea", "cyd", "dora"],
    });
    let made = parties[1].ask(&served, "propose", &proposal);
    let id = made["deliberation_id"].as_str().unwrap().to_owned();
    assert_eq!(made["self_referential"], json!(["agent:ada"]), "{made}");
    let with = |more: Value| {
        let mut all = json!({"deliberation_id": id});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    parties[1].ask(&served, "advance", &with(json!({"to": "DELIBERATION"})));
    parties[3].ask(&served, "say", &with(json!({"text": "Nobody should be woken twice a week."})));
    parties[1].ask(&served, "advance", &with(json!({"to": "CONVERGENCE"})));
    parties[0].ask(&served, "vote", &with(json!({"ranking": ["rota", "nobody", "ada"]})));
    parties[1].ask(&served, "vote", &with(json!({"ranking": ["ada", ["rota", "nobody"]]})));
    crash(&mut served, &mut parties);
    let seen = parties[3].ask(&served, "deliberation", &with(json!({})));
    assert_eq!((&seen["phase"], seen["statements"].as_array().unwrap().len()), (&json!("CONVERGENCE"), 1), "{seen}");
    parties[2].ask(&served, "vote", &with(json!({"ranking": ["rota"]})));
    parties[1].ask(&served, "advance", &with(json!({"to": "RATIFICATION"})));
    parties[3].ask(&served, "vote", &with(json!({"ranking": ["rota", "ada", "nobody"]})));
    parties[1].ask(&served, "advance", &with(json!({"to": "ACTIVE"})));
    let before = parties[0].ask(&served, "result", &with(json!({})));
    crash(&mut served, &mut parties);
    let result = parties[3].ask(&served, "result", &with(json!({})));
    assert_eq!(result, before);
    assert_eq!(result["d"], json!([[0, 1, 2], [3, 0, 3], [1, 0, 0]]), "{result}");
    assert_eq!(result["p"], json!([[0, 0, 2], [3, 0, 3], [0, 0, 0]]), "{result}");
    assert_eq!((&result["winner"], &result["final"], &result["ballots"]), (&json!("rota"), &json!(true), &json!(4)));
    assert_eq!(result["self_referential"], json!(["agent:ada"]));
    let late = parties[0].post(&served, "/v1/extensions/consensus/vote", &with(json!({"ranking": ["ada"]})));
    assert_eq!(late["error"], "deliberation_phase", "{late}");
}
