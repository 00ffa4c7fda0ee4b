//! Why something was refused, as it was told then.

use super::Step;
use super::ruled::word_of;
use legation_exchange::{Entry, Refused};

/// Tells why something was refused.
pub fn explain_refusal(entry: &Entry, refused: &Refused) -> Vec<Step> {
    let Refused { by, digest, judged, .. } = refused;
    let step = |step, says| Step { step, position: entry.position, at: entry.at, says };
    let what = if digest.is_some() { "sent a message" } else { "asked for something" };
    let recorded = match digest {
        Some(digest) => {
            format!("Entry {} keeps that, and of the message no more than its digest, {digest}.", entry.position)
        }
        None => format!("Entry {} keeps that.", entry.position),
    };
    let mut steps = vec![step("received", format!("{by} {what}.")), step("refused", reason(refused))];
    steps.extend(judged.as_ref().map(|judged| step("asked_judge", word_of(judged))));
    steps.push(step("recorded", recorded));
    steps
}

fn reason(Refused { code, says, at, spec, .. }: &Refused) -> String {
    let why = says.as_deref().unwrap_or("the words were not kept");
    let place = at.as_deref().map(|at| format!(" The member to blame is {at}.")).unwrap_or_default();
    let rule = spec.as_deref().map(|spec| format!(" The rule is {spec}.")).unwrap_or_default();
    format!("It was refused with {code}: {why}.{place}{rule}")
}

#[cfg(test)]
mod tests {
    use super::reason;
    use legation_exchange::Refused;

    #[test]
    fn an_entry_from_before_words_were_kept_is_still_read() {
        let old = r#"{"by":"agent ann","code":"stale","digest":null}"#;
        let refused: Refused = serde_json::from_str(old).unwrap();
        assert_eq!(reason(&refused), "It was refused with stale: the words were not kept.");
        assert_eq!(serde_json::to_string(&refused).unwrap(), old);
    }
}
