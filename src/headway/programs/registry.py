"""The programs that there are.

A class in a module of this package is a program of Headway's if it is one of the kinds of
`headway.programs.base` and can be made; nothing else names it. Packages that are installed beside Headway bring
more, as entry points of the group ``headway.programs``.
"""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Iterator
from typing import TypeVar

from headway.errors import WrongInputError
from headway.modules import modules_in
from headway.programs.base import Adapter, Client, ReverseProxy, Server
from headway.programs.pep import QuicPep, TcpPep

_PACKAGE = "headway.programs"
_GROUP = "headway.programs"
_KINDS = (Client, Server, ReverseProxy, QuicPep, TcpPep)
_A = TypeVar("_A", bound=Adapter)


def _found() -> list[type[Adapter]]:
    classes = [
        var
        for module in modules_in(_PACKAGE, besides=__name__)
        for var in vars(module).values()
        if isinstance(var, type) and var.__module__ == module.__name__
    ]
    adapters = [
        adapter_class
        for adapter_class in classes
        if issubclass(adapter_class, Adapter) and not inspect.isabstract(adapter_class)
    ]
    return sorted(
        (adapter for adapter in adapters if hasattr(adapter, "name")),
        key=lambda adapter: adapter.name,
    )


_ADAPTERS = _found()


def _of_packages() -> Iterator[Adapter]:
    """The programs that other packages bring.

    Raises:
        WrongInputError: one cannot be loaded, or is no program.
    """
    for entry in importlib.metadata.entry_points(group=_GROUP):
        package = entry.dist
        text = f"{package.name} {package.version}" if package else entry.value
        where = f"entry point {entry.name} of {_GROUP} ({text})"
        try:
            adapter = entry.load()()
        except Exception as error:
            reason = f"cannot be loaded: {type(error).__name__}: {error}"
            raise WrongInputError(reason, where=where) from None
        if not isinstance(adapter, Adapter):
            raise WrongInputError(f"{entry.value} is no kind of Adapter", where=where)
        if any(_is_namesake(adapter, namesake) for namesake in _ADAPTERS):
            raise WrongInputError(
                f"{adapter.name} is a program that comes with Headway", where=where
            )
        adapter.version = adapter.version or text
        yield adapter


def _is_namesake(adapter: Adapter, other: type[Adapter]) -> bool:
    return adapter.name == other.name and any(
        isinstance(adapter, kind) and issubclass(other, kind) for kind in _KINDS
    )


_BROUGHT = list(_of_packages())


def _of_kind(kind: type[_A]) -> dict[str, _A]:
    """The programs of a kind, by name; those of packages come last."""
    own = {adapter.name: adapter() for adapter in _ADAPTERS if issubclass(adapter, kind)}
    return own | {adapter.name: adapter for adapter in _BROUGHT if isinstance(adapter, kind)}


CLIENTS: dict[str, Client] = _of_kind(Client)  # type: ignore[type-abstract]
SERVERS: dict[str, Server] = _of_kind(Server)  # type: ignore[type-abstract]
PROXIES: dict[str, ReverseProxy] = _of_kind(ReverseProxy)  # type: ignore[type-abstract]
QUIC_PEPS: dict[str, QuicPep] = _of_kind(QuicPep)  # type: ignore[type-abstract]
TCP_PEPS: dict[str, TcpPep] = _of_kind(TcpPep)  # type: ignore[type-abstract]
