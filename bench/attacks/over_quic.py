"""What clients that mean no good do over QUIC: the attacks of `native/server/examples/hostile.rs`."""

from __future__ import annotations

import subprocess
import sys

from bench.attacks.over_tcp import Attack
from bench.attacks.targets import Target


def hostile(attack: str, alpn: str = "h3") -> Attack:
    """One of them, by its name, over the application protocol that the server offers."""

    def carry_out(target: Target) -> object:
        command = target.place.program(
            "examples/hostile",
            attack,
            f"127.0.0.1:{target.secured}",
            target.place.identity[2],
            alpn,
        )
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        print(f"{attack}: {process.stdout.readline().strip()}", file=sys.stderr, flush=True)
        return process

    return carry_out
