//! A tool server that is a process of ours: a line a message, in and out. It has the environment that it is given and none
//! else, and ends with whoever holds it.

use super::rpc::{self, MOST, Sent};
use super::wire::{Mark, Trouble};
use legation_engine::ToolReply as Reply;
use std::collections::BTreeMap;
use std::process::Stdio as Pipe;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use zeroize::Zeroizing;

/// How much of a line that a process writes for people is kept.
const LINE: u64 = 2000;

/// Who waits for which answer; nothing once the process writes no more.
type Waiting = Arc<Mutex<Option<BTreeMap<u64, oneshot::Sender<Result<Reply, Trouble>>>>>>;

/// A process, and the way to it.
pub(super) struct Stdio {
    input: Arc<tokio::sync::Mutex<ChildStdin>>,
    waiting: Waiting,
    /// It ends with this.
    _child: Child,
}

impl Stdio {
    /// Starts a process.
    pub(super) fn start(
        server: &str,
        command: &[String],
        environment: &[(String, Zeroizing<String>)],
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
        let (input, waiting) = (Arc::new(tokio::sync::Mutex::new(input)), Waiting::default());
        *lock(&waiting) = Some(BTreeMap::new());
        tokio::spawn(follow(output, Arc::clone(&waiting), Arc::downgrade(&input)));
        Ok(Stdio { input, waiting, _child: child })
    }

    pub(super) fn is_alive(&self) -> bool {
        lock(&self.waiting).is_some()
    }

    pub(super) async fn ask(&self, id: u64, text: String, mark: &Mark) -> Result<Reply, Trouble> {
        let ended = || Trouble::Broken("its process has ended".to_owned());
        let (answer, answered) = oneshot::channel();
        match lock(&self.waiting).as_mut() {
            Some(waiting) => drop(waiting.insert(id, answer)),
            None => return Err(ended()),
        }
        // Whoever waits no longer is forgotten.
        let _place = Place { id, waiting: Arc::clone(&self.waiting) };
        mark.set();
        self.tell(text).await?;
        answered.await.unwrap_or_else(|_| Err(ended()))
    }

    pub(super) async fn tell(&self, text: String) -> Result<(), Trouble> {
        write(&self.input, text).await.map_err(|_| Trouble::Broken("its process takes nothing more".to_owned()))
    }
}

/// A place among those who wait.
struct Place {
    id: u64,
    waiting: Waiting,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(waiting) = lock(&self.waiting).as_mut() {
            waiting.remove(&self.id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A line as a whole: one that is begun is written to its end, whoever waits for it.
async fn write(input: &Arc<tokio::sync::Mutex<ChildStdin>>, mut text: String) -> std::io::Result<()> {
    let mut input = Arc::clone(input).lock_owned().await;
    let written = tokio::spawn(async move {
        text.push('\n');
        input.write_all(text.as_bytes()).await?;
        input.flush().await
    });
    written.await.unwrap_or_else(|_| Err(std::io::ErrorKind::Other.into()))
}

/// Reads what the process says until it says nothing more, or something that cannot be used.
async fn follow(output: ChildStdout, waiting: Waiting, input: std::sync::Weak<tokio::sync::Mutex<ChildStdin>>) {
    let mut output = BufReader::new(output);
    let ended = loop {
        let mut line = Vec::new();
        let read = (&mut output).take(MOST.bytes as u64 + 1).read_until(b'\n', &mut line).await;
        if !matches!(read, Ok(1..)) {
            break None;
        }
        if line.len() > MOST.bytes {
            break Some(format!("it sent more than {} bytes", MOST.bytes));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match rpc::read(line.trim_ascii()) {
            Ok(all) => {
                for sent in all {
                    hand_on(sent, &waiting, &input).await;
                }
            }
            Err(why) => break Some(why),
        }
    };
    // A process that says what cannot be used is not asked again.
    let left = lock(&waiting).take().unwrap_or_default();
    for (_, answer) in left {
        let trouble = match &ended {
            Some(why) => Trouble::Unusable(why.clone()),
            None => Trouble::Broken("its process ended".to_owned()),
        };
        drop(answer.send(Err(trouble)));
    }
}

async fn hand_on(sent: Sent, waiting: &Waiting, input: &std::sync::Weak<tokio::sync::Mutex<ChildStdin>>) {
    match sent {
        Sent::Answer(id, reply) => {
            let answer = lock(waiting).as_mut().and_then(|waiting| waiting.remove(&id));
            drop(answer.map(|answer| answer.send(Ok(reply))));
        }
        Sent::Request(id, method) => {
            if let Some(input) = input.upgrade() {
                drop(write(&input, rpc::answer_to(&id, &method)).await);
            }
        }
        Sent::Other => {}
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
