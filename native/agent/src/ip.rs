//! Lines for the `ip` program as requests of rtnetlink, as it makes them.
//!
//! Not all it knows: what Headway's lines usually say. Layouts: linux/rtnetlink.h, linux/if_link.h,
//! linux/neighbour.h.

use std::net::IpAddr;

use crate::netlink::{CREATE, EXCLUSIVE, Message, REPLACE};

const NEWLINK: u16 = 16;
const NEWADDR: u16 = 20;
const DELADDR: u16 = 21;
const NEWROUTE: u16 = 24;
const NEWNEIGH: u16 = 28;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IFF_UP: u32 = 1;
const IFF_NOARP: u32 = 1 << 7;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_TXQLEN: u16 = 13;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NUD_PERMANENT: u8 = 0x80;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTAX_INITCWND: u16 = 11;
const RTAX_CC_ALGO: u16 = 16;
const TABLE_MAIN: u8 = 254;
const PROTOCOL_BOOT: u8 = 3;
const SCOPE_UNIVERSE: u8 = 0;
const SCOPE_LINK: u8 = 253;
const SCOPE_HOST: u8 = 254;
const TYPE_UNICAST: u8 = 1;
const TYPE_LOCAL: u8 = 2;

/// Where names are looked up.
pub(crate) trait Names {
    /// The index of a device in the namespace of the lines.
    fn device(&self, name: &str) -> Option<u32>;
    /// A file descriptor of a namespace.
    fn namespace(&self, name: &str) -> Option<u32>;
}

/// The request that a line stands for; None if the line is for the program itself.
pub(crate) fn request(line: &str, names: &dyn Names) -> Option<Message> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    match words.as_slice() {
        [
            "link",
            "add",
            left,
            "netns",
            left_host,
            "address",
            left_mac,
            "type",
            "veth",
            "peer",
            "name",
            right,
            "netns",
            right_host,
            "address",
            right_mac,
        ] => {
            let left = end(left, left_mac, names.namespace(left_host)?)?;
            let right = end(right, right_mac, names.namespace(right_host)?)?;
            Some(pair(&left, &right))
        }
        ["link", "set", device, "up"] => Some(up(names.device(device)?)),
        ["link", "set", device, "txqueuelen", packets, "up"] => {
            Some(up(names.device(device)?).number(IFLA_TXQLEN, packets.parse().ok()?))
        }
        ["link", "set", device, "arp", "off"] => Some(link(names.device(device)?, 0, IFF_NOARP)),
        ["link", "set", device, "gso_max_segs", segments] => {
            let request = link(names.device(device)?, 0, 0);
            Some(request.number(IFLA_GSO_MAX_SEGS, segments.parse().ok()?))
        }
        ["addr", verb @ ("add" | "del"), network, "dev", device] => {
            address(*verb == "add", network, names.device(device)?, 0)
        }
        ["addr", verb @ ("add" | "del"), network, "dev", device, "nodad"] => {
            address(*verb == "add", network, names.device(device)?, IFA_F_NODAD)
        }
        ["neigh", "add", address, "lladdr", mac, "dev", device, "nud", "permanent"] => {
            let index = names.device(device)?.to_ne_bytes();
            let address = Address::read(address)?;
            let request = Message::new(NEWNEIGH, CREATE | EXCLUSIVE);
            let body = request.with(&[address.family, 0, 0, 0]).with(&index);
            let body = body.with(&[NUD_PERMANENT, 0, 0, 0]).attribute(NDA_DST, &address.octets);
            Some(body.attribute(NDA_LLADDR, &mac_of(mac)?))
        }
        ["route", verb @ ("add" | "replace"), rest @ ..] => route(*verb == "replace", rest, names),
        _ => None,
    }
}

/// One end of a veth pair.
struct End<'a> {
    name: &'a str,
    mac: [u8; 6],
    namespace: u32,
}

impl End<'_> {
    fn describe(&self, message: Message) -> Message {
        message
            .string(IFLA_IFNAME, self.name)
            .attribute(IFLA_ADDRESS, &self.mac)
            .number(IFLA_NET_NS_FD, self.namespace)
    }
}

fn end<'a>(name: &'a str, mac: &str, namespace: u32) -> Option<End<'a>> {
    Some(End { name, mac: mac_of(mac)?, namespace })
}

