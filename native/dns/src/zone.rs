//! What the resolver knows, as a file states it, and what follows from that for a question.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use domain::base::iana::{Rcode, Rtype};
use domain::rdata::svcb::value::{Alpn, AlpnBuilder, Ipv4Hint, Ipv6Hint, Port};
use domain::rdata::svcb::{PushError, SvcParams, SvcParamsBuilder};
use domain::rdata::{A, Aaaa, AllRecordData, Cname, Https};
use serde::Deserialize;

/// A name in DNS.
pub(crate) type Name = domain::base::Name<Vec<u8>>;
/// What a record says.
pub(crate) type Data = AllRecordData<Vec<u8>, Name>;

/// More than a resolver follows is a mistake, even if it ends.
const MOST_ALIASES: usize = 16;

/// A zone file's content.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ZoneFile {
    ttl_s: u32,
    names: BTreeMap<String, StatedName>,
    /// Types of which no question is answered.
    #[serde(default)]
    drops: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedName {
    #[serde(default)]
    addresses: Vec<IpAddr>,
    #[serde(default)]
    alias: Option<String>,
    #[serde(default)]
    https: Vec<StatedService>,
    /// Whether no question for it is answered.
    #[serde(default)]
    silent: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedService {
    priority: u16,
    #[serde(default)]
    target: String,
    #[serde(default)]
    alpn: Vec<String>,
    #[serde(default)]
    port: Option<u16>,
    #[serde(default)]
    hints: Vec<IpAddr>,
}

/// Why a zone file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ZoneError {
    /// It is no JSON, or not what is expected.
    #[error("{0}")]
    Form(#[from] serde_json::Error),
    /// A name is none.
    #[error("{0:?} is not a name of DNS")]
    Name(String),
    /// A type is none.
    #[error("{0:?} is not a type of record")]
    Type(String),
    /// A service cannot be encoded.
    #[error("the HTTPS record of {0} cannot be encoded")]
    Service(String),
}

#[derive(Debug, Default)]
struct Known {
    records: Vec<(Rtype, Data)>,
    alias: Option<Name>,
    silent: bool,
}

/// What the resolver knows.
#[derive(Debug)]
pub(crate) struct Zone {
    pub(crate) ttl_s: u32,
    names: BTreeMap<Name, Known>,
    drops: Vec<Rtype>,
}

/// What follows for a question.
#[derive(Debug)]
pub(crate) enum Finding {
    /// It is not answered.
    Silence,
    /// It is answered by these records, which may be none.
    Records {
        /// Whether the name exists, and can be resolved.
        rcode: Rcode,
        /// Aliases on the way first.
        records: Vec<(Name, Data)>,
        /// What is wrong with the zone, if something is.
        fault: Option<String>,
    },
}

impl Zone {
    /// Reads a zone file.
    pub(crate) fn read(text: &str) -> Result<Self, ZoneError> {
        let file: ZoneFile = serde_json::from_str(text)?;
        let mut names = BTreeMap::new();
        for (name, stated) in &file.names {
            names.insert(parsed(name)?, known(name, stated)?);
        }
        let drops = file
            .drops
            .iter()
            .map(|one| Rtype::from_str(one).map_err(|_| ZoneError::Type(one.clone())));
        Ok(Self { ttl_s: file.ttl_s, names, drops: drops.collect::<Result<_, _>>()? })
    }

    /// What is answered to a question, as a recursive resolver does: aliases are followed (RFC 1034, section 5.3.3).
    pub(crate) fn find(&self, name: &Name, rtype: Rtype) -> Finding {
        if self.drops.contains(&rtype) {
            return Finding::Silence;
        }
        let (mut at, mut records) = (name.clone(), Vec::new());
        let mut way = vec![name.clone()];
        loop {
            let Some(known) = self.names.get(&at) else {
                return Finding::Records { rcode: Rcode::NXDOMAIN, records, fault: None };
            };
            if known.silent {
                return Finding::Silence;
            }
            let Some(alias) = known.alias.as_ref().filter(|_| rtype != Rtype::CNAME) else {
                let own = known.records.iter().filter(|(kind, _)| *kind == rtype);
                records.extend(own.map(|(_, data)| (at.clone(), data.clone())));
                return Finding::Records { rcode: Rcode::NOERROR, records, fault: None };
            };
            let again = way.contains(alias);
            way.push(alias.clone());
            if again || way.len() > MOST_ALIASES {
                let told: Vec<_> = way.iter().map(ToString::to_string).collect();
                let fault = Some(format!("aliases that do not end: {}", told.join(" > ")));
                return Finding::Records { rcode: Rcode::SERVFAIL, records: Vec::new(), fault };
            }
            records.push((at, Cname::new(alias.clone()).into()));
            at = alias.clone();
        }
    }
}

fn parsed(name: &str) -> Result<Name, ZoneError> {
    Name::from_str(name).map_err(|_| ZoneError::Name(name.to_owned()))
}

fn known(name: &str, stated: &StatedName) -> Result<Known, ZoneError> {
    let alias = stated.alias.as_deref().map(parsed).transpose()?;
    let mut records: Vec<(Rtype, Data)> = stated
        .addresses
        .iter()
        .map(|address| match address {
            IpAddr::V4(one) => (Rtype::A, A::new(*one).into()),
            IpAddr::V6(one) => (Rtype::AAAA, Aaaa::new(*one).into()),
        })
        .collect();
    if let Some(alias) = &alias {
        records.push((Rtype::CNAME, Cname::new(alias.clone()).into()));
    }
    for service in &stated.https {
        let wrong = |_| ZoneError::Service(name.to_owned());
        let params = SvcParams::from_values(|into| push(service, into)).map_err(wrong)?;
        let target = parsed(if service.target.is_empty() { "." } else { &service.target })?;
        let data = Https::new(service.priority, target, params);
        let data = data.map_err(|_| ZoneError::Service(name.to_owned()))?;
        records.push((Rtype::HTTPS, data.into()));
    }
    Ok(Known { records, alias, silent: stated.silent })
}

/// The parameters of a service (RFC 9460, section 7).
fn push(service: &StatedService, into: &mut SvcParamsBuilder<Vec<u8>>) -> Result<(), PushError> {
    if !service.alpn.is_empty() {
        let mut alpn = AlpnBuilder::<Vec<u8>>::empty();
        for one in &service.alpn {
            alpn.push(one).map_err(|_| PushError::ShortBuf)?;
        }
        let alpn: Alpn<Vec<u8>> = alpn.freeze();
        into.push(&alpn)?;
    }
    if let Some(port) = service.port {
        into.push(&Port::new(port))?;
    }
    let (mut v4, mut v6) = (Vec::<Ipv4Addr>::new(), Vec::<Ipv6Addr>::new());
    for hint in &service.hints {
        match hint {
            IpAddr::V4(one) => v4.push(*one),
            IpAddr::V6(one) => v6.push(*one),
        }
    }
    if !v4.is_empty() {
        into.push(&Ipv4Hint::<Vec<u8>>::from_addrs(v4).map_err(|_| PushError::ShortBuf)?)?;
    }
    if !v6.is_empty() {
        into.push(&Ipv6Hint::<Vec<u8>>::from_addrs(v6).map_err(|_| PushError::ShortBuf)?)?;
    }
    Ok(())
}
