//! A tool server that is a process of ours: a line a message, in and out. It has the environment that it is given and none
//! else, and ends with whoever holds it. Many may ask it at once: what one of them does, or is answered, is no other's harm.

mod lines;

use super::rpc::{self, Sent};
use super::wire::{Mark, Trouble};
use legation_engine::ToolReply as Reply;
use lines::{Line, STRAY, one_line};
use std::collections::BTreeMap;
use std::process::Stdio as Pipe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// How much of a line that a process writes for people is kept.
const LINE: u64 = 2000;
/// How many requests of a process are being answered at once. Beyond that it gets no answer: it does not read them.
const ASKED: usize = 16;

/// What somebody waits for.
type Awaited = oneshot::Sender<Result<Reply, Trouble>>;

/// A process, and the way to it.
pub(super) struct Stdio(Arc<Process>);

/// What those share who write to a process and read from it.
struct Process {
    input: Arc<tokio::sync::Mutex<ChildStdin>>,
    /// Who waits for which answer; nothing once the process writes no more.
    waiting: Mutex<Option<BTreeMap<u64, Awaited>>>,
    /// Nothing once it is ended.
    child: Mutex<Option<Child>>,
    /// How many of its own requests are being answered.
    asked: AtomicUsize,
    /// How long it may take to take in a line.
    patience: Duration,
}

impl Stdio {
    /// Starts a process. One that takes a line in no more for as long as it may take is ended.
    pub(super) fn start(
        server: &str,
        command: &[String],
        environment: &[(String, Zeroizing<String>)],
        patience: Duration,
    ) -> Result<Stdio, Trouble> {
        let no_way = |why: &str| Trouble::Way(format!("its process cannot be started: {why}"));
        let (program, arguments) = command.split_first().ok_or_else(|| no_way("no program is named"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value.as_str())))
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| no_way(&error.kind().to_string()))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { return Err(no_way("it has no pipes")) };
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(overhear(server.to_owned(), errors));
        }
        let process = Arc::new(Process {
            input: Arc::new(tokio::sync::Mutex::new(input)),
            waiting: Mutex::new(Some(BTreeMap::new())),
            child: Mutex::new(Some(child)),
            asked: AtomicUsize::new(0),
            patience,
        });
        tokio::spawn(follow(server.to_owned(), output, Arc::clone(&process)));
        Ok(Stdio(process))
    }

    pub(super) fn is_alive(&self) -> bool {
        self.0.is_alive()
    }

    pub(super) async fn ask(&self, id: u64, text: String, mark: &Mark) -> Result<Reply, Trouble> {
        let (answer, answered) = oneshot::channel();
        match lock(&self.0.waiting).as_mut() {
            Some(waiting) => drop(waiting.insert(id, answer)),
            None => return Err(ended()),
        }
        // Whoever waits no longer is forgotten.
        let _place = Place { id, process: &self.0 };
        self.0.write(&text, mark).await?;
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    pub(super) async fn tell(&self, text: String) -> Result<(), Trouble> {
        self.0.write(&text, &Mark::default()).await
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Process {
    fn is_alive(&self) -> bool {
        lock(&self.waiting).is_some() && lock(&self.child).is_some()
    }

    /// Ends the process. What it has said by then is still read.
    fn end(&self) {
        drop(lock(&self.child).take());
    }

    /// A line as a whole: one that is begun is written to its end, whoever waits for it. A process that does not take it in
    /// is ended, and with that whoever waits for another line of theirs to be written is told.
    async fn write(self: &Arc<Process>, text: &str, mark: &Mark) -> Result<(), Trouble> {
        let line = one_line(text);
        let mut input = Arc::clone(&self.input).lock_owned().await;
        if !self.is_alive() {
            return Err(ended());
        }
        mark.set();
        let process = Arc::clone(self);
        let written = tokio::spawn(async move {
            let whole = async {
                input.write_all(line.as_bytes()).await?;
                input.flush().await
            };
            let is_written = matches!(tokio::time::timeout(process.patience, whole).await, Ok(Ok(())));
            if !is_written {
                process.end();
            }
            is_written
        });
        match written.await {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(Trouble::Broken("its process takes nothing more".to_owned())),
        }
    }

    fn answer(&self, id: u64, came: Result<Reply, Trouble>) {
        let awaited = lock(&self.waiting).as_mut().and_then(|waiting| waiting.remove(&id));
        drop(awaited.map(|awaited| awaited.send(came)));
    }

    fn hand_on(self: &Arc<Process>, sent: Sent) {
        match sent {
            Sent::Answer(id, reply) => self.answer(id, Ok(reply)),
            Sent::Request(id, method) => self.decline(&id, &method),
            Sent::Other => {}
        }
    }

    /// Answers a request of the process, beside reading on: one that reads nothing must not keep us from reading either.
    fn decline(self: &Arc<Process>, id: &str, method: &str) {
        let is_enough = |asked: usize| (asked < ASKED).then_some(asked + 1);
        if self.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_enough).is_err() {
            return;
        }
        let (process, text) = (Arc::clone(self), rpc::answer_to(id, method));
        tokio::spawn(async move {
            drop(process.write(&text, &Mark::default()).await);
            process.asked.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

fn ended() -> Trouble {
    Trouble::Broken("its process has ended".to_owned())
}

/// A place among those who wait.
struct Place<'p> {
    id: u64,
    process: &'p Process,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(waiting) = lock(&self.process.waiting).as_mut() {
            waiting.remove(&self.id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads what the process says until it says nothing more. What cannot be used is passed over: it fails the call that it
/// answers, if it says which, and no other.
async fn follow(server: String, output: ChildStdout, process: Arc<Process>) {
    let (mut output, mut stray) = (BufReader::new(output), 0);
    while let Some(line) = Line::next(&mut output).await {
        match line.read() {
            Ok(all) => {
                stray = 0;
                for sent in all {
                    process.hand_on(sent);
                }
            }
            Err(why) => {
                stray += line.len();
                let answers = line.answers();
                tracing::debug!(server, is_answer = answers.is_some(), why, "a tool server sent what cannot be used");
                if let Some(id) = answers {
                    process.answer(id, Err(Trouble::Unusable(why)));
                }
            }
        }
        if stray > STRAY {
            break;
        }
    }
    process.end();
    let left = lock(&process.waiting).take().unwrap_or_default();
    for (_, awaited) in left {
        drop(awaited.send(Err(Trouble::Broken("its process ended".to_owned()))));
    }
}

/// What a process writes for people goes to the log, and never raw.
async fn overhear(server: String, errors: ChildStderr) {
    let mut errors = BufReader::new(errors);
    loop {
        let mut line = Vec::new();
        if !matches!((&mut errors).take(LINE).read_until(b'\n', &mut line).await, Ok(1..)) {
            return;
        }
        let says = String::from_utf8_lossy(&line);
        tracing::debug!(server, says = %says.trim_end().escape_debug(), "a tool server says");
    }
}
