"""Writes the list of the lab kernel's sysctls, for `headway.study.sysctls`; needs an image.

Run it when the lab kernel has changed; a lab test checks that the list is the kernel's.
"""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

from headway.lab.ready import ready_image, ready_machine
from headway.lab.sysctls import list_sysctls
from headway.study.sysctls import Sysctl

LIST = Path(__file__).parents[1] / "src/headway/study/data/sysctls.csv"


def row(sysctl: Sysctl) -> tuple[object, ...]:
    """A line of the list."""
    numbers = (sysctl.numbers, sysctl.least, sysctl.most) if sysctl.numbers else ("", "", "")
    return (sysctl.name, "kernel" if sysctl.whole_kernel else "host", sysctl.default, *numbers)


def main() -> None:
    """Boot a lab, and write what it tells."""
    machine = ready_machine(ready_image())
    with tempfile.TemporaryDirectory() as directory:
        found = list_sysctls(machine, Path(directory))
    with LIST.open("w", encoding="utf-8", newline="") as file:
        file.write("# Made by tools/list_sysctls.py from the lab kernel.\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("name", "of", "default", "numbers", "least", "most"))
        writer.writerows(map(row, found))


if __name__ == "__main__":
    main()
