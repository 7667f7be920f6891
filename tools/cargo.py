"""Run cargo in native/, with the toolchain that also compiles Headway's programs for labs.

    python tools/cargo.py test --workspace --locked

Formatter and linter are that toolchain's, too: what they find depends on no other that a machine has.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from headway.errors import HeadwayError
from headway.image import builder, shown_progress
from headway.image.process import user_environment

_NATIVE = Path(__file__).parents[1] / "native"


def main() -> int:
    """Do it; the exit status is cargo's."""
    try:
        with shown_progress() as progress:
            toolchain = builder.toolchain(progress=progress)
    except HeadwayError as error:
        print(f"headway: {error}", file=sys.stderr)
        return 1
    os.chdir(_NATIVE)
    environment = toolchain.environment(user_environment())
    os.execvpe("cargo", ["cargo", *(sys.argv[1:] or ["help"])], environment)


if __name__ == "__main__":
    sys.exit(main())
