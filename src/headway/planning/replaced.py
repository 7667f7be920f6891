"""Keys of a study that hold for several parts, each of which states its own: they are without effect."""

from __future__ import annotations

from collections.abc import Iterator

from headway.planning.idle import peps_of
from headway.study.hop import Pep
from headway.study.kernel import Kernel
from headway.study.satellite.link import Satellite
from headway.study.setting import Setting

_OF_SIDES = ("congestion_control", "initial_window")
_OF_CARRIERS = ("delay", "snr", "attenuation")


def replaced(setting: Setting) -> Iterator[str]:
    """The keys of a setting that all parts replace for which they would hold."""
    for hop in setting.hops.values():
        for name, pep in peps_of(hop):
            yield from _of_sides(f"hops.{hop.name}.{name}", pep)
    for path in setting.network.paths:
        for link in path.links:
            if link.satellite:
                yield from _of_carriers(link.satellite)
    for key, host in setting.tables:
        yield from _of_costs(key, host.kernel)


def _of_sides(key: str, pep: Pep) -> Iterator[str]:
    for name in _OF_SIDES:
        sides = [getattr(side, name) for side in (pep.downstream, pep.upstream)]
        for transport, value in getattr(pep, name):
            if value is not None and all(getattr(side, transport) for side in sides):
                yield f"{key}.{name} is without effect over {transport.upper()}: downstream and upstream state theirs"


def _of_carriers(satellite: Satellite) -> Iterator[str]:
    carriers = satellite.forward, satellite.return_
    for name in _OF_CARRIERS:
        theirs = all(getattr(carrier, name) is not None for carrier in carriers)
        if theirs and name in satellite.model_fields_set:
            yield f"satellite.{name} is without effect: forward and return state theirs"


def _of_costs(key: str, kernel: Kernel) -> Iterator[str]:
    processor = kernel.processor
    if processor and "profile" in processor.model_fields_set and processor.states_all:
        yield f"{key}.kernel.processor.profile is without effect: the study states all costs"
