"""Remarks beside loads of processors: what their model leaves out, and who else has one."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from headway.analysis.analysis import Analysis
from headway.analysis.numbers import listed, significant
from headway.columns import Status

_LOADS = ("client_busy_share", "server_busy_share", "proxy_busy_share")
_BETWEEN = "proxy_busy_share"
_KERNELS = ("client_kernel", "server_kernel", "hop_kernels")
_CHARGED = "computing"
"""What a kernel's settings have if its processor charges for what programs compute."""


_OVER_QUIC = ("h3", "quic")
_BOUND = " So a ratio of loads over QUIC and over TCP is an upper bound."


def load_sentences(analysis: Analysis) -> tuple[str, ...]:
    """Beside loads: what is charged nothing; beside a server's behind a proxy's, that one, too."""
    if analysis.metric.column not in _LOADS:
        return ()
    return (*_left_out(analysis), *_before_the_server(analysis))


def _left_out(analysis: Analysis) -> Iterator[str]:
    kernels = (kernel for name in _KERNELS for kernel in analysis.runs[name].drop_nulls().unique())
    if not any(_CHARGED in kernel for kernel in kernels):
        mixed = len({spoken in _OVER_QUIC for spoken in analysis.protocols.values()}) > 1
        yield (
            "Loads count what processors charge: system calls, packets and bytes. What programs compute between calls "
            "costs nothing (`computing` is 0): over TCP that is all of HTTP and TLS, while each datagram of QUIC has "
            f"its own charge.{_BOUND if mixed else ''}"
        )


def _before_the_server(analysis: Analysis) -> Iterator[str]:
    finished = analysis.runs.filter(pl.col("status") == Status.OK.value)
    medians = dict(finished.group_by("contender").agg(pl.col(_BETWEEN).median()).iter_rows())
    loads = [
        f"{name} {significant(load)}"
        for name in analysis.contenders
        if (load := medians.get(name)) is not None
    ]
    if loads and analysis.metric.column == "server_busy_share":
        yield (
            "This is the server behind a proxy, which has a processor, too. The load of that one "
            f"(proxy_busy_share, medians of all runs): {listed(loads)}."
        )
