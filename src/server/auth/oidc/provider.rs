//! The OpenID Connect provider: its discovery document, its claims about people, and the HTTP requests to it, with limits.

use std::time::Duration;

use chrono::{DateTime, Utc};
use notarium_core::Millis;
use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreClientAuthMethod, CoreErrorResponseType,
    CoreGenderClaim, CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm as Algorithm,
    CoreProviderMetadata, CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse,
    CoreTokenType,
};
use openidconnect::{
    AdditionalClaims, AuthType, AuthorizationCode, ClaimsVerificationError, Client, ClientId, ClientSecret, CsrfToken,
    EmptyExtraTokenFields, EndpointMaybeSet, EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IdTokenClaims,
    IdTokenFields, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, SignatureVerificationError, StandardErrorResponse, StandardTokenResponse, TokenResponse,
    UserInfoClaims,
};
use parking_lot::RwLock;
use reqwest::Url;
use reqwest::redirect::Policy;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::claims::{claim_named, groups_in};
use super::{ExchangeFailure, InvalidOidc, OidcSettings, ProviderRequest, is_secure};
use crate::auth::ProvedIdentity;
use crate::limits::clock::Clock;

/// Time that the discovery document is cached.
const KNOWN_MS: Millis = 60 * 60 * 1000;
/// Shortest interval of discoveries because of an unknown key.
const LOOK_AGAIN_MS: Millis = 10 * 1000;
const CLOCKS_DIFFER_MS: Millis = 60 * 1000;
/// Longest subject (OpenID Connect Core, section 2).
const MAX_SUBJECT_BYTES: usize = 255;
/// Asymmetric signatures: only the provider has the key.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RsaSsaPkcs1V15Sha256,
    Algorithm::RsaSsaPkcs1V15Sha384,
    Algorithm::RsaSsaPkcs1V15Sha512,
    Algorithm::RsaSsaPssSha256,
    Algorithm::RsaSsaPssSha384,
    Algorithm::RsaSsaPssSha512,
    Algorithm::EcdsaP256Sha256,
    Algorithm::EcdsaP384Sha384,
    Algorithm::EdDsa,
];

/// Claims that OpenID Connect does not define, such as groups, by name.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct FurtherClaims {
    #[serde(flatten)]
    claims: Map<String, Value>,
}

impl AdditionalClaims for FurtherClaims {}

type ProviderTokenFields =
    IdTokenFields<FurtherClaims, EmptyExtraTokenFields, CoreGenderClaim, CoreJweContentEncryptionAlgorithm, Algorithm>;
type ProviderTokens = StandardTokenResponse<ProviderTokenFields, CoreTokenType>;
type ProviderClaims = IdTokenClaims<FurtherClaims, CoreGenderClaim>;
type ProviderUserInfo = UserInfoClaims<FurtherClaims, CoreGenderClaim>;
type ProviderClient = Client<
    FurtherClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    ProviderTokens,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Secrets that bind the provider's answer to one sign-in.
#[derive(Serialize, Deserialize)]
pub struct Secrets {
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

/// Conditions that the ID token of a sign-in has to meet.
struct Expected {
    nonce: Nonce,
    /// Earliest time at which the provider authenticated the person; absent: any time.
    since: Option<Millis>,
}

pub struct Provider {
    settings: OidcSettings,
    issuer: IssuerUrl,
    redirect: RedirectUrl,
    /// True if the issuer is on this machine, where it needs no TLS.
    is_here: bool,
    /// Claim with the person's groups; absent: groups are not read.
    groups_claim: Option<String>,
    http: reqwest::Client,
    clock: Clock,
    known: RwLock<Option<DiscoveryDocument>>,
}

#[derive(Clone)]
struct DiscoveryDocument {
    metadata: CoreProviderMetadata,
    at: Millis,
}

impl Provider {
    pub fn new(
        settings: OidcSettings,
        redirect: String,
        (is_here, groups_claim): (bool, Option<String>),
        clock: Clock,
    ) -> Result<Self, InvalidOidc> {
        let invalid = |error: &dyn std::fmt::Display| InvalidOidc(format!("--oidc-issuer cannot be used: {error}"));
        let issuer = IssuerUrl::new(settings.issuer.clone()).map_err(|error| invalid(&error))?;
        let redirect = RedirectUrl::new(redirect).map_err(|error| invalid(&error))?;
        let http = client().map_err(|error| invalid(&error))?;
        Ok(Self { settings, issuer, redirect, is_here, groups_claim, http, clock, known: RwLock::default() })
    }

