"""`headway controllers`: which congestion control senders have, by what they keep in flight."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headway.cli.options import ResultsDirectory
from headway.errors import HeadwayError, WrongInputError, counted
from headway.terminal import complain, note, output, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headway.instruments.controllers.guess import KnownShapes
    from headway.instruments.controllers.senders import SeenSender


def controllers(
    directory: ResultsDirectory,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Take only this experiment; may be given several times.", metavar="EXPERIMENT"
        ),
    ] = None,
    learn: Annotated[
        Path | None,
        typer.Option(
            help="Write the table of known shapes from these runs, as it comes with Headway.",
            metavar="FILE",
        ),
    ] = None,
    known: Annotated[
        Path | None,
        typer.Option(
            help="Hold runs against this table, as --learn writes it, and not the one that comes with Headway.",
            metavar="FILE",
        ),
    ] = None,
    unseen: Annotated[
        bool,
        typer.Option(
            "--unseen",
            help="Take the controller that is stated out of the table: each run should be unknown.",
        ),
    ] = False,
) -> None:
    """Tell which congestion control senders have.

    By the bytes in flight at the bottleneck, whatever programs say of themselves.
    """
    if learn is not None and (known is not None or unseen):
        raise WrongInputError("writes a table; leave out --known and --unseen", where="--learn")
    # Statistics take seconds to load.
    import polars as pl

    from headway.analysis import load_results
    from headway.instruments.controllers.guess import known_shapes, read_shapes
    from headway.instruments.controllers.senders import seen_senders, written_shapes
    from headway.records.store import refresh_table

    table = known_shapes() if known is None else read_shapes(known)
    refresh_table(directory)
    results = load_results(directory)
    for name in only or ():
        results.experiment(name)
    runs = results.runs.filter(pl.col("experiment").is_in(only)) if only else results.runs
    senders = list(seen_senders(directory, runs))
    if not any(sender.shape for sender in senders):
        raise WrongInputError(
            "no sender shows its controller: that takes a flow alone on a link of constant rate, for 15 s",
            where=str(directory),
        )
    if learn is None:
        if known is None:
            senders = _known_paths(senders, directory)
        _print(senders, table, unseen=unseen)
        return
    experiments = "".join(f" --only {name}" for name in only or ())
    text = written_shapes(senders, f"headway controllers RESULTS{experiments} --learn FILE")
    learn.write_text(text, encoding="utf-8")
    note(f"{learn}: {len(text.splitlines()) - 2} shapes")


def _known_paths(senders: Sequence[SeenSender], directory: Path) -> list[SeenSender]:
    """The senders on paths of which the table tells anything; says what it leaves out.

    Raises:
        HeadwayError: there are none.
    """
    from headway.instruments.controllers.scope import SCOPE

    shown = [sender for sender in senders if sender.shape]
    left_out = Counter(sender.outside for sender in shown if sender.outside)
    why = "; ".join(f"{outside}: {counted(runs, 'run')}" for outside, runs in left_out.items())
    advice = f"It knows {SCOPE}; --known holds runs against a table of your own (--learn)"
    if left_out.total() == len(shown):
        message = f"{directory}: no run is on a path that the table of known controllers knows"
        raise HeadwayError(f"{message} ({why}). {advice}")
    if left_out:
        complain(f"note: not judged, since the table does not know their paths: {why}. {advice}")
    return [sender for sender in senders if not (sender.shape and sender.outside)]


def _print(senders: Sequence[SeenSender], known: KnownShapes, *, unseen: bool) -> None:
    """A line for each contender: the controller its runs are classified as, and their distance from it.

    Of a contender that cells give other controllers, a line for each of these.
    """
    from rich.table import Table

    from headway.instruments.controllers.guess import UNKNOWN

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("experiment", "contender", "stated", "seen", "nearest", "distance"):
        table.add_column(heading)
    right, judged = 0, 0
    groups: dict[tuple[str, str, str], list[SeenSender]] = {}
    for sender in senders:
        named = (sender.experiment, sender.contender, sender.stated)
        groups.setdefault(named, []).append(sender)
    for (experiment, contender, stated), group in groups.items():
        by = known.without(stated) if unseen else known
        guesses = [guess for sender in group if (guess := sender.guess(by))]
        if not guesses:
            table.add_row(experiment, contender, stated, "does not show", "", "")
            continue
        seen = Counter(guess.controller for guess in guesses)
        nearest = Counter(guess.nearest for guess in guesses)
        far = [guess.distance for guess in guesses]
        right += seen[UNKNOWN if unseen else stated]
        judged += len(guesses)
        spans = f"{min(far):.2f} to {max(far):.2f}"
        table.add_row(experiment, contender, stated, _counted(seen), _counted(nearest), spans)
    output().print(table)
    wanted = "unknown, as they should be" if unseen else "what was stated"
    say(f"{right} of {judged} runs are held to be {wanted}.")


def _counted(names: Counter[str]) -> str:
    if len(names) == 1:
        return next(iter(names))
    return ", ".join(f"{name} {count}" for name, count in names.most_common())
