//! Everything that can be asked of an exchange beside taking a message. Each answer is durable.

use crate::exchange::{Error, Exchange, Pending};
use crate::tokens::Token;
use legation_exchange::{Below, Input, KeyChange, Registration, Role, Verdict, Who};

impl Exchange {
    /// Registers or changes an agent. A new one gets a token, and one that asks for another; it is
    /// told here and never again.
    pub async fn register(
        &self,
        id: &str,
        registration: Registration,
        who: Who,
    ) -> Result<(Verdict, Option<Token>), Error> {
        if let Err(rejection) = self.may_push(&registration) {
            self.refuse_known(&who, &rejection).await?;
            return Ok((Verdict::Refused(rejection), None));
        }
        let mut registration = registration;
        self.scan_registration(&mut registration);
        let made = self.make_key(id, &mut registration, &who).await?;
        let rekeys = registration.custody.is_some() || registration.keys.is_some();
        let (token, rotate) = (Token::fresh()?, registration.rotate_token);
        let input =
            Input::Register { id: id.to_owned(), registration: Box::new(registration), who, token: token.hash() };
        let verdict = self.ask(input).await?;
        drop(made);
        if rekeys {
            self.remove_unused_secrets(id).await?;
        }
        let told = matches!(verdict, Verdict::Accepted { new, .. } if new || rotate);
        Ok((verdict, told.then_some(token)))
    }

    /// Removes an agent.
    pub async fn remove(&self, id: &str, who: Who) -> Result<Verdict, Error> {
        let verdict = self.ask(Input::Remove { id: id.to_owned(), who }).await?;
        self.remove_secrets_of_removed().await?;
        Ok(verdict)
    }

    /// Removes an agent, and suspends or removes those below it.
    pub async fn remove_with(&self, id: &str, below: Below, who: Who) -> Result<Verdict, Error> {
        let verdict = self.ask(Input::RemoveWith { id: id.to_owned(), below, who }).await?;
        self.remove_secrets_of_removed().await?;
        Ok(verdict)
    }

    /// Changes an agent's keys.
    pub async fn change_key(&self, agent: &str, change: KeyChange, who: Who) -> Result<Verdict, Error> {
        let verdict = self.ask(Input::Key { agent: agent.to_owned(), change: Box::new(change), who }).await?;
        self.remove_unused_secrets(agent).await?;
        Ok(verdict)
    }

    /// Gives a person a token, which is told here and never again. One they had before counts until
    /// this one is used.
    pub async fn grant(&self, name: &str, role: Role, who: Who) -> Result<(Verdict, Option<Token>), Error> {
        let token = Token::fresh()?;
        let verdict = self.ask(Input::Grant { name: name.to_owned(), role, who, token: token.hash() }).await?;
        let told = matches!(verdict, Verdict::Accepted { .. });
        Ok((verdict, told.then_some(token)))
    }

    /// Withdraws a person's token.
    pub async fn withdraw(&self, name: &str, who: Who) -> Result<Verdict, Error> {
        self.ask(Input::Withdraw { name: name.to_owned(), who }).await
    }

    /// Takes messages out of a mailbox.
    pub async fn acknowledge(
        &self,
        agent: &str,
        up_to: Option<u64>,
        positions: Vec<u64>,
        who: Who,
    ) -> Result<Verdict, Error> {
        self.acknowledging(agent, up_to, positions, who).await?.answer().await
    }

    /// The same as soon as it has its place in the order of decisions.
    pub async fn acknowledging(
        &self,
        agent: &str,
        up_to: Option<u64>,
        positions: Vec<u64>,
        who: Who,
    ) -> Result<Pending, Error> {
        self.enqueue(Input::Acknowledge { agent: agent.to_owned(), up_to, positions, who }).await
    }

    /// Sends letters again that reached nobody.
    pub async fn resend(&self, agent: &str, positions: Vec<u64>, who: Who) -> Result<Verdict, Error> {
        self.ask(Input::Resend { agent: agent.to_owned(), positions, who }).await
    }

    /// Empties a mailbox unread.
    pub async fn purge(&self, agent: &str, up_to: Option<u64>, who: Who) -> Result<Verdict, Error> {
        self.ask(Input::Purge { agent: agent.to_owned(), up_to, who }).await
    }
}
