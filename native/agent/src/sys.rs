//! What no safe library does: starting a program cheaply, waiting for a signal, a few device requests, filters of
//! packet sockets.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::mem::{MaybeUninit, size_of, size_of_val};
use std::num::NonZeroU64;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::time::Timespec;

/// A file that a new program has open: its number, path and open(2) flags.
pub(crate) struct Opened {
    pub(crate) number: i32,
    pub(crate) path: CString,
    pub(crate) flags: i32,
}

/// Start a program in a session of its own, with no signal blocked (posix_spawn(3)).
///
/// The child shares memory with its parent until it executes, which is much cheaper than a fork in
/// User Mode Linux. It is in the namespaces of its parent.
pub(crate) fn spawn(
    program: &CStr,
    argv: &[CString],
    environment: &[CString],
    files: &[Opened],
) -> Result<Pid, Errno> {
    let pointers = |strings: &[CString]| {
        let each = strings.iter().map(|one| one.as_ptr().cast_mut());
        each.chain([ptr::null_mut()]).collect::<Vec<_>>()
    };
    let (argv, environment) = (pointers(argv), pointers(environment));
    let mut actions = MaybeUninit::uninit();
    let mut attributes = MaybeUninit::uninit();
    let mut unblocked = MaybeUninit::uninit();
    let mut pid = 0;
    // SAFETY: actions, attributes and the signal set are initialised by their own functions before
    // they are used and destroyed after; all strings and arrays outlive the call, and the arrays end
    // with a null pointer.
    let result = unsafe {
        libc::posix_spawn_file_actions_init(actions.as_mut_ptr());
        for file in files {
            libc::posix_spawn_file_actions_addopen(
                actions.as_mut_ptr(),
                file.number,
                file.path.as_ptr(),
                file.flags,
                0o644,
            );
        }
        libc::posix_spawnattr_init(attributes.as_mut_ptr());
        libc::sigemptyset(unblocked.as_mut_ptr());
        libc::posix_spawnattr_setsigmask(attributes.as_mut_ptr(), unblocked.as_ptr());
        let flags = libc::POSIX_SPAWN_SETSID | libc::POSIX_SPAWN_SETSIGMASK as libc::c_short;
        libc::posix_spawnattr_setflags(attributes.as_mut_ptr(), flags);
        let result = libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            actions.as_ptr(),
            attributes.as_ptr(),
            argv.as_ptr(),
            environment.as_ptr(),
        );
        libc::posix_spawnattr_destroy(attributes.as_mut_ptr());
        libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr());
        result
    };
    match (result, Pid::from_raw(pid)) {
        (0, Some(pid)) => Ok(pid),
        (error, _) => Err(Errno::from_raw_os_error(error)),
    }
}

/// The signals of which the agent takes note: children that ended.
fn child_signal() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        set.assume_init()
    }
}

/// Have ends of children wait until they are asked for.
pub(crate) fn block_child_signal() {
    let ends = child_signal();
    // SAFETY: the set is initialised, and what was blocked before is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const ends, ptr::null_mut()) };
}

/// Sleep until a child ends, or a span of time is over; returns whether one did.
pub(crate) fn wait_for_child(span: Timespec) -> bool {
    let span = libc::timespec { tv_sec: span.tv_sec, tv_nsec: span.tv_nsec };
    let ends = child_signal();
    // SAFETY: set and span are initialised, and no information on the signal is asked for.
    let signal = unsafe { libc::sigtimedwait(&raw const ends, ptr::null_mut(), &raw const span) };
    signal == libc::SIGCHLD
}

/// The same, and the span is over exactly then; by default the kernel lets it end 50 us late.
pub(crate) fn wait_exactly_for_child(span: Timespec) -> Result<bool, Errno> {
    rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN))?;
    let ended = wait_for_child(span);
    // Programs that are started inherit what is set.
    rustix::thread::set_current_timer_slack(None)?;
    Ok(ended)
}

/// The time of a clock. rustix insists on functions of the vDSO that a lab's has not.
pub(crate) fn clock_gettime(clock: libc::clockid_t) -> Timespec {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec }
}

/// Enter a network namespace of one's own.
pub(crate) fn unshare_network() -> Result<(), Errno> {
    // SAFETY: the network namespace is shared with no other thread, as there is none.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) }
}

/// Enter a mount namespace of one's own, which begins as the one before.
pub(crate) fn unshare_mounts() -> Result<(), Errno> {
    // SAFETY: the mount namespace is shared with no other thread, as there is none.
    unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNS) }
}

