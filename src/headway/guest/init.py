"""PID 1 of a lab: mounts, then hands over to the agent. Installed in the image as /lab/init.py.

Kernel command line words after ``--`` name the host's directories: ``code=`` (these modules),
``run=`` (the boot's directory, the only place the guest can write to), ``www=`` (bodies), ``site=``
(what is replayed, if anything is) and, for each optional program that the host has, ``extras/NAME=``.
"""

import ctypes
import os
import sys

_RDONLY = 1
_POWER_OFF = 0x4321FEDC
_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str, flags: int = 0, data: str = "") -> None:
    """mount(2), with an exception instead of an error code."""
    arguments = (source.encode(), target.encode(), kind.encode())
    if _libc.mount(*arguments, ctypes.c_ulong(flags), data.encode()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {kind} {source} on {target}: {os.strerror(number)}")


def power_off() -> None:
    """End the lab, without the kernel's last words on the console."""
    with open("/proc/sys/kernel/printk", "w") as file:
        file.write("0 4 0 0")
    os.sync()
    _libc.reboot(_POWER_OFF)


def _mount_all(directories: dict[str, str]) -> None:
    mount("tmpfs", "/overlay", "tmpfs")
    for name in ("upper", "work", "root"):
        os.mkdir(f"/overlay/{name}")
    mount(
        "overlay",
        "/overlay/root",
        "overlay",
        0,
        "lowerdir=/,upperdir=/overlay/upper,workdir=/overlay/work",
    )
    os.chroot("/overlay/root")
    os.chdir("/")
    mount("proc", "/proc", "proc")
    mount("sysfs", "/sys", "sysfs")
    mount("devtmpfs", "/dev", "devtmpfs")
    for target in ("/run", "/tmp"):
        mount("tmpfs", target, "tmpfs")
    for target in ("/dev/shm", "/dev/pts"):
        os.makedirs(target, exist_ok=True)
    mount("tmpfs", "/dev/shm", "tmpfs")
    mount("devpts", "/dev/pts", "devpts")
    _tell_tsc_frequency()
    for name, directory in directories.items():
        os.makedirs(f"/lab/{name}", exist_ok=True)
        mount("none", f"/lab/{name}", "hostfs", 0 if name == "run" else _RDONLY, directory)


def _tell_tsc_frequency() -> None:
    """Say how fast the processor's time stamp counter is, which programs otherwise measure.

    Abseil, in Chromium, does so in every process whose threads wait for each other, with a clock that
    stands still while it computes: it never finds two equal results and gives up after 255 ms. What it
    then uses the counter for, how long to spin, is without effect on virtual time.
    """
    target = "/sys/devices/system/cpu/cpu0"
    if os.path.isdir(target):
        mount("tmpfs", target, "tmpfs")
        with open(f"{target}/tsc_freq_khz", "w") as file:
            file.write("1000000")


def _directories(words: list[str]) -> dict[str, str]:
    """Host directories by name; the kernel appends words of its own."""
    pairs = dict(word.split("=", 1) for word in words if "=" in word)
    return {
        name: directory
        for name, directory in pairs.items()
        if name in ("code", "run", "site", "www") or name.startswith("extras/")
    }


def main() -> None:
    """Run the agent; whatever happens, end the lab."""
    try:
        _mount_all(_directories(sys.argv[1:]))
        os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        sys.path.insert(0, "/lab/code")
        from headway.guest.agent import run

        run()
    except BaseException as error:
        print(f"headway: {type(error).__name__}: {error}", flush=True)
        import traceback

        traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
    power_off()


if __name__ == "__main__":
    main()
