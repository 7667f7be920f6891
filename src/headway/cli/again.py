"""`headway exec` with options that it was given before: its lab is known, and nothing that makes one is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from headway.study.clock import Clock
from headway.terminal import note
from headway.words import body_sizes_in

_USUAL = {"seed": "1", "clock": str(Clock.VIRTUAL)}
_NAMES = ("rate", "rtt", "loss", "jitter", "queue", "seed", "clock")


_PATH = {
    "rate": "rate {}",
    "rtt": "RTT {}",
    "loss": "loss {}",
    "jitter": "jitter {}",
    "queue": "queue {}",
}
"""Options of the path, and how each is read out."""


def options_that(*, seed: int, clock: Clock, **path: str | None) -> dict[str, str]:
    """All options that decide on a lab, as texts."""
    given = {name: value for name, value in path.items() if value is not None}
    return {**given, "seed": str(seed), "clock": str(clock)}


def path_in_words(options: Mapping[str, str]) -> str:
    """The path that a command was given, or that it was given none."""
    parts = [words.format(options[name]) for name, words in _PATH.items() if name in options]
    return f"path: {', '.join(parts) or 'a cable, without limit, delay or loss'}"


def for_bodies(options: Mapping[str, str], command: Sequence[str]) -> dict[str, str]:
    """What a lab is kept under: the options, and the bodies that its command asks for."""
    sizes = sorted(body_sizes_in(command))
    return {**options, "bodies": " ".join(map(str, sizes))} if sizes else dict(options)


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
    from headway.lab.lab_options_cache import remembered

    lab = remembered(for_bodies(options, command), command)
    if lab is None:
        return None
    note(path_in_words(options))
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
        name, text, value = words[at].removeprefix("--").partition("=")
        if name not in _NAMES:
            return None
        if not text:
            after = next(left, None)
            if after is None:
                return None
            value = words[after]
        options[name] = value
    return None
