//! Test server on a free local port, with its data in a temporary folder.

use std::net::SocketAddr;
use std::time::Duration;

use notarium_core::{AgentId, Millis, Scope, UserId};
use notarium_server::Clock;
use notarium_server::auth::TokenText;
use notarium_server::{RunningServer, Server, ServerConfig};
use notarium_store::accounts::{AccountChange, AuditEntry, Coverage, Token, TokenHolder, TokenKind, TokenScopes, User};
use tempfile::TempDir;

use super::{Http, TestClient};

/// A person with a token.
#[derive(Debug, Clone)]
pub struct Person {
    pub id: UserId,
    pub name: String,
    pub token: String,
}

/// A server that can be stopped and started again on the same data.
pub struct TestServer {
    running: Option<RunningServer>,
    folder: TempDir,
    config: ServerConfig,
}

impl TestServer {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts with changed settings.
    pub async fn with(settings: impl FnOnce(&mut ServerConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = ServerConfig::in_folder(folder.path());
        // A test reads a connection only while it waits for a message, and must not look dead in between.
        config.limits.heartbeat = Duration::from_secs(600);
        config.limits.agent_heartbeat = Duration::from_secs(600);
        settings(&mut config);
        let running = Server::start(config.clone()).await.unwrap();
        // A restart listens on the port that clients know.
        config.listen = running.local_addr;
        Self { running: Some(running), folder, config }
    }

    pub fn running(&self) -> &RunningServer {
        self.running.as_ref().expect("the server runs")
    }

    pub fn address(&self) -> SocketAddr {
        self.config.listen
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address())
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.shut_down().await;
        }
    }

    pub async fn start_again(&mut self) {
        assert!(self.running.is_none(), "stop it first");
        self.running = Some(Server::start(self.config.clone()).await.unwrap());
    }

    /// Creates a person with a session.
    pub async fn person(&self, name: &str) -> Person {
        let id: UserId = ulid::Ulid::generate().into();
        let user = User {
            id: id.clone(),
            name: name.to_owned(),
            login: None,
            password_hash: None,
            is_admin: false,
            created_at: Clock::system().now(),
            deactivated_at: None,
        };
        self.apply(AccountChange::CreateUser(user)).await;
        let token = self.token(TokenHolder::User(id.clone()), &id, TokenScopes::all_of(TokenKind::Session), None).await;
        Person { id, name: name.to_owned(), token }
    }

    /// Creates an API token of the person with these scopes.
    pub async fn api_token(&self, person: &Person, scopes: &[Scope]) -> String {
        self.expiring_token(person, scopes, None).await
    }

    /// Creates such a token with an expiry.
    pub async fn expiring_token(&self, person: &Person, scopes: &[Scope], expires_at: Option<Millis>) -> String {
        let scopes = TokenScopes::new(TokenKind::Api, scopes.iter().copied().collect()).unwrap();
        self.token(TokenHolder::User(person.id.clone()), &person.id, scopes, expires_at).await
    }

    /// Creates a runtime agent's token for all notebooks.
    pub async fn agent_token(&self, by: &Person, name: &str) -> String {
        let holder = TokenHolder::Agent(AgentId::new(name).unwrap());
        self.token(holder, &by.id, TokenScopes::all_of(TokenKind::Agent), None).await
    }

    async fn token(&self, holder: TokenHolder, by: &UserId, scopes: TokenScopes, expires_at: Option<Millis>) -> String {
        let text = TokenText::generate(scopes.kind(), ulid::Ulid::generate().into()).unwrap();
        let token = Token {
            id: text.id.clone(),
            holder,
            created_by: by.clone(),
            secret_hash: text.secret_hash(),
            scopes,
            coverage: Coverage::All,
            label: "test".to_owned(),
            created_at: Clock::system().now(),
            expires_at,
            last_used_at: None,
            revoked_at: None,
            identity: None,
        };
        self.apply(AccountChange::CreateToken(token)).await;
        text.reveal()
    }

    /// Revokes a token, as a sign-out of its holder does.
    pub async fn revoke(&self, token: &str) {
        let token = TokenText::parse(token).unwrap().id;
        self.apply(AccountChange::RevokeToken { token, at: Clock::system().now() }).await;
    }

    /// Changes accounts as the command line does.
    pub async fn apply(&self, change: AccountChange) {
        let accounts = &self.running().app().accounts;
        let audit = AuditEntry {
            at: Clock::system().now(),
            actor: "system".to_owned(),
            action: "test".to_owned(),
            subject: "test".to_owned(),
        };
        accounts.change(&[change], audit).await.unwrap();
    }

    pub fn http(&self, person: &Person) -> Http {
        self.http_as(&person.token)
    }

    pub fn http_as(&self, token: &str) -> Http {
        Http::new(self.url(), Some(token.to_owned()))
    }

    pub async fn connect(&self, person: &Person) -> TestClient {
        self.connect_as(&person.token).await
    }

    pub async fn connect_as(&self, token: &str) -> TestClient {
        TestClient::connect(self.address(), token).await
    }
}
