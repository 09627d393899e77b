//! Exact allow-lists of `Host` and `Origin`, for REST and sockets.
//!
//! A foreign page cannot use the server through a visitor's browser. A name that an attacker points to this machine
//! (DNS rebinding) is refused. Programs send no `Origin`, and pass on to the check of their token.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use reqwest::Url;

use crate::http::problem::Problem;

/// Allowed values of `Host` and `Origin`. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedOrigins(Arc<OriginLists>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OriginLists {
    /// `host:port`, or the host alone if the port is the scheme's default.
    hosts: BTreeSet<String>,
    /// `scheme://host[:port]`.
    origins: BTreeSet<String>,
}

/// The text is not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an origin: write it as https://notes.example.org or http://192.0.2.1:8000, without a path")]
pub struct InvalidOrigin(String);

impl AllowedOrigins {
    /// Allows this machine's loopback names, at the port that the server is bound to; with TLS by both protocols.
    pub fn loopback(port: u16, has_tls: bool) -> Self {
        let schemes = if has_tls { ["http", "https"].as_slice() } else { &["http"] };
        let names = ["localhost", "127.0.0.1", "[::1]"];
        let own = schemes.iter().flat_map(|scheme| names.map(|host| format!("{scheme}://{host}:{port}")));
        own.fold(Self::default(), |allowed, origin| allowed.clone().and(&origin).unwrap_or(allowed))
    }

    /// Also allows this public address, and its `Host`.
    pub fn and(mut self, text: &str) -> Result<Self, InvalidOrigin> {
        let origin = parse_origin(text).ok_or_else(|| InvalidOrigin(text.to_owned()))?;
        let lists = Arc::make_mut(&mut self.0);
        lists.hosts.extend(origin.split_once("://").map(|(_, host)| host.to_owned()));
        lists.origins.insert(origin);
        Ok(self)
    }

    /// Refuses a request to another host name, or from a page of another origin.
    pub fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
        self.check_host(headers, uri)?;
        self.check_origin(headers)
    }

    fn check_host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Problem> {
        // HTTP/2 has the host in the address, and a request to a proxy in both places: each is checked.
        let in_address = uri.authority().map(http::uri::Authority::as_str);
        let named = match only(headers, &header::HOST) {
            Ok(host) => [host, in_address],
            Err(()) => [Some(""), None],
        };
        let is_known = |host: &str| self.0.hosts.contains(&host.to_ascii_lowercase());
        if named.iter().any(Option::is_some) && named.into_iter().flatten().all(is_known) {
            return Ok(());
        }
        let detail =
            "this server is not known by that host name: use one that it allows, or allow this one (--allow-host)";
        Err(Problem::new(StatusCode::FORBIDDEN, "wrong_host", detail))
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match only(headers, &header::ORIGIN) {
            Ok(None) => Ok(()),
            Ok(Some(origin)) if self.0.origins.contains(&origin.to_ascii_lowercase()) => Ok(()),
            _ => {
                let detail = "pages of that origin may not use this server: allow it (--allow-origin) if they should";
                Err(Problem::new(StatusCode::FORBIDDEN, "wrong_origin", detail))
            }
        }
    }
}

/// The only value of a header; an error if there are several, or if it is not text.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// The origin as browsers write it: without the scheme's default port.
fn parse_origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_bare = url.path() == "/" && url.query().is_none() && url.username().is_empty() && url.password().is_none();
    (is_web && is_bare).then(|| url.origin().ascii_serialization())
}

/// Outermost layer: `axum::middleware::from_fn_with_state(allowed, check_origin)`.
pub async fn check_origin(State(allowed): State<AllowedOrigins>, request: Request, next: Next) -> Response {
    match allowed.check(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn code(allowed: &AllowedOrigins, headers: &[(HeaderName, &str)]) -> Option<String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        allowed.check(&map, &Uri::from_static("/api/me")).err().map(|problem| problem.code.clone())
    }

    fn host(value: &str) -> (HeaderName, &str) {
        (header::HOST, value)
    }

    fn origin(value: &str) -> (HeaderName, &str) {
        (header::ORIGIN, value)
    }

    #[test]
    fn only_listed_hosts_are_answered() {
        let allowed = AllowedOrigins::loopback(8000, false).and("https://notes.example.org").unwrap();
        for good in ["localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:8000", "notes.example.org"] {
            assert_eq!(code(&allowed, &[host(good)]), None, "{good}");
        }
        let evil = ["localhost", "localhost:8001", "evil.example", "notes.example.org:8000", "localhost:8000.evil", ""];
        for bad in evil {
            assert_eq!(code(&allowed, &[host(bad)]).as_deref(), Some("wrong_host"), "{bad}");
        }
        assert_eq!(code(&allowed, &[]).as_deref(), Some("wrong_host"));
        let elsewhere = Uri::from_static("http://evil.example/api/me");
        let here = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost:8000"))]);
        assert_eq!(allowed.check(&here, &elsewhere).unwrap_err().code, "wrong_host");
        let both = [host("localhost:8000"), host("evil.example")];
        assert_eq!(code(&allowed, &both).as_deref(), Some("wrong_host"));
    }

    #[test]
    fn a_page_of_another_origin_is_refused_and_a_program_is_not() {
        let allowed = AllowedOrigins::loopback(8000, false).and("https://notes.example.org/").unwrap();
        let here = host("localhost:8000");
        for good in ["http://localhost:8000", "http://127.0.0.1:8000", "https://notes.example.org"] {
            assert_eq!(code(&allowed, &[here.clone(), origin(good)]), None, "{good}");
        }
        let evil =
            ["null", "", "http://localhost", "https://localhost:8000", "http://notes.example.org", "https://e.com"];
        for bad in evil {
            assert_eq!(code(&allowed, &[here.clone(), origin(bad)]).as_deref(), Some("wrong_origin"), "{bad}");
        }
        let both = [here.clone(), origin("http://localhost:8000"), origin("https://e.com")];
        assert_eq!(code(&allowed, &both).as_deref(), Some("wrong_origin"));
        assert_eq!(code(&allowed, &[here]), None);
    }

    #[test]
    fn the_schemes_own_port_is_left_out() {
        assert_eq!(code(&AllowedOrigins::loopback(80, false), &[host("localhost"), origin("http://localhost")]), None);
        let allowed = AllowedOrigins::default().and("https://notes.example.org:443").unwrap();
        assert_eq!(code(&allowed, &[host("notes.example.org"), origin("https://notes.example.org")]), None);
    }

    #[test]
    fn an_origin_is_scheme_and_host() {
        for bad in
            ["", "notes.example.org", "ftp://a.org", "https://a.org/path", "https://user@a.org", "https://a.org?x"]
        {
            assert!(AllowedOrigins::default().and(bad).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn the_layer_stands_before_every_route() {
        use axum::body::Body;
        use tower::ServiceExt;

        let allowed = AllowedOrigins::loopback(8000, false);
        let app = axum::Router::new()
            .route("/", axum::routing::get(|| async { "here" }))
            .layer(axum::middleware::from_fn_with_state(allowed, check_origin));
        let status = async |host: &str, origin: Option<&str>| {
            let request = Request::get("/").header(header::HOST, host);
            let request = origin.into_iter().fold(request, |request, origin| request.header(header::ORIGIN, origin));
            app.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status().as_u16()
        };
        assert_eq!(status("localhost:8000", None).await, 200);
        assert_eq!(status("localhost:8000", Some("http://localhost:8000")).await, 200);
        assert_eq!(status("evil.example:8000", None).await, 403);
        assert_eq!(status("localhost:8000", Some("https://evil.example")).await, 403);
    }
}
