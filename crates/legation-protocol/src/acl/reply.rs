//! Which message answers which (sections 3 and 4).

use super::content::Answering;
use super::head::Head;
use super::message::{Message, MessageId};
use super::ontology::{Ontology, Term};
use super::performative::Performative;
use crate::stamp::Timestamp;

/// An answer about to be written: it knows what it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    head: Head,
    message_id: String,
    asked: Option<Asked>,
}

/// What is known of the message answered.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    performative: Performative,
    ontology: Ontology,
    reply_with: Option<String>,
}

/// An answer that does not fit what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{answer} is no answer to {asked}")]
pub struct Misfit {
    /// What was about to be said.
    pub answer: Performative,
    /// To what.
    pub asked: Performative,
}

impl Reply {
    /// An answer to a message of which no more than its id is known.
    pub fn to(head: Head, message_id: impl Into<String>) -> Reply {
        Reply { head, message_id: message_id.into(), asked: None }
    }

    /// The answer, in JSON and under the spec's own term. Where section 4 leaves the choice, it
    /// names the `reply_with` that was asked for.
    pub fn with(self, payload: impl Answering) -> Result<Message, Misfit> {
        let own = payload.term();
        let content = payload.into();
        let answer = content.performative();
        if let Some(asked) = &self.asked
            && !answer.may_answer(asked.performative)
        {
            return Err(Misfit { answer, asked: asked.performative });
        }
        let ontology = term_for(answer, own, self.asked.as_ref());
        let wanted = self.asked.and_then(|asked| asked.reply_with).filter(|_| takes_reply_with(answer));
        Ok(self.head.write(Some(wanted.unwrap_or(self.message_id)), content, ontology))
    }
}

/// A result stays in the field it was asked for in; anything else has one term.
fn term_for(answer: Performative, own: Term, asked: Option<&Asked>) -> Ontology {
    match (answer, asked) {
        (Performative::InformResult, Some(asked)) => match asked.ontology.term() {
            Some(Term::DebugRequest) => own.into(),
            Some(Term::RefactorRequest) => Term::RefactorSuggestion.into(),
            _ => asked.ontology.clone(),
        },
        _ => own.into(),
    }
}

/// Whether an answer may name a `reply_with` (4.3 and 4.6); the others are to name a `message_id`.
const fn takes_reply_with(answer: Performative) -> bool {
    matches!(answer, Performative::InformResult | Performative::Failure)
}

/// By what an answer was tied to its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// By its `message_id`.
    MessageId,
    /// By its `reply_with`.
    ReplyWith,
}

/// An `in_reply_to` that fits two messages equally well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("in_reply_to fits more than one message")]
pub struct Ambiguous;

impl Message {
    /// Begins an answer to this message, from its receiver to its sender.
    pub fn reply(&self, message_id: MessageId, timestamp: Timestamp) -> Reply {
        let (sender, receiver) = (self.receiver.agent_id.clone(), self.sender.agent_id.clone());
        let asked = Asked {
            performative: self.performative(),
            ontology: self.ontology.clone(),
            reply_with: self.reply_with.clone(),
        };
        Reply {
            head: Head { message_id, sender, receiver, timestamp },
            message_id: self.message_id.to_string(),
            asked: Some(asked),
        }
    }

    /// Whether this message answers `earlier`: between the same two agents, by an act that fits,
    /// and naming it: a `message_id` in either case, a `reply_with` exactly. A message sent to a group
    /// is answered by a member, which is not told here.
    pub fn answers(&self, earlier: &Message) -> Option<Tie> {
        let back =
            self.sender.agent_id == earlier.receiver.agent_id && self.receiver.agent_id == earlier.sender.agent_id;
        if !back || !self.performative().may_answer(earlier.performative()) {
            return None;
        }
        let named = self.in_reply_to.as_deref()?;
        if earlier.message_id.is(named) {
            return Some(Tie::MessageId);
        }
        (earlier.reply_with.as_deref() == Some(named)).then_some(Tie::ReplyWith)
    }

