//! Client address behind proxies that the operator trusts.

use std::net::{IpAddr, SocketAddr};

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Networks of proxies whose `X-Forwarded-For` is trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl FromIterator<IpNet> for TrustedProxies {
    fn from_iter<I: IntoIterator<Item = IpNet>>(networks: I) -> Self {
        Self(networks.into_iter().collect())
    }
}

impl TrustedProxies {
    /// Address of the client: read from the end of the chain, the first address that is not a trusted proxy's.
    pub fn client(&self, peer: SocketAddr, headers: &HeaderMap) -> SocketAddr {
        let mut client = peer.ip();
        let values = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
        let chain: Vec<&str> = values.flat_map(|value| value.split(',')).map(str::trim).collect();
        for entry in chain.iter().rev() {
            let Some(address) = entry.parse().ok().filter(|_| self.trusts(client)) else { break };
            client = address;
        }
        SocketAddr::new(client, peer.port())
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn client(trusted: &[&str], peer: &str, forwarded: &[&str]) -> String {
        let proxies: TrustedProxies = trusted.iter().map(|network| network.parse().unwrap()).collect();
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(value).unwrap());
        }
        proxies.client(SocketAddr::new(peer.parse().unwrap(), 1), &headers).ip().to_string()
    }

    #[test]
    fn only_a_trusted_proxy_names_who_is_behind_it() {
        assert_eq!(client(&[], "192.0.2.9", &["203.0.113.5"]), "192.0.2.9");
        assert_eq!(client(&["192.0.2.0/24"], "192.0.2.9", &["203.0.113.5"]), "203.0.113.5");
        assert_eq!(client(&["192.0.2.0/24"], "198.51.100.1", &["203.0.113.5"]), "198.51.100.1");
    }

    #[test]
    fn what_the_client_itself_wrote_before_the_proxy_does_not_count() {
        let proxies = ["192.0.2.0/24", "127.0.0.0/8"];
        assert_eq!(client(&proxies, "192.0.2.9", &["10.0.0.1, 203.0.113.5"]), "203.0.113.5");
        assert_eq!(client(&proxies, "127.0.0.1", &["10.0.0.1", "203.0.113.5, 192.0.2.9"]), "203.0.113.5");
        assert_eq!(client(&proxies, "192.0.2.9", &["who knows"]), "192.0.2.9");
        assert_eq!(client(&proxies, "192.0.2.9", &[]), "192.0.2.9");
    }
}
