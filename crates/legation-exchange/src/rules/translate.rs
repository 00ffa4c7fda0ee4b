//! Speaking across dialects. When the one recipient does not speak the dialect a message is in, the exchange says
//! the same in one it speaks, as its own message that names the original; what comes back finds its way the same
//! way. The [table](published) is all it can say: the rest is refused, never guessed.

mod acl;
mod again;
mod broken;
mod cap;
mod conversation;
mod follow;
mod links;
mod said;
mod table;
mod vcp;
mod vlp;

pub use links::{Link, Links, Stage, Step, Translation};
pub use table::published;

pub(crate) use again::{Handover, ask_again, break_off, pass_on, speaks, waits_for_word};
pub(crate) use broken::{
    Why, answer_lost, answer_refused, asks_of, call_off, due, halted, has_asked, notify, stays_over, take_back,
    work_failed, work_not_awaited,
};

use super::hold::{Lifter, Reason};
use super::ruling::Heard;
use super::voice::{can_say, origin};
use super::{Case, Change, Finding, Ruling, scan};
use crate::effect::Accepted;
use conversation::Conversation;
use legation_protocol::vcp::Origin;
use legation_protocol::{Code, Format, Message, Rejection};
use said::{Act, Said, Scene};
use serde_json::{Value, json};
use table::About;

/// The dialects the exchange translates into, as they are tried. VCP says little that another dialect says.
const INTO: [Format; 4] = [Format::Acl, Format::Cap, Format::Vlp, Format::Vcp];

/// Says a message in a dialect of its recipient, if it is in none of them.
pub(super) fn look(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    // What a rule has sent elsewhere goes there.
    if ruling.instead.is_some() {
        return Ok(());
    }
    let Some(talk) = Conversation::of(case)? else { return answers_something(case) };
    let Some(said) = read(case.received.message(), &talk) else { return Err(no_words(case)) };
    talk.fits(case, &said)?;
    if !said.act.must_arrive() {
        talk.may_go_on(case)?;
    }
    follow::gate(case, &talk, &said, ruling)?;
    let spoken =
        INTO.into_iter().filter(|dialect| talk.hears(*dialect)).find_map(|to| speak(case, ruling, &talk, &said, to));
    match spoken {
        Some(mut spoken) => {
            hold_to_floor(case, said.act, &mut spoken, ruling)?;
            has_room(case, &talk, said.act)?;
            has_share(case, said.act)?;
            may_ask(case, &talk, &spoken, ruling)?;
            ruling.changes.extend(talk.inquiry.map(|inquiry| inquiry.noted()));
            if let Some(first) = spoken.first() {
                follow::open(case, &talk, said.act, first.translation.said_in, ruling)?;
                follow::follow(case, &talk, &said, ruling);
            }
            go_instead(spoken, talk.hearer.id(), ruling);
            Ok(())
        }
        // Whatever its dialect: an alarm is heard, a rule from above holds, and a block stops.
        None if said.act.must_arrive() => {
            if case.to.is_empty() {
                ruling.instead = Some(vec![talk.hearer.id().to_owned()]);
            }
            ruling.find("translate", "untranslated", "its recipient's dialects have no words for it: it goes as it is");
            Ok(())
        }
        None => Err(no_words(case)),
    }
}

/// Whether a message is from somebody who was asked, for whoever asked.
pub(super) fn answers(case: &Case<'_>) -> bool {
    matches!(Conversation::of(case), Ok(Some(talk)) if talk.is_asked())
}

/// Whether a message goes on with what the exchange translated: the rules of its own dialect know nothing of that.
pub(in crate::rules) fn goes_on(case: &Case<'_>) -> bool {
    matches!(Conversation::of(case), Ok(Some(talk)) if case.to.is_empty() || talk.is_asked())
}

/// What the exchange says goes to the recipient, and the message itself to nobody.
fn go_instead(spoken: Vec<Spoken>, to: &str, ruling: &mut Ruling) {
    ruling.instead = Some(Vec::new());
    // What was found in the words of another is found in what says the same.
    let found = scan::of(&ruling.findings);
    for Spoken { translation: Translation { said, said_in, .. }, .. } in &spoken {
        ruling.find("translate", "translated", format!("the exchange said it to {to:?} in {said_in}, as {said}"));
    }
    ruling.heard.splice(0..0, spoken.into_iter().map(|spoken| spoken.heard(to, found.clone())));
}

/// What is said to the exchange in answer to nothing would reach nobody. A block stops all the same.
fn answers_something(case: &Case<'_>) -> Result<(), Rejection> {
    let Message::Vlp(message) = case.received.message() else { return Ok(()) };
    let to_us = message.receiver.as_deref().is_some_and(|to| case.policy.is_exchange(to));
    if !to_us || !vlp::does(message, Act::Result, &About::default()) {
        return Ok(());
    }
    let text = "it answers nothing that the exchange has asked its sender for anybody";
    Err(Rejection::because(Code::Untranslatable, text).at("/refers_to"))
}

