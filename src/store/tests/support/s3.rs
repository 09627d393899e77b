//! A small S3 in this process, in memory, that fails as it is told.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::stream;
use http::{HeaderMap, Method, StatusCode};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

/// Faults of the server.
#[derive(Debug, Default)]
pub struct S3Faults {
    pub ignores_conditions: bool,
    pub is_versioned: bool,
    /// Pause before each answer.
    pub pause: Duration,
    /// Methods that are refused as not allowed.
    pub refused: Vec<Method>,
    /// Error code of every answer.
    pub code: Option<(u16, &'static str)>,
    /// Every answer of this number is a 503.
    pub fails_each: Option<usize>,
    /// Bodies of downloads that are cut.
    pub cuts: AtomicUsize,
    /// Answers to finished uploads that are lost: the upload is done, and a 500 is sent.
    pub lost_completions: AtomicUsize,
}

/// Parts of an unfinished upload by number.
type UploadParts = BTreeMap<usize, Bytes>;

#[derive(Default)]
struct Held {
    objects: BTreeMap<String, Bytes>,
    uploads: BTreeMap<String, UploadParts>,
    requests: usize,
    seen: Vec<String>,
}

/// A running server; it ends with its runtime.
#[derive(Clone)]
pub struct FaultyS3 {
    pub address: String,
    held: Arc<Mutex<Held>>,
    pub faults: Arc<S3Faults>,
}

impl FaultyS3 {
    pub async fn start(faults: S3Faults) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = Self { address, held: Arc::default(), faults: Arc::new(faults) };
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        server
    }

    /// Keys of all objects.
    pub fn keys(&self) -> Vec<String> {
        self.held.lock().objects.keys().cloned().collect()
    }

    /// Number of uploads that were neither finished nor removed.
    pub fn unfinished(&self) -> usize {
        self.held.lock().uploads.len()
    }

    /// Methods and keys of all requests.
    pub fn seen(&self) -> Vec<String> {
        self.held.lock().seen.clone()
    }

    /// Changes an object behind the back of its owner.
    pub fn change(&self, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut held = self.held.lock();
        let object = held.objects.get_mut(key).unwrap();
        let mut bytes = object.to_vec();
        change(&mut bytes);
        *object = bytes.into();
    }
}

fn takes_one(count: &AtomicUsize) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)).is_ok()
}

async fn answer(State(server): State<FaultyS3>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    // A slow server is what is under test.
    tokio::time::sleep(server.faults.pause).await;
    let query: BTreeMap<String, String> = url_query(head.uri.query().unwrap_or_default());
    let path = decoded(head.uri.path().trim_start_matches('/'));
    let (bucket, key) = path.split_once('/').unwrap_or((&path, ""));
    let mut held = server.held.lock();
    held.requests += 1;
    held.seen.push(format!("{} {key}", head.method));
    if server.faults.fails_each.is_some_and(|each| held.requests % each == 0) {
        return failure(503, "SlowDown");
    }
    if let Some((status, code)) = server.faults.code {
        return failure(status, code);
    }
    if bucket != "notes" {
        return failure(404, "NoSuchBucket");
    }
    if server.faults.refused.contains(&head.method) {
        return failure(403, "AccessDenied");
    }
    match (&head.method, query.get("uploadId")) {
        (&Method::GET, _) if key.is_empty() => list(&held, &query),
        (&Method::GET | &Method::HEAD, _) => get(&server.faults, &held, key, &head.headers),
        (&Method::PUT, Some(upload)) => part(&mut held, upload, &query["partNumber"], body),
        (&Method::PUT, None) => put(&server.faults, &mut held, key, &head.headers, body),
        (&Method::POST, Some(upload)) => complete(&server.faults, &mut held, key, upload),
        (&Method::POST, None) => {
            let upload = format!("upload{}", held.requests);
            held.uploads.insert(upload.clone(), UploadParts::new());
            xml(&format!(
                "<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
            ))
        }
        (&Method::DELETE, Some(upload)) => {
            held.uploads.remove(upload);
            status(204)
        }
        (&Method::DELETE, None) => {
            held.objects.remove(key);
            status(204)
        }
        _ => failure(501, "NotImplemented"),
    }
}

fn put(faults: &S3Faults, held: &mut Held, key: &str, headers: &HeaderMap, body: Bytes) -> Response {
    if headers.contains_key("if-none-match") && !faults.ignores_conditions && held.objects.contains_key(key) {
        return failure(412, "PreconditionFailed");
    }
    let etag = etag(&body);
    held.objects.insert(key.to_owned(), body);
    let answer = Response::builder().header("etag", etag);
    let answer = if faults.is_versioned { answer.header("x-amz-version-id", "v1") } else { answer };
    answer.body(Body::empty()).unwrap()
}

