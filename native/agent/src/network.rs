//! Network namespaces: made, entered, configured; offloads off.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, unmount};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::failure::{Doing, Failure, words};
use crate::ip::{self, Names};
use crate::netlink::{Message, Netlink};
use crate::orders::{Change, Namespace, Orders, Pairs};
use crate::{commands, processor, sys, tc};

const NAMESPACE_OF_SELF: &str = "/proc/self/ns/net";
/// ETHTOOL_S{TXCSUM,SG,TSO,GSO,GRO}: packets in captures and queues are those on the wire, and
/// checksums are real, so that corruption is noticed.
const OFFLOADS: [u32; 5] = [0x17, 0x19, 0x1F, 0x24, GRO];
const GRO: u32 = 0x2C;
const SYSFS: &str = "/run/sysfs";
const LOOPBACK: u32 = 1;

/// All network namespaces of a lab, by name; the one of PID 1 is called `""`.
#[derive(Debug)]
pub(crate) struct Network {
    descriptors: BTreeMap<String, OwnedFd>,
    with_processor: BTreeSet<String>,
}

impl Network {
    /// Make and configure all that the orders name.
    pub(crate) fn new(orders: &Orders) -> Result<Self, Failure> {
        let own = File::open(NAMESPACE_OF_SELF).doing(NAMESPACE_OF_SELF)?.into();
        let with_processor = orders
            .namespaces
            .iter()
            .filter(|namespace| processor::is_set(&namespace.sysctls.0))
            .map(|namespace| namespace.name.clone())
            .collect();
        let descriptors = BTreeMap::from([(String::new(), own)]);
        let mut network = Self { descriptors, with_processor };
        fs::create_dir_all("/run/netns").doing("/run/netns")?;
        // A new namespace has what the first one has.
        write_sysctls(&orders.sysctls)?;
        for namespace in &orders.namespaces {
            network.make(&namespace.name)?;
        }
        network.carry_out("ip", &orders.ip)?;
        for namespace in &orders.namespaces {
            network.inside(&namespace.name, || network.configure(namespace))??;
        }
        Ok(network)
    }

    /// Do something inside a namespace; programs started there stay there.
    pub(crate) fn inside<T>(&self, name: &str, act: impl FnOnce() -> T) -> Result<T, Failure> {
        let missing = || Failure(format!("there is no namespace {name}"));
        self.enter(self.descriptors.get(name).ok_or_else(missing)?)?;
        let result = act();
        self.enter(&self.descriptors[""])?;
        Ok(result)
    }

    /// Start something inside a namespace whose processor, if it has one, charges it.
    pub(crate) fn charged<T>(&self, name: &str, start: impl FnOnce() -> T) -> Result<T, Failure> {
        if self.with_processor.contains(name) {
            return self.inside(name, || processor::charged(start))?;
        }
        self.inside(name, start)
    }

    /// Carry out `ip` or `tc` lines in the namespace that the caller is inside of.
    ///
    /// That is done by netlink if all are understood, else by the program.
    pub(crate) fn carry_out<S: AsRef<str>>(
        &self,
        program: &str,
        lines: &[S],
    ) -> Result<(), Failure> {
        if lines.is_empty() {
            return Ok(());
        }
        let names = Here { network: self, socket: plain_socket()? };
        let read = if program == "ip" { ip::request } else { tc::request };
        let requests: Option<Vec<Message>> =
            lines.iter().map(|line| read(line.as_ref(), &names)).collect();
        let Some(requests) = requests else {
            return commands::carry_out_batch(program, lines);
        };
        let mut netlink = Netlink::route().doing("netlink")?;
        netlink.carry_out(&requests).map_err(|(number, error)| {
            Failure(format!("{program}: {} in: {}", words(error), lines[number].as_ref()))
        })
    }

    /// Carry out a change in the namespace that the caller is inside of.
    pub(crate) fn change(&self, change: &Change) -> Result<(), Failure> {
        filter(&change.nft_rules)?;
        self.carry_out("ip", &change.ip_lines)?;
        match change.tc.as_str() {
            "" => Ok(()),
            line => self.carry_out("tc", &[line]),
        }
    }

    /// Make queueing disciplines anew, by namespace.
    pub(crate) fn renew(&self, tc: &BTreeMap<String, Vec<String>>) -> Result<(), Failure> {
        tc.iter().try_for_each(|(name, lines)| self.inside(name, || self.carry_out("tc", lines))?)
    }

