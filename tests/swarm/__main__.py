"""`python -m tests.swarm FIRST [LAST]`: settings of these seeds, each carried out twice and judged.

Failing ones are made small and printed as studies. `--reasons` counts why settings were refused, or their runs failed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import tomlkit

from headway.errors import normalised
from headway.image.layers import layer_names
from headway.lab.cores import available_cores
from headway.lab.ready import ready_image, ready_machine
from tests.surroundings import forget_copies
from tests.swarm.judging import Judge


def main() -> int:
    """Carry out and judge; the exit status is 1 if a setting failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.swarm", description=__doc__)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int, nargs="?")
    parser.add_argument(
        "--reasons", action="store_true", help="count why settings were refused or failed"
    )
    parser.add_argument("--whole", action="store_true", help="do not make failing settings small")
    options = parser.parse_args()
    last = options.first if options.last is None else options.last
    if last < options.first:
        parser.error(
            f"LAST is {last}, below FIRST, {options.first}: it is a seed, no number of them"
        )
    machine = ready_machine(ready_image(layers=layer_names()))
    top = Path(tempfile.mkdtemp(prefix="swarm-"))
    judge = Judge(machine, top, available_cores()[0])
    reasons: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    failing = 0
    for seed in range(options.first, last + 1):
        print(f"seed {seed}, {failing} failing so far", end="\r", file=sys.stderr, flush=True)
        verdict = judge.of_seed(seed)
        statuses[verdict.status] += 1
        if verdict.reason:
            reasons[f"{verdict.status}: {normalised(verdict.reason)}"] += 1
        if not verdict.violations:
            continue
        failing += 1
        tables = verdict.tables if options.whole else judge.smallest(verdict)
        print(f"seed {seed}:")
        for sentence in verdict.violations:
            print(f"  {sentence}")
        print(tomlkit.dumps(tables), flush=True)
    print(
        ", ".join(f"{count} {status}" for status, count in statuses.most_common()),
        f"; {failing} failing",
    )
    if options.reasons:
        for reason, count in reasons.most_common():
            print(f"{count:6} {reason}")
    shutil.rmtree(top, ignore_errors=True)
    forget_copies()
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main())
