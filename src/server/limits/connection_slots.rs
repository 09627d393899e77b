//! Limits of unauthenticated connections, in total and per network.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use dashmap::DashMap;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of places, of which one network may take a part.
#[derive(Debug, Clone)]
pub struct ConnectionSlots {
    free: Arc<Semaphore>,
    taken: Arc<DashMap<IpAddr, usize>>,
    per_network: usize,
}

/// A place, released when it is dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    taken: Arc<DashMap<IpAddr, usize>>,
    network: Option<IpAddr>,
    _permit: OwnedSemaphorePermit,
}

impl ConnectionSlots {
    pub fn new(total: usize, per_network: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(total)), taken: Arc::default(), per_network }
    }

    /// Takes a place. `None`: all are taken, or all of this network. A loopback address has no limit per network,
    /// because an unconfigured proxy may be there.
    pub fn enter(&self, address: Option<IpAddr>) -> Option<ConnectionSlot> {
        let permit = self.free.clone().try_acquire_owned().ok()?;
        let network = address.filter(|address| !address.to_canonical().is_loopback()).map(network_of);
        if let Some(network) = network {
            let mut count = self.taken.entry(network).or_default();
            if *count >= self.per_network {
                return None;
            }
            *count += 1;
        }
        Some(ConnectionSlot { taken: self.taken.clone(), network, _permit: permit })
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let Some(network) = self.network else { return };
        self.taken.remove_if_mut(&network, |_, count| {
            *count -= 1;
            *count == 0
        });
    }
}

/// Network that is counted together: one customer of an IPv6 provider has a whole /64.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn one_network_does_not_take_all_places_and_gives_back_what_it_had() {
        let places = ConnectionSlots::new(4, 2);
        let first = places.enter(at("2001:db8::1")).unwrap();
        let _second = places.enter(at("2001:db8::2")).unwrap();
        assert!(places.enter(at("2001:db8::3")).is_none(), "a third of the same network");
        let _other = places.enter(at("192.0.2.1")).unwrap();
        drop(first);
        let _third = places.enter(at("2001:db8::3")).unwrap();
        let _loopback = places.enter(at("127.0.0.1")).unwrap();
        assert!(places.enter(at("192.0.2.2")).is_none(), "all are taken");
    }

    #[test]
    fn networks_that_left_are_forgotten() {
        let places = ConnectionSlots::new(4, 2);
        drop((places.enter(at("192.0.2.1")), places.enter(at("::ffff:192.0.2.1")), places.enter(at("192.0.2.1"))));
        assert!(places.taken.is_empty());
    }
}
