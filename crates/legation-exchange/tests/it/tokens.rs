//! New tokens for old: nobody is locked out by an answer that was lost.

use crate::desk::{Desk, accepted, agent, token};
use legation_exchange::{Input, Registration, Role, TokenHash, Verdict, Who};
use legation_protocol::Code;

fn rotate(desk: &mut Desk, id: &str, who: Who, token: TokenHash) -> Verdict {
    let registration = Box::new(Registration { rotate_token: true, ..Registration::default() });
    desk.ask(Input::Register { id: id.to_owned(), registration, who, token })
}

/// Which of these tokens count.
fn counting(desk: &Desk, tokens: &[&str]) -> Vec<bool> {
    let holds = |text: &&str| {
        desk.state.registry().holder(&token(text)).is_some() || desk.state.people().holder(&token(text)).is_some()
    };
    tokens.iter().map(holds).collect()
}

#[test]
fn the_old_token_of_an_agent_counts_until_the_new_one_is_used() {
    let mut desk = Desk::new();
    desk.agent("ann");
    let all = ["ann", "second", "third"];
    accepted(&rotate(&mut desk, "ann", agent("ann"), token("second")));
    assert_eq!(counting(&desk, &all), [true, true, false]);
    // The answer was lost: asked again, the token nobody has seen is replaced.
    accepted(&rotate(&mut desk, "ann", agent("ann"), token("third")));
    assert_eq!(counting(&desk, &all), [true, false, true]);
    desk.ask(Input::Confirm(token("third")));
    assert_eq!(counting(&desk, &all), [false, false, true]);
    let before = desk.state.next();
    desk.ask(Input::Confirm(token("third")));
    desk.ask(Input::Confirm(token("ann")));
    desk.ask(Input::Confirm(token("nobody's")));
    assert_eq!(desk.state.next(), before, "what is confirmed already is not written again");
}

#[test]
fn a_token_is_changed_by_its_agent_or_an_operator() {
    let mut desk = Desk::new();
    desk.agent("ann");
    desk.agent("eve");
    for (who, want) in [(agent("eve"), Code::NotAllowed), (Who::Nobody, Code::Unauthenticated)] {
        let verdict = rotate(&mut desk, "ann", who, token("stolen"));
        assert!(matches!(&verdict, Verdict::Refused(why) if why.code() == want), "{verdict:?}");
    }
    assert_eq!(counting(&desk, &["ann", "stolen"]), [true, false]);
    accepted(&rotate(&mut desk, "ann", Who::operator(), token("given")));
    assert_eq!(counting(&desk, &["ann", "given"]), [true, true]);
}

#[test]
fn the_old_token_of_a_person_counts_until_the_new_one_is_used() {
    let mut desk = Desk::new();
    let grant = |desk: &mut Desk, text: &str| {
        let input =
            Input::Grant { name: "rita".to_owned(), role: Role::Reviewer, who: Who::operator(), token: token(text) };
        accepted(&desk.ask(input));
    };
    grant(&mut desk, "first");
    grant(&mut desk, "lost");
    grant(&mut desk, "third");
    assert_eq!(counting(&desk, &["first", "lost", "third"]), [true, false, true]);
    desk.ask(Input::Confirm(token("third")));
    assert_eq!(counting(&desk, &["first", "lost", "third"]), [false, false, true]);
}
