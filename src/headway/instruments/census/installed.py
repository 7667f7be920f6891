"""The presence of the packages that the census needs: set-up leaves them out, because few need them."""

from __future__ import annotations

from importlib.util import find_spec

from headway.errors import HeadwayError

NEEDED = ("ibis", "duckdb")
HOW = "`make census` installs them, as does pip install '.[census]' in Headway's directory"


def check_installed() -> None:
    """End with a line that says how to get them if they are not.

    Raises:
        HeadwayError: one of them is missing.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise HeadwayError(
            f"a census needs ibis and DuckDB (105 MB), and {' and '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not installed; {HOW}"
        )
