"""`headway doctor`: whether the emulation is exact on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.options import Seed
from headway.errors import HeadwayError
from headway.terminal import output, progress, say

# Labs take a moment to load, which help and completion need not wait for.
if TYPE_CHECKING:
    from headway.image import Image
    from headway.selftest.check import Check


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print all checks as JSON.")] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show every check, not only those that failed.")
    ] = False,
    seed: Seed = 1,
) -> None:
    """Measure the emulation from inside and judge it.

    Exit status 1 if a check failed.
    """
    import json

    from headway.cli.image import described_toolchain
    from headway.image import status
    from headway.lab.ready import ready_image
    from headway.selftest.checktable import print_checks, print_verdict

    image = ready_image()
    checks = _checks(image, seed)
    failed = sum(not check.passed for check in checks)
    if as_json:
        print(json.dumps([check.as_json() for check in checks], indent=1))
    else:
        print_verdict(output(), checks)
        say(f"Headway's own programs: {image.info.native.version}")
        say(f"Toolchain: {described_toolchain(status().toolchain)}")
        if show_all:
            print_checks(output(), checks)
        else:
            say("`headway doctor --all` shows every check.")
    if failed:
        raise HeadwayError(f"{failed} of {len(checks)} checks failed")


def _checks(image: Image, seed: int) -> Sequence[Check]:
    """All checks, carried out; what is measured is said meanwhile."""
    import tempfile
    from pathlib import Path

    from headway.lab.cores import available_cores
    from headway.lab.ready import ready_machine
    from headway.selftest.battery import COALESCED_PATH, COALESCING, battery
    from headway.selftest.probing import check_paths, measure_path

    paths, machine = battery(), ready_machine(image)
    with (
        tempfile.TemporaryDirectory(prefix="headway-doctor-") as directory,
        progress("measuring the emulation", len(paths) + 1) as count,
    ):
        checks = check_paths(
            machine,
            paths,
            seed=seed,
            directory=Path(directory),
            cores=available_cores(),
            on_path=count,
        )
        coalesced = measure_path(
            machine,
            COALESCED_PATH,
            seed=seed,
            directory=Path(directory) / "coalescing",
            coalescing=COALESCING,
        )
        count(all(check.passed for check in coalesced))
    return [*checks, *coalesced]