    /// Checks that the provider can be used.
    pub async fn look(&self) -> Result<(), String> {
        self.discover().await.map(drop)
    }

    /// Builds the address for the browser and the sign-in's secrets. `is_afresh`: the provider has to authenticate the
    /// person again.
    pub async fn ask(&self, is_afresh: bool) -> Result<ProviderRequest, String> {
        let known = self.known(self.clock.now().saturating_sub(KNOWN_MS)).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let client = self.client(known.metadata);
        let request =
            client.authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random);
        let scopes = ["profile", "email"].into_iter().chain(self.settings.scopes.iter().map(String::as_str));
        let scopes = scopes.map(|scope| Scope::new(scope.to_owned()));
        let mut request = request.add_scopes(scopes).set_pkce_challenge(challenge);
        if is_afresh {
            // Providers support one or the other.
            request = request.add_prompt(CoreAuthPrompt::Login).set_max_age(Duration::ZERO);
        }
        let (url, state, nonce) = request.url();
        Ok(ProviderRequest { url: url.into(), state: state.into_secret(), secrets: Secrets { nonce, verifier } })
    }

    /// Exchanges the code; returns the signed-in person. `since`: earliest time at which the provider authenticated
    /// that person.
    pub async fn exchange(
        &self,
        code: String,
        secrets: Secrets,
        since: Option<Millis>,
    ) -> Result<ProvedIdentity, ExchangeFailure> {
        let Secrets { nonce, verifier } = secrets;
        let expected = Expected { nonce, since };
        let known = self.known(0).await.map_err(ExchangeFailure::Unavailable)?;
        let client = self.client(known.metadata.clone());
        let tokens = self.tokens(&client, code, verifier).await?;
        match self.claims(&client, &tokens, &expected) {
            // The provider has changed its keys since the last discovery.
            Err(error) if is_unknown_key(&error) && self.may_look_again(&known) => {
                let client = self.client(self.discover().await.map_err(ExchangeFailure::Unavailable)?.metadata);
                let claims = self.claims(&client, &tokens, &expected).map_err(refused)?;
                self.identity(&client, &tokens, &claims).await
            }
            claims => self.identity(&client, &tokens, &claims.map_err(refused)?).await,
        }
    }

    /// Discovery document, cached since that time or read now.
    async fn known(&self, since: Millis) -> Result<DiscoveryDocument, String> {
        let known = self.known.read().clone();
        match known.filter(|known| known.at >= since) {
            Some(known) => Ok(known),
            None => self.discover().await,
        }
    }

    fn may_look_again(&self, known: &DiscoveryDocument) -> bool {
        self.clock.now().saturating_sub(known.at) > LOOK_AGAIN_MS
    }

    async fn discover(&self) -> Result<DiscoveryDocument, String> {
        let send = |request: HttpRequest| send(self.http.clone(), request);
        let found = CoreProviderMetadata::discover_async(self.issuer.clone(), &send).await;
        let metadata = found.map_err(|error| with_causes(&error))?;
        self.check_addresses(&metadata)?;
        let known = DiscoveryDocument { metadata, at: self.clock.now() };
        *self.known.write() = Some(known.clone());
        Ok(known)
    }

    /// Checks the addresses to which codes, secrets and names go: https, or this machine.
    fn check_addresses(&self, metadata: &CoreProviderMetadata) -> Result<(), String> {
        let token = metadata.token_endpoint().ok_or("it names no token endpoint")?;
        let addresses = [metadata.authorization_endpoint().url(), token.url(), metadata.jwks_uri().url()];
        let mut addresses = addresses.into_iter().chain(metadata.userinfo_endpoint().map(|address| address.url()));
        let is_good = |url: &Url| url.scheme() == "https" || (self.is_here && is_secure(url));
        match addresses.find(|url| !is_good(url)) {
            Some(url) => Err(format!("it names an address without TLS: {url}")),
            None => Ok(()),
        }
    }

