"""Note what studies order from the lab, for `tests/unit/test_same_orders.py`: those that are new, and those named.

    python tools/note_orders.py [STUDY ... | --all]

Name studies whose orders change on purpose, and say in the commit what changed and why.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from headway.errors import nearest
from tests.unit.test_same_orders import STUDIES, note


def main() -> None:
    """Note them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="as orders.json names it")
    parser.add_argument("--all", action="store_true", help="all of them: minutes")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.studies if name not in STUDIES]:
        parser.error(f"no study {unknown[0]!r}{nearest(unknown[0], list(STUDIES))}")
    note(STUDIES if chosen.all else chosen.studies)


main()
