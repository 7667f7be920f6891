"""Mounts, and hosts whose files are not those of others: mount namespaces (mount_namespaces(7))."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

from headway.contract.orders import View

RUN_DIRECTORY = "/lab/run"
"""The boot's directory on the host."""

_BIND, _DETACH = 4096, 2
_ROOT = "/overlay/root"
"""Where the lab's root tree is in a mount namespace; processes are confined to it (chroot)."""
_OWN_FILES = "/run/views"


def bind(source: str, target: str) -> None:
    """Show a file or directory at a second place."""
    mount(source, target, "none", _BIND)


def mount(source: str, target: str, kind: str, flags: int = 0) -> None:
    """mount(2)."""
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (source.encode(), target.encode(), kind.encode())
    if libc.mount(*arguments, ctypes.c_ulong(flags), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source} on {target}: {os.strerror(number)}")


def unmount(target: str) -> None:
    """umount2(2), now or when nobody uses it any more."""
    if ctypes.CDLL(None).umount2(target.encode(), _DETACH) != 0:
        raise OSError(f"{target} cannot be unmounted")


class Views:
    """What hosts see of the lab's files."""

    def __init__(self, views: tuple[View, ...]) -> None:
        self._views = {view.namespace: view for view in views}
        self._shared = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        self._own = {view.namespace: self._make(view) for view in views}

    @contextmanager
    def inside(self, host: str) -> Iterator[None]:
        """See a host's files; processes started inside do so for ever."""
        if host not in self._own:
            yield
            return
        _enter(self._own[host])
        try:
            yield
        finally:
            _enter(self._shared)

    def directory(self, host: str) -> str:
        """Where what a host's programs write into `RUN_DIRECTORY` is for everybody else."""
        view = self._views.get(host)
        return f"{RUN_DIRECTORY}/{view.directory}" if view else RUN_DIRECTORY

    def _make(self, view: View) -> int:
        directory = self.directory(view.namespace)
        os.makedirs(directory, exist_ok=True)
        os.unshare(os.CLONE_NEWNS)
        try:
            mount("tmpfs", "/tmp", "tmpfs")
            for path, text in view.files.items():
                own = f"{_OWN_FILES}/{view.namespace}{path}"
                write_file(own, text)
                if not os.path.exists(path):
                    write_file(path, "")
                bind(own, path)
            bind(directory, RUN_DIRECTORY)
            return os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            _enter(self._shared)


def _enter(namespace: int) -> None:
    os.setns(namespace, os.CLONE_NEWNS)
    # That leads out of the lab's root tree.
    os.chroot(_ROOT)
    os.chdir("/")


def write_file(path: str, text: str) -> None:
    """Write a file, and make its directories if they are not there."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
