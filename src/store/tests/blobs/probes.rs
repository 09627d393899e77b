//! Probes of buckets at a start: what a bucket does not do is told, with what to do about it.

use std::time::Duration;

use http::Method;
use notarium_store::BlobLocationError;
use notarium_store::blobs::BucketProbe;

use super::*;

async fn probe_with(url: &str, variables: Vec<(String, String)>) -> Result<BucketProbe, BlobLocationError> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut blobs = Blobs::open(&BlobLocation::parse(url, variables)?, MAX)?;
    blobs.probe("start").await.map(|found| found.expect("it is a bucket"))
}

/// Probes a server with these faults; the error's text.
async fn refused(faults: S3Faults) -> String {
    let server = FaultyS3::start(faults).await;
    probe_with("s3://notes/team", moto::variables(&server.address)).await.unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_bucket_is_left_as_it_was() {
    let server = FaultyS3::start(S3Faults::default()).await;
    let found = probe_with("s3://notes/team", moto::variables(&server.address)).await.unwrap();
    assert_eq!((found.has_conditions, found.is_versioned), (true, false));
    assert_eq!(found.stored_at, 1_795_946_400_000);
    assert!(server.keys().is_empty());
    assert_eq!(server.seen()[0], "PUT team/probe.tmp/start");
}

#[tokio::test(flavor = "multi_thread")]
async fn moto_is_a_good_bucket() {
    let Some(moto) = Moto::start() else { return };
    let found = probe_with("s3://notes/team", moto.variables()).await.unwrap();
    assert_eq!((found.has_conditions, found.is_versioned), (true, false));
    moto.send(
        "PUT",
        "/notes?versioning",
        "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>",
    );
    assert!(probe_with("s3://notes/team", moto.variables()).await.unwrap().is_versioned);
    let error = probe_with("s3://nowhere", moto.variables()).await.unwrap_err();
    assert!(matches!(error, BlobLocationError::NoBucket { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_buckets_are_told() {
    let ignoring =
        FaultyS3::start(S3Faults { ignores_conditions: true, is_versioned: true, ..S3Faults::default() }).await;
    let found = probe_with("s3://notes", moto::variables(&ignoring.address)).await.unwrap();
    assert_eq!((found.has_conditions, found.is_versioned), (false, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_keys_may_not_do_is_named() {
    for (method, action) in [(Method::PUT, "put"), (Method::GET, "get"), (Method::DELETE, "delete")] {
        let said = refused(S3Faults { refused: vec![method], ..S3Faults::default() }).await;
        assert!(
            said.contains(&format!("may not {action} objects in s3://notes/team (AccessDenied: planted)")),
            "{said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_of_the_server_say_what_to_do() {
    for (status, code, told) in [
        (403, "InvalidAccessKeyId", "correct AWS_ACCESS_KEY_ID"),
        (403, "SignatureDoesNotMatch", "correct AWS_ACCESS_KEY_ID"),
        (400, "ExpiredToken", "AWS_SESSION_TOKEN"),
        (403, "RequestTimeTooSkewed", "clock"),
        (400, "AuthorizationHeaderMalformed", "set AWS_REGION"),
        (404, "NoSuchBucket", "create it"),
        (500, "InternalError", "does not answer"),
    ] {
        let said = refused(S3Faults { code: Some((status, code)), ..S3Faults::default() }).await;
        assert!(said.contains(told), "{code}: {said}");
        assert!(!said.contains("planted-secret"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_or_silent_ends_the_probe_early() {
    let begun = std::time::Instant::now();
    let gone = probe_with("s3://notes", moto::variables("127.0.0.1:1")).await.unwrap_err();
    assert!(matches!(gone, BlobLocationError::Unreachable { .. }), "{gone}");
    let silent = refused(S3Faults { pause: Duration::from_secs(60), ..S3Faults::default() }).await;
    assert!(silent.contains("does not answer"), "{silent}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn plain_http_must_be_allowed() {
    let mut variables = moto::variables("127.0.0.1:1");
    variables.retain(|(name, _)| name != "AWS_ALLOW_HTTP");
    let error = probe_with("s3://notes", variables).await.unwrap_err();
    assert!(matches!(error, BlobLocationError::WithoutTls { .. }), "{error}");
}
