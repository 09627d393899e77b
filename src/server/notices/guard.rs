//! Guard against webhooks that reach into private networks: addresses are checked after names were resolved, for each connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::LazyLock;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Networks that no webhook reaches: of this machine, private, shared, of the link, for tests and documents, and reserved ones.
const CLOSED: [&str; 28] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.31.196.0/24",
    "192.52.193.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "192.175.48.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
];

static CLOSED_NETWORKS: LazyLock<(Vec<Ipv4Net>, Vec<Ipv6Net>)> = LazyLock::new(|| {
    let (mut v4, mut v6) = (Vec::new(), Vec::new());
    for network in CLOSED.iter().filter_map(|text| text.parse::<IpNet>().ok()) {
        match network {
            IpNet::V4(network) => v4.push(network),
            IpNet::V6(network) => v6.push(network),
        }
    }
    (v4, v6)
});

/// True if everybody can reach the address by the internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(inner) => is_public_v4(inner),
            None => !CLOSED_NETWORKS.1.iter().any(|network| network.contains(&address)),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !CLOSED_NETWORKS.0.iter().any(|network| network.contains(&address))
}

/// The IPv4 address that a mapped address, or one for translation (64:ff9b::/96), leads to.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, ..] = address.segments();
    let [.., w, x, y, z] = address.octets();
    let is_translated = [a, b, c, d, e, f] == [0x64, 0xff9b, 0, 0, 0, 0];
    address.to_ipv4_mapped().or_else(|| is_translated.then(|| Ipv4Addr::new(w, x, y, z)))
}

/// Reason why an address of a webhook is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookAddressError {
    #[error("that is no address of a webhook: it begins with https:// and has at most {max} characters")]
    Malformed { max: usize },
    #[error("an address of a webhook has no user name, password or fragment: leave it out")]
    HasCredentials,
    #[error(
        "this server sends webhooks to https addresses on the internet alone. Its operator can allow others (--allow-private-webhooks)"
    )]
    Private,
}

/// Longest address.
pub(super) const MAX_URL_CHARACTERS: usize = 2_000;

/// Checks the address of a webhook, as far as that is possible before its name is resolved.
pub(super) fn checked(url: &str, allows_private: bool) -> Result<Url, WebhookAddressError> {
    let malformed = WebhookAddressError::Malformed { max: MAX_URL_CHARACTERS };
    let has_controls = url.chars().any(|letter| letter.is_control() || letter.is_whitespace());
    if url.chars().count() > MAX_URL_CHARACTERS || has_controls {
        return Err(malformed);
    }
    let url = Url::parse(url).map_err(|_| malformed.clone())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(malformed);
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(WebhookAddressError::HasCredentials);
    }
    let is_open = url.scheme() == "https" && literal(&url).is_none_or(is_public);
    if is_open || allows_private { Ok(url) } else { Err(WebhookAddressError::Private) }
}

/// The address, if the URL has a number in place of a name: no name is resolved then.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Resolves names to public addresses alone, so that a name that changes its address (DNS rebinding) reaches nothing else.
pub(super) struct PublicResolver;

/// Error of a name without a public address.
#[derive(Debug, thiserror::Error)]
#[error("its name leads to no address on the internet")]
struct NoPublicAddress;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.filter(|address| is_public(address.ip())).collect();
            if found.is_empty() {
                return Err(Box::new(NoPublicAddress).into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_internet_are_public_and_no_others() {
        let all = CLOSED_NETWORKS.0.len() + CLOSED_NETWORKS.1.len();
        assert_eq!(all, CLOSED.len(), "every network is read");
        for open in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"] {
            assert!(is_public(open.parse().unwrap()), "{open}");
        }
        for closed in [
            "127.0.0.1",
            "10.1.2.3",
            "172.31.0.1",
            "192.168.0.1",
            "169.254.169.254",
            "100.100.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "fd00::1",
            "fe80::1",
            "2002:a00:1::",
            "2001::1",
            "::7f00:1",
        ] {
            assert!(!is_public(closed.parse().unwrap()), "{closed}");
        }
    }

    #[test]
    fn an_address_of_a_webhook_is_https_on_the_internet() {
        assert!(checked("https://example.org/hook?a=1", false).is_ok());
        for (url, reason) in [
            ("ftp://example.org", WebhookAddressError::Malformed { max: MAX_URL_CHARACTERS }),
            ("example.org", WebhookAddressError::Malformed { max: MAX_URL_CHARACTERS }),
            ("https://example.org/a b", WebhookAddressError::Malformed { max: MAX_URL_CHARACTERS }),
            ("https://ann:secret@example.org", WebhookAddressError::HasCredentials),
            ("https://example.org/#x", WebhookAddressError::HasCredentials),
            ("http://example.org", WebhookAddressError::Private),
            ("https://127.0.0.1/", WebhookAddressError::Private),
            ("https://[::1]/", WebhookAddressError::Private),
            ("https://2130706433/", WebhookAddressError::Private),
            ("https://0x7f.1/", WebhookAddressError::Private),
        ] {
            assert_eq!(checked(url, false), Err(reason), "{url}");
        }
        assert!(checked("http://127.0.0.1:9/", true).is_ok());
        assert!(checked("ftp://127.0.0.1", true).is_err());
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_not_resolved() {
        let found = PublicResolver.resolve("localhost".parse().unwrap()).await;
        assert!(found.is_err());
    }
}