    /// Which of the earlier messages this one answers. A `message_id` wins over a `reply_with`.
    pub fn answered<'m>(
        &self,
        earlier: impl IntoIterator<Item = &'m Message>,
    ) -> Result<Option<&'m Message>, Ambiguous> {
        let (mut by_id, mut by_reply_with) = (None, None);
        for message in earlier {
            let place = match self.answers(message) {
                Some(Tie::MessageId) => &mut by_id,
                Some(Tie::ReplyWith) => &mut by_reply_with,
                None => continue,
            };
            *place = match place {
                None => Some(Ok(message)),
                Some(_) => Some(Err(Ambiguous)),
            };
        }
        by_id.or(by_reply_with).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::{Ambiguous, Head, Message, MessageId, Misfit, Performative, Reply, Tie};
    use crate::acl::{
        Capabilities, Content, Failure, InformCapabilities, InformResult, Language, Misunderstanding, NotUnderstood,
        Ontology, QueryCapabilities, QueryIf, QueryRef, TaskAccept, TaskReject, TaskRequest, TaskStatus, Term,
    };
    use crate::id::AgentId;
    use crate::stamp::Timestamp;
    use crate::wire::build;
    use serde_json::{Map, json};
    use uuid::Uuid;

    fn id(n: u128) -> MessageId {
        Uuid::from_u128(n).into()
    }

    fn now() -> Timestamp {
        Timestamp::utc("2025-06-18T09:14:05Z").unwrap()
    }

    fn head(n: u128) -> Head {
        let [sender, receiver] = ["Eddy", "Jules"].map(|name| AgentId::named(name).unwrap());
        Head { message_id: id(n), sender, receiver, timestamp: now() }
    }

    fn task() -> TaskRequest {
        TaskRequest::new("debug_code", "Mend it.", Map::new())
    }

    fn questions() -> [Message; 4] {
        [
            head(1).request(task()).unwrap(),
            head(2).open(QueryIf::new(Map::from_iter([("busy".to_owned(), json!(false))]))),
            head(3).open(QueryRef::new("latest_commit_hash")),
            head(4).open(QueryCapabilities::summary()),
        ]
    }

    fn answers(to: &Message) -> Vec<Result<Message, Misfit>> {
        let reply = || to.reply(id(9), now());
        vec![
            reply().with(TaskAccept::default()),
            reply().with(TaskReject::because("busy", "Later.")),
            reply().with(InformResult::new(TaskStatus::Success, "Done.", Map::new())),
            reply().with(Failure::new("It broke.")),
            reply().with(NotUnderstood::because(Misunderstanding::ParsingError, "What?")),
            reply().with(InformCapabilities::from(Capabilities::summary(vec![], vec![]))),
        ]
    }

    #[test]
    fn every_constructor_builds() {
        for question in questions() {
            assert!(build(&question).unwrap().warnings().is_empty());
            for answer in answers(&question).into_iter().flatten() {
                assert_eq!(build(&answer).unwrap().value(), &answer);
                assert_eq!(answer.answers(&question), Some(Tie::MessageId));
            }
        }
    }

    #[test]
    fn each_answer_fits_its_question() {
        use Performative::{Failure, InformCapabilities, InformResult, NotUnderstood, TaskAccept, TaskReject};
        let fitting: [&[Performative]; 4] = [
            &[TaskAccept, TaskReject, InformResult, Failure, NotUnderstood],
            &[InformResult, Failure, NotUnderstood],
            &[InformResult, Failure, NotUnderstood],
            &[Failure, NotUnderstood, InformCapabilities],
        ];
        for (question, want) in questions().iter().zip(fitting) {
            let fit: Vec<_> = answers(question).into_iter().flatten().map(|answer| answer.performative()).collect();
            assert_eq!(fit, want, "{}", question.kind_name());
        }
    }

    #[test]
    fn not_understood_is_never_answered_with_itself() {
        let baffled = || NotUnderstood::because(Misunderstanding::ParsingError, "What?");
        let first = head(1).request(task()).unwrap().reply(id(2), now()).with(baffled()).unwrap();
        let asked = Performative::NotUnderstood;
        assert_eq!(first.reply(id(3), now()).with(baffled()), Err(Misfit { answer: asked, asked }));
    }

    #[test]
    fn an_id_wins_over_a_reply_with() {
        let by_id = head(1).request(task()).unwrap();
        let by_reply_with = head(2).request(task()).unwrap().reply_with(by_id.message_id.as_str());
        let answer = by_id.reply(id(3), now()).with(TaskAccept::default()).unwrap();
        assert_eq!(answer.answers(&by_reply_with), Some(Tie::ReplyWith));
        assert_eq!(answer.answered([&by_reply_with, &by_id]), Ok(Some(&by_id)));
        assert_eq!(answer.answered([&by_reply_with]), Ok(Some(&by_reply_with)));
        assert_eq!(answer.answered([&by_reply_with, &by_reply_with]), Err(Ambiguous));
        assert_eq!(answer.answered([]), Ok(None));
    }

    #[test]
    fn a_uuid_is_the_same_in_capitals_and_a_reply_with_is_not() {
        let capitals = |id: &MessageId| id.as_str().to_ascii_uppercase();
        let question = head(0xabc).request(task()).unwrap();
        let back = || question.reply(id(2), now()).head;
        let shouted = Reply::to(back(), capitals(&question.message_id)).with(TaskAccept::default()).unwrap();
        assert_eq!(shouted.answers(&question), Some(Tie::MessageId));
        assert_eq!(shouted.answered([&question]), Ok(Some(&question)));
        let loud =
            Message { message_id: MessageId::parse(&capitals(&question.message_id)).unwrap(), ..question.clone() };
        let quiet = Reply::to(back(), question.message_id.as_str()).with(TaskAccept::default()).unwrap();
        assert_eq!(quiet.answers(&loud), Some(Tie::MessageId));
        let other = Message { message_id: id(3), ..question.clone() }.reply_with("debug-a");
        let wanted = Reply::to(back(), "DEBUG-A").with(TaskAccept::default()).unwrap();
        assert_eq!(wanted.answers(&other), None);
        let uuid = Message { message_id: id(3), ..question.clone() }.reply_with(question.message_id.as_str());
        assert_eq!(shouted.answers(&uuid), None, "a reply_with is compared letter by letter, whatever it looks like");
    }

    #[test]
    fn a_reply_with_is_used_where_the_spec_allows_it() {
        let question = head(1).request(task()).unwrap().reply_with("debug-1");
        for answer in answers(&question).into_iter().flatten() {
            let named = answer.in_reply_to.as_deref().unwrap();
            let want = match answer.performative() {
                Performative::InformResult | Performative::Failure => "debug-1",
                _ => question.message_id.as_str(),
            };
            assert_eq!(named, want, "{}", answer.kind_name());
            assert!(answer.answers(&question).is_some());
        }
    }

    #[test]
    fn strangers_cannot_answer() {
        let question = head(1).request(task()).unwrap();
        let stranger = Head { sender: AgentId::named("Mallory").unwrap(), ..head(2) };
        let forged = Reply::to(stranger, question.message_id.as_str()).with(TaskAccept::default()).unwrap();
        assert_eq!(forged.answers(&question), None);
        let own = Reply::to(head(2), question.message_id.as_str()).with(TaskAccept::default()).unwrap();
        assert_eq!(own.answers(&question), None, "the asker does not answer itself");
    }

    #[track_caller]
    fn check_term(message: &Message, want: Term) {
        assert_eq!(message.ontology, Ontology::from(want));
        assert_eq!(message.language, Language::json());
    }

    #[test]
    fn constructors_write_json_and_their_own_term() {
        let [request, query_if, query_ref, capabilities] = questions();
        check_term(&request, Term::DebugRequest);
        check_term(&query_if, Term::GeneralQuery);
        check_term(&query_ref, Term::GeneralQuery);
        check_term(&capabilities, Term::CapabilityQuery);
        for answer in answers(&request).into_iter().chain(answers(&capabilities)).flatten() {
            check_term(
                &answer,
                match &answer.content {
                    Content::TaskAccept(_) => Term::TaskAcceptance,
                    Content::TaskReject(_) => Term::TaskRejection,
                    Content::InformResult(_) => Term::SolutionProvided,
                    Content::Failure(_) => Term::ActionExecutionFailure,
                    Content::NotUnderstood(_) => Term::MessageNotUnderstood,
                    Content::InformCapabilities(_) => Term::CapabilityInformation,
                    other => panic!("{other:?} is no answer"),
                },
            );
        }
    }

    #[test]
    fn a_result_stays_in_the_field_it_was_asked_for_in() {
        let result = |status| InformResult::new(status, "Looked.", Map::new());
        let debug = head(1).request(task()).unwrap();
        check_term(&debug.reply(id(2), now()).with(result(TaskStatus::Failure)).unwrap(), Term::DebugAnalysis);
        let refactor = head(1).request(TaskRequest::new("refactor_code_snippet", "Tidy it.", Map::new())).unwrap();
        check_term(&refactor, Term::RefactorRequest);
        check_term(&refactor.reply(id(2), now()).with(result(TaskStatus::Success)).unwrap(), Term::RefactorSuggestion);
        let own = Ontology::parse("acme:billing").unwrap();
        let billing = head(1).request_about(task(), own.clone());
        assert_eq!(billing.reply(id(2), now()).with(result(TaskStatus::Success)).unwrap().ontology, own);
        let blind = Reply::to(head(2), "debug-1").with(result(TaskStatus::PartialSuccess)).unwrap();
        check_term(&blind, Term::DebugAnalysis);
    }
}
