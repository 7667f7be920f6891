"""Lists the sysctls of the namespace that it runs in, and finds out which numbers the kernel takes.

What is written is the namespace's, which nobody else has; values are put back.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator

_ROOT = "/proc/sys"
_FAR = 2**64
"""Beyond what any sysctl takes, either way."""


def sysctls() -> Iterator[tuple[str, str]]:
    """Names and values of all sysctls below ``net`` that can be written and read, in order."""
    for directory, _, names in sorted(os.walk(f"{_ROOT}/net")):
        for name in sorted(names):
            path = f"{directory}/{name}"
            if os.stat(path).st_mode & 0o600 != 0o600:
                continue
            dotted = os.path.relpath(path, _ROOT).replace("/", ".")
            yield dotted, " ".join(_read(path).split())


def _read(path: str) -> str:
    """The value; empty if there is none yet, which the kernel tells by an error."""
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def _takes(path: str, value: str) -> bool:
    try:
        descriptor = os.open(path, os.O_WRONLY)
        try:
            os.write(descriptor, value.encode())
        finally:
            os.close(descriptor)
    except OSError:
        return False
    return True


def limits(path: str, value: str) -> tuple[int, int] | None:
    """The smallest and the largest number that the kernel takes; None if values are no numbers."""
    words = value.split()
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        return None
    if not numbers:
        return None

    def takes(number: int) -> bool:
        return _takes(path, " ".join([str(number)] * len(words)))

    start = next((number for number in numbers if takes(number)), None)
    pair = None if start is None else (_edge(takes, start, -_FAR), _edge(takes, start, _FAR))
    _takes(path, value)
    return pair


def _edge(takes: Callable[[int], bool], inside: int, outside: int) -> int:
    """The last number, from one that is taken towards one that is not, that is taken."""
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        if takes(middle):
            inside = middle
        else:
            outside = middle
    return inside


def main() -> None:
    """Print what there is; with ``limits`` among the arguments, also what numbers can be written."""
    for name, value in list(sysctls()):
        path = f"{_ROOT}/{name.replace('.', '/')}"
        pair = limits(path, value) if "limits" in sys.argv else None
        print(json.dumps([name, value, len(value.split()), pair]))
