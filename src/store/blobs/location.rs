//! Location of blobs: a folder, or a bucket of a server that speaks S3's protocol.
//!
//! A bucket's keys come from the `AWS_*` variables. They are never part of its address, which is shown and logged.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use notarium_record::Millis;

use super::BlobError;

const SCHEME: &str = "s3://";

/// Location of blobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlobLocation {
    Folder(PathBuf),
    Bucket(BucketLocation),
}

/// A prefix in a bucket, with the settings of its server.
#[derive(Clone, PartialEq, Eq)]
pub struct BucketLocation {
    pub bucket: String,
    /// Segments with `/` between them; empty: the whole bucket.
    pub prefix: String,
    /// Values of the `AWS_*` variables. They hold keys: nothing prints them.
    #[cfg_attr(not(feature = "s3"), allow(dead_code, reason = "only a build with S3 connects"))]
    pub(super) settings: BTreeMap<String, String>,
}

impl fmt::Debug for BucketLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "BucketLocation({self})")
    }
}

impl fmt::Display for BucketLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.prefix.is_empty() { "" } else { "/" };
        write!(formatter, "{SCHEME}{}{separator}{}", self.bucket, self.prefix)
    }
}

impl fmt::Display for BlobLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(formatter, "{}", folder.display()),
            Self::Bucket(bucket) => bucket.fmt(formatter),
        }
    }
}

/// Properties of a bucket that a start found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BucketProbe {
    /// A put with `If-None-Match: *` is refused if there is such an object.
    pub has_conditions: bool,
    /// Deleted bytes stay as old versions.
    pub is_versioned: bool,
    /// Time of the bucket's server.
    pub stored_at: Millis,
}

/// Reason why a location of blobs cannot be used. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum BlobLocationError {
    #[error(
        "'{text}' is no location of blobs: write a folder, or s3://BUCKET/PREFIX in letters, digits, '-', '_' and '.'"
    )]
    Form { text: String },
    #[error(
        "the address of a bucket must not have keys in it: write s3://BUCKET/PREFIX, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )]
    HasKeys,
    #[error(
        "this program was built without S3: use a release, build it with `cargo build --release`, or keep the blobs in a folder"
    )]
    NotBuilt,
    #[error("{endpoint} is without TLS: use an https:// address in AWS_ENDPOINT_URL, or set AWS_ALLOW_HTTP=true")]
    WithoutTls { endpoint: String },
    #[error("the bucket {place} cannot be opened ({reason}): correct the AWS_* variables")]
    Settings { place: String, reason: String },
    #[error("there are no keys for {place}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")]
    NoKeys { place: String },
    #[error(
        "the server of {place} does not accept the keys ({reason}): correct AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
    )]
    WrongKeys { place: String, reason: String },
    #[error("there is no bucket for {place}: create it, or correct the name (--blobs) or AWS_ENDPOINT_URL")]
    NoBucket { place: String },
    #[error("the bucket of {place} is in another region ({reason}): set AWS_REGION to it")]
    OtherRegion { place: String, reason: String },
    #[error("this machine's clock differs from the clock of {place} ({reason}): set it, for instance by NTP")]
    WrongClock { place: String, reason: String },
    #[error(
        "the keys may not {action} objects in {place} ({reason}): allow s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject"
    )]
    NotAllowed { place: String, action: &'static str, reason: String },
    #[error("{place} returned other bytes than those that were put there: check the server behind AWS_ENDPOINT_URL")]
    OtherBytes { place: String },
    #[error("{place} does not answer ({reason}): check AWS_ENDPOINT_URL, AWS_REGION and the network, then start again")]
    Unreachable { place: String, reason: String },
    #[error(
        "the large outputs of this data are in {place}: start with --blobs {place}. If they were moved into the data folder, delete {mark}"
    )]
    Elsewhere { place: String, mark: String },
    #[error(transparent)]
    Blobs(#[from] BlobError),
}

impl BlobLocation {
    /// Parses a folder or `s3://BUCKET/PREFIX`; `variables` are those of the environment.
    pub fn parse(text: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, BlobLocationError> {
        let wrong = || BlobLocationError::Form { text: text.to_owned() };
        let Some(address) = text.strip_prefix(SCHEME) else {
            let has_keys = text.split_once("://").is_some_and(|(_, rest)| rest.contains('@'));
            return match text.contains("://") {
                true if has_keys => Err(BlobLocationError::HasKeys),
                true => Err(wrong()),
                false if text.trim().is_empty() => Err(wrong()),
                false => Ok(Self::Folder(text.into())),
            };
        };
        if address.contains('@') {
            return Err(BlobLocationError::HasKeys);
        }
        let (bucket, prefix) = address.split_once('/').unwrap_or((address, ""));
        let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
        let is_right = is_segment(bucket) && (prefix.is_empty() || prefix.split('/').all(is_segment));
        if !is_right {
            return Err(wrong());
        }
        let settings = variables.into_iter().filter(|(name, value)| name.starts_with("AWS_") && !value.is_empty());
        Ok(Self::Bucket(BucketLocation {
            bucket: bucket.to_owned(),
            prefix: prefix.to_owned(),
            settings: settings.collect(),
        }))
    }
}

fn is_segment(text: &str) -> bool {
    let is_known = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    !text.is_empty() && text.chars().all(is_known) && !text.chars().all(|character| character == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<BlobLocation, BlobLocationError> {
        let variables = [("AWS_SECRET_ACCESS_KEY", "planted"), ("AWS_REGION", ""), ("HOME", "x")];
        BlobLocation::parse(text, variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    #[test]
    fn a_location_is_a_folder_or_a_bucket() {
        for (text, shown) in [
            ("/srv/blobs", "/srv/blobs"),
            ("blobs", "blobs"),
            ("s3://notes", "s3://notes"),
            ("s3://notes/", "s3://notes"),
            ("s3://notes/team/a.b/", "s3://notes/team/a.b"),
        ] {
            assert_eq!(parse(text).unwrap().to_string(), shown);
        }
        let BlobLocation::Bucket(bucket) = parse("s3://notes/team").unwrap() else { panic!("it is a bucket") };
        assert_eq!((bucket.bucket.as_str(), bucket.prefix.as_str(), bucket.settings.len()), ("notes", "team", 1));
    }

    #[test]
    fn a_wrong_location_is_refused() {
        for text in
            ["", " ", "s3://", "s3:///x", "s3://a//b", "s3://a/../b", "s3://a/b?c", "s3://a b", "gs://a", "http://a/b"]
        {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, BlobLocationError::Form { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn keys_are_neither_taken_from_an_address_nor_shown() {
        for text in ["s3://key:planted@bucket/x", "S3://key:planted@bucket", "https://key:planted@host/bucket"] {
            let error = parse(text).unwrap_err();
            assert!(matches!(error, BlobLocationError::HasKeys), "{text}: {error}");
            assert!(!error.to_string().contains("planted"));
        }
        assert_eq!(format!("{:?}", parse("s3://notes/team").unwrap()), "Bucket(BucketLocation(s3://notes/team))");
    }
}
