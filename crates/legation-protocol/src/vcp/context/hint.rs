//! What the R-line says about the 🧠 dimension. Where both speak, the R-line decides.

use super::{Context, Dimension, Value};
use crate::vcp::PersonalState;

impl PersonalState {
    /// The values of 🧠 that these numbers point to, in the order of the table's rules.
    pub fn state_hint(&self) -> Vec<Value> {
        let mood = self.emotional.filter(|mood| mood.valence < 3.0);
        // A bad mood is anger when it is awake, and sadness when it is not.
        let mood = mood.map(|mood| if mood.arousal > 5.0 { "angry" } else { "sad" });
        let tired = self.energy.filter(|energy| *energy < 3.0).map(|_| "tired");
        let anxious = self.urgency.filter(|urgency| *urgency > 7.0).map(|_| "anxious");
        let sick = self.body.and_then(|body| body.pain).filter(|pain| *pain > 5.0).map(|_| "sick");
        let names = [mood, tired, anxious, sick];
        names.into_iter().flatten().filter_map(|name| Value::named(Dimension::State, name)).collect()
    }
}

impl Context {
    /// The context with its 🧠 values replaced by what the R-line hints at, if it hints at any.
    #[must_use]
    pub fn with_state_of(&self, state: &PersonalState) -> Context {
        let hints = state.state_hint();
        if hints.is_empty() {
            return self.clone();
        }
        let others = self.values.iter().filter(|(dimension, _)| *dimension != Dimension::State).cloned();
        let hinted = hints.into_iter().map(|value| (Dimension::State, value));
        Context::from_values(others.chain(hinted)).unwrap_or_else(|_| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use crate::vcp::{Body, Context, Emotional, PersonalState};

    #[track_caller]
    fn check(state: &PersonalState, want: &[&str]) {
        let hint = state.state_hint();
        assert_eq!(hint.iter().map(super::Value::as_str).collect::<Vec<_>>(), want, "{state:?}");
    }

    #[test]
    fn the_r_line_hints_at_a_state() {
        let none = PersonalState::default();
        let mood = |valence, arousal| PersonalState { emotional: Some(Emotional { valence, arousal }), ..none.clone() };
        check(&none, &[]);
        check(&mood(2.9, 5.0), &["😢"]);
        check(&mood(2.9, 5.1), &["😡"]);
        check(&mood(3.0, 9.0), &[]);
        check(&PersonalState { energy: Some(2.5), ..none.clone() }, &["😴"]);
        check(&PersonalState { energy: Some(3.0), ..none.clone() }, &[]);
        check(&PersonalState { urgency: Some(7.5), ..none.clone() }, &["😰"]);
        check(&PersonalState { urgency: Some(7.0), ..none.clone() }, &[]);
        let pain = |pain| PersonalState { body: Some(Body { pain: Some(pain), comfort: None }), ..none.clone() };
        check(&pain(5.5), &["🤒"]);
        check(&pain(5.0), &[]);
        check(&PersonalState { energy: Some(1.0), urgency: Some(9.0), ..mood(1.0, 1.0) }, &["😢", "😴", "😰"]);
    }

    #[test]
    fn the_r_line_outranks_the_context() {
        let context = Context::parse("🧠😊|⏰🌅").unwrap();
        let tired = PersonalState { energy: Some(1.0), ..PersonalState::default() };
        assert_eq!(context.with_state_of(&tired).as_str(), "⏰🌅|🧠😴");
        assert_eq!(context.with_state_of(&PersonalState::default()), context);
    }
}