fn no_words(case: &Case<'_>) -> Rejection {
    let message = case.received.message();
    let text =
        format!("a {} {} has no counterpart in a dialect its recipient speaks", message.dialect(), message.kind());
    Rejection::because(Code::Untranslatable, text)
}

/// What a message says, whatever its dialect.
fn read(message: &Message, talk: &Conversation<'_>) -> Option<Said> {
    read_as(message, &talk.about())
}

/// The same, by what is known of it.
fn read_as(message: &Message, about: &About<'_>) -> Option<Said> {
    match message {
        Message::Vcp(envelope) => vcp::read(envelope, about),
        Message::Acl(message) => acl::read(message, about),
        Message::Cap(message) => cap::read(message, about),
        Message::Vlp(message) => vlp::read(message, about),
    }
}

/// The same in a dialect, if that has words for it.
fn write(dialect: Format, said: &Said, scene: &Scene, origin: &Origin) -> Option<Message> {
    match dialect {
        Format::Acl => acl::write(said, scene, origin),
        Format::Cap => cap::write(said, scene, origin),
        Format::Vlp => vlp::write(said, scene, origin),
        Format::Vcp => vcp::write(said, scene, origin),
        Format::Hello | Format::Manifest => None,
    }
}

/// Whether a message asks about work, if it comes from its overseer.
pub(in crate::rules) fn inquires(message: &legation_protocol::vlp::Message) -> bool {
    vlp::does(message, Act::Inquire, &About { oversees: true, ..About::default() })
}

/// A message the exchange is about to say.
struct Spoken {
    translation: Translation,
    words: Box<dyn FnOnce(Origin) -> Option<Message>>,
}

impl Spoken {
    fn heard(self, to: &str, findings: Vec<Finding>) -> Heard {
        Heard { changes: opens(self.translation), findings, ..Heard::new(to, self.words) }
    }
}

/// What changes with a translated message, in its own entry. Whatever the rules of the dialect it is said in keep
/// of it belongs here too.
fn opens(translation: Translation) -> Vec<Change> {
    vec![Change::Translated(Box::new(translation))]
}

/// Says it in this dialect; nothing if that has no words for it. An answer to a request that nobody has taken on
/// takes it on first, where the dialect asks for that.
fn speak(case: &Case<'_>, ruling: &Ruling, talk: &Conversation<'_>, said: &Said, to: Format) -> Option<Vec<Spoken>> {
    let implied = (to == Format::Acl && talk.takes_on(said.act)).then(Said::taken_on);
    // Released messages and what is said come right after the message, in this order.
    let is_held = !ruling.reasons.is_empty();
    let first = case.state.next + 1 + if is_held { 0 } else { ruling.released.len() as u64 };
    let again = super::cap::repeats(ruling);
    let each = (first..).zip(implied.iter().chain([said]));
    each.map(|(position, said)| say(case, talk, said, &How { dialect: to, position, waits: is_held, again })).collect()
}

/// How something is said.
struct How {
    dialect: Format,
    /// The entry it will lie in.
    position: u64,
    /// Whether it waits with its original.
    waits: bool,
    /// The task that its original hands over again.
    again: Option<u64>,
}

fn say(case: &Case<'_>, talk: &Conversation<'_>, said: &Said, how: &How) -> Option<Spoken> {
    let How { dialect, position, waits, again } = *how;
    let (words, scene) = (said.clone(), scene(case, talk, said.act, dialect));
    let write = move |origin: &Origin| write(dialect, &words, &scene, origin);
    let message = write(&origin(case.policy, case.now, position)?).filter(can_say)?;
    let translation = Translation { waits, task: again, ..pair(case, talk, said.act, &message) };
    Some(Spoken { translation, words: Box::new(move |origin| write(&origin)) })
}

fn scene(case: &Case<'_>, talk: &Conversation<'_>, act: Act, dialect: Format) -> Scene {
    let (refers_to, thread) = talk.names_for(act);
    Scene {
        to: talk.hearer.name_in(dialect).to_owned(),
        refers_to: refers_to.map(str::to_owned),
        thread: talk.inquiry.map(|inquiry| inquiry.task).or(thread).map(str::to_owned),
        entry: case.state.next,
        ontology: talk.ask.and_then(|ask| ask.translation.ontology.clone()),
        is_question: talk.ask.is_some_and(Link::is_question),
        id: case.id.to_owned(),
        digest: Some(case.received.digest().to_string()),
        from: translated_from(case),
    }
}

