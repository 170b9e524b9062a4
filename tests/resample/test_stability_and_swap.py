"""Stability and swap against the papers' algorithms: equal on equal subsets, alike on others."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any, get_args

import numpy as np
import numpy.typing as npt
import pytest

import abstain as ab
from abstain.features.meta.analysis import sensitivity_of, stability_of
from abstain.features.meta.result import MetaResult
from abstain.outcomes import EXCLUDED
from abstain.stats.resampling.draws import Draws
from abstain.stats.resampling.reversals import BINS, FUZZINESS, Comparing
from abstain.stats.resampling.samplers import (
    Outcomes,
    Source,
    of_counts,
    of_outcomes,
    of_scores,
    random_cells,
    random_parts,
    stream,
)
from tests.resample import literal
from tests.resample.judge import evaluate
from tests.resample.literal import MEASURES, Subsets
from tests.snapshots import says

NAMES = list(MEASURES)


def source_of(matrix: npt.NDArray[np.uint8], names: list[str] = NAMES) -> Outcomes:
    return of_outcomes(
        [f"r{k}" for k in range(len(matrix))], matrix, [ab.measure(n) for n in names]
    )


def as_weights(subsets: Any, questions: int) -> npt.NDArray[np.float64]:
    weights = np.zeros((len(subsets), questions))
    for row, chosen in zip(weights, subsets, strict=True):
        row[list(chosen)] = 1
    return weights


def drawn(source: Source, subsets: Subsets, *, by_cells: bool) -> tuple[Any, Any]:
    """The scores of every pair on given subsets: by weights, or by counting the joint cells."""
    first, second = [], []
    for (x, y), own in subsets.items():
        weights = as_weights(own, source.questions)
        if by_cells:
            assert isinstance(source, Outcomes)
            classes = len(source.places)
            cells = np.stack(
                [
                    weights @ ((source.codes[x] == a) & (source.codes[y] == b))
                    for a in range(classes)
                    for b in range(classes)
                ]
            )
            one, other = source.of_cells(cells[:, None, :].astype(np.int64))
            first.append(one[:, 0])
            second.append(other[:, 0])
        else:
            scores = source.weighed(weights)
            first.append(scores[:, x])
            second.append(scores[:, y])
    return np.stack(first, axis=1), np.stack(second, axis=1)


def ours(source: Source, first: Subsets, second: Subsets, *, by_cells: bool) -> Any:
    """Our counting, on given subsets."""
    x, y = drawn(source, first, by_cells=by_cells)
    x2, y2 = drawn(source, second, by_cells=by_cells)
    pairs, scores = slice(0, x.shape[1]), (x, y, x2, y2)
    comparing = Comparing(
        source,
        source.full(),
        fuzziness=FUZZINESS,
        widths=[0.01] * len(source.measures),
        listed=BINS,
        limit=0.05,
    )
    compared = comparing.compared(pairs, scores, stable=True, swapping=True)
    wins, swaps = comparing.counted([[compared]])
    size = len(next(iter(first.values()))[0])
    return (
        [stability_of(*own) for own in zip(source.measures, wins, strict=True)],
        [sensitivity_of(m, size, own) for m, own in zip(source.measures, swaps, strict=True)],
    )


@pytest.mark.slow
@pytest.mark.parametrize("by_cells", [False, True])
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("questions", "size"), [(20, 10), (41, 12), (60, 25)])
def test_equal_on_the_same_subsets(
    questions: int, size: int, *, shared: bool, by_cells: bool
) -> None:
    matrix = literal.campaign(6, questions, seed=questions, blanks=(0, 0.3, 0.6, 0.95))
    first, second = literal.own_subsets(6, questions, size, 30, seed=1, shared=shared)
    stability, swap = ours(source_of(matrix), first, second, by_cells=by_cells)
    check(matrix, first, second, stability, swap)


def check(matrix: Any, first: Subsets, second: Subsets, stability: Any, swap: Any) -> None:
    rows = matrix.tolist()
    for name, curve, row in zip(NAMES, stability, swap, strict=True):
        score = MEASURES[name]
        for k in range(10):
            error, ties, total = literal.stability(rows, score, first, Fraction(k + 1, 100))
            assert curve.comparisons == total
            assert curve.curve[k].error == pytest.approx(float(error), abs=1e-15), (name, k)
            assert curve.curve[k].ties == pytest.approx(float(ties), abs=1e-15), (name, k)
        counter, swapped, highest = literal.swap(rows, score, first, second)
        assert [own.count for own in row.bins] == counter, name
        rates = [s / c if c else None for s, c in zip(swapped, counter, strict=True)]
        assert [own.swap_rate for own in row.bins] == pytest.approx(rates), name
        assert row.highest == pytest.approx(float(highest))


@pytest.mark.slow
def test_the_whole_way_with_shared_subsets() -> None:
    """The subsets that a seed gives, through `evaluate` and through the papers' algorithms."""
    matrix = literal.campaign(7, 50, seed=3, blanks=(0, 0.3, 0.6, 0.97))
    result = evaluate(
        source_of(matrix),
        parts=["stability", "sensitivity"],
        subsets=40,
        size=20,
        draws="shared",
        seed=5,
        sizes=[20],
    )
    parts = random_parts(stream(5, 0, 0), 40, 50, 20, disjoint=True)
    first, second = (
        {p: [np.flatnonzero(w).tolist() for w in part] for p in combinations(range(7), 2)}
        for part in parts
    )
    check(matrix, first, second, result.stability, result.sensitivity)


