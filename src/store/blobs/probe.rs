//! Probe of a bucket: puts, reads and deletes a small object before the server relies on it.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use notarium_record::Millis;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use super::bucket::Bucket;
use super::location::{BlobLocationError, BucketProbe};
use super::told_by_bucket;

/// Folder of the probe's objects: no id of a notebook.
const FOLDER: &str = "probe.tmp";
const TIMEOUT: Duration = Duration::from_secs(20);

/// Probes the bucket with an object of this name.
pub(super) async fn probe(bucket: &Bucket, name: &str) -> Result<BucketProbe, BlobLocationError> {
    let probe = Probe { bucket, objects: &*bucket.objects_for_probe()?, path: Path::from(format!("{FOLDER}/{name}")) };
    let reason = || format!("no answer within {} seconds", TIMEOUT.as_secs());
    let place = || bucket.location.to_string();
    match tokio::time::timeout(TIMEOUT, probe.run()).await {
        Ok(found) => found,
        Err(_) if !bucket.has_keys() => Err(BlobLocationError::NoKeys { place: place() }),
        Err(_) => Err(BlobLocationError::Unreachable { place: place(), reason: reason() }),
    }
}

struct Probe<'a> {
    bucket: &'a Bucket,
    objects: &'a dyn ObjectStore,
    path: Path,
}

impl Probe<'_> {
    async fn run(&self) -> Result<BucketProbe, BlobLocationError> {
        let bytes = Bytes::from(self.path.to_string());
        let put = self.objects.put(&self.path, bytes.clone().into()).await;
        let put = put.map_err(|error| self.refused("put", &error))?;
        let found = self.objects.get(&self.path).await.map_err(|error| self.refused("get", &error))?;
        let stored_at = Millis::try_from(found.meta.last_modified.timestamp_millis()).unwrap_or(0);
        if found.bytes().await.map_err(|error| self.refused("get", &error))? != bytes {
            return Err(BlobLocationError::OtherBytes { place: self.bucket.location.to_string() });
        }
        let has_conditions = self.refuses_second_put(bytes).await?;
        if let Some(Err(error)) = self.objects.list(Some(&Path::from(FOLDER))).next().await {
            return Err(self.refused("list", &error));
        }
        self.objects.delete(&self.path).await.map_err(|error| self.refused("delete", &error))?;
        Ok(BucketProbe { has_conditions, is_versioned: put.version.is_some(), stored_at })
    }

    /// Puts the object again if it does not exist; false: that succeeds, or the server does not know the condition.
    async fn refuses_second_put(&self, bytes: Bytes) -> Result<bool, BlobLocationError> {
        let options = PutOptions::from(PutMode::Create);
        match self.objects.put_opts(&self.path, bytes.into(), options).await {
            Err(object_store::Error::AlreadyExists { .. }) => Ok(true),
            Ok(_) => Ok(false),
            Err(error) => {
                tracing::debug!(%error, "a put under a condition failed");
                Ok(false)
            }
        }
    }

    /// Names the reason of a refusal by its status and S3's error code.
    fn refused(&self, action: &'static str, error: &object_store::Error) -> BlobLocationError {
        let (text, reason) = (error.to_string(), short(error));
        let place = self.bucket.location.to_string();
        let has = |codes: &[&str]| codes.iter().any(|code| text.contains(code));
        if !self.bucket.has_keys() && has(&["169.254.169.254", "metadata endpoint", "InstanceCredentials"]) {
            return BlobLocationError::NoKeys { place };
        }
        if has(&["RequestTimeTooSkewed"]) {
            return BlobLocationError::WrongClock { place, reason };
        }
        if has(&["AuthorizationHeaderMalformed", "PermanentRedirect", "without LOCATION", "IllegalLocationConstraint"])
        {
            return BlobLocationError::OtherRegion { place, reason };
        }
        if has(&["InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "InvalidClientTokenId"])
        {
            return BlobLocationError::WrongKeys { place, reason };
        }
        match error {
            object_store::Error::NotFound { .. } => BlobLocationError::NoBucket { place },
            object_store::Error::PermissionDenied { .. } => BlobLocationError::NotAllowed { place, action, reason },
            object_store::Error::Unauthenticated { .. } => BlobLocationError::WrongKeys { place, reason },
            _ => BlobLocationError::Unreachable { place, reason },
        }
    }
}

/// S3's error code and message, else the innermost cause.
fn short(error: &object_store::Error) -> String {
    told_by_bucket(error).unwrap_or_else(|| {
        let mut cause: &dyn Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        cause.to_string()
    })
}
