//! Memory (VLP XI): what was said in earlier sessions, found by keywords, topic and words. The one who asks
//! finds what they may see, and nothing tells them of the rest.

mod told;

use crate::caller::Caller;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::search::{moment, refuse};
use crate::shared::Shared;
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use legation_engine::{BEGINNING, Error, Fit, Keyword, MOST_WORDS, Place, Query, Rank, words_in};
use legation_protocol::Code;
use legation_protocol::vlp::Kind;
use serde::Deserialize;
use std::sync::Arc;

const MOST: usize = 1000;
/// The most keywords that are searched for at once.
const MOST_KEYWORDS: usize = 16;

/// What is looked for. A text that is empty is as good as none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    keywords: String,
    text: String,
    sender: String,
    topic: String,
    session: String,
    r#type: String,
    since: String,
    until: String,
    after: Option<u64>,
    before: Option<u64>,
    order: First,
    limit: usize,
    cursor: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum First {
    #[default]
    Newest,
    Best,
}

impl From<First> for Rank {
    fn from(first: First) -> Rank {
        match first {
            First::Newest => Rank::Newest,
            First::Best => Rank::Best,
        }
    }
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted {
            keywords: String::new(),
            text: String::new(),
            sender: String::new(),
            topic: String::new(),
            session: String::new(),
            r#type: String::new(),
            since: String::new(),
            until: String::new(),
            after: None,
            before: None,
            order: First::default(),
            limit: 50,
            cursor: String::new(),
        }
    }
}

/// What there is, or nothing.
fn filled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

impl Wanted {
    fn query(self) -> Result<Query, Refusal> {
        if self.limit == 0 || self.limit > MOST {
            return Err(refuse(Code::OutOfRange, format!("limit is 1 to {MOST}"), "limit"));
        }
        Ok(Query {
            keywords: keywords(&self.keywords)?,
            text: filled(self.text).map(words).transpose()?,
            sender: filled(self.sender),
            topic: filled(self.topic),
            thread: filled(self.session),
            kind: filled(self.r#type).map(kind).transpose()?,
            since: filled(self.since).map(|text| moment(&text, "since")).transpose()?,
            until: filled(self.until).map(|text| moment(&text, "until")).transpose()?,
            after: self.after,
            before: self.before,
            limit: self.limit,
            ..Query::default()
        })
    }
}

/// Keywords with commas between them.
fn keywords(list: &str) -> Result<Vec<Keyword>, Refusal> {
    let (least, most) = (BEGINNING.start(), BEGINNING.end());
    let asked = |text: &str| {
        let why = format!("a keyword's beginning has {least} to {most} characters before its `*`, or ends at a `:`");
        Keyword::asked(text).ok_or_else(|| refuse(Code::OutOfRange, why, "keywords"))
    };
    let all: Vec<_> = list.split(',').filter(|text| !text.trim().is_empty()).map(asked).collect::<Result<_, _>>()?;
    if all.len() > MOST_KEYWORDS {
        return Err(refuse(Code::OutOfRange, format!("at most {MOST_KEYWORDS} keywords"), "keywords"));
    }
    Ok(all)
}

fn words(text: String) -> Result<String, Refusal> {
    if (1..=MOST_WORDS).contains(&words_in(&text).len()) {
        return Ok(text);
    }
    let why = format!("text has 1 to {MOST_WORDS} different words, made of letters and digits");
    Err(refuse(Code::OutOfRange, why, "text"))
}

fn kind(name: String) -> Result<String, Refusal> {
    let names = || Kind::ALL.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(", ");
    match Kind::named(&name) {
        Some(_) => Ok(name),
        None => Err(refuse(Code::UnknownType, format!("the types are {}", names()), "type")),
    }
}

/// Where an answer ended, as it said so: a position, and before that the score where the best come first.
fn place(text: &str, order: First) -> Result<Place, Refusal> {
    let read = match order {
        First::Newest => text.parse().ok().map(|before| Place { fit: None, before }),
        First::Best => text.split_once('-').and_then(|(score, before)| {
            Some(Place { fit: Some(Fit::scored(score.parse().ok()?)?), before: before.parse().ok()? })
        }),
    };
    let why = "cursor is the `next` of an answer in the same order".to_owned();
    read.ok_or_else(|| refuse(Code::OutOfRange, why, "cursor"))
}

fn written(place: Place) -> String {
    let Place { fit, before } = place;
    fit.map_or_else(|| before.to_string(), |fit| format!("{}-{before}", fit.score()))
}

/// `GET /v1/memory`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let wanted: Wanted = query(&uri)?;
    let order = wanted.order;
    let from = filled(wanted.cursor.clone()).map(|text| place(&text, order)).transpose()?;
    let query = wanted.query()?;
    let recalled = tokio::select! {
        recalled = shared.exchange.recall(query, order.into(), from, &caller.0) => recalled?,
        () = shared.stopping.cancelled() => return Err(Error::Closed.into()),
    };
    let told = told::listing(&shared, &recalled)?;
    Ok(([(CONTENT_TYPE, "application/json")], told).into_response())
}

#[cfg(test)]
mod tests {
    use super::{First, keywords, place, written};
    use legation_engine::{Fit, Place};

    #[test]
    fn keywords_come_with_commas_between_them() {
        for (list, want) in [("", 0), (" , ,", 0), ("a", 1), ("a,b*c, pending: ,okl*", 4)] {
            assert_eq!(keywords(list).map(|all| all.len()).ok(), Some(want), "{list}");
        }
        for bad in ["*", "a,ok*", &["a"; 17].join(",")] {
            assert!(keywords(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_cursor_leads_on_in_its_own_order_only() {
        let best = Place { fit: Some(Fit::Partly), before: 17 };
        assert_eq!(place(&written(best), First::Best).ok(), Some(best));
        let newest = Place { fit: None, before: 17 };
        assert_eq!(place(&written(newest), First::Newest).ok(), Some(newest));
        for bad in ["17", "3-17", "1-", "-1", "x"] {
            assert!(place(bad, First::Best).is_err(), "{bad}");
        }
        assert!(place("1-17", First::Newest).is_err());
    }
}
