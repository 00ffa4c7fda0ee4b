//! Making messages (section IV). Each type asks for what its rules require, so that what comes out
//! is valid as far as types can say it; [`build`](crate::build) checks the rest.

use super::confidence::Confidence;
use super::content::Content;
use super::id::{MessageId, SessionId};
use super::keyword::normalise_all;
use super::kind::{Kind, Version};
use super::message::Message;
use super::provenance::Provenance;
use super::refers_to::RefersTo;
use crate::id::AgentId;
use crate::json::Json;
use crate::read::Extra;
use crate::stamp::Timestamp;

/// What every message begins with: which one, when, and by whom (section III).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The message's id.
    pub id: MessageId,
    /// When it is made.
    pub timestamp: Timestamp,
    /// Who says it.
    pub sender: AgentId,
}

impl Message {
    /// A claim, with its sources. Without any, high confidence makes it ask for review.
    ///
    /// ```
    /// use legation_protocol::{Timestamp, build, id::AgentId};
    /// use legation_protocol::vlp::{Confidence, Header, Kind, Level, Message, MessageId};
    /// let header = Header {
    ///     id: MessageId::generated("CLM", 0xab12_cd34)?,
    ///     timestamp: Timestamp::utc("2025-01-04T10:30:00Z")?,
    ///     sender: AgentId::named("The Observer")?,
    /// };
    /// let sure = Confidence::new(0.95).ok_or("not from 0 to 1")?;
    /// let claim = Message::claim(header, "The bridge is open.", sure, vec![]);
    /// let claim = Message { topic: Some("bridge".to_owned()), ..claim };
    /// assert_eq!(build(&claim)?.value().judged().declared, Level::Review);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn claim(
        header: Header,
        content: impl Into<Content>,
        confidence: Confidence,
        provenance: Vec<Provenance>,
    ) -> Message {
        let message = Message::bare(Kind::Claim, header, content.into(), confidence);
        Message { provenance: listed(provenance), ..message }.escalated()
    }

    /// Evidence for an earlier message: at least one source, and more if there are.
    pub fn evidence(
        header: Header,
        content: impl Into<Content>,
        confidence: Confidence,
        supports: &MessageId,
        source: impl Into<Provenance>,
        more: Vec<Provenance>,
    ) -> Message {
        let message = Message::bare(Kind::Evidence, header, content.into(), confidence);
        let provenance = Some([vec![source.into()], more].concat());
        Message { provenance, refers_to: Some(about(supports)), ..message }
    }

    /// A query. It is certain of itself.
    pub fn query(header: Header, content: impl Into<Content>) -> Message {
        Message::bare(Kind::Query, header, content.into(), Confidence::CERTAIN)
    }

    /// The answer to a query. Without sources, high confidence makes it ask for review.
    pub fn response(
        header: Header,
        content: impl Into<Content>,
        confidence: Confidence,
        answers: &MessageId,
        provenance: Vec<Provenance>,
    ) -> Message {
        let message = Message::bare(Kind::Response, header, content.into(), confidence);
        Message { provenance: listed(provenance), refers_to: Some(about(answers)), ..message }.escalated()
    }

    /// A correction of an earlier message. Without sources, high confidence makes it ask for review.
    pub fn correction(
        header: Header,
        content: impl Into<Content>,
        confidence: Confidence,
        amends: &MessageId,
        provenance: Vec<Provenance>,
    ) -> Message {
        let message = Message::bare(Kind::Correction, header, content.into(), confidence);
        Message { provenance: listed(provenance), refers_to: Some(about(amends)), ..message }.escalated()
    }

    /// A notice. It needs no evidence.
    pub fn notice(header: Header, content: impl Into<Content>, confidence: Confidence) -> Message {
        Message::bare(Kind::Notice, header, content.into(), confidence)
    }

    /// What a session leaves behind; `metadata` is an object. High confidence makes it ask for review.
    pub fn session_context(
        header: Header,
        content: impl Into<Content>,
        confidence: Confidence,
        session: SessionId,
        metadata: Json,
    ) -> Message {
        let message = Message::bare(Kind::SessionContext, header, content.into(), confidence);
        Message { session_id: Some(session), payload: Some(metadata), ..message }.escalated()
    }

    /// The message with these words to find it by (section XI), each once and in the one form that is
    /// searched for. They replace those it had; without any word left it has none.
    ///
    /// ```
    /// # use legation_protocol::{Timestamp, id::AgentId};
    /// # use legation_protocol::vlp::{Header, Message, MessageId};
    /// # let header = Header {
    /// #     id: MessageId::generated("QRY", 7)?,
    /// #     timestamp: Timestamp::utc("2025-01-04T10:30:00Z")?,
    /// #     sender: AgentId::named("The Observer")?,
    /// # };
    /// let query = Message::query(header, "Is it open?").with_keywords(["Bridge", " the  Harbour ", "bridge"]);
    /// assert_eq!(query.keywords, Some(vec!["bridge".to_owned(), "the harbour".to_owned()]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_keywords<K: AsRef<str>>(self, keywords: impl IntoIterator<Item = K>) -> Message {
        Message { keywords: listed(normalise_all(keywords)), ..self }
    }

    fn bare(kind: Kind, header: Header, content: Content, confidence: Confidence) -> Message {
        Message {
            id: header.id,
            protocol: Version::V1_1,
            kind,
            timestamp: header.timestamp,
            sender: header.sender,
            content,
            confidence,
            session_id: None,
            seq: None,
            receiver: None,
            topic: None,
            provenance: None,
            constraints: None,
            safety: None,
            refers_to: None,
            keywords: None,
            payload: None,
            extras: None,
            extra: Extra::new(),
        }
    }
}

fn listed<T>(list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| !list.is_empty())
}

fn about(id: &MessageId) -> RefersTo {
    RefersTo::One(id.to_string())
}
