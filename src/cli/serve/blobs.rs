//! The option `--blobs`: a folder or a bucket for large outputs.

use clap::Args;
use notarium_store::BlobLocation;

use crate::cli::Failure;

/// Location of blobs outside of the data folder.
#[derive(Debug, Clone, Args)]
pub struct BlobsArg {
    /// Folder or bucket (s3://BUCKET/PREFIX) for large outputs, instead of `blobs` in the data folder. Keys and the address of the bucket's
    /// server come from the variables AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL and
    /// AWS_ALLOW_HTTP.
    // A text: the parser would show a wrong value, with keys that somebody wrote into it.
    #[arg(long, value_name = "DIR|URL", env = "NOTARIUM_BLOBS")]
    blobs: Option<String>,
}

impl BlobsArg {
    /// True if a location is given.
    pub fn is_given(&self) -> bool {
        self.blobs.as_deref().is_some_and(|text| !text.is_empty())
    }

    /// The location; `None`: the data folder.
    pub fn location(&self) -> Result<Option<BlobLocation>, Failure> {
        let Some(text) = self.blobs.as_deref().filter(|text| !text.is_empty()) else { return Ok(None) };
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let location = BlobLocation::parse(text, variables);
        let location = location.map_err(|error| Failure::usage(format!("--blobs: {error}")))?;
        Ok(Some(match location {
            // Absolute, because the data folder remembers it.
            BlobLocation::Folder(folder) => BlobLocation::Folder(std::path::absolute(&folder).unwrap_or(folder)),
            bucket => bucket,
        }))
    }
}
