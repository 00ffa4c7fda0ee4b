//! What could not be brought to an endpoint, and when it goes once more.

use crate::desk::{Desk, accepted, agent, by, claim};
use legation_exchange::{
    Effect, Input, Lost, Outcome, Push, Pushed, Pushing, Registration, Standing, State, Try, Verdict, Who,
};

/// With so many messages for an agent that has an endpoint.
fn desk(messages: usize) -> (Desk, Vec<u64>) {
    let mut desk = Desk::new();
    desk.agent("observer");
    desk.agent("archivist");
    assert_eq!(desk.register("archivist", to("https://a.example/"), Who::operator()), Ok(false));
    let sent = (0..messages).map(|number| {
        let text = claim("observer", "archivist", &format!("MSG-abc123-{number:04}"), "x");
        accepted(&desk.send(&text, by("observer")))
    });
    let sent = sent.collect();
    (desk, sent)
}

fn to(url: &str) -> Registration {
    Registration { push: Pushing::To(Push { url: url.to_owned() }), ..Registration::default() }
}

fn given_up(positions: &[u64], outcome: Outcome) -> Pushed {
    let given_up = positions.iter().map(|position| Try { position: *position, number: 4, outcome }).collect();
    Pushed { agent: "archivist".to_owned(), given_up, ..Pushed::default() }
}

fn again(positions: &[u64]) -> Pushed {
    Pushed { agent: "archivist".to_owned(), again: positions.to_vec(), ..Pushed::default() }
}

fn note(desk: &mut Desk, pushed: Pushed) {
    assert!(matches!(desk.ask(Input::Pushed(pushed)), Verdict::Accepted { .. }));
}

fn pushable(desk: &Desk) -> Vec<u64> {
    desk.state.mailbox("archivist").unwrap().pushable(None).map(|item| item.position).collect()
}

fn standings(desk: &Desk) -> Vec<(u64, Standing)> {
    desk.state.mailbox("archivist").unwrap().unpushed().collect()
}

#[test]
fn what_was_given_up_goes_once_more_and_then_waits_for_somebody_to_ask() {
    let (mut desk, sent) = desk(3);
    note(&mut desk, given_up(&sent[..2], Outcome::Status(503)));
    assert_eq!(pushable(&desk), sent[2..]);
    // What was not given up does not go once more.
    note(&mut desk, again(&sent));
    assert_eq!(pushable(&desk), sent);
    assert_eq!(standings(&desk), [(sent[0], Standing::Again), (sent[1], Standing::Again)]);
    note(&mut desk, given_up(&sent[1..2], Outcome::Status(404)));
    assert_eq!(standings(&desk), [(sent[0], Standing::Again), (sent[1], Standing::Spent)]);
    // One note may tell of both: that it goes once more comes first.
    let both = Pushed { again: vec![sent[2]], ..given_up(&sent[2..], Outcome::Status(503)) };
    note(&mut desk, given_up(&sent[2..], Outcome::Status(503)));
    note(&mut desk, both);
    assert_eq!(standings(&desk)[2], (sent[2], Standing::Spent));
    assert_eq!(pushable(&desk), sent[..1]);
    // What an agent takes itself is not brought any more.
    let ack = Input::Acknowledge {
        agent: "archivist".to_owned(),
        up_to: None,
        positions: sent[..2].to_vec(),
        who: agent("archivist"),
    };
    accepted(&desk.ask(ack));
    assert_eq!(standings(&desk), [(sent[2], Standing::Spent)]);
}

#[test]
fn who_says_anew_where_it_takes_messages_gets_what_was_given_up() {
    let (mut desk, sent) = desk(4);
    note(&mut desk, given_up(&sent[..2], Outcome::Status(503)));
    note(&mut desk, again(&sent[..1]));
    note(&mut desk, given_up(&sent[..1], Outcome::Status(503)));
    note(&mut desk, given_up(&sent[2..3], Outcome::Lost(Lost::TooOld)));
    // A change of something else is none of that, and neither is an end.
    let model = Registration { model: Some("m".to_owned()).into(), ..Registration::default() };
    assert_eq!(desk.register("archivist", model, agent("archivist")), Ok(false));
    let ended = Registration { push: Pushing::Ended, ..Registration::default() };
    assert_eq!(desk.register("archivist", ended, agent("archivist")), Ok(false));
    assert_eq!(pushable(&desk), sent[3..]);
    assert_eq!(desk.register("archivist", to("https://a.example/"), agent("archivist")), Ok(false));
    // What is too old for other machines stays where it is.
    assert_eq!(pushable(&desk), [sent[0], sent[1], sent[3]]);
    let Effect::Pushed(pushed) = &desk.record.last().unwrap().effect else { panic!("nothing goes once more") };
    assert_eq!(*pushed, again(&sent[..2]));
    // With nothing given up there is nothing to say.
    let size = desk.record.len();
    assert_eq!(desk.register("archivist", to("https://a.example/"), agent("archivist")), Ok(false));
    assert_eq!(desk.record.len(), size + 1);
}

#[test]
fn how_messages_stand_survives_a_snapshot_and_is_a_fold_over_the_record() {
    let (mut desk, sent) = desk(4);
    note(&mut desk, given_up(&sent, Outcome::Status(503)));
    note(&mut desk, again(&sent[1..3]));
    note(&mut desk, given_up(&sent[2..3], Outcome::Status(503)));
    note(&mut desk, again(&sent[3..]));
    note(&mut desk, given_up(&sent[3..], Outcome::Lost(Lost::TooOld)));
    let want = [Standing::GivenUp, Standing::Again, Standing::Spent, Standing::TooOld];
    assert_eq!(standings(&desk), sent.iter().copied().zip(want).collect::<Vec<_>>());
    let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
    let mut folded = State::deciding();
    desk.record.iter().for_each(|entry| folded.apply(entry));
    for state in [&read, &folded] {
        assert_eq!(state.mailbox("archivist"), desk.state.mailbox("archivist"));
    }
}