    fn client(&self, metadata: CoreProviderMetadata) -> ProviderClient {
        let secret = self.settings.client_secret.as_ref();
        let secret = secret.map(|secret| ClientSecret::new(secret.expose_secret().to_owned()));
        let methods = metadata.token_endpoint_auth_methods_supported().cloned();
        // Absent means basic authentication (OpenID Connect Discovery, section 3).
        let only_body = methods.is_some_and(|methods| {
            methods.contains(&CoreClientAuthMethod::ClientSecretPost)
                && !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
        });
        let kind = if only_body { AuthType::RequestBody } else { AuthType::BasicAuth };
        Client::from_provider_metadata(metadata, ClientId::new(self.settings.client_id.clone()), secret)
            .set_redirect_uri(self.redirect.clone())
            .set_auth_type(kind)
    }

    async fn tokens(
        &self,
        client: &ProviderClient,
        code: String,
        verifier: PkceCodeVerifier,
    ) -> Result<ProviderTokens, ExchangeFailure> {
        let send = |request: HttpRequest| send(self.http.clone(), request);
        let request = client.exchange_code(AuthorizationCode::new(code));
        let request =
            request.map_err(|error| ExchangeFailure::Unavailable(error.to_string()))?.set_pkce_verifier(verifier);
        request.request_async(&send).await.map_err(|error: RequestTokenError<HttpError, _>| match error {
            RequestTokenError::ServerResponse(answer) => {
                ExchangeFailure::Refused { reason: "it does not take its code back", detail: answer.to_string() }
            }
            error => ExchangeFailure::Unavailable(with_causes(&error)),
        })
    }

    /// Claims of the ID token, if it is signed by the provider, for this client, valid now, and for this sign-in.
    fn claims(
        &self,
        client: &ProviderClient,
        tokens: &ProviderTokens,
        expected: &Expected,
    ) -> Result<ProviderClaims, ClaimsVerificationError> {
        let token =
            tokens.id_token().ok_or_else(|| ClaimsVerificationError::Other("there is no ID token".to_owned()))?;
        let now = self.now();
        let verifier = client.id_token_verifier().set_allowed_algs(ALGORITHMS).set_time_fn(move || now);
        let since = expected.since;
        let verifier = verifier.set_auth_time_verifier_fn(move |asked_at| check_asked_since(asked_at, since));
        token.claims(&verifier, &expected.nonce).cloned()
    }

    fn now(&self) -> DateTime<Utc> {
        let now = i64::try_from(self.clock.now()).unwrap_or(i64::MAX);
        DateTime::from_timestamp_millis(now).unwrap_or(DateTime::<Utc>::MAX_UTC)
    }

    async fn identity(
        &self,
        client: &ProviderClient,
        tokens: &ProviderTokens,
        claims: &ProviderClaims,
    ) -> Result<ProvedIdentity, ExchangeFailure> {
        let subject = claims.subject().to_string();
        if subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES {
            return Err(ExchangeFailure::Refused {
                reason: "it does not say who you are",
                detail: "an odd subject".to_owned(),
            });
        }
        let mut identity = ProvedIdentity {
            issuer: self.settings.issuer.clone(),
            subject,
            name: claims.name().and_then(|name| name.get(None)).map(|name| name.to_string()),
            username: claims.preferred_username().map(|name| name.to_string()),
            email: claims.email().filter(|_| claims.email_verified() == Some(true)).map(|email| email.to_string()),
            has_unverified_email: claims.email().is_some() && claims.email_verified() != Some(true),
            groups: self.groups(claims.additional_claims()),
        };
        // Some providers give the address or the groups only in the user info.
        let lacks_groups = self.groups_claim.is_some() && identity.groups.is_none();
        if !lacks_groups && claims.email().is_some() {
            return Ok(identity);
        }
        let Some(more) = self.user_info(client, tokens, claims).await else { return Ok(identity) };
        if lacks_groups {
            identity.groups = self.groups(more.additional_claims());
        }
        if claims.email().is_none() {
            let is_verified = more.email_verified() == Some(true);
            identity.email = more.email().filter(|_| is_verified).map(|email| email.to_string());
            identity.has_unverified_email = more.email().is_some() && !is_verified;
            identity.name = identity.name.or_else(|| more.name()?.get(None).map(|name| name.to_string()));
            identity.username = identity.username.or_else(|| more.preferred_username().map(|name| name.to_string()));
        }
        Ok(identity)
    }