/// The original and what is said for it.
fn pair(case: &Case<'_>, talk: &Conversation<'_>, act: Act, message: &Message) -> Translation {
    let original = case.received.message();
    let (reply_with, ontology) = acl::marks(original);
    Translation {
        original: case.state.next,
        from: case.speaker.id().to_owned(),
        to: talk.hearer.id().to_owned(),
        id: case.id.to_owned(),
        dialect: original.dialect(),
        thread: original.thread().map(str::to_owned),
        said: message.id().unwrap_or_default(),
        said_in: message.dialect(),
        said_thread: message.thread().map(str::to_owned),
        ask: talk.asked_at(act),
        step: act.step(),
        reply_with,
        ontology,
        below: becomes_no_task(original, act, message).then(|| super::cap::passes_on(case)).flatten(),
        task: None,
        waits: false,
        is_alarm: matches!(act, Act::Alarm(severity) if severity.is_grave()),
    }
}

/// Whether work is asked for that neither side keeps as a task or a conversation.
fn becomes_no_task(original: &Message, act: Act, said: &Message) -> bool {
    original.dialect() == Format::Vlp && act == Act::Ask && said.dialect() != Format::Cap
}

/// What a translated message says of its original.
fn translated_from(case: &Case<'_>) -> Value {
    let message = case.received.message();
    json!({
        "message_id": case.id,
        "digest": case.received.digest().to_string(),
        "dialect": message.dialect().to_string(),
        "kind": message.kind(),
        "sender": case.speaker.id(),
        "position": case.state.next,
    })
}

/// What is said in VLP is held to the floor its sender is under, as if it had been said so; alarms and rules are not.
fn hold_to_floor(case: &Case<'_>, act: Act, spoken: &mut [Spoken], ruling: &mut Ruling) -> Result<(), Rejection> {
    if act.must_arrive() || spoken.iter().all(|spoken| spoken.translation.said_in != Format::Vlp) {
        return Ok(());
    }
    super::vcp::hold_to_floor(case, ruling)?;
    for Spoken { translation, .. } in spoken {
        translation.waits = !ruling.reasons.is_empty();
    }
    Ok(())
}

/// Nobody asks for so much in other dialects that what binds somebody would have to be forgotten.
fn has_share(case: &Case<'_>, act: Act) -> Result<(), Rejection> {
    let asks = matches!(act.step(), Step::Asks | Step::Questions);
    if !asks || case.state.rules.translations.has_room(case.speaker.id()) {
        return Ok(());
    }
    let text = "so much that you have asked for in other dialects was taken on and is not done that no more is taken";
    Err(Rejection::because(Code::RateLimited, text))
}

/// The exchange fills no mailbox that has no room for whoever it speaks for.
fn has_room(case: &Case<'_>, talk: &Conversation<'_>, act: Act) -> Result<(), Rejection> {
    let limit = case.policy.mailbox_limit;
    let waiting = case.state.mailbox(talk.hearer.id()).map_or(0, crate::mailbox::Mailbox::len);
    if act.must_arrive() || waiting < limit {
        return Ok(());
    }
    let text = format!("{limit} messages wait for {:?} already", talk.hearer.id());
    Err(Rejection::because(Code::MailboxFull, text))
}

/// A manifest binds its agent in every dialect: it says of whom work is asked (CAP Delegation). What CAP itself hands
/// over has been judged by its own rules.
fn may_ask(case: &Case<'_>, talk: &Conversation<'_>, spoken: &[Spoken], ruling: &mut Ruling) -> Result<(), Rejection> {
    let mut asked = spoken.iter().map(|spoken| &spoken.translation).filter(|said| said.step == Step::Asks);
    let Some(asked) = asked.next().filter(|asked| asked.dialect != Format::Cap) else { return Ok(()) };
    let rule = super::cap::may_ask(case, talk.hearer.id())?;
    // A judge is asked about what becomes a task.
    let rule = rule.filter(|_| asked.said_in == Format::Cap);
    rule.map_or(Ok(()), |rule| super::cap::heed(case, talk.hearer.id(), &rule, ruling))
}

/// Who hears what somebody tells the exchange in a conversation it translates.
pub(super) fn hearer<'c>(case: &Case<'c>) -> Option<&'c str> {
    Some(Conversation::of(case).ok()??.hearer.id())
}

/// Makes the entry of a translated message: it is frozen with whom it speaks for, and waits as its original does.
pub(super) fn dress(accepted: &mut Accepted, changes: &[Change]) {
    let Some(translation) = changes.iter().find_map(Change::translation) else { return };
    accepted.is_alarm = translation.is_alarm;
    if translation.waits {
        let says = format!("waits with the message in entry {}, which it translates", translation.original);
        let lifts = Lifter::Original(translation.original);
        accepted.ruled.held = vec![Reason { code: "translated".to_owned(), says, lifts }];
    }
}
