"""What truncation does to scores: the reports of Liu, Moffat, Baldwin and Zhang (2016).

Lengths before and after NIL (their Figure 1), original against primed score with the pairs of
systems that change places (Figure 2), score against share truncated (Figure 3), and Kendall's τ
between the two orderings (Table 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from abstain.analyses.rank.results import Settings
from abstain.measures import measure
from abstain.measures.of_rankings import RankingMeasure
from abstain.outcomes import Undefined

if TYPE_CHECKING:
    from abstain.measures.ranked_lists import Floats, Ints, RankedLists

BINS = 40
"""Lengths are counted one by one up to so many, in as many ranges beyond."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long one run's lists are, as returned and as scored."""

    run: str
    before: Ints
    after: Ints
    by_nil: int
    """Lists that a NIL ended."""
    at_limit: int
    truncated: int

    @property
    def share(self) -> float:
        """The share of lists that the system ended."""
        return self.truncated / len(self.after) if len(self.after) else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Lengths in a few numbers."""
        return {
            "lists": len(self.after),
            "mean_before": _typical(np.mean, self.before),
            "mean_after": _typical(np.mean, self.after),
            "median_before": _typical(np.median, self.before),
            "median_after": _typical(np.median, self.after),
            "empty": int((self.after == 0).sum()),
            "by_nil": self.by_nil,
            "at_limit": self.at_limit,
            "truncated": self.truncated,
        }


@dataclass(frozen=True, slots=True)
class Inversion:
    """Two runs, the first ahead by the original measure, the second by the primed one."""

    first: str
    second: str
    original: float
    """By how much the first is ahead."""
    primed: float
    """By how much the second is ahead."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An original measure and its primed kin over all runs."""

    original: RankingMeasure
    primed: RankingMeasure
    scores: tuple[tuple[float, float], ...]
    """Of each run: original, primed."""
    inversions: tuple[Inversion, ...]
    """The largest first."""
    tau: float
    """Kendall's τ (b) of the two orderings."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """What truncation does to the scores of some runs."""

    lengths: tuple[Lengths, ...]
    pairs: tuple[Pair, ...]
    nil: str = "NIL"
    """What ends a list."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "lengths": {each.run: each.to_dict() for each in self.lengths},
            "measures": [
                {
                    "original": str(pair.original),
                    "primed": str(pair.primed),
                    "scores": {
                        each.run: {"original": plain(own[0]), "primed": plain(own[1])}
                        for each, own in zip(self.lengths, pair.scores, strict=True)
                    },
                    "kendall_tau": plain(pair.tau),
                    "undefined": pair.tau.reason if isinstance(pair.tau, Undefined) else None,
                    "inverted": [
                        {
                            "first": each.first,
                            "second": each.second,
                            "first_ahead_by": each.original,
                            "second_ahead_by": each.primed,
                        }
                        for each in pair.inversions
                    ],
                }
                for pair in self.pairs
            ],
        }


def _typical(of: Callable[[Ints], Any], lengths: Ints) -> float | None:
    return float(of(lengths)) if len(lengths) else None


def plain(value: float) -> float | None:
    """A number, or None where there is none."""
    return None if math.isnan(value) else value


def truncation(rankings: RankedLists, settings: Settings, *, p: float = 0.8) -> Truncation:
    """Report on rankings that were read.

    The original measures count 0 where a query has nothing relevant, as trec_eval does, so that
    both are means over the same queries.
    """
    return Truncation(
        lengths=tuple(_lengths(rankings, settings)),
        pairs=tuple(
            _pair(rankings, settings, measure(original), measure(primed))
            for original, primed in _names(rankings, settings, p)
        ),
        nil=settings.nil or "NIL",
    )


def _names(rankings: RankedLists, settings: Settings, p: float) -> list[tuple[str, str]]:
    """The pairs, such that the end of a list is all that they differ in.

    With grades other than 1, AP and RR ask what is relevant, and so must their kin. NDCG' compares
    a list at the limit with an ideal of that length, which is what NDCG at that depth does.
    """
    grade = rankings.pool.grade
    rel = "(rel=1)" if ((grade > 0) & (grade != 1)).any() else ""
    depth = "" if settings.limit is None else f"@{settings.limit}"
    return [
        ("RR", f"RR'{rel}"),
        (f"RBP(p={p!r})", f"RBP'(p={p!r})"),
        (f"NDCG{depth}", "NDCG'"),
        ("AP", f"AP'{rel}"),
    ]


def _lengths(rankings: RankedLists, settings: Settings) -> list[Lengths]:
    returned, depth = rankings.by_run(rankings.returned), rankings.by_run(rankings.depth)
    stopped = rankings.by_run(rankings.stopped)
    reach = returned if settings.limit is None else np.minimum(returned, settings.limit)
    by_nil = stopped & (depth < reach)
    skipped = rankings.by_run(rankings.missing) & (settings.missing == "skip")
    return [
        Lengths(
            run=run,
            before=returned[i, there],
            after=depth[i, there],
            by_nil=int(by_nil[i].sum()),
            at_limit=int((~stopped[i]).sum()),
            truncated=int(stopped[i, there].sum()),
        )
        for i, (run, there) in enumerate(zip(rankings.runs, ~skipped, strict=True))
    ]


def _pair(rankings: RankedLists, settings: Settings, original: object, primed: object) -> Pair:
    assert isinstance(original, RankingMeasure)
    assert isinstance(primed, RankingMeasure)
    first, second = (_means(rankings, settings, item) for item in (original, primed))
    return Pair(
        original=original,
        primed=primed,
        scores=tuple(zip(first.tolist(), second.tolist(), strict=True)),
        inversions=tuple(inversions(rankings.runs, first, second)),
        tau=kendall_tau(first, second),
    )


def _means(rankings: RankedLists, settings: Settings, item: RankingMeasure) -> Floats:
    values = rankings.by_run(np.nan_to_num(item.values(rankings), nan=0.0))
    if settings.missing != "skip":
        return np.asarray(values.mean(axis=1))
    there = ~rankings.by_run(rankings.missing)
    counts = there.sum(axis=1)
    sums = np.where(there, values, 0.0).sum(axis=1)
    means: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return means


def inversions(runs: Sequence[str], first: Floats, second: Floats) -> list[Inversion]:
    """The pairs of runs that the two scores order in opposite ways, the largest first.

    >>> inversions(["a", "b"], np.array([0.5, 0.4]), np.array([0.1, 0.3]))[0].second
    'b'
    """
    ahead = first[:, None] - first[None, :]
    behind = second[None, :] - second[:, None]
    rows, columns = np.nonzero((ahead > 1e-12) & (behind > 1e-12))
    found = [
        Inversion(runs[i], runs[j], float(ahead[i, j]), float(behind[i, j]))
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    return sorted(found, key=lambda each: -min(each.original, each.primed))


def kendall_tau(first: Floats, second: Floats) -> float:
    """Kendall's τ (b); undefined where there is nothing to order.

    >>> round(kendall_tau(np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])), 3)
    0.333
    """
    from scipy.stats import kendalltau

    known = ~(np.isnan(first) | np.isnan(second))
    if known.sum() < 2:
        return Undefined("there are fewer than two runs")
    one, two = (np.round(scores[known], 12) for scores in (first, second))
    if len(np.unique(one)) < 2 or len(np.unique(two)) < 2:
        return Undefined("all runs have one score")
    return float(kendalltau(one, two).statistic)
