//! The guest's file systems, and its end.

use std::fs;
use std::os::unix::fs::{chroot, symlink};
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};

use crate::failure::{Doing, Failure};

/// Where the lab's root tree is in a mount namespace; processes are confined to it (chroot).
pub(crate) const ROOT: &str = "/overlay/root";
/// Links of `/dev` that devtmpfs lacks, and every Linux system makes: what they lead to.
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("fd/0", "/dev/stdin"),
    ("fd/1", "/dev/stdout"),
    ("fd/2", "/dev/stderr"),
];
const CPU_DIRECTORY: &str = "/sys/devices/system/cpu/cpu0";

/// Mount an overlay over the root tree, the kernel's file systems, and the host's directories.
pub(crate) fn mount_all(words: &[String]) -> Result<(), Failure> {
    plain("tmpfs", "/overlay")?;
    chroot(overlay("/", "/overlay")?).doing("overlay")?;
    std::env::set_current_dir("/").doing("overlay")?;
    for (kind, target) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/run"),
        ("tmpfs", "/tmp"),
        ("tmpfs", "/dev/shm"),
        ("devpts", "/dev/pts"),
    ] {
        fs::create_dir_all(target).doing(target)?;
        plain(kind, target)?;
    }
    for (leads_to, link) in DEVICE_LINKS {
        symlink(leads_to, link).doing(link)?;
    }
    tell_tsc_frequency()?;
    words.iter().filter_map(|word| word.split_once('=')).try_for_each(|(name, directory)| {
        if !["code", "run", "site", "www"].contains(&name) && !name.starts_with("extras/") {
            // The kernel appends words of its own.
            return Ok(());
        }
        show(name, directory)
    })
}

/// Mount a tree, whose changes are kept in a directory, as that directory's `root`, whose path is returned.
pub(crate) fn overlay(tree: &str, directory: &str) -> Result<String, Failure> {
    let [upper, work, root] = ["upper", "work", "root"].map(|name| format!("{directory}/{name}"));
    for one in [&upper, &work, &root] {
        fs::create_dir(one).doing(one)?;
    }
    let layers = format!("lowerdir={tree},upperdir={upper},workdir={work}");
    let layers = std::ffi::CString::new(layers).doing(tree)?;
    mount("overlay", &root, "overlay", MountFlags::empty(), layers.as_c_str()).doing(tree)?;
    Ok(root)
}

/// Show a directory of the host.
fn show(name: &str, directory: &str) -> Result<(), Failure> {
    let target = format!("/lab/{name}");
    fs::create_dir_all(&target).doing(&target)?;
    let flags = if name == "run" { MountFlags::empty() } else { MountFlags::RDONLY };
    let directory = std::ffi::CString::new(directory).doing(name)?;
    mount("none", &target, "hostfs", flags, directory.as_c_str()).doing(target)
}

fn plain(kind: &str, target: &str) -> Result<(), Failure> {
    mount(kind, target, kind, MountFlags::empty(), None).doing(format_args!("{kind} on {target}"))
}

/// Say how fast the processor's time stamp counter is, which programs otherwise measure.
///
/// Abseil, in Chromium, does so in every process whose threads wait for each other, with a clock that
/// stands still while it computes: it never finds two equal results and gives up after 255 ms. What it
/// then uses the counter for, how long to spin, is without effect on virtual time.
fn tell_tsc_frequency() -> Result<(), Failure> {
    if !Path::new(CPU_DIRECTORY).is_dir() {
        return Ok(());
    }
    plain("tmpfs", CPU_DIRECTORY)?;
    fs::write(format!("{CPU_DIRECTORY}/tsc_freq_khz"), "1000000").doing(CPU_DIRECTORY)
}

/// End the lab, without the kernel's last words on the console.
pub(crate) fn power_off() {
    // Nothing is left to be told if one of these fails.
    let _ = fs::write("/proc/sys/kernel/printk", "0 4 0 0");
    rustix::fs::sync();
    let _ = reboot(RebootCommand::PowerOff);
}
