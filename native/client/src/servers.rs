//! Where servers are, and by which version of HTTP: what is told of them, and what their records say.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use headway_http::tls::Protocol;

use crate::lookup::{Found, Service};
use crate::options::{Options, ProtocolName};
use crate::plan;
use crate::target::Origin;
use crate::transport::Candidate;

/// The servers of all URLs.
pub(crate) struct Servers {
    /// Where each may be, the best place first.
    pub(crate) candidates: HashMap<Origin, Vec<Candidate>>,
    /// The version that is asked for, or that the first one's HTTPS record names.
    pub(crate) protocol: Protocol,
}

impl Servers {
    /// Looks them up.
    ///
    /// # Errors
    /// There is no address of one.
    pub(crate) fn find(options: &Options) -> Result<Self, String> {
        let mut found: Vec<(Origin, Found)> = Vec::new();
        for origin in options.urls.iter().map(|target| &target.origin) {
            if found.iter().all(|(known, _)| known != origin) {
                found.push((origin.clone(), look_up(origin, options)?));
            }
        }
        let first = found.first().and_then(|(_, found)| found.service.as_ref());
        let protocol = options.protocol.protocol(first);
        let candidates = found.into_iter().map(|(origin, found)| {
            let candidates = candidates(&origin, &found, protocol, options);
            (origin, candidates)
        });
        Ok(Self { candidates: candidates.collect(), protocol })
    }
}

fn look_up(origin: &Origin, options: &Options) -> Result<Found, String> {
    let Found { mut addresses, service } = plan::resolve(origin, options)?;
    if let Some(local) = options.bind {
        addresses.retain(|address| address.is_ipv4() == local.is_ipv4());
    }
    if addresses.is_empty() {
        return Err(format!("{}: no address", origin.host));
    }
    Ok(Found { addresses: interleaved(&addresses), service: service.filter(|_| origin.secure) })
}

/// Both families in turn, beginning with the first one's (RFC 8305, section 4).
fn interleaved(addresses: &[IpAddr]) -> Vec<IpAddr> {
    let is_first = |address: &&IpAddr| address.is_ipv4() == addresses[0].is_ipv4();
    let (first, second): (Vec<_>, Vec<_>) = addresses.iter().partition(is_first);
    let most = first.len().max(second.len());
    (0..most).flat_map(|place| [first.get(place), second.get(place)]).flatten().copied().collect()
}

/// All addresses by the version, and then, to fall back to, all of them by HTTP/2.
fn candidates(
    origin: &Origin,
    found: &Found,
    protocol: Protocol,
    options: &Options,
) -> Vec<Candidate> {
    let follows = options.protocol == ProtocolName::Auto;
    // A service's port is of that service alone, which another version of HTTP would not find.
    let port = found.service.as_ref().and_then(|one: &Service| one.port).filter(|_| follows);
    let by = |protocol: Protocol, port: u16| {
        let all = found.addresses.iter().map(move |&address| SocketAddr::new(address, port));
        all.map(move |remote| Candidate { protocol, remote })
    };
    let best = by(protocol, port.unwrap_or(origin.port));
    let falls_back = follows && options.fall_back && protocol == Protocol::H3;
    let second = by(Protocol::H2, origin.port).filter(|_| falls_back);
    let mut candidates: Vec<_> = best.chain(second).collect();
    if options.tls.early_data {
        // Early data go with the first packets, which a race would have sent to several places.
        candidates.truncate(1);
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns() {
        let addresses = ["::1", "::2", "::3", "10.0.0.1"].map(|one| one.parse().unwrap());
        let expected = ["::1", "10.0.0.1", "::2", "::3"].map(|one| one.parse::<IpAddr>().unwrap());
        assert_eq!(interleaved(&addresses), expected);
    }
}
