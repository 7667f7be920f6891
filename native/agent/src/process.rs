//! Programs: started in their namespace with little privilege, awaited, ended.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::process::{Pid, Signal, WaitStatus, kill_process};
use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

use crate::commands::path_of;
use crate::failure::{Doing, Failure, words};
pub(crate) use crate::files::RUN_DIRECTORY;
use crate::network::Network;
use crate::orders::Program;
use crate::sys::{self, Opened};

/// 127.0.0.1 and ::1, as tables of /proc/net have them.
const LOOPBACK: [&str; 2] = ["0100007F", "00000000000000000000000001000000"];
const TAIL_BYTES: u64 = 4096;
const MOST_CHARACTERS: usize = 300;
/// How lines begin that go with an error, and are none.
const ASIDES: [&str; 7] = [
    "  ",
    "\t",
    "For more information",
    "Usage:",
    "Usage of ",
    "\x1b",
    "note: run with `RUST_BACKTRACE",
];
/// How the line begins with which Go's runtime ends a program; a trace of its calls follows.
const GO_ENDS: [&str; 2] = ["panic: ", "fatal error: "];
const ENVIRONMENT: [(&str, &str); 5] = [
    ("PATH", "/usr/sbin:/usr/bin:/sbin:/bin:/lab/extras/headway"),
    ("HOME", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("SSL_CERT_FILE", "/lab/pki/ca.pem"),
    // Hardware random instructions (RDRAND, RDSEED) would make keys differ between equal runs.
    ("OPENSSL_ia32cap", "~0x4000000000000000:~0x40000"),
];

/// What programs may be allowed: to make network namespaces, and whatever else `CAP_SYS_ADMIN` lets do.
const NET_NAMESPACES: &str = "net-namespaces";

/// Bounds of what programs get that the kernel itself starts; see `Documentation/admin-guide/sysctl/kernel.rst`.
const OF_THE_KERNEL: [&str; 2] =
    ["/proc/sys/kernel/usermodehelper/bset", "/proc/sys/kernel/usermodehelper/inheritable"];

/// Take from all programs started later what would let them out of the lab, but for what is allowed:
/// without these none can mount the host's files, end the lab, reach devices, or have PID 1 do it.
pub(crate) fn drop_privileges_of_children(allowed: &[String]) -> Result<(), Failure> {
    for capability in [
        CapabilitySet::SYS_MODULE,
        CapabilitySet::SYS_RAWIO,
        CapabilitySet::SYS_ADMIN,
        CapabilitySet::SYS_BOOT,
        CapabilitySet::MKNOD,
        CapabilitySet::SYS_PTRACE,
    ] {
        let kept = capability == CapabilitySet::SYS_ADMIN
            && allowed.iter().any(|name| name == NET_NAMESPACES);
        if !kept {
            remove_capability_from_bounding_set(capability).doing("dropping privileges")?;
        }
    }
    OF_THE_KERNEL.iter().try_for_each(|file| fs::write(file, "0 0").doing(file))
}

/// Whether a host's processor charges a program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Charging {
    /// It is part of what is measured.
    Charged,
    /// It measures.
    Free,
}

/// Start a program; its output goes to files in a directory, or to the console.
///
/// It finds the directory in `RUN_DIRECTORY`.
pub(crate) fn start(
    program: &Program,
    network: &Network,
    directory: &str,
    charging: Charging,
) -> Result<Pid, Failure> {
    let own = [("RUN_DIRECTORY", directory)];
    let added = program.env.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut environment: Vec<(&str, &str)> = Vec::new();
    for (name, value) in ENVIRONMENT.into_iter().chain(own).chain(added) {
        match environment.iter_mut().find(|(known, _)| *known == name) {
            Some(place) => place.1 = value,
            None => environment.push((name, value)),
        }
    }
    let places = environment.iter().find(|(name, _)| *name == "PATH").map_or("", |(_, path)| path);
    let name = program.argv.first().map_or("", String::as_str);
    let place = c_string(&path_of(name, places));
    let environment: Vec<_> =
        environment.iter().map(|(name, value)| c_string(&format!("{name}={value}"))).collect();
    let argv: Vec<_> = program.argv.iter().map(|word| c_string(word)).collect();
    let files = if program.interactive { console() } else { files(&program.name, directory) };
    let spawn = || sys::spawn(&place, &argv, &environment, &files);
    let spawned = match charging {
        Charging::Charged => network.charged(&program.namespace, spawn),
        Charging::Free => network.inside(&program.namespace, spawn),
    };
    let pid = spawned?.map_err(|error| {
        Failure(format!("{} cannot be started: {}", program.name, words(error)))
    })?;
    if matches!(charging, Charging::Free) {
        spare(pid)?;
    }
    Ok(pid)
}

/// Let others be killed if they take all of the memory (`oom_score_adj` of proc(5)).
fn spare(pid: Pid) -> Result<(), Failure> {
    let file = format!("/proc/{}/oom_score_adj", pid.as_raw_nonzero());
    fs::write(&file, "-1000").doing(&file)
}

