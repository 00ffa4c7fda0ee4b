//! What the rules of the dialects keep of what is translated: a task that the exchange hands over for somebody is
//! one, and an answer in another dialect answers.

use super::conversation::Conversation;
use super::said::{Act, Said};
use crate::rules::{Case, Ruling, acl, cap};
use legation_protocol::{Format, Rejection};

/// What somebody has to see first waits, and so does what is said for it.
pub(super) fn gate(
    case: &Case<'_>,
    talk: &Conversation<'_>,
    said: &Said,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    match talk.ask.filter(|ask| talk.is_asked() && ask.translation.dialect == Format::Cap) {
        Some(ask) if said.act == Act::Result => cap::waits(case, ask.translation.original, &said.text, ruling),
        _ => Ok(()),
    }
}

/// A task that is handed over for whoever asks.
pub(super) fn open(
    case: &Case<'_>,
    talk: &Conversation<'_>,
    act: Act,
    said_in: Format,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    if act == Act::Ask && said_in == Format::Cap {
        return cap::asks(case, super::cap::task_of(case.state.next), talk.hearer.id(), ruling);
    }
    Ok(())
}

pub(super) fn follow(case: &Case<'_>, talk: &Conversation<'_>, said: &Said, ruling: &mut Ruling) {
    let Some(ask) = talk.ask.filter(|_| talk.is_asked()) else { return };
    let asked = ask.translation.original;
    match ask.translation.dialect {
        Format::Acl => {
            let Some(step) = super::acl::step(said) else { return };
            acl::answers(case, asked, step, said.code(), ruling);
        }
        Format::Cap => {
            let Some(answer) = super::cap::answer(said, ask.is_question()) else { return };
            cap::answers(case, asked, answer, ruling);
        }
        Format::Vcp | Format::Vlp | Format::Hello | Format::Manifest => {}
    }
}
