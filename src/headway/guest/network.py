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
from headway.guest.mounts import bind, mount, unmount

_SYSFS = "/run/sysfs"
_SIOCETHTOOL = 0x8946
# ETHTOOL_S{TXCSUM,SG,TSO,GSO,GRO}: packets in captures and queues are those on the wire, and
# checksums are real, so that corruption is noticed.
_GRO = 0x2C
_OFFLOADS = (0x17, 0x19, 0x1F, 0x24, _GRO)
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


class NetworkError(Exception):
    """A network configuration command was refused."""


class Network:
    """All network namespaces of a lab, by name; the one of PID 1 is called ``""``."""

    def __init__(self, orders: Orders) -> None:
        self._descriptors = {"": os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)}
        os.makedirs("/run/netns")
        # A new namespace has what the first one has.
        _write_sysctls(orders.sysctls)
        for namespace in orders.namespaces:
            self._make(namespace.name)
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
        bind("/proc/self/ns/net", file)
        self._descriptors[name] = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        os.setns(self._descriptors[""], os.CLONE_NEWNET)


def _configure(namespace: Namespace) -> None:
    _write_sysctls(namespace.sysctls)
    _set_up("lo")
    for device in () if namespace.offload else namespace.devices:
        _offloads_off(device)
    if namespace.gro_flush_ns is not None:
        _merge_received(namespace.devices, namespace.gro_flush_ns)
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
        try:
            with open(f"/proc/sys/{name.replace('.', '/')}", "w") as file:
                file.write(value)
        except OSError as error:
            raise NetworkError(f"{name} = {value}: {error.strerror}") from error


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
    for command in _OFFLOADS:
        _ethtool(device, command, 0)


def _merge_received(devices: tuple[str, ...], flush_ns: int) -> None:
    """Generic receive offload, whose packets wait for others (Documentation/networking/napi.rst)."""
    for device in devices:
        _ethtool(device, _GRO, 1)
    if not flush_ns:
        return
    # sysfs shows the devices of the namespace in which it is mounted.
    os.makedirs(_SYSFS, exist_ok=True)
    mount("sysfs", _SYSFS, "sysfs")
    for device in devices:
        for name, value in (("gro_flush_timeout", flush_ns), ("napi_defer_hard_irqs", 1)):
            with open(f"{_SYSFS}/class/net/{device}/{name}", "w") as file:
                file.write(str(value))
    unmount(_SYSFS)


def _ethtool(device: str, command: int, number: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as through:
        value = ctypes.create_string_buffer(struct.pack("=II", command, number))
        request = struct.pack("16sP16x", device.encode(), ctypes.addressof(value))
        fcntl.ioctl(through, _SIOCETHTOOL, request)