const SIOCETHTOOL: libc::Ioctl = 0x8946;
const TUNSETIFF: libc::Ioctl = 0x4004_54CA;
const IFF_TUN_NO_PI: libc::c_short = 0x1001;

/// Set a switch of a device (ioctl SIOCETHTOOL).
pub(crate) fn set_ethtool(
    socket: BorrowedFd<'_>,
    device: &str,
    command: u32,
    value: u32,
) -> Result<(), Errno> {
    let mut switch = [command, value];
    let mut request = named(device);
    request.ifr_ifru.ifru_data = switch.as_mut_ptr().cast();
    device_request(socket, SIOCETHTOOL, &mut request)
}

/// Become the other end of a TUN device.
pub(crate) fn attach_tun(tun: BorrowedFd<'_>, device: &str) -> Result<(), Errno> {
    let mut request = named(device);
    request.ifr_ifru.ifru_flags = IFF_TUN_NO_PI;
    device_request(tun, TUNSETIFF, &mut request)
}

fn named(device: &str) -> libc::ifreq {
    // SAFETY: all-zero bytes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let (last, room) = request.ifr_name.split_last_mut().expect("names have room");
    *last = 0;
    for (place, byte) in room.iter_mut().zip(device.bytes()) {
        *place = byte as libc::c_char;
    }
    request
}

fn device_request(
    file: BorrowedFd<'_>,
    number: libc::Ioctl,
    request: &mut libc::ifreq,
) -> Result<(), Errno> {
    // SAFETY: both requests take an ifreq, in which a pointer, if any, is to memory that the caller
    // still holds.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), number, ptr::from_mut(request)) };
    if result < 0 { Err(last_error()) } else { Ok(()) }
}

const PACKET_RX_RING: libc::c_int = 5;
const PACKET_STATISTICS: libc::c_int = 6;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// A page, of which one frame is all.
const RING_BYTES: u32 = 4096;

/// A socket that counts what comes to a device and is taken by a filter, which reads from the network header on.
///
/// It has a ring for received packets, which is full after the first: others are counted and not kept.
pub(crate) fn counting_socket(
    device: u32,
    filter: &mut [libc::sock_filter],
) -> Result<OwnedFd, Errno> {
    // With a protocol it would see what all devices have before it has a filter.
    // SAFETY: no pointers are passed, and nothing else has the new descriptor.
    let socket = unsafe {
        let made = libc::socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if made < 0 {
            return Err(last_error());
        }
        OwnedFd::from_raw_fd(made)
    };
    let length = u16::try_from(filter.len()).map_err(|_| Errno::TOOBIG)?;
    let filter = libc::sock_fprog { len: length, filter: filter.as_mut_ptr() };
    set_option(&socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &filter)?;
    set_option(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1i32)?;
    // struct tpacket_req: size and number of blocks, size and number of frames.
    set_option(&socket, libc::SOL_PACKET, PACKET_RX_RING, &[RING_BYTES, 1, RING_BYTES, 1])?;
    // SAFETY: all-zero bytes are a valid sockaddr_ll.
    let mut place: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    place.sll_family = libc::AF_PACKET as libc::c_ushort;
    place.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    place.sll_ifindex = device as i32;
    let length = size_of_val(&place) as libc::socklen_t;
    // SAFETY: the kernel reads a sockaddr_ll.
    let result = unsafe { libc::bind(socket.as_raw_fd(), ptr::from_ref(&place).cast(), length) };
    if result < 0 { Err(last_error()) } else { Ok(socket) }
}

/// How many packets such a socket has counted since this was asked before.
pub(crate) fn counted_packets(socket: BorrowedFd<'_>) -> Result<u32, Errno> {
    // struct tpacket_stats: packets, and how many of them were not kept.
    let mut counts = [0u32; 2];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: the kernel writes so many bytes at most.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            PACKET_STATISTICS,
            counts.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result < 0 { Err(last_error()) } else { Ok(counts[0]) }
}

fn set_option<T>(socket: &OwnedFd, level: i32, option: i32, value: &T) -> Result<(), Errno> {
    let length = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads so many bytes; a pointer among them is to memory that the caller holds.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, option, ptr::from_ref(value).cast(), length)
    };
    if result < 0 { Err(last_error()) } else { Ok(()) }
}

fn last_error() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}

/// A file that the program which started this one left open for it.
pub(crate) fn inherited(number: i32) -> OwnedFd {
    // SAFETY: nothing else in this process has it: it was opened before the process began.
    unsafe { OwnedFd::from_raw_fd(number) }
}
