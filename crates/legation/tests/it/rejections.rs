//! Rejections and the real program: all that were answered are on the record, however it ends.

use crate::served::Served;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// More than get entries of their own within a minute.
const KNOWN: u64 = 1500;
const STRANGERS: u64 = 30;

fn token(served: &Served) -> String {
    fs::read_to_string(served.data().join("operator.token")).unwrap().trim().to_owned()
}

/// Sends lines that are no messages, and tells how many of them were refused.
fn send_nonsense(served: &Served, count: u64, token: Option<&str>) -> u64 {
    let agent = ureq::Agent::new_with_defaults();
    let mut request = agent.post(format!("{}/v1/messages", served.url)).header("content-type", "application/x-ndjson");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let lines = "nonsense\n".repeat(usize::try_from(count).unwrap());
    let told = request.send(lines).unwrap().body_mut().read_to_string().unwrap();
    told.lines().filter(|line| line.contains("bad_json")).count() as u64
}

/// How many rejections with this code the record has, by whom: once it has as many as are wanted, or a minute has passed.
fn recorded(served: &Served, wanted: u64) -> BTreeMap<Option<String>, u64> {
    let (agent, token) = (ureq::Agent::new_with_defaults(), token(served));
    let (mut sums, mut next) = (BTreeMap::new(), None);
    loop {
        let after = next.map(|next: u64| format!("&after={next}")).unwrap_or_default();
        let url = format!("{}/v1/audit/entries?limit=1000&wait=30{after}", served.url);
        let mut answer = agent.get(url).header("authorization", format!("Bearer {token}")).call().unwrap();
        let page: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
        let entries = page["entries"].as_array().unwrap();
        for effect in entries.iter().map(|entry| &entry["effect"]) {
            let tallies = effect["refusals"].as_array().into_iter().flatten();
            let single = (effect["entry"] == "refused").then_some(effect);
            for refused in single.into_iter().chain(tallies).filter(|refused| refused["code"] == "bad_json") {
                let by = refused["by"].as_str().map(str::to_owned);
                *sums.entry(by).or_default() += refused["count"].as_u64().unwrap_or(1);
            }
        }
        if entries.is_empty() || sums.values().sum::<u64>() >= wanted {
            return sums;
        }
        next = page["next"].as_u64();
    }
}

#[test]
fn all_rejections_that_were_answered_are_on_the_record_after_a_kill() {
    let mut served = Served::start();
    let token = token(&served);
    assert_eq!(send_nonsense(&served, KNOWN, Some(&token)), KNOWN);
    assert_eq!(send_nonsense(&served, STRANGERS, None), STRANGERS);
    served.crash();
    let want = BTreeMap::from([(None, STRANGERS), (Some("operator".to_owned()), KNOWN)]);
    assert_eq!(recorded(&served, KNOWN + STRANGERS), want);
    // What is on the record by now is not counted again, and what comes is.
    assert_eq!(send_nonsense(&served, STRANGERS, None), STRANGERS);
    served.crash();
    let want = BTreeMap::from([(None, 2 * STRANGERS), (Some("operator".to_owned()), KNOWN)]);
    assert_eq!(recorded(&served, KNOWN + 2 * STRANGERS), want);
}
