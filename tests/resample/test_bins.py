"""Which difference is required: by hand, and where the simple rule would go wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from abstain.errors import UsageError
from abstain.features.meta.analysis import sensitivity_of
from abstain.features.meta.result import Sensitivity
from abstain.stats.resampling.reversals import (
    SwapCounts,
    Swaps,
    bins_for,
    natural_width,
    required_bin,
)
from abstain.stats.resampling.samplers import of_scores
from tests.resample.judge import evaluate
from tests.snapshots import refuses, says


def row_of(
    counts: list[int],
    swapped: list[int],
    *,
    ties: int = 0,
    tied_elsewhere: list[int] | None = None,
    listed: int = 5,
    level: float = 0.95,
) -> Sensitivity:
    """A row of the table from comparisons and swaps by bin, `ties` of them in the first."""
    table = np.zeros((1, 4, len(counts)), np.int64)
    table[0, 2] = swapped
    table[0, 1] = tied_elsewhere or [0] * len(counts)
    table[0, 3, 0] = ties
    table[0, 0] = np.array(counts) - table[0].sum(axis=0)
    assert (table >= 0).all()
    return tallied(table, min(listed, len(counts)), level)


def tallied(table: npt.NDArray[np.int64], listed: int, level: float = 0.95) -> Sensitivity:
    """The row of a table of batches × what became of comparisons × bins."""
    tally = SwapCounts(width=0.01, bins=table.shape[-1], listed=listed, limit=1 - level)
    tally.add(Swaps(table, 0, 0.5))
    tally.rate.close()
    tally.tail.close()
    return sensitivity_of("m", 10, tally)


def test_required_difference_and_sensitivity_by_hand() -> None:
    """First bin with at most 5 % swaps, ties aside; the share of comparisons from there on."""
    counts, swapped = [100, 50, 40, 0, 20, 10, 2], [4, 10, 3, 0, 1, 0, 0]
    row = row_of(counts, swapped, ties=90)
    # 4 % of bin 0, but 4 of the 10 that differ at all; 20 %; 7.5 %; nothing; 1 of 20.
    assert row.required == 0.04
    assert row.sensitivity == 32 / 222
    assert row.relative == pytest.approx(0.08)
    assert [own.count for own in row.bins] == [100, 50, 40, 0, 32]
    assert [own.swap_rate for own in row.bins] == pytest.approx([0.04, 0.2, 0.075, None, 1 / 32])
    assert row_of(counts, swapped, ties=90, level=0.92).required == 0.02


def test_ties_prove_nothing() -> None:
    """970 ties and a few tiny differences that never swap: a difference of 0 is not enough."""
    row = row_of([985, 40, 60, 40], [0, 10, 1, 0], ties=970)
    assert row.required == 0.02  # 15 comparisons of bin 0 differ; a rate of 5 % takes 20
    assert row.sensitivity == 100 / 1125
    assert row.ties == 970
    assert row.bins[0].swap_rate == 0  # the papers' rate counts them


def test_any_difference_may_be_enough_and_ties_do_not_reach_it() -> None:
    row = row_of([300, 40, 60], [2, 1, 0], ties=200)
    assert row.required == 0
    assert row.sensitivity == 200 / 400
    assert row.relative == 0


def test_larger_differences_have_a_say() -> None:
    """3 % in a bin by chance, but 12 % from there on."""
    counts, swapped = [200, 100, 100, 100], [80, 3, 30, 3]
    assert row_of(counts, swapped).required == 0.03
    assert row_of(counts, [80, 3, 4, 3]).required == 0.01


def test_ties_elsewhere_are_no_swaps_but_are_told() -> None:
    row = row_of([100, 100], [30, 4], tied_elsewhere=[10, 50])
    assert row.required == 0.01
    assert row.tied_elsewhere == 0.5
    never = row_of([100, 100], [0, 0], tied_elsewhere=[90, 100])
    assert never.required is None  # nothing was ever kept, nor reversed
    says(never.reason, "10", "200")


def test_beyond_the_listed_bins() -> None:
    """The listed bins end at 0.02, the last of them open: as a whole it passes, its half not."""
    counts, swapped = [100, 100, 100, 100, 400], [40, 30, 20, 10, 0]
    row = row_of(counts, swapped, listed=3)
    assert row.within_bins == 0.02
    assert row.required == 0.04
    assert row.sensitivity == 0.5
    assert row_of(counts, [40, 30, 30, 30, 10], listed=3).within_bins is None


def test_where_bins_run_thin_the_rest_is_one_open_bin() -> None:
    """No bin above the first has 20 comparisons, all of them together have 36 and one swap."""
    thin = [100, *([3] * 12)]
    assert row_of(thin, [40, 1, *([0] * 11)]).required == 0.01
    assert row_of(thin, [40, 2, *([0] * 11)]).required == 0.02
    assert row_of(thin, [40, *([0] * 11), 2]).required is None
    too_few = row_of([3, 2, 4], [1, 0, 0])
    assert too_few.required is None
    few = "only 9 of 9 comparisons differ on both subsets"
    says(too_few.reason, f"{few}", "20")


def test_no_swaps_at_all_are_not_certain() -> None:
    """None of 20 swaps: 3 would not surprise, and are above 5 %; of 80 they are below."""
    table = np.zeros((30, 4, 3), np.int64)
    table[:, 0], table[:, 2] = [[4, 1, 2]], [[3, 0, 0]]
    table[:, 2, 1] = np.arange(30) % 10 == 0  # 3 of 33

    def row(last: int) -> Sensitivity:
        table[:, 0, 2] = 0
        table[:last, 0, 2] = 1
        return tallied(table, 3)

    few = row(20)
    assert (few.required, few.required_range[1]) == (0.02, None)
    table = np.tile(table, (4, 1, 1))
    many = row(80)
    assert (many.required, many.required_range[1]) == (0.02, 0.02)


def test_reasons() -> None:
    says(row_of([0, 0], [0, 0]).reason)
    says(row_of([9, 0], [0, 0], ties=9).reason)
    never = row_of([100, 100], [50, 50])
    says(never.reason, "5 %")
    assert (never.required, never.sensitivity, never.tied_elsewhere) == (None, None, None)
    assert never.required_range == (None, None)


def slow_required(rates: list[float], counts: list[int], limit: float) -> int | None:
    """The rule as one says it: a bin of at least 20 (or all that is left where no bin has as many)
    within the limit, with what is above it."""
    for k in range(len(counts)):
        left = sum(counts[k:])
        if not counts[k] or left < 20:
            continue
        tail = sum(r * c for r, c in zip(rates[k:], counts[k:], strict=True)) / left
        thin = all(c < 20 for c in counts[k:])
        own = tail if thin else rates[k]
        if (counts[k] >= 20 or thin) and own <= limit and tail <= limit:
            return k
    return None


def test_the_rule_against_a_slow_one() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(500):
        counts: npt.NDArray[np.int64] = rng.integers(0, 60, 12) * rng.integers(0, 2, 12)
        swapped = rng.binomial(counts, np.linspace(0.3, 0, 12) * rng.random())
        with np.errstate(invalid="ignore"):
            rates = swapped / counts
            tails = swapped[::-1].cumsum()[::-1] / counts[::-1].cumsum()[::-1]
        ours = required_bin(rates, tails, counts, 0.05)
        assert ours == slow_required(np.nan_to_num(rates).tolist(), counts.tolist(), 0.05 + 1e-12)
        found += ours is not None
    assert 100 < found < 500


# ----------------------------------------------------------------------------------- scales


@pytest.mark.parametrize(
    ("span", "width"),
    [
        (0.0, 0.01),
        (0.1, 0.01),
        (1.0, 0.01),
        (2.0, 0.01),
        (4.0, 0.05),
        (10.0, 0.1),
        (73.2, 1.0),
        (100.0, 1.0),
        (101.0, 2.0),
        (0.05, 0.0005),
        (1e-9, 1e-11),
        (3e40, 5e38),
    ],
)
def test_widths_follow_the_scale(span: float, width: float) -> None:
    assert natural_width(span) == pytest.approx(width)


@pytest.mark.parametrize("scale", [100.0, 1e-9, 1e-200, 1e120, 7.0])
def test_the_scale_of_scores_changes_the_unit_and_nothing_else(scale: float) -> None:
    """The same scores in other units: every rate, share, test and coefficient is the same."""
    rng = np.random.default_rng(3)
    ability = rng.normal(0, 0.15, (8, 1))
    tables = {
        name: np.clip(0.5 + ability + rng.normal(0, 0.3, (8, 60)), 0, 1).round(2) for name in "ab"
    }
    runs = [f"r{k}" for k in range(8)]
    how: dict[str, Any] = {"subsets": 30, "resamples": 40, "draws": "shared"}
    plain = evaluate(of_scores(runs, tables), **how)
    scaled = {name: table * scale for name, table in tables.items()}
    found = evaluate(of_scores(runs, scaled), width=0.01 * scale, **how)
    for own, other in zip(plain.sensitivity, found.sensitivity, strict=True):
        assert [b.count for b in other.bins] == [b.count for b in own.bins]
        assert [b.swap_rate for b in other.bins] == [b.swap_rate for b in own.bins]
        assert other.sensitivity == own.sensitivity
        assert own.required is not None
        assert other.required == pytest.approx(own.required * scale)
    errors = [[[p.error for p in own.curve] for own in r.stability] for r in (found, plain)]
    assert errors[0] == errors[1]
    assert [p.bootstrap for p in found.power] == [p.bootstrap for p in plain.power]
    assert [p.tukey for p in found.power] == [p.tukey for p in plain.power]
    assert found.agreement[0].tau_b == pytest.approx(plain.agreement[0].tau_b)


@pytest.mark.parametrize(("span", "width"), [(1.0, 1e-300), (1e200, 0.01), (float("inf"), 0.01)])
def test_a_span_beyond_all_bins_is_refused(span: float, width: float) -> None:
    with pytest.raises(UsageError, match="need more than"):
        bins_for([span], [width], 21)


def test_ordinary_spans_have_enough_bins() -> None:
    assert bins_for([1.0, 0.1], [0.01, 0.01], 21) == [102, 21]
    (many,) = bins_for([100.0], [0.01], 21)
    assert many * 0.01 > 100  # the last one is not open: every difference is in its own


def test_a_width_that_would_leave_the_last_bin_open_is_refused() -> None:
    """All differences beyond it would stand in it, and its edge for all of them."""
    scores = np.random.default_rng(7).random((4, 20))
    source = of_scores(list("abcd"), {"m": scores})
    with refuses(UsageError, "20,000", "05"):
        evaluate(source, parts=["sensitivity"], width=0.00001)
