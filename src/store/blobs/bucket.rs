//! A bucket of a server that speaks S3's protocol, with a prefix.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::signer::Signer;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::BlobError;
use super::location::{BlobLocationError, BucketLocation};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time without a byte. The whole request has no limit: a download takes as long as its reader does.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
const RETRIES: usize = 6;
/// Time after the start of a request in which it is retried. A download that is cut late continues too.
const RETRY_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// The same for the probe at a start, which must not hang.
const PROBE_READ_TIMEOUT: Duration = Duration::from_secs(5);
const PROBE_RETRIES: usize = 1;

/// Variables that each name a source of keys.
const SOURCES_OF_KEYS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// An open bucket.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    pub location: BucketLocation,
    client: AmazonS3,
}

impl Bucket {
    /// Makes a client; nothing is sent yet.
    pub fn open(location: &BucketLocation) -> Result<Self, BlobLocationError> {
        Ok(Self { location: location.clone(), client: client(location, RETRIES, READ_TIMEOUT)? })
    }

    /// Objects below the prefix.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        self.below_prefix(self.client.clone())
    }

    /// The same objects, for a client that gives up early.
    pub fn objects_for_probe(&self) -> Result<Arc<dyn ObjectStore>, BlobLocationError> {
        Ok(self.below_prefix(client(&self.location, PROBE_RETRIES, PROBE_READ_TIMEOUT)?))
    }

    fn below_prefix(&self, client: AmazonS3) -> Arc<dyn ObjectStore> {
        match self.location.prefix.is_empty() {
            true => Arc::new(client),
            false => Arc::new(PrefixStore::new(client, self.location.prefix.as_str())),
        }
    }

    /// True if the environment names keys, or where to get them. Without, a machine of the cloud is asked for its own.
    pub fn has_keys(&self) -> bool {
        SOURCES_OF_KEYS.iter().any(|name| self.location.settings.contains_key(*name))
    }

    /// Returns an address that downloads the object without keys.
    pub async fn link(&self, path: &Path, lifetime: Duration) -> Result<String, BlobError> {
        let path: Path = Path::from(self.location.prefix.as_str()).parts().chain(path.parts()).collect();
        Ok(self.client.signed_url(http::Method::GET, &path, lifetime).await?.to_string())
    }
}

fn client(location: &BucketLocation, retries: usize, read_timeout: Duration) -> Result<AmazonS3, BlobLocationError> {
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(5), ..BackoffConfig::default() };
    let retry = RetryConfig { backoff, max_retries: retries, retry_timeout: RETRY_TIMEOUT };
    let options = ClientOptions::new()
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_read_timeout(read_timeout);
    // Not every server knows the request that deletes many objects.
    let mut builder =
        AmazonS3Builder::new().with_client_options(options).with_retry(retry).with_disable_bulk_delete(true);
    for (name, value) in &location.settings {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value);
        }
    }
    let endpoint = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let endpoint = endpoint.iter().find_map(|name| location.settings.get(*name));
    let allows_http = location.settings.get("AWS_ALLOW_HTTP").is_some_and(|value| is_true(value));
    if let Some(endpoint) = endpoint.filter(|endpoint| endpoint.starts_with("http://") && !allows_http) {
        return Err(BlobLocationError::WithoutTls { endpoint: endpoint.clone() });
    }
    builder
        .with_bucket_name(&location.bucket)
        .build()
        .map_err(|error| BlobLocationError::Settings { place: location.to_string(), reason: error.to_string() })
}

fn is_true(value: &str) -> bool {
    ["1", "true", "on", "yes", "y"].contains(&value.to_ascii_lowercase().as_str())
}
