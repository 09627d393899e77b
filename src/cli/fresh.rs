//! The person's own secret, asked for once at this terminal: where nothing that is kept on the disk confirms.

use std::sync::Arc;
use std::time::{Duration, Instant};

use notarium_wire::rest::{Me, SignInOptions, SignedIn};
use serde_json::json;
use tokio::sync::Mutex;

use super::client::Client;
use super::context::Access;
use super::{Failure, input, print};

/// A little less than the server's 15 minutes.
const KEPT: Duration = Duration::from_secs(14 * 60 + 30);
/// What the list of sessions calls one of these.
const LABEL: &str = "notarium, password asked";
const ATTEMPTS: u32 = 3;

/// The session of a fresh sign-in, in the memory of this process alone.
#[derive(Debug, Clone, Default)]
pub struct FreshSession(Arc<Mutex<Option<(String, Instant)>>>);

impl FreshSession {
    /// The token of a fresh sign-in; `None`: the server asks for none, so the refusal has another reason.
    pub async fn token(&self, client: &Client) -> Result<Option<String>, Failure> {
        let mut kept = self.0.lock().await;
        if let Some((token, _)) = kept.as_ref().filter(|(_, since)| since.elapsed() < KEPT) {
            return Ok(Some(token.clone()));
        }
        let me: Me = client.get("/api/me").await?;
        if !me.asks_again {
            return Ok(None);
        }
        let token = signed_in(client.server(), &me).await?;
        *kept = Some((token.clone(), Instant::now()));
        Ok(Some(token))
    }
}

/// What somebody does who has none: a provider asks on the page alone.
async fn without_password(server: &str) -> Failure {
    let stranger = Client::new(Access { server: server.to_owned(), token: String::new() });
    let options = match stranger {
        Ok(stranger) => stranger.get::<SignInOptions>("/api/session/options").await,
        Err(failure) => return failure,
    };
    Failure::failed(match options.ok().and_then(|options| options.oidc) {
        Some(oidc) => format!(
            "this asks for your password, and you have none: do it on the page ({}), where you sign in with {} again",
            print::clean(&oidc.origin),
            print::clean(&oidc.name)
        ),
        None => "this asks for your password, and you have none: restart `notarium up` at a terminal, which says how to choose \
                 one, or ask an administrator for a reset (`notarium user reset`)"
            .to_owned(),
    })
}

async fn signed_in(server: &str, me: &Me) -> Result<String, Failure> {
    let login = me.user.as_ref().filter(|user| user.has_password).and_then(|user| user.login.as_ref());
    let Some(login) = login else { return Err(without_password(server).await) };
    if !input::is_terminal() {
        return Err(Failure::failed("this asks for your password: do it at a terminal, or on the page"));
    }
    let stranger = Client::new(Access { server: server.to_owned(), token: String::new() })?;
    let mut attempt = 1;
    loop {
        print::note(format!(
            "this server asks {} for the password again (it then holds for 15 minutes here)",
            print::clean(login)
        ));
        let password = input::ask("password: ", true).await?;
        let body = json!({ "login": login, "password": password, "label": LABEL, "fresh": true });
        match stranger.post::<SignedIn>("/api/session", &body).await {
            Ok(session) => return Ok(session.token),
            Err(failure) if attempt < ATTEMPTS && failure.has_code("wrong_password") => print::note(&failure.message),
            Err(failure) => return Err(failure),
        }
        attempt += 1;
    }
}