fn pair(left: &End<'_>, right: &End<'_>) -> Message {
    let request = left.describe(link(0, CREATE | EXCLUSIVE, 0));
    request.nest(IFLA_LINKINFO, |info| {
        info.attribute(IFLA_INFO_KIND, b"veth").nest(IFLA_INFO_DATA, |data| {
            data.enclose(VETH_INFO_PEER, |peer| right.describe(peer.with(&[0; 16])))
        })
    })
}

/// The request that turns a device on.
pub(crate) fn up(device: u32) -> Message {
    link(device, 0, IFF_UP)
}

/// struct ifinfomsg: family, type; index; flags, and which of them change.
fn link(device: u32, request: u16, flags: u32) -> Message {
    let words = [0, device, flags, flags].map(u32::to_ne_bytes);
    Message::new(NEWLINK, request).with(words.as_flattened())
}

/// struct ifaddrmsg: family, prefix, flags, scope; index.
fn address(added: bool, network: &str, device: u32, flags: u8) -> Option<Message> {
    let (address, prefix) = network.split_once('/')?;
    let (Address { family, octets }, prefix) = (Address::read(address)?, prefix.parse().ok()?);
    let request = match added {
        true => Message::new(NEWADDR, CREATE | EXCLUSIVE),
        false => Message::new(DELADDR, 0),
    };
    let body = request.with(&[family, prefix, flags, SCOPE_UNIVERSE]).with(&device.to_ne_bytes());
    Some(body.attribute(IFA_LOCAL, &octets).attribute(IFA_ADDRESS, &octets))
}

/// struct rtmsg: family, destination's and source's prefixes, TOS; table, protocol, scope, type; flags.
fn route(replaces: bool, words: &[&str], names: &dyn Names) -> Option<Message> {
    let (local, words) = match words {
        ["local", rest @ ..] => (true, rest),
        _ => (false, words),
    };
    let (network, options) = words.split_first()?;
    if options.len() % 2 != 0 {
        return None;
    }
    let value = |name| options.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let known = ["via", "dev", "src", "initcwnd", "congctl", "table", "metric"];
    if !options.chunks(2).all(|pair| known.contains(&pair[0])) {
        return None;
    }
    let (scope, kind) = match (local, value("via")) {
        (true, _) => (SCOPE_HOST, TYPE_LOCAL),
        (false, Some(_)) => (SCOPE_UNIVERSE, TYPE_UNICAST),
        (false, None) => (SCOPE_LINK, TYPE_UNICAST),
    };
    let table = match value("table") {
        Some(number) => number.parse().ok()?,
        None if local => return None,
        None => TABLE_MAIN,
    };
    let (destination, prefix) = match network.split_once('/') {
        Some((address, prefix)) => (Some(Address::read(address)?), prefix.parse().ok()?),
        None if *network == "default" => (None, 0),
        None => {
            let address = Address::read(network)?;
            let bits = 8 * u8::try_from(address.octets.len()).ok()?;
            (Some(address), bits)
        }
    };
    let router = match value("via") {
        Some(text) => Some(Address::read(text)?),
        None => None,
    };
    let family = destination.as_ref().or(router.as_ref()).map_or(AF_INET, |one| one.family);
    let existing = if replaces { REPLACE } else { EXCLUSIVE };
    let mut body = Message::new(NEWROUTE, CREATE | existing).with(&[
        family,
        prefix,
        0,
        0,
        table,
        PROTOCOL_BOOT,
        scope,
        kind,
        0,
        0,
        0,
        0,
    ]);
    if let Some(address) = destination {
        body = body.attribute(RTA_DST, &address.octets);
    }
    if let Some(address) = router {
        body = body.attribute(RTA_GATEWAY, &address.octets);
    }
    if let Some(source) = value("src") {
        body = body.attribute(RTA_PREFSRC, &Address::read(source)?.octets);
    }
    if let Some(metric) = value("metric") {
        body = body.number(RTA_PRIORITY, metric.parse().ok()?);
    }
    if let Some(device) = value("dev") {
        body = body.number(RTA_OIF, names.device(device)?);
    }
    with_metrics(body, value("initcwnd"), value("congctl"))
}

fn with_metrics(body: Message, window: Option<&str>, control: Option<&str>) -> Option<Message> {
    if window.is_none() && control.is_none() {
        return Some(body);
    }
    let window = window.map(str::parse).transpose().ok()?;
    Some(body.enclose(RTA_METRICS, |mut metrics| {
        if let Some(packets) = window {
            metrics = metrics.number(RTAX_INITCWND, packets);
        }
        match control {
            Some(name) => metrics.string(RTAX_CC_ALGO, name),
            None => metrics,
        }
    }))
}

