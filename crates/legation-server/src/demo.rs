//! The demo, played on this exchange by the program it is part of: by an operator, on the machine itself, while
//! there is nothing here that it could get in the way of.

use crate::caller::Caller;
use crate::guest::Guest;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use legation_protocol::Code;
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How the names of the agents begin that play it.
const CAST: &str = "demo-";

/// What plays the demo: `PROGRAM demo --url URL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demo {
    /// The program.
    pub program: PathBuf,
    /// Where it finds this exchange.
    pub url: String,
    /// The data directory, with the operator's token in it.
    pub data: PathBuf,
}

/// How it goes.
#[derive(Debug, Default)]
pub(crate) struct Stage(Mutex<Scene>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scene {
    #[default]
    Empty,
    Playing,
    Over {
        failed: bool,
    },
}

impl Stage {
    fn scene(&self) -> MutexGuard<'_, Scene> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Serialize)]
struct Told {
    offered: bool,
    playing: bool,
    failed: bool,
}

impl Told {
    fn of(shared: &Shared, scene: Scene, offered: bool) -> Told {
        let (playing, failed) = (scene == Scene::Playing, scene == Scene::Over { failed: true });
        Told { offered: offered && shared.settings().demo.is_some(), playing, failed }
    }
}

/// Whether it gets in nobody's way: there is nobody yet but who played it before.
fn has_room(shared: &Shared) -> bool {
    shared.exchange.agents_after(None, 1, |agent| !agent.id.starts_with(CAST)).is_empty()
}

/// `GET /v1/demo`
pub(crate) async fn get(State(shared): State<Arc<Shared>>, caller: Caller, guest: Guest) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let scene = *shared.stage.scene();
    let offered = caller.must_be_operator().is_ok() && guest.source.local && has_room(&shared);
    Ok(Json(Told::of(&shared, scene, offered)).into_response())
}

/// `POST /v1/demo`
pub(crate) async fn play(State(shared): State<Arc<Shared>>, caller: Caller, guest: Guest) -> Result<Response, Refusal> {
    caller.must_be_operator()?;
    let no = |message: &str| Refusal::because(Code::NotAllowed, message.to_owned());
    let demo = shared.settings().demo.clone();
    let demo = demo.filter(|_| guest.source.local);
    let demo =
        demo.ok_or_else(|| no("the demo is played from the machine the exchange runs on, by `legation demo`"))?;
    if !has_room(&shared) {
        return Err(no("the demo is played where there are no agents yet; `legation demo` plays it all the same"));
    }
    let was = std::mem::replace(&mut *shared.stage.scene(), Scene::Playing);
    if was != Scene::Playing {
        let stage = Arc::clone(&shared);
        drop(shared.tasks.spawn(async move {
            let failed =
                demo.play(&stage).await.inspect_err(|error| tracing::warn!(%error, "the demo failed")).is_err();
            *stage.stage.scene() = Scene::Over { failed };
        }));
    }
    Ok((StatusCode::ACCEPTED, Json(Told::of(&shared, Scene::Playing, true))).into_response())
}

impl Demo {
    /// Until it is over, or the exchange ends.
    async fn play(&self, shared: &Shared) -> io::Result<()> {
        let mut child = tokio::process::Command::new(&self.program)
            .args(["demo", "--url", &self.url])
            .env_clear()
            .env("LEGATION_DATA", &self.data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        tokio::select! {
            status = child.wait() => {
                let status = status?;
                if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }
            }
            () = shared.stopping.cancelled() => Ok(()),
        }
    }
}
