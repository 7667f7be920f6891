"""`headway exec` with options that it was given before: its lab is known, and nothing that makes one is loaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headway.study.clock import Clock

_USUAL = {"seed": "1", "clock": str(Clock.VIRTUAL)}
_NAMES = ("rate", "rtt", "loss", "jitter", "queue", "seed", "clock")


def options_that(*, seed: int, clock: Clock, **path: str | None) -> dict[str, str]:
    """All options that decide on a lab, as texts."""
    said = {name: value for name, value in path.items() if value is not None}
    return {**said, "seed": str(seed), "clock": str(clock)}


def execute(words: Sequence[str], begins: Callable[[], None]) -> int | None:
    """Carry out a command in the lab that its options had before.

    Args:
        words: those after ``exec``.
        begins: called before the lab is booted.

    Returns:
        The command's exit status; None if the lab is not known, and nothing was done.
    """
    split = _options_and_command(words)
    if split is None:
        return None
    options, command = split
    # It takes longer to load than a look at what is asked.
    from headway.lab.remembered import remembered

    lab = remembered(options, command)
    if lab is None:
        return None
    begins()
    return lab.run(tuple(command), clock=Clock(options["clock"]))


def _options_and_command(words: Sequence[str]) -> tuple[dict[str, str], Sequence[str]] | None:
    """The options, and the command behind them; None if others, or none at all, are there."""
    options = dict(_USUAL)
    left = iter(range(len(words)))
    for at in left:
        if not words[at].startswith("-"):
            return options, words[at:]
        if words[at] == "--":
            return (options, words[at + 1 :]) if words[at + 1 :] else None
        name, told, value = words[at].removeprefix("--").partition("=")
        if name not in _NAMES:
            return None
        if not told:
            after = next(left, None)
            if after is None:
                return None
            value = words[after]
        options[name] = value
    return None
