"""Congestion controllers by name: the lab kernel's, and those of Headway's own QUIC."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

KNOBS_FILE = Path(__file__).with_name("data") / "knobs.json"
"""``native/knobs.json``: the knobs of Headway's own programs, which the programs read, too."""

OF_THE_KERNEL = (
    *("reno", "cubic", "bbr", "hybla", "vegas", "westwood", "illinois", "dctcp"),
    "prague",
)
"""What the lab's kernel has for TCP (`src/headway/image/kernel.config`)."""

OF_L4S = frozenset({"prague"})
"""Whose packets are ECT(1) (RFC 9331, section 4.1), over TCP and over QUIC."""

WITH_ACCURATE_ECN = frozenset({"prague"})
"""Of the kernel's: TCP that has Accurate ECN on both ends or is another controller's (RFC 9331, section 4.2)."""

_KERNEL_NAMES = {"newreno": "reno"}
"""Controllers of Headway's QUIC that the kernel, and so a study, calls otherwise."""


def _of_quic() -> dict[str, str]:
    raw: dict[str, list[dict[str, Any]]] = json.loads(KNOBS_FILE.read_text(encoding="utf-8"))
    knob = next(values for values in raw["quic"] if values["name"] == "congestion-control")
    return {_KERNEL_NAMES.get(word, word): word for word in knob["words"]}


OF_HEADWAYS_QUIC = _of_quic()
"""What Headway's own QUIC has, as studies call it, and as the programs call it."""
