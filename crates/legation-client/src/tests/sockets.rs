//! The mailbox over a WebSocket.

use crate::error::{Error, ReceiptFault};
use crate::fake::{self, agent_key, ann, exchange_key, item, receipt, vcp};
use crate::inbox::Inbox;
use crate::reader::Transport;
use crate::verified::{Doubt, Verified};
use crate::{Client, Incoming};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

fn close(code: CloseCode, reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

fn framed(number: u8) -> Message {
    let mut frame = item(&vcp(number, "x", &agent_key(1)), u64::from(number));
    frame["type"] = "item".into();
    Message::text(frame.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_breaks_is_opened_again_where_it_was_left() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let mut deliveries = client.inbox().deliveries().await.unwrap();
    let (path, mut socket) = opened.recv().await.unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob");
    socket.send(Message::text(json!({"type": "bound", "agent": "bob", "cursor": 0}).to_string())).await.unwrap();
    socket.send(framed(1)).await.unwrap();
    socket.send(framed(2)).await.unwrap();
    let first = deliveries.next().await.unwrap().unwrap();
    assert_eq!(deliveries.next().await.unwrap().unwrap().position, 2);
    deliveries.ack(&first).await.unwrap();
    socket.send(close(CloseCode::Away, "")).await.unwrap();
    drop(socket);
    // What is not done is asked for again, and not handed out twice.
    let (path, mut socket) = opened.recv().await.unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob&after=1");
    socket.send(framed(2)).await.unwrap();
    socket.send(framed(3)).await.unwrap();
    assert_eq!(deliveries.next().await.unwrap().unwrap().position, 3);
    let told = tokio::spawn(async move {
        while let Some(Ok(frame)) = socket.next().await {
            if frame.is_close() {
                return true;
            }
        }
        false
    });
    deliveries.close().await.unwrap();
    assert!(told.await.unwrap(), "the exchange is told");
}

/// The same without its receipt, which is there.
fn framed_without(number: u8, receipt_at: &str) -> Message {
    let mut frame = item(&vcp(number, "x", &agent_key(1)), u64::from(number));
    frame.as_object_mut().unwrap().remove("receipt");
    (frame["type"], frame["receipt_at"]) = ("item".into(), receipt_at.into());
    Message::text(frame.to_string())
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_did_not_come_along_is_fetched_before_its_message_is_handed_out() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let of_first = receipt(&vcp(1, "x", &agent_key(1)), 1, &exchange_key());
    // It cannot be had at first: nobody answers, and then somebody in between does.
    let told = json!({"position": 1, "verdict": "accepted", "receipt": of_first});
    let mut answers = vec![None, Some((404, json!({"error": "not_found"}))), Some((200, told))].into_iter();
    let (client, log) = fake::client(
        move |asked| match asked.path.as_str() {
            "/v1/messages/1" => answers.next().expect("asked for as often as it failed, and once more"),
            path if path.ends_with("/ack") => Some((200, json!({"status": "accepted", "position": 3}))),
            _ => Some((200, ann(&agent_key(1)))),
        },
        Some(sockets),
    );
    let (_handled, mut seen) = handling(&client);
    for attempt in 1..=3 {
        let (path, mut socket) = opened.recv().await.unwrap();
        assert_eq!(path, "/vcp/ws?agent=bob", "nothing is passed over");
        socket.send(framed_without(1, "/v1/messages/1")).await.unwrap();
        socket.send(framed(2)).await.unwrap();
        if attempt < 3 {
            let lost = async { while let Some(Ok(_)) = socket.next().await {} };
            timeout(Duration::from_mins(1), lost).await.expect("the connection counts as lost");
            assert!(seen.is_empty() && log.of(&http::Method::POST, "/v1/agents/bob/ack").is_empty());
            continue;
        }
        for want in [1, 2] {
            let (position, take) = seen.recv().await.unwrap();
            assert_eq!(position, want, "each once, in their order");
            take.send(()).unwrap();
        }
    }
    assert_eq!(log.of(&http::Method::GET, "/v1/messages/1").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_is_refused_three_times_holds_up_nobody_and_its_message_is_withheld() {
    let refusals = [
        (403, json!({"error": "forbidden", "retryable": false})),
        (404, json!({"error": "not_found", "retryable": false})),
        (200, json!("no answer of an exchange")),
    ];
    for refusal in refusals {
        let (sockets, mut opened) = mpsc::unbounded_channel();
        let answer = move |asked: &fake::Asked| match asked.path.as_str() {
            "/v1/messages/1" | "/v1/messages/2" => Some(refusal.clone()),
            _ => Some((200, ann(&agent_key(1)))),
        };
        let (client, log) = fake::client(answer, Some(sockets));
        let (told, mut withheld) = mpsc::unbounded_channel();
        let inbox = client.inbox().on_withheld(move |one| told.send((one.position, one.doubt)).unwrap());
        let (_handled, mut seen) = handling_by(inbox);
        // Twice for each it counts as lost. What is withheld comes again each time, and costs one question.
        for lost in [true, true, true, true, false] {
            let (_, mut socket) = timeout(Duration::from_mins(1), opened.recv()).await.unwrap().unwrap();
            socket.send(framed_without(1, "/v1/messages/1")).await.unwrap();
            socket.send(framed_without(2, "/v1/messages/2")).await.unwrap();
            socket.send(framed(3)).await.unwrap();
            if lost {
                let lost = async { while let Some(Ok(_)) = socket.next().await {} };
                timeout(Duration::from_secs(10), lost).await.expect("the connection counts as lost");
                continue;
            }
            let (position, _take) = timeout(Duration::from_secs(10), seen.recv()).await.expect("nobody waits").unwrap();
            assert_eq!(position, 3);
        }
        let mut positions = Vec::new();
        while let Ok((position, doubt)) = withheld.try_recv() {
            assert_eq!(doubt, Doubt::Receipt(ReceiptFault::Absent));
            positions.push(position);
        }
        assert_eq!(positions, [1, 1, 1, 2]);
        let asked = ["/v1/messages/1", "/v1/messages/2"].map(|path| log.of(&http::Method::GET, path).len());
        assert_eq!(asked, [5, 3]);
        assert!(log.of(&http::Method::POST, "").is_empty(), "nothing is acknowledged");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_cannot_be_had_for_now_is_asked_for_more_and_more_seldom() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let of_second = receipt(&vcp(2, "x", &agent_key(1)), 2, &exchange_key());
    let mut answers = vec![None, Some((503, json!({"error": "busy", "retryable": true})))].into_iter().cycle();
    let mut asked_for = 0;
    let (client, log) = fake::client(
        move |asked| match asked.path.as_str() {
            "/v1/messages/2" => {
                asked_for += 1;
                if asked_for > 7 { Some((200, json!({"receipt": of_second}))) } else { answers.next().unwrap() }
            }
            _ => Some((200, ann(&agent_key(1)))),
        },
        Some(sockets),
    );
    let mut deliveries = client.inbox().deliveries().await.unwrap();
    for attempt in 1..=8 {
        let (_, mut socket) = opened.recv().await.unwrap();
        // One before it is listed again each time, since it is not done.
        socket.send(framed(1)).await.unwrap();
        socket.send(framed_without(2, "/v1/messages/2")).await.unwrap();
        if attempt < 8 {
            let lost = async { while let Some(Ok(_)) = socket.next().await {} };
            timeout(Duration::from_mins(1), lost).await.expect("the connection counts as lost");
            continue;
        }
        for want in [1, 2] {
            assert_eq!(deliveries.next().await.unwrap().unwrap().position, want);
        }
        // It came further: the next time it is back as soon as the first.
        drop(socket);
        let start = Instant::now();
        opened.recv().await.unwrap();
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
    let times = log.times(&http::Method::GET, "/v1/messages/2");
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(pauses.len(), 7);
    for (pause, want) in pauses.iter().zip([1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]) {
        assert!((pause - want).abs() <= want * 0.1 + 0.01, "{pauses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_receipt_that_was_fetched_is_verified_like_one_that_came_along() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, log) = fake::client(
        |asked| {
            let (message, forger) = (vcp(9, "x", &agent_key(1)), agent_key(9));
            let (own, of_another) = (vcp(2, "x", &agent_key(1)), receipt(&message, 9, &exchange_key()));
            Some(match asked.path.as_str() {
                "/v1/messages/1" => (200, json!({"receipt": of_another})),
                "/v1/messages/2" => (200, json!({"receipt": receipt(&own, 2, &forger)})),
                "/v1/messages/3" => (200, json!({"gone": {"why": "erased"}})),
                _ => (200, ann(&agent_key(1))),
            })
        },
        Some(sockets),
    );
    let (told, mut withheld) = mpsc::unbounded_channel();
    let inbox = client.inbox().on_withheld(move |one| told.send((one.position, one.doubt)).unwrap());
    let mut deliveries = inbox.deliveries().await.unwrap();
    let (_, mut socket) = opened.recv().await.unwrap();
    let elsewhere = ["@evil.example/v1/messages/4", "//evil.example/v1/messages/5", "/v1/messages/6 x"];
    let paths = ["/v1/messages/1", "/v1/messages/2", "/v1/messages/3"].into_iter().chain(elsewhere);
    for (number, path) in (1..).zip(paths) {
        socket.send(framed_without(number, path)).await.unwrap();
    }
    socket.send(framed(7)).await.unwrap();
    let incoming = deliveries.next().await.unwrap().unwrap();
    assert_eq!((incoming.position, incoming.verified), (7, Verified::Signed(agent_key(1).public())));
    let mut doubts = Vec::new();
    while let Ok((position, doubt)) = withheld.try_recv() {
        let Doubt::Receipt(fault) = doubt else { panic!("{doubt:?}") };
        doubts.push((position, fault));
    }
    assert!(matches!(doubts[1], (2, ReceiptFault::Bad(_))), "{doubts:?}");
    doubts.remove(1);
    assert_eq!(doubts[0], (1, ReceiptFault::OtherMessage));
    assert_eq!(doubts[1..], [3, 4, 5, 6].map(|position| (position, ReceiptFault::Absent)));
    let asked: Vec<_> = log.of(&http::Method::GET, "").into_iter().map(|asked| asked.path).collect();
    let elsewhere =
        asked.iter().filter(|path| path.contains("evil") || path.contains("/messages/")).collect::<Vec<_>>();
    assert_eq!(elsewhere, ["/v1/messages/1", "/v1/messages/2", "/v1/messages/3"], "no other path is asked for");
    assert!(log.of(&http::Method::POST, "").is_empty(), "nothing is acknowledged");
}

#[tokio::test]
async fn a_socket_that_is_fenced_ends_it_and_so_does_a_refusal() {
    for reason in ["fenced", "unauthenticated"] {
        let (sockets, mut opened) = mpsc::unbounded_channel();
        let (client, _) = fake::client(|_| None, Some(sockets));
        let mut deliveries = client.inbox().transport(Transport::WebSocket).deliveries().await.unwrap();
        let (_, mut socket) = opened.recv().await.unwrap();
        socket.send(close(CloseCode::Policy, reason)).await.unwrap();
        let ended = deliveries.next().await.unwrap().unwrap_err();
        match reason {
            "fenced" => assert!(matches!(ended, Error::Fenced), "{ended:?}"),
            _ => assert!(matches!(&ended, Error::Refused(refused) if refused.code == reason), "{ended:?}"),
        }
        assert!(deliveries.next().await.is_none());
    }
}

#[tokio::test]
async fn an_exchange_without_sockets_is_asked_by_polls() {
    let (client, log) = fake::client(|_| Some((401, json!({"error": "unauthenticated"}))), None);
    let ended = client.inbox().handle(|_| async { Ok::<_, Error>(()) }).await;
    assert!(matches!(ended, Err(Error::Refused(_))), "{ended:?}");
    assert_eq!(log.of(&http::Method::GET, "/v1/agents/bob/inbox").len(), 1);
    let (client, _) = fake::client(|_| None, None);
    let ended = client.inbox().transport(Transport::WebSocket).handle(|_| async { Ok::<_, Error>(()) }).await;
    assert!(matches!(ended, Err(Error::Refused(_))), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_socket_on_which_nobody_answers_is_opened_again() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let _reading = client.inbox().deliveries().await.unwrap();
    // It stays open, and nothing comes from it, no pong either.
    let (_, _silent) = opened.recv().await.unwrap();
    let start = Instant::now();
    let again = timeout(Duration::from_mins(10), opened.recv()).await.expect("a silent socket is given up");
    assert!(again.is_some());
    let after = start.elapsed().as_secs();
    assert!((75..=80).contains(&after), "{after}");
}

#[tokio::test(start_paused = true)]
async fn a_socket_whose_pings_are_answered_is_kept() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| None, Some(sockets));
    let _reading = client.inbox().deliveries().await.unwrap();
    let (_, mut socket) = opened.recv().await.unwrap();
    let (start, mut pings) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_mins(10) {
        let heard = timeout(Duration::from_mins(1), socket.next()).await.expect("it shows that it is there");
        pings += usize::from(heard.unwrap().unwrap().is_ping());
    }
    assert!(pings >= 19 && opened.is_empty(), "{pings}");
}

/// Reads until the other side says goodbye.
async fn says_goodbye(socket: &mut fake::Socket) -> bool {
    while let Some(Ok(frame)) = socket.next().await {
        if frame.is_close() {
            return true;
        }
    }
    false
}

#[tokio::test(start_paused = true)]
async fn a_reader_whose_handler_is_slow_gives_its_socket_back_until_there_is_room() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let mut slow = client.inbox().deliveries().await.unwrap();
    let (_, mut socket) = opened.recv().await.unwrap();
    // More than is read ahead, so the reader waits for whoever handles them.
    for number in 1..=40 {
        socket.send(framed(number)).await.unwrap();
    }
    let start = Instant::now();
    let over = timeout(Duration::from_mins(10), says_goodbye(&mut socket)).await;
    assert_eq!(over, Ok(true), "an exchange breaks a socket that nobody reads");
    assert!((20..30).contains(&start.elapsed().as_secs()), "{:?}", start.elapsed());
    // It does not come back for a single message, however long it takes.
    for position in 1..=15 {
        let incoming = slow.next().await.unwrap().unwrap();
        assert_eq!(incoming.position, position);
        slow.ack(&incoming).await.unwrap();
    }
    assert!(timeout(Duration::from_mins(10), opened.recv()).await.is_err());
    assert_eq!(slow.next().await.unwrap().unwrap().position, 16);
    let (path, mut socket) = opened.recv().await.unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob&after=15", "what is not done is asked for again");
    for number in 16..=40 {
        socket.send(framed(number)).await.unwrap();
    }
    for position in 17..=40 {
        assert_eq!(slow.next().await.unwrap().unwrap().position, position, "each once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_lost_its_socket_comes_back_when_there_is_room() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let mut slow = client.inbox().deliveries().await.unwrap();
    let (_, mut socket) = opened.recv().await.unwrap();
    for number in 1..=32 {
        socket.send(framed(number)).await.unwrap();
    }
    drop(socket);
    assert!(timeout(Duration::from_mins(10), opened.recv()).await.is_err());
    for position in 1..=16 {
        assert_eq!(slow.next().await.unwrap().unwrap().position, position);
    }
    assert!(timeout(Duration::from_mins(1), opened.recv()).await.is_ok());
}

/// What was handed over, and what takes it.
type Handed = (u64, oneshot::Sender<()>);

/// Hands what comes to the test, and takes it when the test says so.
fn handling(client: &Client) -> (JoinHandle<Result<(), Error>>, mpsc::UnboundedReceiver<Handed>) {
    handling_by(client.inbox())
}

/// The same, of a mailbox that is read in this way.
fn handling_by(inbox: Inbox) -> (JoinHandle<Result<(), Error>>, mpsc::UnboundedReceiver<Handed>) {
    let (told, seen) = mpsc::unbounded_channel();
    let handler = move |incoming: Incoming| {
        let (take, taken) = oneshot::channel();
        told.send((incoming.position, take)).unwrap();
        taken
    };
    (tokio::spawn(inbox.handle(handler)), seen)
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_is_acknowledged_though_an_error_ended_receiving() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, log) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let (handled, mut seen) = handling(&client);
    let (_, mut socket) = opened.recv().await.unwrap();
    socket.send(framed(1)).await.unwrap();
    let (_, take) = seen.recv().await.unwrap();
    // Another takes over while it is handled, and this is heard before it is done.
    socket.send(close(CloseCode::Policy, "fenced")).await.unwrap();
    while let Some(Ok(_)) = socket.next().await {}
    take.send(()).unwrap();
    assert!(matches!(handled.await.unwrap(), Err(Error::Fenced)));
    let acked: Vec<_> = log.of(&http::Method::POST, "/v1/agents/bob/ack").into_iter().map(|asked| asked.body).collect();
    assert_eq!(acked, [&br#"{"epoch":1,"positions":[1],"restore":null}"#[..]]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_ends_gives_away_only_what_it_had_itself() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let (first, mut of_first) = handling(&client);
    let (_, mut old) = opened.recv().await.unwrap();
    old.send(framed(1)).await.unwrap();
    let (_, take_1) = of_first.recv().await.unwrap();
    // A clone takes over while the first is still at it.
    let (_second, mut of_second) = handling(&client.clone());
    let (_, mut socket) = opened.recv().await.unwrap();
    old.send(close(CloseCode::Policy, "fenced")).await.unwrap();
    for number in 2..=10 {
        socket.send(framed(number)).await.unwrap();
    }
    let (position, take_2) = of_second.recv().await.unwrap();
    assert_eq!(position, 2);
    take_1.send(()).unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    // It comes back, and is given the same again.
    drop(socket);
    let (path, mut socket) = opened.recv().await.unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob&after=1");
    for number in 2..=11 {
        socket.send(framed(number)).await.unwrap();
    }
    take_2.send(()).unwrap();
    for want in 3..=11 {
        let (position, take) = of_second.recv().await.unwrap();
        assert_eq!(position, want, "each once");
        take.send(()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_stood_for_some_time_is_come_back_to_as_soon_as_the_first() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let _reading = client.inbox().deliveries().await.unwrap();
    let (mut pauses, mut broken_at) = (Vec::new(), None);
    // Most break at once; one stands until its ping is answered.
    for stands in [false, false, false, true, false, false] {
        let (_, mut socket) = opened.recv().await.unwrap();
        pauses.extend(broken_at.map(|at: Instant| at.elapsed().as_secs_f64()));
        if stands {
            assert!(socket.next().await.unwrap().unwrap().is_ping());
            socket.flush().await.unwrap();
        }
        drop(socket);
        broken_at = Some(Instant::now());
    }
    for (pause, want) in pauses.iter().zip([1.0, 2.0, 4.0, 1.0, 2.0]) {
        assert!((pause - want).abs() <= want * 0.1 + 0.01, "{pauses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_clone_took_while_there_was_no_room_is_not_handed_out_again() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let (_first, mut of_first) = handling(&client);
    let (_, mut old) = opened.recv().await.unwrap();
    // One is handled and as many are read ahead as may be, so the last but one waits for room.
    for number in 1..=35 {
        old.send(framed(number)).await.unwrap();
    }
    let (_, take_1) = of_first.recv().await.unwrap();
    let (_second, mut of_second) = handling(&client.clone());
    let (_, mut socket) = opened.recv().await.unwrap();
    for number in 1..=34 {
        socket.send(framed(number)).await.unwrap();
    }
    let (position, take_34) = of_second.recv().await.unwrap();
    assert_eq!(position, 34, "the first has those before it");
    take_34.send(()).unwrap();
    take_1.send(()).unwrap();
    for want in (2..=33).chain([35]) {
        let (position, take) = of_first.recv().await.unwrap();
        assert_eq!(position, want, "what another took is left to it");
        take.send(()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_reader_left_is_given_to_a_clone_that_reads_on() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let (first, mut of_first) = handling(&client);
    let (_, mut old) = opened.recv().await.unwrap();
    old.send(framed(1)).await.unwrap();
    // Its handler fails, so it waits for another attempt.
    drop(of_first.recv().await.unwrap());
    let (_second, mut of_second) = handling(&client.clone());
    let (_, mut socket) = opened.recv().await.unwrap();
    socket.send(framed(1)).await.unwrap();
    socket.send(framed(2)).await.unwrap();
    let (position, take) = of_second.recv().await.unwrap();
    assert_eq!(position, 2, "another has the first");
    take.send(()).unwrap();
    old.send(close(CloseCode::Policy, "fenced")).await.unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    assert!(timeout(Duration::from_secs(10), says_goodbye(&mut socket)).await.unwrap());
    let (path, mut socket) = timeout(Duration::from_secs(10), opened.recv()).await.expect("it reads again").unwrap();
    assert_eq!(path, "/vcp/ws?agent=bob&after=0");
    for number in 1..=3 {
        socket.send(framed(number)).await.unwrap();
    }
    for want in [1, 3] {
        let (position, take) = of_second.recv().await.unwrap();
        assert_eq!(position, want, "each once");
        take.send(()).unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_clone_reads_on_undisturbed_when_another_ends_and_leaves_nothing() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let (client, _) = fake::client(|_| Some((200, ann(&agent_key(1)))), Some(sockets));
    let (first, mut of_first) = handling(&client);
    let (_, mut old) = opened.recv().await.unwrap();
    old.send(framed(1)).await.unwrap();
    of_first.recv().await.unwrap().1.send(()).unwrap();
    let (_second, mut of_second) = handling(&client.clone());
    let (_, mut socket) = opened.recv().await.unwrap();
    socket.send(framed(2)).await.unwrap();
    let (_, _take) = of_second.recv().await.unwrap();
    old.send(close(CloseCode::Policy, "fenced")).await.unwrap();
    assert!(matches!(first.await.unwrap(), Err(Error::Fenced)));
    assert!(timeout(Duration::from_mins(1), opened.recv()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn what_a_reader_left_is_given_to_a_clone_that_polls() {
    let (sockets, mut opened) = mpsc::unbounded_channel();
    let mut empty = 0;
    let (client, _) = fake::client(
        move |asked| match asked.path.as_str() {
            path if path.contains("/inbox") && path.ends_with("&after=2") => {
                empty += 1;
                let listing = (200, json!({"messages": [], "epoch": 1}));
                // Whoever asks on and on is to end, not the test to stand still.
                Some(if empty < 1000 { listing } else { (401, json!({"error": "unauthenticated"})) })
            }
            path if path.contains("/inbox") => {
                let items = [1, 2].map(|number| item(&vcp(number, "x", &agent_key(1)), number.into()));
                Some((200, json!({"messages": items, "epoch": 1})))
            }
            _ => Some((200, ann(&agent_key(1)))),
        },
        Some(sockets),
    );
    let mut first = client.inbox().deliveries().await.unwrap();
    let (_, mut socket) = opened.recv().await.unwrap();
    socket.send(framed(1)).await.unwrap();
    assert_eq!(first.next().await.unwrap().unwrap().position, 1);
    let mut second = client.clone().inbox().transport(Transport::LongPoll).deliveries().await.unwrap();
    assert_eq!(second.next().await.unwrap().unwrap().position, 2, "another has the first");
    drop(first);
    assert_eq!(second.next().await.unwrap().unwrap().position, 1);
}
