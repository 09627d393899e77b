//! Serves the page for browsers, from the binary. Its files have hashed names and are compressed at build time. The
//! HTML is made for each request, because its policy has a nonce.

use std::borrow::Cow;
use std::io::Read;
use std::sync::OnceLock;

use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::http::extract::Params;
use crate::http::problem::Problem;

/// Contents of a file of the page, by its path: most are there in one compressed form alone (`.gz`, or `.zst` in releases).
pub type PageFiles = fn(&str) -> Option<Cow<'static, [u8]>>;

static PAGE: OnceLock<PageFiles> = OnceLock::new();

/// Sets the files of the page, once in a program. The program embeds them, not this crate, which is compiled without them.
pub fn install_page(files: PageFiles) {
    // A second call would install the same files.
    let _ = PAGE.set(files);
}

fn stored(path: &str) -> Option<Cow<'static, [u8]>> {
    PAGE.get().and_then(|files| files(path))
}

/// Policy of the frame for outputs: inline scripts and styles, embedded images; no network, no storage, no navigation
/// out. `sandbox` gives the frame a unique origin.
const FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' blob:; \
    style-src 'unsafe-inline'; img-src data: blob:; media-src data: blob:; font-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'";

/// Policy of worker scripts, which do not inherit the page's: ruff is WebAssembly, and fetches itself. Other files
/// ignore it.
const WORKER_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

/// The page; `None` if the program has none.
pub fn index(headers: &HeaderMap) -> Option<Result<Response, Problem>> {
    let file = stored("index.html")?;
    let html = String::from_utf8_lossy(&file);
    Some(nonce().map(|nonce| {
        let policy = policy(&nonce, headers);
        let html = html.replace("{nonce}", &nonce);
        ([(header::CONTENT_SECURITY_POLICY, policy), (header::CACHE_CONTROL, no_cache())], Html(html)).into_response()
    }))
}

/// Policy of the page. It names the frame by its whole address, so that an output cannot navigate the frame elsewhere
/// and leak data.
fn policy(nonce: &str, headers: &HeaderMap) -> HeaderValue {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let text = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data: blob:; \
         font-src 'self'; connect-src 'self'; frame-src {host}/frame.html; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

fn nonce() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "no random numbers");
        Problem::unavailable("the server has no random numbers: ask again in a moment")
    })?;
    Ok(STANDARD.encode(bytes))
}

/// Serves a file with a hashed name: it never changes.
pub async fn asset(Params(name): Params<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let mut answer = send(&format!("assets/{name}"), &headers)?;
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(WORKER_POLICY));
    Ok(answer)
}

/// Serves the frame for outputs with scripts.
pub async fn frame(headers: HeaderMap) -> Result<Response, Problem> {
    let mut answer = send("frame.html", &headers)?;
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(FRAME_POLICY));
    answer.headers_mut().insert(header::CACHE_CONTROL, no_cache());
    Ok(answer)
}

fn no_cache() -> HeaderValue {
    HeaderValue::from_static("no-cache")
}

/// Sends the file, compressed if the client accepts that.
fn send(path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    for coding in [Coding::Zstd, Coding::Gzip] {
        if let Some(packed) = stored(&format!("{path}.{}", coding.extension())) {
            return send_packed(packed, coding, content_type(path), headers);
        }
    }
    let missing = || Problem::new(StatusCode::NOT_FOUND, "not_found", "the page has no such file: reload it");
    let data = stored(path).ok_or_else(missing)?;
    Ok(([(header::CONTENT_TYPE, content_type(path)), (header::VARY, "accept-encoding")], data).into_response())
}

/// Compression of a file inside the program.
#[derive(Debug, Clone, Copy)]
pub enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
    fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    /// Name in HTTP.
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn unpacked(self, packed: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self {
            Self::Gzip => GzDecoder::new(packed).read_to_end(&mut bytes)?,
            Self::Zstd => zstd::Decoder::new(packed)?.read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    }
}

/// Sends a compressed file, unpacked to clients that do not take its compression; a layer of the server may compress it as they do.
pub fn send_packed(
    packed: Cow<'static, [u8]>,
    coding: Coding,
    content_type: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let described = [(header::CONTENT_TYPE, content_type), (header::VARY, "accept-encoding")];
    if accepts(headers, coding) {
        return Ok((described, [(header::CONTENT_ENCODING, coding.name())], packed).into_response());
    }
    let unpacked = coding.unpacked(&packed).map_err(|error| {
        tracing::error!(%error, "a file inside the program is broken");
        Problem::unavailable("this file is broken in the server's program: report it")
    })?;
    Ok((described, unpacked).into_response())
}

fn accepts(headers: &HeaderMap, coding: Coding) -> bool {
    let offered = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    offered.split(',').any(|each| {
        let mut parts = each.split(';').map(str::trim);
        parts.next() == Some(coding.name()) && parts.all(|part| !matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_files_are_sent_to_who_accepts_them() {
        for (offered, gzip, zstd) in [
            ("gzip, deflate, br", true, false),
            ("gzip, deflate, br, zstd", true, true),
            ("br;q=0, gzip;q=0.5", true, false),
            ("gzip;q=0, zstd;q=0.1", false, true),
            ("", false, false),
            ("gzipx", false, false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(offered))]);
            let accepted = [Coding::Gzip, Coding::Zstd].map(|coding| accepts(&headers, coding));
            assert_eq!(accepted, [gzip, zstd], "{offered}");
        }
    }

    #[test]
    fn a_file_is_unpacked_for_who_takes_no_compressed_one() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, b"let page;").unwrap();
        let zstd = zstd::encode_all(b"let page;".as_slice(), 3).unwrap();
        for (coding, packed) in [(Coding::Gzip, packed.finish().unwrap()), (Coding::Zstd, zstd)] {
            assert_eq!(coding.unpacked(&packed).unwrap(), b"let page;");
            assert!(coding.unpacked(&packed[..packed.len() - 9]).is_err());
        }
    }

    #[test]
    fn the_policy_lets_in_this_server_alone_and_names_the_frame() {
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("notes.example.org"))]);
        let policy = policy("abc", &headers);
        let policy = policy.to_str().unwrap();
        assert!(policy.contains("frame-src notes.example.org/frame.html;"), "{policy}");
        assert!(policy.contains("style-src 'self' 'nonce-abc'") && !policy.contains("unsafe"), "{policy}");
    }
}
