"""Shares in sentences: who takes from whom where, and what a flow gets beside others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from headway.analysis.analysis import Analysis
from headway.analysis.cell_phrases import told_place
from headway.analysis.condition_phrases import cell_words
from headway.analysis.estimate_text import signed, sized
from headway.analysis.numbers import listed, percent, significant
from headway.analysis.rival_shares import BesideOthers, Getting, besides
from headway.analysis.shares import EVEN_PART, STARVED_PART, NameShares, Shared, Shares, shares
from headway.errors import counted
from headway.statistics.pairs import fewest_pairs

_MOST_RANKED = 3
"""Of more flows of a name only the most and the least are told."""
_ORDER = (Shared.STARVED, Shared.TAKEN, Shared.UNCLEAR, Shared.EVEN, Shared.UNTOLD)
"""What is told first."""
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def share_sentences(analysis: Analysis) -> tuple[str, ...]:
    """Who got how much, most important first; nothing if no flows competed.

    First whether anybody is starved, then of every contender who takes from whom and where, then what flows get
    beside others and would get beside their own kind.
    """
    all_shares = shares(analysis)
    if not all_shares:
        return ()
    own = {
        name: [shares for shares in all_shares if shares.contender == name]
        for name in analysis.contenders
    }
    # What flows of different kinds do to each other is asked first; those of one kind are what it is held against.
    few = tuple(_few(all_shares))
    ordered = sorted(filter(None, own.values()), key=lambda cells: len(cells[0].names) < 2)
    each = (_contender(analysis, cells) for cells in ordered)
    return (*few, *_worst(analysis, all_shares), *each, *_all_besides(analysis))


def _few(all_shares: Sequence[Shares]) -> Iterator[str]:
    """That runs are too few for an interval: what is then said is of these runs, and of no others."""
    runs = [shares.runs for shares in all_shares if shares.sharing is not Shared.UNTOLD]
    if runs and min(runs) < fewest_pairs():
        yield (
            f"Too few runs to be sure of who gets how much ({_range_of(runs)}; it takes {fewest_pairs()}): what "
            "follows is of these runs only."
        )


def _range_of(runs: Sequence[int]) -> str:
    low, high = min(runs), max(runs)
    return counted(low, "run") if low == high else f"{low} to {high} runs"


def _worst(analysis: Analysis, all_shares: Sequence[Shares]) -> Iterator[str]:
    """Whether anybody is starved, and who has least, where that is; of different flows before those of one kind."""
    judged = [shares for shares in all_shares if shares.sharing is not Shared.UNTOLD]
    starved = [shares for shares in judged if shares.sharing is Shared.STARVED]
    mixed = [shares for shares in judged if len(shares.names) > 1]
    if not judged:
        return
    worst = min(starved or mixed or judged, key=lambda shares: shares.judged.median)
    where = f" {cell_words(analysis.conditions, worst.cell)}" if worst.cell.title else ""
    bound = f"(below {percent(STARVED_PART)} of a fair share)"
    namesakes = {shares.contender for shares in all_shares if _flows_of(shares) == _flows_of(worst)}
    whose = _whose(worst) + (f" in {worst.contender}" if len(namesakes) > 1 else "")
    who, has = f"{whose}{where}", f"has {_least(worst)} ({_how_sure(worst)})"
    if starved:
        more = f"; so it is in {len(starved)} of {len(judged)} cases" if len(starved) > 1 else ""
        yield f"There is starvation {bound}: {who} {has}{more}."
    elif worst.uneven:
        yield f"Nobody is starved {bound}: the least, {who}, {has}."
    else:
        yield f"Nobody is starved {bound}: the least has {_least(worst)}."


def _flows_of(shares: Shares) -> tuple[str, ...]:
    """The names of its flows."""
    return tuple(sorted(name.named for name in shares.names))


def _whose(shares: Shares) -> str:
    """Whose part is the least: ``bbr3 beside cubic``."""
    others = [name.named for name in shares.names if name.named != shares.taken]
    if shares.taken:
        return f"{shares.taken} beside {listed(others)}"
    name = shares.names[0]
    return (
        f"the lesser of {name.named}'s two"
        if name.count == 2
        else f"the last of {name.named}'s {_word(name.count)}"
    )


def _least(shares: Shares) -> str:
    """``64 % of its fair share``."""
    return f"{percent(shares.judged.median)} of its fair share"


def _how_sure(shares: Shares) -> str:
    """``61 to 68 % in 3 runs``; of six runs and more the 95 % interval."""
    interval = shares.judged.interval
    if interval is None or interval.low == interval.high:
        return "always" if shares.runs > 1 else "in one run"
    low, high = (f"{end * 100:.0f}" for end in (interval.low, interval.high))
    text = f"{low} to {high} % in {counted(shares.runs, 'run')}"
    return f"95 % interval {text}" if interval.reaches_level else text


def _contender(analysis: Analysis, cells: Sequence[Shares]) -> str:
    """``bbr3 v cubic: cubic takes from bbr3 with 4 BDP droptail (...); even with fq_codel (...).``"""
    groups: dict[tuple[Shared, str, str], list[Shares]] = {}
    for cell in cells:
        groups.setdefault((cell.sharing, cell.taker, cell.taken), []).append(cell)
    ordered = sorted(groups.values(), key=lambda group: _ORDER.index(group[0].sharing))
    texts = [_group(analysis, group, cells) for group in ordered]
    return f"{cells[0].contender}: {'; '.join(texts)}."


def _group(analysis: Analysis, group: Sequence[Shares], among: Sequence[Shares]) -> str:
    where = told_place(
        analysis, [shares.cell for shares in group], [shares.cell for shares in among]
    )
    text = " ".join(filter(None, (_verdict(group[0]), where)))
    return f"{text} ({_numbers(analysis, group)})"


def _verdict(shares: Shares) -> str:
    match shares.sharing:
        case Shared.STARVED if shares.taker:
            return f"{shares.taker} starves {shares.taken}"
        case Shared.TAKEN if shares.taker:
            return f"{shares.taker} takes from {shares.taken}"
        case Shared.STARVED | Shared.TAKEN:
            name = shares.names[0]
            least = "one is starved" if shares.sharing is Shared.STARVED else "uneven"
            return f"{least} among {name.named}'s {_word(name.count)}"
        case Shared.EVEN:
            return "even"
        case Shared.UNCLEAR:
            return "not clear whether even"
        case Shared.UNTOLD:
            return "a single run" if shares.runs == 1 else "not judged"


def _numbers(analysis: Analysis, group: Sequence[Shares]) -> str:
    """What was got, in the cell of the group where the least had least."""
    worst = min(group, key=lambda shares: shares.judged.median)
    if worst.sharing is Shared.EVEN:
        return f"the least has {_least(worst)}"
    place = cell_words(analysis.conditions, worst.cell)
    where = f"most {place}: " if len(group) > 1 else ""
    if worst.sharing is not Shared.UNCLEAR:
        return f"{where}{got(worst)}"
    return f"{where}{got(worst)}; the least has {_least(worst)}, {_how_sure(worst)}"


def got(shares: Shares) -> str:
    """``bbr3 gets 15.7 and cubic 31.5 of 47.2 Mbit/s``; ``its two get 32.7 and 14.5 of 47.2 Mbit/s``."""
    total = f"of {significant(shares.total_mbit.median)} Mbit/s"
    if len(shares.names) == 1:
        (name,) = shares.names
        return f"its {_word(name.count)} get {_ranked(name)} {total}"
    first, *others = shares.names
    verb = "gets" if first.count == 1 else "get"
    parts = [f"{_flows(first)} {verb} {_mbit(first)}"]
    parts += [f"{_flows(name)} {_mbit(name)}" for name in others]
    return f"{listed(parts)} {total}"


def _flows(name: NameShares) -> str:
    return name.named if name.count == 1 else f"{name.named}'s {_word(name.count)}"


def _mbit(name: NameShares) -> str:
    """What a name's flow got; of several what each got in the mean."""
    each = " each" if name.count > 1 else ""
    return f"{significant(name.mbit.median)}{each}"