def test_the_whole_way_with_scores_and_own_subsets() -> None:
    """Ready scores of 0 and 1 are accuracy; each pair's subsets are those of its stream."""
    matrix = literal.campaign(5, 30, seed=8, blanks=(0,))
    source = of_scores([f"r{k}" for k in range(5)], {"accuracy": (matrix == 0).astype(float)})
    result = evaluate(source, parts=["stability", "sensitivity"], subsets=20, size=11, sizes=[11])
    parts = random_parts(stream(0, 0, 0, 0), 10 * 20, 30, 11, disjoint=True)
    first, second = (
        {
            p: [np.flatnonzero(w).tolist() for w in own]
            for p, own in zip(combinations(range(5), 2), part.reshape(10, 20, 30), strict=True)
        }
        for part in parts
    )
    rows = matrix.tolist()
    for k in range(10):
        error, ties, _ = literal.stability(rows, literal.accuracy, first, Fraction(k + 1, 100))
        assert result.stability[0].curve[k].error == pytest.approx(float(error))
        assert result.stability[0].curve[k].ties == pytest.approx(float(ties))
    counter, swapped, _ = literal.swap(rows, literal.accuracy, first, second)
    assert [own.count for own in result.sensitivity[0].bins] == counter
    rates = [s / c if c else None for s, c in zip(swapped, counter, strict=True)]
    assert [own.swap_rate for own in result.sensitivity[0].bins] == pytest.approx(rates)


@pytest.mark.parametrize("draws", ["paired", "shared"])
def test_a_run_without_scores_does_not_hide_the_highest(draws: Draws) -> None:
    """The first run answers nothing and has no precision; the other is always right."""
    matrix = np.array([[4] * 8, [0] * 8], np.uint8)
    result = evaluate(
        source_of(matrix, ["precision"]), parts=["sensitivity"], subsets=3, draws=draws
    )
    assert result.sensitivity[0].highest == 1
    assert (result.sensitivity[0].comparisons, result.sensitivity[0].undefined) == (0, 3)
    says(result.sensitivity[0].reason)


# ------------------------------------------------------------------------- distributions


def statistics(stability: Any, swap: Any) -> list[float]:
    """Error and ties at 0.05, and two facts of the swap table."""
    total, at_all = sum(swap[0]), sum(swap[1])
    return [float(stability[0]), float(stability[1]), at_all / total, sum(swap[0][10:]) / total]


