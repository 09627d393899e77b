//! Makes a usable provider from settings.

use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;

use super::Provider;
use super::anthropic::Messages;
use super::call::{Dialect, HttpProvider};
use super::capabilities::Protocol;
use super::openai::ChatCompletions;
use super::retry::RetryPolicy;
use super::settings::{ProviderSettings, SetupError};
use super::transport::{CallLimits, http_client};

/// A provider as configured, with the environment of this process, default retries and limits.
pub fn connect(settings: &ProviderSettings) -> Result<Arc<dyn Provider>, SetupError> {
    connect_with(settings, |name| std::env::var(name).ok(), RetryPolicy::default(), CallLimits::default())
}

/// Like [`connect`], with an environment, retries and limits of the caller's choice.
pub fn connect_with(
    settings: &ProviderSettings,
    variable: impl Fn(&str) -> Option<String>,
    retry: RetryPolicy,
    limits: CallLimits,
) -> Result<Arc<dyn Provider>, SetupError> {
    let dialect: Arc<dyn Dialect> = match settings.family.defaults().protocol {
        Protocol::ChatCompletions => Arc::new(ChatCompletions),
        Protocol::Messages => Arc::new(Messages),
    };
    let provider = HttpProvider {
        name: settings.name.clone().unwrap_or_else(|| settings.family.name().to_owned()),
        base_url: settings.base_url()?,
        key: settings.key(variable)?,
        http: http_client(&limits).map_err(SetupError::Http)?,
        limits,
        dialect,
        retry,
        model: settings.model()?,
        settings: settings.clone(),
    };
    warn_of_open_lines(&provider);
    Ok(Arc::new(provider))
}

fn warn_of_open_lines(provider: &HttpProvider) {
    let is_local = |url: Url| {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let is_open = provider.base_url.starts_with("http:") && !Url::parse(&provider.base_url).is_ok_and(is_local);
    if is_open && provider.key.is_some() {
        tracing::warn!(provider = %provider.name, "the key of this provider travels without encryption: use https");
    }
}
