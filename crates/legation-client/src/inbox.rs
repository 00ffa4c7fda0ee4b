//! Receiving: how a mailbox is to be read, and what is done with what comes out of it.

use crate::client::Client;
use crate::deliveries::Deliveries;
use crate::error::Error;
use crate::incoming::{Incoming, Withheld};
use crate::mark::Mark;
use crate::parked::{Parked, Work};
use crate::reader::Transport;
use std::fmt;
use std::pin::Pin;

/// What is done with a message that is not known to be what it claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unverified {
    /// It is not handed over and stays in the mailbox; [`Inbox::on_withheld`] tells of it.
    #[default]
    Withhold,
    /// It is handed over like others; [`Incoming::verified`] says what is wrong with it.
    HandOver,
    /// Receiving ends with an error.
    Stop,
}

/// How a mailbox is to be read. [`Client::inbox`] makes one.
#[must_use]
pub struct Inbox {
    pub(crate) client: Client,
    pub(crate) transport: Transport,
    pub(crate) unverified: Option<Unverified>,
    pub(crate) on_withheld: Option<Box<dyn FnMut(Withheld) + Send>>,
    pub(crate) done_up_to: Option<Mark>,
    pub(crate) set_aside: Vec<Mark>,
    in_order: bool,
    answers_alarms: bool,
    until: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Client {
    /// This agent's mailbox.
    pub fn inbox(&self) -> Inbox {
        Inbox {
            client: self.clone(),
            transport: Transport::default(),
            unverified: None,
            on_withheld: None,
            done_up_to: None,
            set_aside: Vec::new(),
            in_order: false,
            answers_alarms: true,
            until: Box::pin(std::future::pending()),
        }
    }
}

impl Inbox {
    /// How the mailbox is read.
    pub fn transport(mut self, transport: Transport) -> Inbox {
        self.transport = transport;
        self
    }

    /// What is done with a message that is not known to be what it claims.
    pub fn unverified(mut self, unverified: Unverified) -> Inbox {
        self.unverified = Some(unverified);
        self
    }

    /// Is told of every message that is withheld.
    pub fn on_withheld(mut self, told: impl FnMut(Withheld) + Send + 'static) -> Inbox {
        self.on_withheld = Some(Box::new(told));
        self
    }

    /// All up to this mark is done, as the caller knows: it is acknowledged at the start and not handed
    /// over again. Right only with [`in_order`](Inbox::in_order), under which nothing before it was left.
    ///
    /// Where the record was restored from a copy since, receiving ends with [`Error::Restored`] at once.
    pub fn resume_after(mut self, mark: Mark) -> Inbox {
        self.done_up_to = Some(mark);
        self
    }

    /// Takes the message at this mark out unhandled and unjudged, when it comes. Whoever reads
    /// [`in_order`](Inbox::in_order) goes on with it after [`Error::Unverified`]: a sender whose key was withdrawn
    /// since cannot be verified any more, however often it is tried. May be given more than once.
    pub fn set_aside(mut self, mark: Mark) -> Inbox {
        self.set_aside.push(mark);
        self
    }

    /// Hands messages over strictly in their order: one that its handler fails on holds up all after it.
    /// One that is not verified ends receiving, unless it is to be handed over or [set aside](Inbox::set_aside).
    pub fn in_order(mut self) -> Inbox {
        self.in_order = true;
        self
    }

    /// Leaves it to the handler to acknowledge escalations. What another that handled still owes is not touched.
    pub fn leave_alarms(mut self) -> Inbox {
        self.answers_alarms = false;
        self
    }

    /// Ends receiving in good order once this is over: what is being handled is finished and acknowledged.
    pub fn until(mut self, over: impl Future<Output = ()> + Send + 'static) -> Inbox {
        self.until = Box::pin(over);
        self
    }

    pub(crate) fn policy(&self) -> Unverified {
        self.unverified.unwrap_or(if self.in_order { Unverified::Stop } else { Unverified::Withhold })
    }

    /// The messages as they come, for those who acknowledge by themselves.
    pub async fn deliveries(self) -> Result<Deliveries, Error> {
        Deliveries::open(self).await
    }

    /// Hands every message to `handler`, one at a time, until something cannot be mended or
    /// [`until`](Inbox::until) is over.
    ///
    /// A message is acknowledged after the handler returned `Ok`, and never handed over again after that by this
    /// client or a clone of it, whatever happens to the connection; nor is it ever with two of their handlers at once. One that
    /// it failed on comes again after a second, then two, four, up to five minutes; those after it go on meanwhile, unless
    /// [`in_order`](Inbox::in_order) says otherwise. An escalation that wants it is answered with its `ACK`
    /// message, once, when the handler has taken it. Where that could not be sent before this ended, the next to handle
    /// that does not [leave them](Inbox::leave_alarms) sends it, this client or a clone of it; the message stays in
    /// the mailbox until then.
    ///
    /// ```no_run
    /// # async fn run(client: legation_client::Client) -> Result<(), legation_client::Error> {
    /// client
    ///     .inbox()
    ///     .handle(|incoming| async move {
    ///         println!("{} says something", incoming.message().sender());
    ///         Ok::<_, std::io::Error>(())
    ///     })
    ///     .await
    /// # }
    /// ```
    pub async fn handle<H, F, E>(mut self, mut handler: H) -> Result<(), Error>
    where
        H: FnMut(Incoming) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let until = std::mem::replace(&mut self.until, Box::pin(std::future::pending()));
        let manner =
            Manner { client: self.client.clone(), in_order: self.in_order, answers_alarms: self.answers_alarms };
        let mut deliveries = self.deliveries().await?;
        let attended = attend(&mut deliveries, &manner, until, &mut handler).await;
        // Whatever ended it, what is done is acknowledged.
        let closed = deliveries.close().await;
        attended.and(closed)
    }
}

/// How what comes is handled, and for whom.
struct Manner {
    client: Client,
    in_order: bool,
    answers_alarms: bool,
}

/// Hands over what comes until something cannot be mended or `until` is over.
async fn attend<H, F, E>(
    deliveries: &mut Deliveries,
    manner: &Manner,
    mut until: Pin<Box<dyn Future<Output = ()> + Send>>,
    handler: &mut H,
) -> Result<(), Error>
where
    H: FnMut(Incoming) -> F,
    F: Future<Output = Result<(), E>>,
{
    let Manner { client, in_order, answers_alarms } = manner;
    let mut parked = Parked::default();
    loop {
        let mut work = tokio::select! {
            biased;
            () = &mut until => return Ok(()),
            work = parked.due() => work,
            debt = client.owed().next(), if *answers_alarms => Work::left(client.clone(), debt),
            next = deliveries.next(), if !parked.holds_up(*in_order) => match next {
                Some(incoming) => Work::new(client.clone(), incoming?),
                None => return Ok(()),
            },
        };
        if !client.journal().is_in(&work.incoming().epoch) {
            tracing::warn!(position = work.incoming().position, "the record was restored: this is not tried again");
            work.forget();
            continue;
        }
        if let Some(waited) = work.untaken() {
            let renewed = tokio::select! {
                biased;
                () = &mut until => return Ok(()),
                renewed = deliveries.renewed(waited) => renewed,
            };
            let Some(renewed) = renewed else { continue };
            work.renew(renewed?);
        }
        if work.attempt(*answers_alarms, handler).await {
            deliveries.ack(work.incoming()).await?;
        } else {
            parked.park(work);
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("client", &self.client).finish_non_exhaustive()
    }
}
