"""Another flow on the path."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from headway.nearby.axis import NearbyAxis, NearbyLevel, Table
from headway.study.axisnames import AxisName
from headway.study.setting import Setting

_PROGRAM = {"program": "headway-perf"}
_BULK: Table = {
    "protocol": "tcp",
    "background": True,
    "client": _PROGRAM,
    "server": _PROGRAM | {"congestion_control": "cubic"},
    "workload": {"kind": "bulk", "duration": "20 s"},
}
"""It only loads the path, from the same moment on, and is the same beside every contender."""
_OWN, _OTHER = "own", "other"


def _shares(setting: Setting) -> Hashable:
    return tuple(setting.flows)


def _beside(setting: Setting) -> Iterable[NearbyLevel]:
    if not setting.flows:
        yield NearbyLevel("beside a download over TCP", _with_another)


def _with_another(raw: Table, _: Setting) -> Table:
    return raw | {"flows": {_OWN: {}, _OTHER: dict(_BULK)}}


AXES = (
    NearbyAxis(
        AxisName.BESIDE,
        "beside a TCP flow with CUBIC that starts at the same time",
        58,
        _shares,
        _beside,
    ),
)
