"""`python -m tests.refusals`: names the cases whose words have changed; with `--rewrite`, writes the words that hold now."""

from __future__ import annotations

import argparse
import sys

from tests.refusals.cases import HERE, cases, rewrite


def main() -> int:
    """Compare or rewrite; the exit status is 1 if messages differ and stay as they were."""
    parser = argparse.ArgumentParser(prog="python -m tests.refusals", description=__doc__)
    parser.add_argument("--rewrite", action="store_true", help="write the messages of today")
    parser.add_argument("cases", nargs="*", help="cases or directories, such as path; default: all")
    given = parser.parse_args()
    if unknown := [name for name in given.cases if not cases([name])]:
        parser.error(f"no case {unknown[0]!r}")
    if given.rewrite:
        for file in rewrite(given.cases):
            print(file.relative_to(HERE))
        return 0
    differing = [
        case.name for case in cases(given.cases) if case.ending().complaint != case.message
    ]
    print("\n".join(differing) or "all messages are as they were")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
