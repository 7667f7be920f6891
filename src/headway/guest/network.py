"""Network namespaces: made, entered, configured; offloads off."""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from headway.contract.orders import Namespace, Orders

_BIND = 4096
_SIOCETHTOOL = 0x8946
# ETHTOOL_S{TXCSUM,SG,TSO,GSO,GRO}: packets in captures and queues are those on the wire, and
# checksums are real, so that corruption is noticed.
_OFFLOADS = (0x17, 0x19, 0x1F, 0x24, 0x2C)
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


class NetworkError(Exception):
    """A network configuration command was refused."""


class Network:
    """All network namespaces of a lab, by name; the one of PID 1 is called ``""``."""

    def __init__(self, orders: Orders) -> None:
        self._descriptors = {"": os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)}
        os.makedirs("/run/netns")
        for namespace in orders.namespaces:
            self._make(namespace.name)
        _write_sysctls(orders.sysctls)
        _batch("ip", orders.ip)
        for namespace in orders.namespaces:
            with self.inside(namespace.name):
                _configure(namespace)

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Enter a namespace; processes started inside stay there."""
        os.setns(self._descriptors[name], os.CLONE_NEWNET)
        try:
            yield
        finally:
            os.setns(self._descriptors[""], os.CLONE_NEWNET)

    def renew(self, tc: dict[str, tuple[str, ...]]) -> None:
        """Make queueing disciplines anew, by namespace."""
        for name, lines in tc.items():
            with self.inside(name):
                _batch("tc", lines)

    def _make(self, name: str) -> None:
        os.unshare(os.CLONE_NEWNET)
        file = f"/run/netns/{name}"
        os.close(os.open(file, os.O_CREAT | os.O_RDONLY))
        _bind("/proc/self/ns/net", file)
        self._descriptors[name] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        os.setns(self._descriptors[""], os.CLONE_NEWNET)


def _bind(source: str, target: str) -> None:
    """Show a file at a second place (mount(2)), which keeps a namespace alive."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = ctypes.c_ulong(_BIND)
    if libc.mount(source.encode(), target.encode(), b"none", flags, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{source} cannot be shown at {target}: {os.strerror(number)}")


def _configure(namespace: Namespace) -> None:
    _write_sysctls(namespace.sysctls)
    _set_up("lo")
    for device in () if namespace.offload else namespace.devices:
        _offloads_off(device)
    _batch("ip", namespace.ip)
    _batch("tc", namespace.tc)
    if namespace.nft:
        _command(["nft", "-f", "-"], namespace.nft, namespace.nft)


def configure_addresses(lines: tuple[str, ...]) -> None:
    """Carry out `ip` commands in the namespace that the caller is inside of.

    Raises:
        NetworkError: a command was refused.
    """
    _batch("ip", lines)


def _write_sysctls(sysctls: dict[str, str]) -> None:
    for name, value in sysctls.items():
        with open(f"/proc/sys/{name.replace('.', '/')}", "w") as file:
            file.write(value)


def _batch(program: str, lines: tuple[str, ...]) -> None:
    if lines:
        _command([program, "-batch", "-"], "".join(f"{line}\n" for line in lines), "; ".join(lines))


def _command(argv: list[str], text: str, shown: str) -> None:
    done = subprocess.run(argv, input=text, text=True, capture_output=True)
    if done.returncode != 0:
        raise NetworkError(f"{argv[0]}: {' '.join(done.stderr.split())} in: {shown}")


def _set_up(device: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as through:
        request = struct.pack("16sH22x", device.encode(), 0)
        (flags,) = struct.unpack_from("=H", fcntl.ioctl(through, _SIOCGIFFLAGS, request), 16)
        fcntl.ioctl(
            through, _SIOCSIFFLAGS, struct.pack("16sH22x", device.encode(), flags | _IFF_UP)
        )


def _offloads_off(device: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as through:
        for command in _OFFLOADS:
            value = ctypes.create_string_buffer(struct.pack("=II", command, 0))
            request = struct.pack("16sP16x", device.encode(), ctypes.addressof(value))
            fcntl.ioctl(through, _SIOCETHTOOL, request)
