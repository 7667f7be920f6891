"""Quantiles and tails of distributions.

They are scipy's. It takes longer to load than reading a small study, so it is loaded when the first quantile is
asked for.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

_MOST_COUNTED = 1000
"""The ways in which so many trials can end are counted one by one, which is exact."""


def normal_quantile(share: float) -> float:
    """The quantile of the standard normal distribution below which this share lies."""
    return float(_special().ndtri(share))


def normal_tail(value: float) -> float:
    """Probability that a standard normal variable is greater."""
    return float(_special().ndtr(-value))


def student_quantile(share: float, freedom: float) -> float:
    """The quantile of Student's t (Student 1908) below which this share lies.

    Args:
        share: from 0 to 1.
        freedom: degrees of freedom; of infinitely many it is the normal distribution.
    """
    return float(_special().stdtrit(freedom, share))


def student_tail(value: float, freedom: float) -> float:
    """Probability that a variable of Student's t with so many degrees of freedom is greater."""
    return float(_special().stdtr(freedom, -value))


def beta_quantile(share: float, ones: float, others: float) -> float:
    """The quantile of the beta distribution with these two parameters below which this share lies."""
    return float(_special().betaincinv(ones, others, share))


def halves_at_most(count: int, trials: int) -> float:
    """Probability that of so many trials of 1/2 at most ``count`` succeed."""
    if trials > _MOST_COUNTED:
        return float(_special().bdtr(count, trials, 0.5))
    ways = term = 1 if count >= 0 else 0
    for successes in range(1, count + 1):
        term = term * (trials - successes + 1) // successes
        ways += term
    return float(ways / 2**trials)


def binomial_interval(level: float, trials: int, share: float) -> tuple[float, float]:
    """How many of so many trials succeed: the quantiles that leave out equal parts of what exceeds the level.

    Args:
        level: probability of the interval, at least.
        trials: how many.
        share: probability of a success.
    """
    if share in (0, 1):
        return trials * share, trials * share
    from scipy import stats

    low, high = stats.binom.interval(level, trials, share)
    return float(low), float(high)


def kolmogorov_tail(statistic: float, size: int) -> float:
    """Probability that the two-sided Kolmogorov-Smirnov statistic of a sample of this size is at least this."""
    from scipy import stats

    return float(stats.kstwo.sf(statistic, size))


@cache
def _special() -> ModuleType:
    """scipy's special functions, looked up once: an import takes longer than any of them."""
    from scipy import special

    return special