def _ranked(name: NameShares) -> str:
    ranked = [significant(flow_shares.mbit.median) for flow_shares in name.ranked]
    if len(ranked) > _MOST_RANKED:
        return f"{ranked[0]} to {ranked[-1]}"
    return listed(ranked)


def _all_besides(analysis: Analysis) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[BesideOthers]] = {}
    for beside in besides(analysis):
        place = (beside.pairing.contender, beside.pairing.against, beside.named)
        groups.setdefault(place, []).append(beside)
    for group in groups.values():
        yield _beside(analysis, group)


def _beside(analysis: Analysis, cells: Sequence[BesideOthers]) -> str:
    """``Beside bbr3, cubic gets 34 % more than beside itself with 4 BDP droptail (33 to 37 %); ...``"""
    first = cells[0]
    others = [name.named for name in first.one.names if name.named != first.named]
    alone = len(first.other.names) == 1
    alike = _flows_of(first.one) == _flows_of(first.other)
    company = f"In {first.pairing.contender}" if alike or not others else f"Beside {listed(others)}"
    base = "beside itself" if alone else f"in {first.pairing.against}"
    groups: dict[Getting, list[BesideOthers]] = {}
    for cell in cells:
        groups.setdefault(cell.getting, []).append(cell)
    among = [cell.one.cell for cell in cells]
    texts: list[str] = []
    for getting, group in groups.items():
        where = told_place(analysis, [beside_others.one.cell for beside_others in group], among)
        size, sure = _getting(getting, group, "" if texts else base)
        text = " ".join(filter(None, (size, where, sure)))
        few = f"too few runs to be sure ({_needed(group)}): " if getting is Getting.TOO_FEW else ""
        texts.append(f"{few}{text}")
    return f"{company}, {first.named} gets {'; '.join(texts)}."