fn part(held: &mut Held, upload: &str, number: &str, body: Bytes) -> Response {
    let Some(parts) = held.uploads.get_mut(upload) else { return failure(404, "NoSuchUpload") };
    let etag = etag(&body);
    parts.insert(number.parse().unwrap(), body);
    Response::builder().header("etag", etag).body(Body::empty()).unwrap()
}

fn complete(faults: &S3Faults, held: &mut Held, key: &str, upload: &str) -> Response {
    let Some(parts) = held.uploads.remove(upload) else { return failure(404, "NoSuchUpload") };
    let whole: Vec<u8> = parts.into_values().flatten().collect();
    let etag = etag(&whole);
    held.objects.insert(key.to_owned(), whole.into());
    if takes_one(&faults.lost_completions) {
        return failure(500, "InternalError");
    }
    xml(&format!(
        "<CompleteMultipartUploadResult><Bucket>notes</Bucket><Key>{key}</Key><ETag>{etag}</ETag></CompleteMultipartUploadResult>"
    ))
}

fn get(faults: &S3Faults, held: &Held, key: &str, headers: &HeaderMap) -> Response {
    let Some(object) = held.objects.get(key) else { return failure(404, "NoSuchKey") };
    let range = headers.get("range").and_then(|range| range.to_str().ok()?.strip_prefix("bytes="));
    let (from, end) = match range.and_then(|range| range.split_once('-')) {
        Some((from, to)) => (from.parse().unwrap(), to.parse().map_or(object.len(), |to: usize| to + 1)),
        None => (0, object.len()),
    };
    let bytes = object.slice(from..end.min(object.len()));
    let answer = Response::builder()
        .header("etag", etag(object))
        .header("last-modified", "Sun, 29 Nov 2026 10:00:00 GMT")
        .header("content-length", bytes.len());
    let answer = match range {
        Some(_) => answer
            .status(206)
            .header("content-range", format!("bytes {from}-{}/{}", from + bytes.len() - 1, object.len())),
        None => answer,
    };
    let body = match bytes.len() > 1 && takes_one(&faults.cuts) {
        true => {
            let half = bytes.slice(..bytes.len() / 2);
            Body::from_stream(stream::iter([Ok(half), Err(std::io::Error::other("cut"))]))
        }
        false => Body::from(bytes),
    };
    answer.body(body).unwrap()
}

/// Lists one key a page, so that every list has pages.
fn list(held: &Held, query: &BTreeMap<String, String>) -> Response {
    let prefix = query.get("prefix").map_or("", String::as_str);
    let after = query.get("continuation-token").map_or("", String::as_str);
    let mut keys = held.objects.range::<str, _>((Bound::Excluded(after), Bound::Unbounded));
    let mut answer = String::from("<ListBucketResult>");
    let found = keys.find(|(key, _)| key.starts_with(prefix));
    if let Some((key, object)) = found {
        let folder = query.get("delimiter").and_then(|_| key[prefix.len()..].split_once('/'));
        let next = match folder {
            Some((folder, _)) => {
                let _ = write!(answer, "<CommonPrefixes><Prefix>{prefix}{folder}/</Prefix></CommonPrefixes>");
                format!("{prefix}{folder}0")
            }
            None => {
                let _ = write!(
                    answer,
                    "<Contents><Key>{key}</Key><LastModified>2026-11-29T10:00:00.345Z</LastModified><ETag>x</ETag><Size>{}</Size></Contents>",
                    object.len()
                );
                key.clone()
            }
        };
        let _ = write!(answer, "<NextContinuationToken>{next}</NextContinuationToken>");
    }
    xml(&(answer + "</ListBucketResult>"))
}

fn url_query(query: &str) -> BTreeMap<String, String> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect()
}

/// Replaces `%2B` and the like by their characters.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        match (first, code) {
            (b'%', Some(byte)) => (bytes.push(byte), rest = &after[2..]),
            _ => (bytes.push(*first), rest = after),
        };
    }
    String::from_utf8(bytes).unwrap()
}

fn etag(bytes: &[u8]) -> String {
    format!("\"{}\"", hex::encode(&Sha256::digest(bytes)[..16]))
}

fn status(status: u16) -> Response {
    Response::builder().status(StatusCode::from_u16(status).unwrap()).body(Body::empty()).unwrap()
}

fn xml(text: &str) -> Response {
    Response::builder().header("content-type", "application/xml").body(Body::from(text.to_owned())).unwrap()
}

fn failure(status: u16, code: &str) -> Response {
    let text = format!("<Error><Code>{code}</Code><Message>planted</Message></Error>");
    Response::builder().status(status).header("content-type", "application/xml").body(Body::from(text)).unwrap()
}