def of_ours(result: MetaResult) -> list[float]:
    point, row = result.stability[0].curve[4], result.sensitivity[0]
    swaps = sum(round((own.swap_rate or 0) * own.count) for own in row.bins)
    assert point.error is not None
    assert point.ties is not None
    return [
        point.error,
        point.ties,
        swaps / row.comparisons,
        sum(own.count for own in row.bins[10:]) / row.comparisons,
    ]


@pytest.mark.slow
@pytest.mark.parametrize("draws", ["paired", "shared"])
@pytest.mark.parametrize("size", [12, 8])
def test_the_same_distribution_over_many_seeds(draws: Draws, size: int) -> None:
    """Our draws (cells, or products) against Python's own, over 150 seeds each."""
    from scipy.stats import ks_2samp

    matrix = literal.campaign(4, 24, seed=11)
    rows = matrix.tolist()
    source = source_of(matrix, ["c@1"])
    slow, fast = [], []
    for seed in range(150):
        first, second = literal.own_subsets(4, 24, size, 12, seed, shared=draws == "shared")
        error = literal.stability(rows, literal.c_at_1, first, Fraction(5, 100))
        slow.append(statistics(error, literal.swap(rows, literal.c_at_1, first, second)))
        result = evaluate(
            source,
            parts=["stability", "sensitivity"],
            subsets=12,
            size=size,
            sizes=[size],
            draws=draws,
            seed=seed,
            threads=1,
        )
        fast.append(of_ours(result))
    for k in range(4):
        a, b = np.array(slow)[:, k], np.array(fast)[:, k]
        assert ks_2samp(a, b).pvalue > 0.001, k
        spread = np.sqrt(a.var() / len(a) + b.var() / len(b))
        assert abs(a.mean() - b.mean()) < 4 * spread, k
        assert 0.6 < (a.std() + 1e-9) / (b.std() + 1e-9) < 1.6, k


@pytest.mark.slow
def test_cells_are_drawn_with_the_chances_that_counting_gives() -> None:
    """Two disjoint draws of 2 from cells of 2, 0, 2 and 1: every outcome by enumeration."""
    items = [0, 0, 2, 2, 3]
    exact: Counter[tuple[tuple[int, ...], tuple[int, ...]]] = Counter()
    for order in permutations(items):
        key = tuple(tuple(part.count(k) for k in range(4)) for part in (order[:2], order[2:4]))
        exact[key[0], key[1]] += 1
    trials = 40_000
    cells = np.array([2, 0, 2, 1])[:, None, None]
    rng = np.random.default_rng(0)
    first = random_cells(rng, cells, 2, trials)
    second = random_cells(rng, cells - first, 2, trials)
    seen = Counter(
        (tuple(a), tuple(b))
        for a, b in zip(first[:, 0].T.tolist(), second[:, 0].T.tolist(), strict=True)
    )
    assert set(seen) <= set(exact)
    for key, count in exact.items():
        p = count / 120
        assert abs(seen[key] / trials - p) < 4.5 * np.sqrt(p * (1 - p) / trials), key


def test_subsets_are_disjoint_and_of_their_size() -> None:
    for size in (1, 3, 5):
        one, other = random_parts(np.random.default_rng(1), 200, 10, size, disjoint=True)
        assert (one.sum(axis=1) == size).all()
        assert (other.sum(axis=1) == size).all()
        assert (one * other == 0).all()
        assert (np.abs(one.mean(axis=0) - size / 10) < 0.15).all()
    (whole,) = random_parts(np.random.default_rng(1), 3, 10, 10, disjoint=False)
    assert (whole == 1).all()


# ------------------------------------------------------------------------------- sources


