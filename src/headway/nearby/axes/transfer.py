"""Axes of the transfer: sizes, load, and what the client has already."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from headway.nearby.axis import NearbyAxis, NearbyLevel, Table, scaled
from headway.study.axisnames import AxisName
from headway.study.merging import merged, with_value
from headway.study.setting import Setting
from headway.study.units import Duration, Size
from headway.study.video import Video
from headway.study.workload import Cache, Page
from headway.study.workloadpart import WorkloadPart

_SIZES = ("size", "down", "up")
"""Keys of workloads that say how large what is transferred is, the one that matters most first."""
_LEAST_BYTES = 64
_LARGE_CHAIN = "12 kB"


def _size_key(workload: WorkloadPart) -> str | None:
    return next((key for key in _SIZES if isinstance(getattr(workload, key, None), Size)), None)


def _bytes(setting: Setting) -> float | None:
    """Size of what is transferred at once, bytes."""
    key = _size_key(setting.workload)
    return float(getattr(setting.workload, key)) if key and not setting.flows else None


def _sized(_: Setting, size_bytes: float) -> NearbyLevel:
    size = Size(max(_LEAST_BYTES, round(float(f"{size_bytes:.2g}"))))

    def other(raw: Table, setting: Setting) -> Table:
        key = _size_key(setting.workload)
        return with_value(raw, ["workload", key], f"{int(size)} B") if key else raw

    return NearbyLevel(f"for {size}", other, size_bytes)


def _per_second(setting: Setting) -> float | None:
    """Requests each second, of an open loop."""
    return getattr(setting.workload, "per_second", None) if not setting.flows else None


def _loaded(_: Setting, per_second: float) -> NearbyLevel:
    def other(raw: Table, _: Setting) -> Table:
        return with_value(raw, ["workload", "per_second"], per_second)

    return NearbyLevel(f"at {per_second:.3g} requests each second", other, per_second)


def _cache(setting: Setting) -> Hashable:
    return setting.workload.cache if isinstance(setting.workload, Page) else None


def _other_cache(setting: Setting) -> Iterable[NearbyLevel]:
    if not isinstance(setting.workload, Page):
        return
    wanted = Cache.WARM if setting.workload.cache is Cache.COLD else Cache.COLD

    def other(raw: Table, _: Setting) -> Table:
        return with_value(raw, ["workload", "cache"], str(wanted))

    yield NearbyLevel(f"with a {wanted} cache", other)


def _latency_ms(setting: Setting) -> float | None:
    """Distance of a live stream's viewers, ms."""
    workload = setting.workload
    return workload.live.latency.ms if isinstance(workload, Video) and workload.live else None


def _viewed(_: Setting, latency_ms: float) -> NearbyLevel:
    latency = Duration(round(latency_ms * 1e6))

    def other(raw: Table, _: Setting) -> Table:
        return merged(raw, {"workload": {"live": {"latency": f"{latency.ns} ns"}}})

    return NearbyLevel(f"at a latency of {latency}", other, latency_ms)


def _chain(setting: Setting) -> Hashable:
    return setting.certificate_chain


def _other_chain(setting: Setting) -> Iterable[NearbyLevel]:
    if setting.tls and setting.certificate_chain is None:
        yield NearbyLevel(
            f"with certificates of {_LARGE_CHAIN}",
            lambda raw, _: raw | {"certificate_chain": _LARGE_CHAIN},
        )


AXES = (
    scaled(
        AxisName.SIZE,
        "size of what is transferred: a third, three times",
        80,
        _bytes,
        _sized,
        (1 / 3, 3.0),
    ),
    scaled(
        AxisName.LOAD,
        "requests each second: half, a seventh",
        85,
        _per_second,
        _loaded,
        (0.5, 1 / 7),
    ),
    scaled(
        AxisName.LATENCY,
        "latency of a live stream: three times, half",
        55,
        _latency_ms,
        _viewed,
        (3.0, 0.5),
    ),
    NearbyAxis(AxisName.CACHE, "a page's cache: warm against cold", 65, _cache, _other_cache),
    NearbyAxis(AxisName.CERTIFICATES, "certificates of 12 kB", 210, _chain, _other_chain),
)