/// An address as requests have it.
struct Address {
    family: u8,
    octets: Vec<u8>,
}

impl Address {
    fn read(text: &str) -> Option<Self> {
        Some(match text.parse().ok()? {
            IpAddr::V4(address) => Self { family: AF_INET, octets: address.octets().to_vec() },
            IpAddr::V6(address) => Self { family: AF_INET6, octets: address.octets().to_vec() },
        })
    }
}

fn mac_of(text: &str) -> Option<[u8; 6]> {
    let bytes: Option<Vec<u8>> =
        text.split(':').map(|part| u8::from_str_radix(part, 16).ok()).collect();
    bytes?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Two;

    impl Names for Two {
        fn device(&self, name: &str) -> Option<u32> {
            (name == "client0").then_some(2)
        }

        fn namespace(&self, name: &str) -> Option<u32> {
            (name == "client").then_some(7)
        }
    }

    #[test]
    fn a_route_has_the_scope_of_its_kind() {
        let scope = |line: &str| {
            let expected = request(line, &Two).expect("a known line");
            let header = |scope, kind, table| {
                Message::new(NEWROUTE, CREATE | EXCLUSIVE).with(&[
                    AF_INET,
                    0,
                    0,
                    0,
                    table,
                    PROTOCOL_BOOT,
                    scope,
                    kind,
                    0,
                    0,
                    0,
                    0,
                ])
            };
            (expected, header)
        };
        let (found, header) = scope("route add default via 10.0.0.2");
        assert_eq!(found, header(0, 1, 254).attribute(RTA_GATEWAY, &[10, 0, 0, 2]));
        let (found, header) = scope("route add default dev client0");
        assert_eq!(found, header(253, 1, 254).number(RTA_OIF, 2));
        let (found, header) = scope("route add local default dev client0 table 102");
        assert_eq!(found, header(254, 2, 102).number(RTA_OIF, 2));
    }

    #[test]
    fn lines_are_of_the_family_of_their_addresses() {
        let address: [u8; 16] = [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        let device = 2u32.to_ne_bytes();
        let added = Message::new(NEWADDR, CREATE | EXCLUSIVE).with(&[AF_INET6, 64, 2, 0]);
        let added = added.with(&device).attribute(IFA_LOCAL, &address);
        let added = added.attribute(IFA_ADDRESS, &address);
        assert_eq!(request("addr add fd00::1/64 dev client0 nodad", &Two), Some(added));
        let line = "neigh add fd00::1 lladdr 02:00:00:00:00:01 dev client0 nud permanent";
        let known = Message::new(NEWNEIGH, CREATE | EXCLUSIVE).with(&[AF_INET6, 0, 0, 0]);
        let known =
            known.with(&device).with(&[NUD_PERMANENT, 0, 0, 0]).attribute(NDA_DST, &address);
        assert_eq!(request(line, &Two), Some(known.attribute(NDA_LLADDR, &[2, 0, 0, 0, 0, 1])));
        let header = |flags, prefix| {
            let numbers = [AF_INET6, prefix, 0, 0, TABLE_MAIN, PROTOCOL_BOOT, 0, TYPE_UNICAST];
            Message::new(NEWROUTE, CREATE | flags).with(&numbers).with(&[0; 4])
        };
        let route = header(EXCLUSIVE, 128).attribute(RTA_DST, &address);
        let route = route.attribute(RTA_GATEWAY, &address);
        assert_eq!(request("route add fd00::1 via fd00::1", &Two), Some(route));
        let route = header(REPLACE, 0).attribute(RTA_GATEWAY, &address).number(RTA_PRIORITY, 256);
        assert_eq!(request("route replace default via fd00::1 metric 256", &Two), Some(route));
    }

    #[test]
    fn lines_that_are_not_understood_are_left_to_the_program() {
        for line in [
            "",
            "link set client0 down",
            "link set nosuch up",
            "addr add 10.0.0.1 dev client0",
            "route add 10.0.0.0/24 dev client0 mtu 1400",
            "route add 10.0.0.0/24 dev",
            "rule add iif client0 table 102",
            "neigh add 10.0.0.2 lladdr 02:00 dev client0 nud permanent",
        ] {
            assert_eq!(request(line, &Two), None, "{line}");
        }
    }
}