fn c_string(text: &str) -> CString {
    // Orders have no null bytes in what they start: execve(2) could not tell them.
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

fn files(name: &str, directory: &str) -> Vec<Opened> {
    let write = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND;
    let opened = |number, path: &str, flags| Opened { number, path: c_string(path), flags };
    vec![
        opened(0, "/dev/null", libc::O_RDONLY),
        opened(1, &output(directory, name, "out"), write),
        opened(2, &output(directory, name, "err"), write),
    ]
}

/// Where a program prints to: a file of the host, so that it is there whenever and however the lab ends.
fn output(directory: &str, name: &str, end: &str) -> String {
    format!("{directory}/{name}.{end}")
}

fn console() -> Vec<Opened> {
    let opened = |number| Opened { number, path: c_string("/dev/tty0"), flags: libc::O_RDWR };
    (0..3).map(opened).collect()
}

/// The last line that a program printed, to standard error if it did, as the end of a sentence; empty
/// if there is none.
///
/// Of a Go program that panics, that is what it says of it.
/// What cannot be printed is replaced, and the line is cut.
pub(crate) fn last_words(name: &str, directory: &str) -> String {
    let told = ["err", "out"]
        .map(|end| in_words(&tail(&output(directory, name, end)).unwrap_or_default()));
    told.into_iter().find(|said| !said.is_empty()).unwrap_or_default()
}

/// The end of a file, in whose place a program may have put something that would keep its reader waiting.
fn tail(file: &str) -> io::Result<Vec<u8>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut file = File::options().read(true).custom_flags(flags).open(file)?;
    let from = file.metadata()?.len().saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut said = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut said)?;
    Ok(said)
}

fn in_words(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let is_said = |line: &&str| {
        !line.trim().is_empty() && !ASIDES.iter().any(|beginning| line.starts_with(beginning))
    };
    let panics = |line: &&str| GO_ENDS.iter().any(|beginning| line.starts_with(beginning));
    let Some(line) = text.lines().rfind(panics).or_else(|| text.lines().rfind(is_said)) else {
        return String::new();
    };
    let shown = |one: char| if one.is_control() { '\u{FFFD}' } else { one };
    let line: String = line.trim().chars().map(shown).take(MOST_CHARACTERS).collect();
    format!(": {line}")
}

/// Whether a file exists, or a socket is open on a port, given as `tcp:443` or `udp:443`, or as
/// `udp:10.0.2.2:443` or `udp:[fd00::2]:443` if it has to be reached by that address.
pub(crate) fn is_ready(sign: &str, network: &Network, namespace: &str) -> Result<bool, Failure> {
    if sign.starts_with('/') {
        return Ok(Path::new(sign).exists());
    }
    let wrong = || Failure(format!("{sign} is neither a file nor a port"));
    let (transport, place) = sign.split_once(':').ok_or_else(wrong)?;
    let (address, port) =
        place.rsplit_once(':').map_or((None, place), |(at, port)| (Some(at), port));
    let address = address.map(|text| text.trim_start_matches('[').trim_end_matches(']'));
    let address: Option<IpAddr> = address.map(str::parse).transpose().map_err(|_| wrong())?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let listening = if transport == "tcp" { "0A" } else { "07" };
    network.inside(namespace, || {
        ["", "6"].iter().any(|family| {
            let table = fs::read_to_string(format!("/proc/self/net/{transport}{family}"));
            table.is_ok_and(|table| is_open(&table, port, listening, address))
        })
    })
}

/// Whether a table of /proc/net has a socket with a local port and a state, which an address leads to.
fn is_open(table: &str, port: u16, state: &str, address: Option<IpAddr>) -> bool {
    sockets(table, state)
        .any(|(local, one)| one == port && address.is_none_or(|address| leads_to(address, local)))
}

/// Whether a socket with a local address, as tables of /proc/net have it, gets what is sent to an address.
fn leads_to(address: IpAddr, local: &str) -> bool {
    let any = local.bytes().all(|digit| digit == b'0');
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let words = octets.chunks(4).map(|word| word.iter().rev().map(|byte| format!("{byte:02X}")));
    any || local.ends_with(&words.flatten().collect::<String>())
}

/// Ports that a host's programs have opened, in words, as `udp:4433`; for people who look for another one.
pub(crate) fn open_ports(network: &Network, namespace: &str) -> Result<String, Failure> {
    let open = network.inside(namespace, || {
        let tables = [("tcp", "", "0A"), ("tcp", "6", "0A"), ("udp", "", "07"), ("udp", "6", "07")];
        let each = tables.map(|(transport, family, state)| {
            let table = fs::read_to_string(format!("/proc/self/net/{transport}{family}"));
            sockets(&table.unwrap_or_default(), state)
                .map(|(local, port)| format!("{transport}:{}{port}", nearby(local)))
                .collect::<Vec<_>>()
        });
        each.concat().into_iter().collect::<BTreeSet<_>>()
    })?;
    let names: Vec<_> = open.into_iter().collect();
    Ok(if names.is_empty() { "nothing".to_owned() } else { names.join(", ") })
}

