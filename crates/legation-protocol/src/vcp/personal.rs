//! The R-line: personal state in numbers from 1 to 9 (section 4.1.2).

use crate::read::At;
use serde::Serialize;

const SPEC: &str = "VCP 4.1.2";

/// How somebody is. Every member may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PersonalState {
    /// Cognitive load and clarity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cognitive: Option<f64>,
    /// Mood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emotional: Option<Emotional>,
    /// 1 depleted to 9 full of energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy: Option<f64>,
    /// 1 relaxed to 9 urgent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgency: Option<f64>,
    /// Physical state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
}

/// Mood: both numbers belong together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Emotional {
    /// 1 negative to 9 positive.
    pub valence: f64,
    /// 1 calm to 9 activated.
    pub arousal: f64,
}

/// Physical state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Body {
    /// 1 none to 9 severe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pain: Option<f64>,
    /// 1 uncomfortable to 9 comfortable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comfort: Option<f64>,
}

fn scale(at: At<'_, '_>) -> Option<f64> {
    at.number(1.0, 9.0)
}

impl PersonalState {
    pub(super) fn read(at: At<'_, '_>) -> Option<PersonalState> {
        let mut o = At { spec: SPEC, ..at }.object()?;
        let state = PersonalState {
            cognitive: o.optional("cognitive", scale),
            emotional: o.optional("emotional", Emotional::read),
            energy: o.optional("energy", scale),
            urgency: o.optional("urgency", scale),
            body: o.optional("body", Body::read),
        };
        o.closed();
        Some(state)
    }
}

impl Emotional {
    fn read(at: At<'_, '_>) -> Option<Emotional> {
        let mut o = at.object()?;
        let valence = o.required("valence", scale);
        let arousal = o.required("arousal", scale);
        o.closed();
        Some(Emotional { valence: valence?, arousal: arousal? })
    }
}

impl Body {
    fn read(at: At<'_, '_>) -> Option<Body> {
        let mut o = at.object()?;
        let body = Body { pain: o.optional("pain", scale), comfort: o.optional("comfort", scale) };
        o.closed();
        Some(body)
    }
}
