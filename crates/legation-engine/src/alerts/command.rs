//! Telling alerts to a program: one at a time, without a shell, with nothing of our surroundings, and not
//! for long.

use super::Desk;
use super::recipients::Whom;
use legation_exchange::Alert;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

/// How long it may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Where it finds other programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program and its arguments.
#[derive(Clone, Debug)]
pub(super) struct Command {
    program: String,
    args: Vec<String>,
}

impl Command {
    pub(super) fn of(words: Vec<String>) -> Option<Command> {
        let mut words = words.into_iter();
        Some(Command { program: words.next()?, args: words.collect() })
    }

    /// Runs it once; an error if it could not be run, did not end in time or ended badly.
    async fn run(&self, alert: &Alert) -> io::Result<()> {
        let mut line = serde_json::to_vec(alert)?;
        line.push(b'\n');
        let mut child = tokio::process::Command::new(&self.program)
            .args(&self.args)
            .env_clear()
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // A program may end before it has read all.
            drop(stdin.write_all(&line).await);
        }
        let status = child.wait().await?;
        if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
    }
}

pub(super) async fn serve(desk: Arc<Desk>, whom: Whom, command: Command) {
    let mut over = desk.over.subscribe();
    loop {
        // Seen before what there is to tell: whatever comes after it is told by a change.
        if *over.borrow_and_update() {
            return;
        }
        while !*over.borrow()
            && let Some((number, alert)) = desk.next(&whom)
        {
            let ran = tokio::time::timeout(TIMEOUT, command.run(&alert)).await;
            if let Err(error) = ran.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
                tracing::error!(%error, alert = alert.id, "the command for alerts failed");
            }
            desk.told(&whom, number);
        }
        if over.changed().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, serve};
    use crate::alerts::{AlertSettings, Desk};
    use std::sync::Arc;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn who_begins_to_tell_when_all_is_over_ends() {
        let settings = AlertSettings { command: vec!["true".to_owned()], ..AlertSettings::default() };
        let desk = Arc::new(Desk::new("local", &settings, 0));
        let (name, _) = settings.recipients().pop().unwrap();
        let whom = desk.book().recipients.whom(name);
        desk.close();
        let serving = serve(Arc::clone(&desk), whom, Command::of(settings.command).unwrap());
        assert!(tokio::time::timeout(Duration::from_hours(1), serving).await.is_ok(), "it waits for another end");
    }
}