/// The host of a socket that no other host reaches, as a part of its place; else empty.
fn nearby(local: &str) -> &'static str {
    if LOOPBACK.contains(&local) { "localhost:" } else { "" }
}

/// Local addresses and ports of a table of /proc/net whose sockets are in a state.
fn sockets<'a>(table: &'a str, state: &'a str) -> impl Iterator<Item = (&'a str, u16)> + 'a {
    table.lines().skip(1).filter_map(move |line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let (local, _, found) = (fields.next()?, fields.next(), fields.next());
        let (address, port) = local.rsplit_once(':')?;
        let port = u16::from_str_radix(port, 16).ok().filter(|_| found == Some(state))?;
        Some((address, port))
    })
}

/// The processes of a host, apart from those that are known, with their names.
pub(crate) fn strangers(
    network: &Network,
    namespace: &str,
    known: &[Pid],
) -> Result<Vec<(Pid, String)>, Failure> {
    let own = network.inside(namespace, || fs::read_link("/proc/thread-self/ns/net"))?;
    let own = own.doing(namespace)?;
    let listed = fs::read_dir("/proc").doing("/proc")?.flatten();
    let found = listed.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    Ok(found
        .filter(|number| !known.iter().any(|pid| pid.as_raw_nonzero().get() == *number))
        .filter(|number| fs::read_link(format!("/proc/{number}/ns/net")).is_ok_and(|it| it == own))
        .filter_map(|number| {
            let name = running(&fs::read_to_string(format!("/proc/{number}/stat")).ok()?)?;
            Some((Pid::from_raw(number)?, name))
        })
        .collect())
}

/// The name of a process by its line of /proc/PID/stat, unless it has ended already.
fn running(stat: &str) -> Option<String> {
    let (before, after) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once('(')?;
    (!after.starts_with('Z')).then(|| name.to_owned())
}

/// Exit status of a process that ended; the negative signal number if one ended it.
pub(crate) fn exit_status(status: WaitStatus) -> i32 {
    status.exit_status().unwrap_or_else(|| -status.terminating_signal().unwrap_or(0))
}

/// How a process ended, in words.
pub(crate) fn how(status: i32) -> String {
    if status >= 0 {
        return format!("with exit status {status}");
    }
    let names = [
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGTRAP, "SIGTRAP"),
    ];
    let name = names.iter().find(|(number, _)| *number == -status);
    name.map_or_else(
        || format!("killed by signal {}", -status),
        |(_, name)| format!("killed by {name}"),
    )
}

/// Send a signal to processes that may already be gone.
pub(crate) fn end(pids: impl IntoIterator<Item = Pid>, signal: Signal) {
    for pid in pids {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_no_asides() {
        let said = b"nginx: [emerg] no \x07such file\n  at line 3\nUsage: nginx\n\n";
        assert_eq!(in_words(said), ": nginx: [emerg] no \u{FFFD}such file");
        assert_eq!(in_words(b"\n"), "");
        assert_eq!(in_words(&[b'a'; 1000]).len(), 302);
        let go = b"panic: no file\n\ngoroutine 1 [running]:\nmain.main()\n\t/main.go:41 +0x233\n";
        assert_eq!(in_words(go), ": panic: no file");
        let option = b"flag provided but not defined: -x\nUsage of own:\n  -y\n    \twhy\n";
        assert_eq!(in_words(option), ": flag provided but not defined: -x");
        let rust = b"thread 'main' panicked at main.rs:7:9:\nno file\n\
            note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(in_words(rust), ": no file");
    }

    #[test]
    fn only_sockets_in_the_wanted_state_are_open() {
        let table = "  sl  local_address rem_address   st tx_queue\n   \
                     0: 00000000:01BB 00000000:0000 0A 00000000:00000000\n   \
                     1: 0100000A:9C40 0201000A:01BB 01 00000000:00000000\n";
        assert!(is_open(table, 443, "0A", None));
        assert!(!is_open(table, 40000, "0A", None));
        assert!(!is_open(table, 80, "0A", None));
        assert_eq!(sockets(table, "01").collect::<Vec<_>>(), [("0100000A", 40000)]);
    }

    #[test]
    fn an_address_leads_to_its_own_socket_and_to_those_of_any() {
        let address = "10.0.2.2".parse().unwrap();
        let mapped = "0000000000000000FFFF00000202000A";
        for local in ["00000000", "0202000A", "00000000000000000000000000000000", mapped] {
            assert!(leads_to(address, local), "{local}");
        }
        for local in ["0100007F", "0102000A", "00000000000000000000000001000000"] {
            assert!(!leads_to(address, local), "{local}");
        }
        let address = "fd00:0:0:1::2".parse().unwrap();
        assert!(leads_to(address, "000000FD010000000000000002000000"));
        assert!(!leads_to(address, "000000FD010000000000000001000000"));
        assert_eq!(nearby("0100007F"), "localhost:");
        assert_eq!(nearby("0202000A"), "");
    }

    #[test]
    fn a_process_has_a_name_until_it_has_ended() {
        assert_eq!(running("12 (a ) b) S 1 12"), Some("a ) b".to_owned()));
        assert_eq!(running("12 (sleep) Z 1 12"), None);
    }
}
