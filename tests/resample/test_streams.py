"""Blocks, chunks and parts draw from streams of their own: what one draws says nothing of another.

Were a stream used twice, every mean would be right and every error too small.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import abstain as ab
from abstain.stats.resampling import draws as drawing
from abstain.stats.resampling import power
from abstain.stats.resampling.draws import Plan, subsets
from abstain.stats.resampling.power import permutations, significance
from abstain.stats.resampling.samplers import Source, of_outcomes, of_scores, stream
from tests.resample.judge import evaluate

RUNS, QUESTIONS, TRIALS = 4, 40, 60


def alike(kind: str) -> Source:
    """Runs two and two the same: pairs (0, 1), (0, 3), (1, 2) and (2, 3) are one to any draw."""
    rng = np.random.default_rng(3)
    if kind == "outcomes":
        codes = rng.choice(np.array([0, 1, 4], np.uint8), size=(2, QUESTIONS))
        return of_outcomes(list("abcd"), np.tile(codes, (2, 1)), [ab.measure("accuracy")])
    return of_scores(list("abcd"), {"m": np.tile(rng.random((2, QUESTIONS)), (2, 1))})


def gaps(source: Source, plan: Plan) -> dict[tuple[int, int], npt.NDArray[np.float64]]:
    """The difference of the first two runs, trial by trial: by chunk, and by the blocks of it
    whose pair is a pair of those."""
    found = {}

    def use(pairs: slice, scores: tuple[Any, ...]) -> tuple[slice, Any]:
        return pairs, scores[0][0] - scores[1][0]

    listed = list(combinations(range(RUNS), 2))
    for chunk, blocks in enumerate(subsets(source, plan, use, part=0, disjoint=True)):
        for own, gap in blocks:
            for at, pair in enumerate(listed[own]):
                if pair in ((0, 1), (2, 3)):
                    found[chunk, own.start + at] = gap[at]
    return found


def unrelated(pieces: list[npt.NDArray[np.float64]]) -> bool:
    """Whether no two pieces go together: 60 trials correlate beyond 0.6 once in a million."""
    return all(abs(np.corrcoef(a, b)[0, 1]) < 0.6 for a, b in combinations(pieces, 2))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair a block, 60 trials a chunk, few permutations a piece."""
    monkeypatch.setattr(drawing, "CHUNK", TRIALS)
    for module in (drawing, power):
        monkeypatch.setattr(module, "BLOCK", TRIALS)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["outcomes", "scores"])
def test_pairs_and_chunks_draw_their_own_subsets(kind: str) -> None:
    found = gaps(alike(kind), Plan(trials=3 * TRIALS, size=15))
    assert len(found) == 6  # two pairs, three chunks
    assert all(np.ptp(piece) > 0 for piece in found.values())
    assert unrelated(list(found.values()))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["outcomes", "scores"])
def test_shared_subsets_are_new_in_each_chunk_and_the_same_for_all_pairs(kind: str) -> None:
    found = gaps(alike(kind), Plan(trials=3 * TRIALS, size=15, draws="shared"))
    one, other = ([found[chunk, pair] for chunk in range(3)] for pair in (0, 5))
    assert unrelated(one)
    assert np.array_equal(one, other)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["outcomes", "scores"])
def test_pieces_of_permutations_are_new(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "HELD", TRIALS * RUNS * QUESTIONS)
    pieces = [p[0, :, 0] for p in permutations(alike(kind), Plan(trials=3 * TRIALS))]
    assert [len(piece) for piece in pieces] == [TRIALS] * 3
    assert unrelated(pieces)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("kind", ["outcomes", "scores"])
def test_pairs_and_chunks_draw_their_own_resamples(kind: str) -> None:
    """Pairs that are one to any draw have levels that differ, and do so by chance alone."""
    source = alike(kind)
    levels, _ = significance(source, Plan(trials=10 * TRIALS), source.full())
    assert len({levels[0, pair] for pair in (0, 2, 3, 5)}) > 1


@pytest.mark.parametrize("draws", ["paired", "shared"])
@pytest.mark.parametrize("kind", ["outcomes", "scores"])
@pytest.mark.usefixtures("small_blocks")
def test_no_stream_is_used_twice(draws: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part together: subsets of all sizes, resamples and permutations."""
    used: Counter[tuple[int, ...]] = Counter()

    def listened(seed: int, *path: int) -> Any:
        used[(seed, *path)] += 1
        return stream(seed, *path)

    monkeypatch.setattr(drawing, "stream", listened)
    monkeypatch.setattr(power, "stream", listened)
    for module in (drawing, power):
        monkeypatch.setattr(module, "HELD", TRIALS * RUNS * QUESTIONS)
    how: dict[str, Any] = {"subsets": 2 * TRIALS, "resamples": 2 * TRIALS, "threads": 1}
    evaluate(alike(kind), draws=draws, seed=4, sizes=[5, 10, 20], **how)
    assert max(used.values()) == 1
    assert {path[1] for path in used} >= {0, 2, 3, 10, 11}
    assert len(used) > 10


def test_streams_of_different_places_differ() -> None:
    """Nothing of a path is lost on the way to the numbers, the zeros at its end included."""
    paths = [(), (0,), (0, 0), (0, 0, 0), (0, 1), (1, 0), (1,), (10, 0), (2, 0, 3), (2, 3, 0)]
    first = [stream(seed, *path).integers(2**62) for seed in (0, 1) for path in paths]
    assert len(set(first)) == len(first)
    assert stream(1, 2, 3).integers(2**62) == stream(1, 2, 3).integers(2**62)
    drawn = [stream(0, 0, block).random(1000) for block in range(4)]
    assert all(abs(np.corrcoef(a, b)[0, 1]) < 0.2 for a, b in pairwise(drawn))
