"""The programs that there are.

A class in a module of this package is a program of Headway's if it is one of the kinds of
`headway.programs.base` and can be made; nothing else names it.
"""

from __future__ import annotations

import inspect
from typing import TypeVar

from headway.modules import modules_in
from headway.programs.base import Adapter, Client, QuicPep, ReverseProxy, Server, TcpPep

_PACKAGE = "headway.programs"
_A = TypeVar("_A", bound=Adapter)


def _found() -> list[type[Adapter]]:
    classes = [
        one
        for module in modules_in(_PACKAGE, besides=__name__)
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == module.__name__
    ]
    adapters = [one for one in classes if issubclass(one, Adapter) and not inspect.isabstract(one)]
    return sorted((one for one in adapters if hasattr(one, "name")), key=lambda one: one.name)


_ADAPTERS = _found()


def _of_kind(kind: type[_A]) -> dict[str, _A]:
    """The programs of a kind, by name."""
    return {one.name: one() for one in _ADAPTERS if issubclass(one, kind)}


CLIENTS: dict[str, Client] = _of_kind(Client)  # type: ignore[type-abstract]
SERVERS: dict[str, Server] = _of_kind(Server)  # type: ignore[type-abstract]
PROXIES: dict[str, ReverseProxy] = _of_kind(ReverseProxy)  # type: ignore[type-abstract]
QUIC_PEPS: dict[str, QuicPep] = _of_kind(QuicPep)  # type: ignore[type-abstract]
TCP_PEPS: dict[str, TcpPep] = _of_kind(TcpPep)  # type: ignore[type-abstract]
