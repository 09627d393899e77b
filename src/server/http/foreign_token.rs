//! Tokens of Jupyter's clients, moved to where guards read them: `Authorization: token …`, and `?token=` of WebSockets, whose clients
//! can set no header. Outermost layer: no log sees an address with a token.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use form_urlencoded::Serializer;
use http::{HeaderMap, HeaderValue, Uri, header};

/// Prefix of the Jupyter door. Nowhere else is a token read from an address.
pub const JUPYTER: &str = "/jupyter";

pub async fn move_token(mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if path.strip_prefix(JUPYTER).is_some_and(|rest| rest.starts_with('/')) {
        let (address, token) = without_token(request.uri());
        let is_socket = request.headers().contains_key(header::SEC_WEBSOCKET_KEY);
        if let Some(address) = address {
            *request.uri_mut() = address;
        }
        let headers = request.headers_mut();
        name_bearer(headers);
        let bearer = token.filter(|_| is_socket).and_then(|token| bearer(&token));
        if let Some(bearer) = bearer.filter(|_| !headers.contains_key(header::AUTHORIZATION)) {
            headers.insert(header::AUTHORIZATION, bearer);
        }
    }
    next.run(request).await
}

/// The address without its parameter `token`, if it has one, and its value.
fn without_token(uri: &Uri) -> (Option<Uri>, Option<String>) {
    let Some(query) = uri.query() else { return (None, None) };
    let (tokens, others): (Vec<_>, Vec<_>) =
        form_urlencoded::parse(query.as_bytes()).partition(|(name, _)| name == "token");
    let Some((_, token)) = tokens.into_iter().next() else { return (None, None) };
    let query = Serializer::new(String::new()).extend_pairs(others).finish();
    let address = if query.is_empty() { uri.path().to_owned() } else { format!("{}?{query}", uri.path()) };
    // An address that was valid with the parameter is valid without it; else nothing of it stays.
    (Some(address.parse().unwrap_or_else(|_| Uri::from_static(JUPYTER))), Some(token.into_owned()))
}

fn name_bearer(headers: &mut HeaderMap) {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        value.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("token"));
    if let Some(bearer) = token.and_then(|(_, token)| bearer(token)) {
        headers.insert(header::AUTHORIZATION, bearer);
    }
}

fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.trim())).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_loses_its_token_alone() {
        let cases = [
            (
                "/jupyter/api/kernels/k/channels?session_id=a%20b&token=s3",
                Some("/jupyter/api/kernels/k/channels?session_id=a+b"),
            ),
            ("/jupyter/api?token=s3", Some("/jupyter/api")),
            ("/jupyter/api?a=1", None),
            ("/jupyter/api", None),
        ];
        for (given, expected) in cases {
            let (address, token) = without_token(&given.parse().unwrap());
            assert_eq!(address.map(|uri| uri.to_string()).as_deref(), expected);
            assert_eq!(token.as_deref(), expected.map(|_| "s3"));
        }
    }

    #[test]
    fn jupyters_scheme_is_a_bearer() {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_static("token abc"));
        name_bearer(&mut headers);
        assert_eq!(headers[header::AUTHORIZATION], "Bearer abc");
    }
}
