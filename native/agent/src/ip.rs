//! Lines for the `ip` program as requests of rtnetlink, as it makes them.
//!
//! Not all it knows: what Headway's lines usually say. Layouts: linux/rtnetlink.h, linux/if_link.h,
//! linux/neighbour.h.

use std::net::Ipv4Addr;

use crate::netlink::{CREATE, EXCLUSIVE, Message, REPLACE};

const NEWLINK: u16 = 16;
const NEWADDR: u16 = 20;
const DELADDR: u16 = 21;
const NEWROUTE: u16 = 24;
const NEWNEIGH: u16 = 28;
const AF_INET: u8 = 2;
const IFF_UP: u32 = 1;
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
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NUD_PERMANENT: u8 = 0x80;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
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
        ["link", "set", device, "gso_max_segs", segments] => {
            let request = link(names.device(device)?, 0, 0);
            Some(request.number(IFLA_GSO_MAX_SEGS, segments.parse().ok()?))
        }
        ["addr", verb @ ("add" | "del"), network, "dev", device] => {
            address(*verb == "add", network, names.device(device)?)
        }
        ["neigh", "add", address, "lladdr", mac, "dev", device, "nud", "permanent"] => {
            let index = names.device(device)?.to_ne_bytes();
            let request = Message::new(NEWNEIGH, CREATE | EXCLUSIVE);
            let body = request.with(&[AF_INET, 0, 0, 0]).with(&index);
            let address = address_of(address)?;
            let body = body.with(&[NUD_PERMANENT, 0, 0, 0]).attribute(NDA_DST, &address);
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
fn address(added: bool, network: &str, device: u32) -> Option<Message> {
    let (address, prefix) = network.split_once('/')?;
    let (address, prefix) = (address_of(address)?, prefix.parse().ok()?);
    let request = match added {
        true => Message::new(NEWADDR, CREATE | EXCLUSIVE),
        false => Message::new(DELADDR, 0),
    };
    let body = request.with(&[AF_INET, prefix, 0, SCOPE_UNIVERSE]).with(&device.to_ne_bytes());
    Some(body.attribute(IFA_LOCAL, &address).attribute(IFA_ADDRESS, &address))
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
    let known = ["via", "dev", "src", "initcwnd", "congctl", "table"];
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
        Some((address, prefix)) => (Some(address_of(address)?), prefix.parse().ok()?),
        None if *network == "default" => (None, 0),
        None => (Some(address_of(network)?), 32),
    };
    let existing = if replaces { REPLACE } else { EXCLUSIVE };
    let mut body = Message::new(NEWROUTE, CREATE | existing).with(&[
        AF_INET,
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
        body = body.attribute(RTA_DST, &address);
    }
    if let Some(router) = value("via") {
        body = body.attribute(RTA_GATEWAY, &address_of(router)?);
    }
    if let Some(source) = value("src") {
        body = body.attribute(RTA_PREFSRC, &address_of(source)?);
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

fn address_of(text: &str) -> Option<[u8; 4]> {
    text.parse::<Ipv4Addr>().ok().map(|address| address.octets())
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