def test_candidates_and_exclusions_take_finer_cells() -> None:
    """Six classes: the cells of a pair give what counting the subset gives."""
    rng = np.random.default_rng(4)
    matrix = rng.choice([0, 1, 2, 3, 4, EXCLUDED], size=(4, 40)).astype(np.uint8)
    names = ["forced-accuracy", "c@1", "correctly-discarded"]
    source = source_of(matrix, names)
    assert len(source.places) == 6
    first, _ = literal.own_subsets(4, 40, 15, 10, seed=2, shared=False)
    x, y = drawn(source, first, by_cells=True)
    for p, ((i, j), own) in enumerate(first.items()):
        for t, chosen in enumerate(own):
            for run, found in ((i, x), (j, y)):
                counts = ab.Counts.of(int((matrix[run][chosen] == k).sum()) for k in range(5))
                expected = [ab.measure(n)(counts) for n in names]
                assert found[:, p, t] == pytest.approx(expected, nan_ok=True)


def test_counts_of_one_outcome_are_outcomes() -> None:
    """The same campaign as outcomes and as counts: equal scores on any weights."""
    matrix = literal.campaign(4, 30, seed=6)
    table = np.zeros((4, 30, 6))
    np.put_along_axis(table, matrix[..., None].astype(np.int64), 1, axis=-1)
    chosen = [ab.measure(n) for n in NAMES]
    weights = random_parts(np.random.default_rng(0), 5, 30, 11, disjoint=False)[0]
    assert of_counts(list("abcd"), table, chosen).weighed(weights) == pytest.approx(
        source_of(matrix).weighed(weights), nan_ok=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("draws", ["paired", "shared"])
def test_the_number_of_threads_changes_nothing(draws: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from abstain.stats.resampling import draws as module

    monkeypatch.setattr(module, "BLOCK", 64)  # many blocks
    monkeypatch.setattr(module, "CHUNK", 7)
    matrix = literal.campaign(7, 30, seed=1)
    scores = {"a": np.random.default_rng(0).random((7, 30)), "b": (matrix == 0).astype(float)}
    for source in (source_of(matrix), of_scores(list("abcdefg"), scores)):
        results = [
            evaluate(source, subsets=20, resamples=50, draws=draws, threads=threads, seed=9)
            for threads in (1, 2, 5)
        ]
        assert results[0].to_dict() == results[1].to_dict() == results[2].to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("trials", [100, 250])
def test_monte_carlo_error_is_what_seeds_differ_by(trials: int) -> None:
    """The error that one run of trials states, against how much many of them differ.

    Above a hundred trials it comes from batches of them.
    """
    matrix = literal.campaign(5, 40, seed=2)
    source = source_of(matrix, ["c@1"])
    for draws in get_args(Draws):
        found = [
            evaluate(
                source,
                parts=["stability", "sensitivity"],
                subsets=trials,
                sizes=[20],
                draws=draws,
                seed=seed,
                threads=1,
            )
            for seed in range(60)
        ]
        for values, errors in (("ties", "ties_se"), ("error", "error_se")):
            seen = np.std([getattr(r.stability[0].curve[4], values) for r in found])
            said = np.mean([getattr(r.stability[0].curve[4], errors) for r in found])
            assert 0.6 < said / seen < 1.6, (draws, values)
        for bin in (2, 20):  # a closed one, and the open one
            seen = np.std([r.sensitivity[0].bins[bin].swap_rate or 0 for r in found])
            said = np.mean([r.sensitivity[0].bins[bin].se or 0 for r in found])
            assert 0.6 < said / seen < 1.6, (draws, bin)


def test_progress_is_told_to_the_end() -> None:
    told: dict[str, list[float]] = {}
    source = source_of(literal.campaign(4, 20, seed=1))
    evaluate(
        source,
        subsets=5,
        resamples=5,
        progress=lambda what, share: told.setdefault(what, []).append(share),
    )
    assert {"drawing subsets of 10", "resampling pairs", "permuting runs"} < set(told)
    assert all(shares == sorted(shares) and shares[-1] == 1 for shares in told.values())