    fn enter(&self, namespace: &OwnedFd) -> Result<(), Failure> {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(namespace.as_fd(), kind).doing("entering a namespace")
    }

    fn make(&mut self, name: &str) -> Result<(), Failure> {
        sys::unshare_network().doing("making a namespace")?;
        let file = format!("/run/netns/{name}");
        File::create(&file).doing(&file)?;
        mount_bind(NAMESPACE_OF_SELF, &file).doing(&file)?;
        self.descriptors.insert(name.to_owned(), File::open(&file).doing(&file)?.into());
        self.enter(&self.descriptors[""])
    }

    fn configure(&self, namespace: &Namespace) -> Result<(), Failure> {
        write_sysctls(&namespace.sysctls)?;
        let mut netlink = Netlink::route().doing("netlink")?;
        netlink.carry_out(&[ip::up(LOOPBACK)]).map_err(|(_, error)| Failure(words(error)))?;
        if !namespace.offload {
            let socket = plain_socket()?;
            for device in &namespace.devices {
                for switch in OFFLOADS {
                    sys::set_ethtool(socket.as_fd(), device, switch, 0).doing(device)?;
                }
            }
        }
        if let Some(flush_ns) = namespace.gro_flush_ns {
            merge_received(&namespace.devices, flush_ns)?;
        }
        self.carry_out("ip", &namespace.ip)?;
        self.carry_out("tc", &namespace.tc)?;
        filter(&namespace.nft)
    }
}

/// Have `nft` carry out rules, if there are any.
fn filter(rules: &str) -> Result<(), Failure> {
    if rules.is_empty() {
        return Ok(());
    }
    commands::carry_out(&["nft", "-f", "-"], rules)
}

/// Generic receive offload, whose packets wait for others (Documentation/networking/napi.rst).
fn merge_received(devices: &[String], flush_ns: u64) -> Result<(), Failure> {
    let socket = plain_socket()?;
    for device in devices {
        sys::set_ethtool(socket.as_fd(), device, GRO, 1).doing(device)?;
    }
    if flush_ns == 0 {
        return Ok(());
    }
    // sysfs shows the devices of the namespace in which it is mounted.
    fs::create_dir_all(SYSFS).doing(SYSFS)?;
    mount("sysfs", SYSFS, "sysfs", MountFlags::empty(), None).doing(SYSFS)?;
    for device in devices {
        for (name, value) in [("gro_flush_timeout", flush_ns), ("napi_defer_hard_irqs", 1)] {
            let file = format!("{SYSFS}/class/net/{device}/{name}");
            fs::write(&file, value.to_string()).doing(&file)?;
        }
    }
    unmount(SYSFS, UnmountFlags::DETACH).doing(SYSFS)
}

/// Index of a device of the namespace that the caller is inside of.
pub(crate) fn index_of(device: &str) -> Result<u32, Failure> {
    netdevice::name_to_index(plain_socket()?, device).doing(device)
}

/// Looks up names in the namespace that the caller is inside of.
struct Here<'a> {
    network: &'a Network,
    socket: OwnedFd,
}

impl Names for Here<'_> {
    fn device(&self, name: &str) -> Option<u32> {
        if name == "lo" {
            return Some(LOOPBACK);
        }
        netdevice::name_to_index(&self.socket, name).ok()
    }

    fn namespace(&self, name: &str) -> Option<u32> {
        u32::try_from(self.network.descriptors.get(name)?.as_raw_fd()).ok()
    }
}

/// A socket for requests that concern devices.
fn plain_socket() -> Result<OwnedFd, Failure> {
    let (family, kind) = (AddressFamily::INET, SocketType::DGRAM);
    socket_with(family, kind, SocketFlags::CLOEXEC, None).doing("a socket")
}

fn write_sysctls(sysctls: &Pairs) -> Result<(), Failure> {
    sysctls.0.iter().try_for_each(|(name, value)| {
        let file = format!("/proc/sys/{}", name.replace('.', "/"));
        let told = |error: std::io::Error| {
            let number = rustix::io::Errno::from_io_error(&error);
            Failure(format!("{name} = {value}: {}", number.map_or(error.to_string(), words)))
        };
        fs::write(&file, value).map_err(told)
    })
}