def _getting(getting: Getting, group: Sequence[BesideOthers], base: str) -> tuple[str, str]:
    """``33 % more than beside itself``, of several cells from the least to the most; and how sure that is."""
    sizes = sorted((beside_others.difference.relative or 0.0 for beside_others in group), key=abs)
    size = percent(sizes[-1]) if len(group) > 1 else sized(group[0].difference).size
    if len(group) > 1 and percent(sizes[0]) != size:
        size = f"{percent(sizes[0]).removesuffix(' %')} to {size}"
    than = f" than {base}" if base else ""
    if getting is Getting.TOO_FEW:
        ways = {
            beside_others.found.pairs.n if beside_others.found.is_one_way else 0
            for beside_others in group
        }
        signs = {beside_others.difference.sign for beside_others in group}
        if 0 in ways or len(signs) > 1:
            return f"now more, now less{than}", _interval(group)
        word = Getting.MORE if signs == {1} else Getting.LESS
        return f"{size} {word}{than}", f"in {_range(ways)} of {counted(max(ways), 'pair')}"
    match getting:
        case Getting.MORE | Getting.LESS:
            return f"{size} {getting}{than}", _interval(group)
        case Getting.AS_MUCH:
            return f"as much{f' as {base}' if base else ''}", f"(within {percent(1 - EVEN_PART)})"
        case Getting.UNCLEAR:
            return f"neither clearly more nor less{than}", _interval(group)


def _needed(group: Sequence[BesideOthers]) -> str:
    pairs = {beside_others.found.pairs.n for beside_others in group}
    return f"{_range(pairs)} pairs; it takes {_range({beside_others.found.needed for beside_others in group})}"


def _range(numbers: Collection[int]) -> str:
    return " to ".join(dict.fromkeys(map(str, (min(numbers), max(numbers)))))


def _interval(group: Sequence[BesideOthers]) -> str:
    """Of a single cell, the interval; with its signs where it has both."""
    if len(group) > 1 or (interval := group[0].difference.interval) is None:
        return ""
    write = signed if interval.low <= 0 <= interval.high else sized
    return f"({write(group[0].difference).interval})"


def _word(count: int) -> str:
    return _WORDS[count] if count < len(_WORDS) else str(count)
