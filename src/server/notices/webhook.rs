//! Webhooks: signs messages as Standard Webhooks have it, and sends them within limits.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use http::StatusCode;
use notarium_core::Millis;
use notarium_store::accounts::WebhookSecret;
use ring::hmac;

use super::guard::{PublicResolver, checked};

/// Beginning of secrets.
const SECRET_PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of an answer that are read: what it says does not matter.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Makes a new secret.
pub(super) fn new_secret() -> String {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).expect("the operating system has entropy");
    format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes))
}

/// Value of `webhook-signature`: a signature by each secret that is valid, separated by spaces.
pub(super) fn signature(secrets: &[WebhookSecret], now: Millis, id: &str, body: &str) -> String {
    let seconds = now / 1000;
    let signed = format!("{id}.{seconds}.{body}");
    let valid = secrets.iter().filter(|secret| secret.until.is_none_or(|until| now < until));
    let signatures = valid.filter_map(|secret| {
        let key = STANDARD.decode(secret.secret.strip_prefix(SECRET_PREFIX)?).ok()?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
        Some(format!("v1,{}", STANDARD.encode(tag.as_ref())))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

/// A message for one webhook.
pub(super) struct WebhookMessage<'a> {
    pub id: &'a str,
    pub body: &'a str,
    pub url: &'a str,
    pub secrets: &'a [WebhookSecret],
    pub now: Millis,
}

/// Sends webhooks. It follows no redirects, uses no proxy, and reaches public addresses alone unless others are allowed.
pub(super) struct WebhookClient {
    http: reqwest::Client,
    allows_private: bool,
    timeout: Duration,
}

impl WebhookClient {
    pub(super) fn new(allows_private: bool, timeout: Duration) -> Self {
        // Fails if a provider is installed already, which is then the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            // A name is resolved anew for each message.
            .pool_max_idle_per_host(0)
            .user_agent(concat!("notarium/", env!("CARGO_PKG_VERSION")));
        let client = if allows_private { client } else { client.dns_resolver(Arc::new(PublicResolver)) };
        Self { http: client.build().unwrap_or_default(), allows_private, timeout }
    }

    pub(super) fn allows_private(&self) -> bool {
        self.allows_private
    }

    /// Sends a message once; the error is a sentence for the webhook's owner.
    pub(super) async fn send(&self, message: WebhookMessage<'_>) -> Result<(), String> {
        // The server's settings may have changed since it was made.
        let url = checked(message.url, self.allows_private).map_err(|error| error.to_string())?;
        let signature = signature(message.secrets, message.now, message.id, message.body);
        let request = self.http.post(url).timeout(self.timeout);
        let request = request.header("content-type", "application/json").header("webhook-id", message.id);
        let request = request.header("webhook-timestamp", message.now / 1000).header("webhook-signature", signature);
        let answer = request.body(message.body.to_owned()).send().await.map_err(|error| reason(&error))?;
        let status = answer.status();
        read(answer).await;
        match status {
            status if status.is_success() => Ok(()),
            status if status.is_redirection() => Err(format!(
                "it answered {} with another address: enter that one, redirects are not followed",
                status.as_u16()
            )),
            StatusCode::GONE => Err("it answered 410: the address is gone".to_owned()),
            status => Err(format!("it answered {}", status.as_u16())),
        }
    }
}

/// Reads the beginning of an answer, so that its sender can finish.
async fn read(answer: reqwest::Response) {
    let (mut pieces, mut read) = (answer.bytes_stream(), 0);
    while let Some(Ok(piece)) = pieces.next().await {
        read += piece.len();
        if read >= MAX_ANSWER_BYTES {
            return;
        }
    }
}

/// The innermost cause; outer ones repeat the address.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it did not answer in time".to_owned();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    format!("it cannot be reached: {cause}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str, until: Option<Millis>) -> WebhookSecret {
        WebhookSecret { secret: text.to_owned(), until }
    }

    /// Vector of the specification of Standard Webhooks.
    #[test]
    fn a_signature_is_that_of_the_specification() {
        let secrets = [secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None)];
        let signature =
            signature(&secrets, 1_614_265_330_000, "msg_p5jXN8AQM9LWM0D4loKWxJek", r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn an_old_secret_signs_until_its_time() {
        let secrets = [secret(&new_secret(), None), secret(&new_secret(), Some(5_000))];
        assert_eq!(signature(&secrets, 4_999, "a", "b").split(' ').count(), 2);
        assert_eq!(signature(&secrets, 5_000, "a", "b").split(' ').count(), 1);
        assert!(new_secret().starts_with("whsec_") && new_secret() != new_secret());
    }
}
