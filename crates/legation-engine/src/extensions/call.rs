//! A call: the name of an operation and a JSON object become something typed, or are refused.

use super::Operation;
use crate::members;
use legation_exchange::extensions::{Act, Extension, Look, Whose, consensus, intent, personal, relational, torch};
use legation_protocol::{Code, Rejection};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Something asked of an extension.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// That changes something, and the words it is asked in, as JSON.
    Act(Act, String),
    /// That only looks.
    Look(Look),
}

/// The same without its words.
enum Typed {
    Act(Act),
    Look(Look),
}

/// Nothing is said.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

impl Call {
    /// The call of this operation with these parameters.
    pub fn read(operation: &Operation, params: Value) -> Result<Call, Rejection> {
        let words = params.to_string();
        let typed = match operation.extension {
            Extension::Personal => personal(operation.name, params),
            Extension::Relational => relational(operation.name, params),
            Extension::Consensus => consensus(operation.name, params),
            Extension::Torch => torch(operation.name, params),
            Extension::Intent => intent(operation.name, params),
        }?;
        Ok(match typed {
            Typed::Act(act) => Call::Act(act, words),
            Typed::Look(look) => Call::Look(look),
        })
    }

    /// Whose it is.
    pub fn extension(&self) -> Extension {
        match self {
            Call::Act(act, _) => act.extension(),
            Call::Look(look) => look.extension(),
        }
    }
}

/// Nobody gets here who looked the operation up.
fn unknown(name: &str) -> Rejection {
    Rejection::because(Code::NotFound, format!("there is no operation {name:?}"))
}

fn given<T: DeserializeOwned>(params: Value) -> Result<T, Rejection> {
    members::read_value(params)
}

fn nothing(params: Value) -> Result<(), Rejection> {
    given(params).map(|Nothing {}| ())
}

fn personal(name: &str, params: Value) -> Result<Typed, Rejection> {
    use personal::Act as Of;
    let act = match name {
        "state" => return given(params).map(Look::Personal).map(Typed::Look),
        "set" => Of::Set(given(params)?),
        "clear" => Of::Clear(given(params)?),
        "engage" => nothing(params).map(|()| Of::Engage)?,
        _ => return Err(unknown(name)),
    };
    Ok(Typed::Act(Act::Personal(act)))
}

fn relational(name: &str, params: Value) -> Result<Typed, Rejection> {
    use relational::Act as Of;
    let act = match name {
        "context" => return given(params).map(Look::Relational).map(Typed::Look),
        "begin_session" => Of::BeginSession(given(params)?),
        "set_standing" => Of::SetStanding(given(params)?),
        "report_self" => Of::ReportSelf(given(params)?),
        "put_norm" => Of::PutNorm(given(params)?),
        "remove_norm" => Of::RemoveNorm(given(params)?),
        "set_privacy" => Of::SetPrivacy(given(params)?),
        _ => return Err(unknown(name)),
    };
    Ok(Typed::Act(Act::Relational(act)))
}

fn consensus(name: &str, params: Value) -> Result<Typed, Rejection> {
    use consensus::Act as Of;
    let act = match name {
        "deliberation" => return given(params).map(Look::Deliberation).map(Typed::Look),
        "deliberations" => return given(params).map(Look::Deliberations).map(Typed::Look),
        "result" => return given(params).map(Look::Outcome).map(Typed::Look),
        "propose" => Of::Propose(given(params)?),
        "amend" => Of::Amend(given(params)?),
        "advance" => Of::Advance(given(params)?),
        "say" => Of::Say(given(params)?),
        "vote" => Of::Vote(given(params)?),
        "withdraw" => Of::Withdraw(given(params)?),
        _ => return Err(unknown(name)),
    };
    Ok(Typed::Act(Act::Consensus(act)))
}

fn torch(name: &str, params: Value) -> Result<Typed, Rejection> {
    use torch::Act as Of;
    let act = match name {
        "state" => return nothing(params).map(|()| Typed::Look(Look::Torch)),
        "lineage" => return given(params).map(Look::Lineage).map(Typed::Look),
        "hand_off" => Of::HandOff(given(params)?),
        "receive" => Of::Receive(given(params)?),
        _ => return Err(unknown(name)),
    };
    Ok(Typed::Act(Act::Torch(act)))
}

fn intent(name: &str, params: Value) -> Result<Typed, Rejection> {
    use intent::Act as Of;
    let act = match name {
        "current" => return given(params).map(Look::Intent).map(Typed::Look),
        "infer" => Of::Infer(given(params)?),
        "correct" => Of::Correct(given(params)?),
        _ => return Err(unknown(name)),
    };
    Ok(Typed::Act(Act::Intent(act)))
}

/// What shows what was done by the entry at a position; or, where nothing is left to look at, the answer itself.
pub(super) fn shows(act: &Act, position: u64) -> Result<Look, Value> {
    let which = |id: &str| Look::Deliberation(consensus::Which { deliberation_id: id.to_owned() });
    let session = |id: &str| Look::Intent(intent::Session { session_id: id.to_owned() });
    Ok(match act {
        Act::Personal(_) => Look::Personal(Whose::default()),
        Act::Relational(_) => Look::Relational(Whose::default()),
        Act::Torch(_) => Look::Torch,
        Act::Intent(intent::Act::Infer(infer)) => session(&infer.session_id),
        Act::Intent(intent::Act::Correct(correct)) => session(&correct.session_id),
        Act::Consensus(act) => match act {
            consensus::Act::Propose(_) => which(&consensus::Kept::id(position)),
            consensus::Act::Amend(amend) => which(&amend.deliberation_id),
            consensus::Act::Advance(advance) => which(&advance.deliberation_id),
            consensus::Act::Say(say) => which(&say.deliberation_id),
            consensus::Act::Vote(vote) => which(&vote.deliberation_id),
            consensus::Act::Withdraw(gone) => {
                return Err(json!({"deliberation_id": gone.deliberation_id, "withdrawn": true}));
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::{Call, Operation};
    use serde_json::{Value, json};

    /// What a schema asks for at the least.
    fn least(schema: &Value) -> Value {
        if let Some(first) = schema["enum"].get(0) {
            return first.clone();
        }
        if let Some(first) = schema["oneOf"].get(0) {
            return least(first);
        }
        match schema["type"].as_str().unwrap() {
            "object" => {
                let required = schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap());
                required.map(|name| (name.to_owned(), least(&schema["properties"][name]))).collect()
            }
            "array" => {
                let count = usize::try_from(schema["minItems"].as_u64().unwrap_or(0)).unwrap();
                std::iter::repeat_n(least(&schema["items"]), count).collect()
            }
            "integer" | "number" => schema["minimum"].clone(),
            "boolean" => json!(false),
            "string" => json!("x"),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_a_schema_describes_is_read_and_what_it_does_not_is_refused() {
        for operation in Operation::ALL {
            let schema = operation.input();
            let call = Call::read(operation, least(&schema));
            let call = call.unwrap_or_else(|rejection| panic!("{}: {rejection}", operation.tool()));
            assert_eq!((call.extension(), matches!(call, Call::Act(..))), (operation.extension, operation.writes));
            let mut odd = least(&schema);
            odd["no_such_member"] = json!(1);
            assert!(Call::read(operation, odd).is_err(), "{}", operation.tool());
            assert_eq!(schema["additionalProperties"], false, "{}", operation.tool());
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let mut names: Vec<_> = Operation::ALL.iter().map(Operation::tool).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Operation::ALL.len());
        for operation in Operation::ALL {
            assert_eq!(Operation::named(operation.extension, operation.name), Some(operation));
        }
    }
}