    /// Groups of the person; `None`: they are not read, or the claim is missing or cannot be used.
    fn groups(&self, further: &FurtherClaims) -> Option<Vec<String>> {
        let claim = self.groups_claim.as_ref()?;
        match groups_in(claim_named(&further.claims, claim)?) {
            Ok(groups) => Some(groups),
            Err(reason) => {
                tracing::warn!(claim, reason, "the provider's claim about groups cannot be used");
                None
            }
        }
    }

    /// Further claims from the user info. The ID token identifies the person without them.
    async fn user_info(
        &self,
        client: &ProviderClient,
        tokens: &ProviderTokens,
        claims: &ProviderClaims,
    ) -> Option<ProviderUserInfo> {
        let send = |request: HttpRequest| send(self.http.clone(), request);
        let request = client.user_info(tokens.access_token().clone(), Some(claims.subject().clone())).ok()?;
        match request.request_async(&send).await {
            Ok(more) => Some(more),
            Err(error) => {
                tracing::warn!(error = with_causes(&error), "the provider does not tell more about somebody");
                None
            }
        }
    }
}

/// Checks, by the provider's claim, that the person was authenticated since then. Clocks may differ by a minute.
fn check_asked_since(asked_at: Option<DateTime<Utc>>, since: Option<Millis>) -> Result<(), String> {
    let Some(since) = since else { return Ok(()) };
    let asked_at = asked_at.ok_or("it does not say when it asked")?.timestamp_millis();
    let earliest = i64::try_from(since.saturating_sub(CLOCKS_DIFFER_MS)).unwrap_or(i64::MAX);
    if asked_at < earliest { Err(format!("it asked at {asked_at}, and was to ask since {since}")) } else { Ok(()) }
}

fn is_unknown_key(error: &ClaimsVerificationError) -> bool {
    use SignatureVerificationError::{CryptoError, NoMatchingKey};
    // Without key ids an old key is tried, and its check fails.
    matches!(error, ClaimsVerificationError::SignatureVerification(NoMatchingKey | CryptoError(_)))
}

fn refused(error: ClaimsVerificationError) -> ExchangeFailure {
    let reason = match &error {
        ClaimsVerificationError::Expired(_) => "what it says has expired: is this server's clock right?",
        ClaimsVerificationError::InvalidNonce(_) => "what it says belongs to another sign-in",
        ClaimsVerificationError::InvalidAuthTime(_) => {
            "it did not ask you anew who you are, which this takes: with a provider that does not, choose a password here"
        }
        ClaimsVerificationError::InvalidAudience(_) => "what it says is for somebody else",
        ClaimsVerificationError::InvalidIssuer(_) => "what it says is from somebody else",
        ClaimsVerificationError::SignatureVerification(_) => "what it says is not signed as it should be",
        _ => "what it says cannot be used",
    };
    ExchangeFailure::Refused { reason, detail: with_causes(&error) }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Limit of a discovery document, of keys, of tokens.
const MAX_ANSWER_BYTES: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{}", with_causes(.0))]
    Failed(#[from] reqwest::Error),
    #[error("its answer is larger than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
    #[error(transparent)]
    Answer(#[from] openidconnect::http::Error),
}

/// HTTP client that follows no redirect: codes and secrets go only to configured addresses.
pub fn client() -> Result<reqwest::Client, reqwest::Error> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(TIMEOUT)
        .redirect(Policy::none())
        .user_agent(concat!("notarium/", env!("CARGO_PKG_VERSION")))
        .build()
}

pub async fn send(client: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let mut answer = client.execute(request.try_into()?).await?;
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        if body.len() + piece.len() > MAX_ANSWER_BYTES {
            return Err(HttpError::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    let mut built = openidconnect::http::Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        built = built.header(name, value);
    }
    Ok(built.body(body)?)
}

/// Text of an error with its causes: this library's own text names only the failed step.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
